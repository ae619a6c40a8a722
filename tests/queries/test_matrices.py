"""explain --matrices: the numbers of W_Q, W_K, W_V and W_O."""

import json
from pathlib import Path

import numpy as np

from tests.conftest import Run, mentions


def test_matrices_in_a_file_are_printed_as_they_are(run: Run) -> None:
    done = run("explain", "--matrices", "--vectors", "rotation")
    assert done.stdout == (
        "step\thead\trow\trow_token\tcolumn\tcolumn_name\tvalue\n"
        "W_V\t\t1\td1\t1\td1\t0.000000\n"
        "W_V\t\t1\td1\t2\td2\t1.000000\n"
        "W_V\t\t2\td2\t1\td1\t-1.000000\n"
        "W_V\t\t2\td2\t2\td2\t0.000000\n"
    )
    assert mentions(done.stderr, "W_Q W_K")
    shown = run("explain", "--matrices", "--vectors", "scaling", "-f", "table").stdout
    assert "W_V      d1      d2\n---  ------  ------\nd1   2.0000  0.0000\n" in shown


def test_matrices_of_each_head(run: Run, tmp_path: Path) -> None:
    """x W_Q is Q of --steps, and so on: the matrices printed are those that are used."""
    ask = ("explain", "--attention", "random", "--heads", "2", "--seed", "7")
    done = run(*ask, "--matrices", "-o", "w.npz")
    assert done.stdout == "" and mentions(done.stderr, "8~matrices w.npz")
    run(*ask, "bank river", "--steps", "-o", "steps.npz")
    run(*ask, "bank river", "--steps", "--matrices", "-o", "both.npz")
    with (
        np.load(tmp_path / "w.npz") as w,
        np.load(tmp_path / "steps.npz") as steps,
        np.load(tmp_path / "both.npz") as both,
    ):
        assert set(both) == {*w, *steps}
        for head in (1, 2):
            for name in "QKV":
                expected = steps["E"] @ w[f"W_{name}_{head}"]
                np.testing.assert_allclose(steps[f"{name}_{head}"], expected, atol=1e-6)
        output = sum(steps[f"weights_{h}"] @ steps[f"V_{h}"] @ w[f"W_O_{h}"] for h in (1, 2))
        np.testing.assert_allclose(steps["output"], output, atol=1e-6)
    rows = json.loads(run(*ask, "--matrices", "--head", "2", "-f", "json").stdout)
    assert [*dict.fromkeys((r["step"], r["head"]) for r in rows)] == [
        ("W_Q", 2), ("W_K", 2), ("W_V", 2), ("W_O", 2),
    ]  # fmt: skip
