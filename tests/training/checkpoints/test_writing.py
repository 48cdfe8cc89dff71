"""Renaming files that another process may be reading."""

from pathlib import Path

import pytest

from training.checkpoints import writing
from training.checkpoints.writing import move, replacing


def refuse(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let the system refuse the next ``times`` renames, as Windows does while a file is read."""
    real, left = Path.replace, times

    def replace(source: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        if left >= 0:
            raise PermissionError(13, "used by another process", str(target))
        return real(source, target)

    monkeypatch.setattr(Path, "replace", replace)


def test_a_renaming_that_is_refused_for_a_moment_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that is soon done costs no file."""
    refuse(monkeypatch, 3)
    with replacing(tmp_path / "a.txt") as beside:
        beside.write_text("new")
    assert (tmp_path / "a.txt").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_renaming_that_stays_refused_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error comes in the end, and both files stay."""
    refuse(monkeypatch, 1_000_000)
    monkeypatch.setattr(writing, "PATIENCE", 0.05)
    source, target = tmp_path / "new", tmp_path / "old"
    source.write_text("new")
    target.write_text("old")
    with pytest.raises(PermissionError):
        move(source, target)
    assert (source.read_text(), target.read_text()) == ("new", "old")
