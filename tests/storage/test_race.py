"""Two runs that end at the same moment."""

from pathlib import Path

import pytest

from ctxembed.errors import UsageError
from ctxembed.storage import atomic as whole


@pytest.mark.parametrize("replace", [True, False])
def test_another_run_finishes_between_check_and_rename(
    replace: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, target = tmp_path / "work", tmp_path / "m"
    for folder in (work, target):
        folder.mkdir()
        (folder / "name").write_text(folder.name)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "exists", lambda _: False)  # the check: nothing is there yet
        if replace:
            whole._put(work, target, replace)
        else:
            with pytest.raises(UsageError, match="another run"):
                whole._put(work, target, replace)
    assert (target / "name").read_text() == ("work" if replace else "m")
