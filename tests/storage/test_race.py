"""Two runs that end at the same moment."""

import os
from pathlib import Path

import pytest

from ctxembed.errors import UsageError
from ctxembed.storage import atomic as whole


@pytest.mark.parametrize("replace", [True, False])
def test_another_run_finishes_between_check_and_rename(
    replace: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, target = tmp_path / "place", tmp_path / "m"
    for folder in (place / "new", target):
        folder.mkdir(parents=True)
        (folder / "vocab.txt").write_text(folder.name)
    checked: list[bool] = []
    real = os.path.lexists
    with monkeypatch.context() as patch:
        found = iter([False])  # the check: nothing is there yet
        patch.setattr(os.path, "lexists", lambda path: next(found, real(path)))
        patch.setattr(whole, "check_replaceable", lambda path: checked.append(True))
        if replace:
            assert whole._put(place, target, lambda: checked.append(True))
        else:
            with pytest.raises(UsageError, match="another run"):
                whole._put(place, target, None)
    assert (target / "vocab.txt").read_text() == ("new" if replace else "m")
    assert len(checked) == 2 * replace
