"""A sweep's name and folders."""

import contextlib
from pathlib import Path

import pytest

from racer_env.errors import RunError
from training.sweeps.folders import SWEEP_NAME, claim, hold_sweep, read_sweep, write_sweep


def claimed(folder: Path, wanted: str | None = None) -> str:
    """Take a name, and let it go."""
    with contextlib.ExitStack() as stack:
        return claim(wanted, folder / "models", folder / "logs", stack)


def test_names_are_counted(tmp_path: Path) -> None:
    """Over folders of models and of logs, whatever else these hold."""
    assert claimed(tmp_path) == "sweep_1"
    assert claimed(tmp_path) == "sweep_2"
    (tmp_path / "models" / "sweep_3").mkdir(parents=True)
    assert claimed(tmp_path) == "sweep_4"


def test_a_name_that_another_process_has_just_taken_is_passed_over(tmp_path: Path) -> None:
    """Where the user named none."""
    with hold_sweep("sweep_1", tmp_path / "models", tmp_path / "logs"):
        assert claimed(tmp_path) == "sweep_2"


def test_a_name_in_use_is_refused_with_what_has_it(tmp_path: Path) -> None:
    """A sweep can be gone on with."""
    claimed(tmp_path, "a")
    write_sweep(tmp_path / "logs" / "a", {})
    with pytest.raises(RunError, match="files of a sweep of the name 'a' already; go on with it by --resume a, or"):
        claimed(tmp_path, "a")
    (tmp_path / "logs" / "b").mkdir()
    with pytest.raises(RunError, match="files of something else of the name 'b' already; choose another --name"):
        claimed(tmp_path, "b")


@pytest.mark.parametrize("name", ["a/b", "", ".a", "a_best"])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    """With what a name may be."""
    with pytest.raises(RunError, match="a sweep's name may hold|of the name ''"):
        claimed(tmp_path, name)


def test_a_sweep_that_is_carried_out_is_held(tmp_path: Path) -> None:
    """Against a second process."""
    folders = tmp_path / "models", tmp_path / "logs"
    with (
        hold_sweep("a", *folders),
        pytest.raises(RunError, match="another process is carrying out the sweep 'a'; wait for its end"),
        hold_sweep("a", *folders),
    ):
        pass
    with hold_sweep("a", *folders):
        pass


def test_a_sweep_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    """Or with how to make one."""
    with pytest.raises(RunError, match="no sweep 'a' in .*; python -m training.sweep makes one"):
        read_sweep(tmp_path / "a")
    write_sweep(tmp_path / "b", {"arguments": []})
    with pytest.raises(RunError, match="no sweep 'a' in .*; there are: b"):
        read_sweep(tmp_path / "a")


@pytest.mark.parametrize("content", ["{", "[]", "{}"])
def test_a_damaged_file_is_refused(content: str, tmp_path: Path) -> None:
    """In a line with its path."""
    (tmp_path / SWEEP_NAME).write_text(content)
    with pytest.raises(RunError, match=r"sweep\.json"):
        read_sweep(tmp_path)
