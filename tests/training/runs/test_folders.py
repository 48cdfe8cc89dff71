"""A run's place on disk: its name, its lock, and what --overwrite may delete."""

import errno
import os
import shutil
import sys
from pathlib import Path

import pytest

from racer_env.errors import ModelError
from tests.helpers import make_link
from tests.runs import make_fresh
from training.checkpoints.files import find_model, model_path, models_of
from training.runs.branches import set_aside
from training.runs.folders import check_removable, choose_run_name, hold_run

pytestmark = pytest.mark.timeout(60)


def test_a_run_is_held_by_one(tmp_path: Path) -> None:
    """By its models and by its logs, whichever another has in common; afterwards nothing is left of it."""
    places = [tmp_path / name for name in ("models", "logs", "others")]
    models, logs, others = places
    with hold_run("a", models, logs):
        for one, two in ((models, logs), (models, others), (others, logs)):
            with (
                pytest.raises(ModelError, match="the run 'a' is being trained by another process"),
                hold_run("a", one, two),
            ):
                pass
        with hold_run("b", models, logs), hold_run("a", others, others):
            pass
    assert [*models.iterdir(), *logs.iterdir()] == []
    with hold_run("a", models, logs):
        pass


@pytest.mark.timeout(5)
def test_one_folder_has_one_lock_however_it_is_spelt(tmp_path: Path) -> None:
    """A run does not wait for itself."""
    with hold_run("a", tmp_path / "out", tmp_path / "out" / ".." / "out"):
        assert [path.name for path in (tmp_path / "out").iterdir()] == [".a.lock"]


@pytest.mark.skipif(sys.platform == "win32", reason="locks of another kind")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_without_locks_a_run_begins_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    """One line for each folder names the file, and nothing is left."""
    import fcntl

    def flock(handle: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with hold_run("a", tmp_path / "models", tmp_path / "logs"):
        pass
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(".a.lock" in line and line.startswith("note: ") for line in lines)
    assert [*(tmp_path / "models").iterdir(), *(tmp_path / "logs").iterdir()] == []


@pytest.mark.skipif(sys.platform == "win32", reason="locks of another kind")
def test_the_lock_of_another_computer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether its process still runs cannot be found out here."""
    import fcntl

    def flock(handle: int, operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", flock)
    (tmp_path / ".a.lock").write_text("4242\nelsewhere\n")
    with (
        pytest.raises(ModelError, match=r"which holds .*\.a\.lock; wait for its end"),
        hold_run("a", tmp_path, tmp_path),
    ):
        pass
    assert (tmp_path / ".a.lock").exists()


@pytest.mark.timeout(5)
def test_a_name_that_is_held_for_ever_is_passed_over(tmp_path: Path) -> None:
    """An automatic name that nothing but a lock uses is not tried again and again."""
    assert choose_run_name(None, "p", tmp_path, tmp_path, may_exist=False, taken={"p_1", "p_2"}) == "p_3"


def test_a_lock_is_not_written_through_a_link(tmp_path: Path) -> None:
    """What it leads to stays as it is."""
    (tmp_path / "mine").write_text("mine")
    make_link(tmp_path / ".a.lock", tmp_path / "mine")
    with hold_run("a", tmp_path, tmp_path):
        assert not (tmp_path / ".a.lock").is_symlink()
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("name", ["\N{OLD PERSIAN SIGN A}" * 40, "a_vecnormalize", "a_replay_buffer_3"])
def test_names_that_files_could_not_have(tmp_path: Path, name: str) -> None:
    """Too many bytes, or what would be taken for a companion of another run's model."""
    with pytest.raises(ModelError, match="a run's name"):
        choose_run_name(name, "p", tmp_path, tmp_path, may_exist=True)


def test_a_link_is_no_folder_of_its_own(tmp_path: Path) -> None:
    """What it leads to is not the run's."""
    (tmp_path / "elsewhere").mkdir()
    make_link(tmp_path / "a", tmp_path / "elsewhere")
    with pytest.raises(ModelError, match="is no folder of its own"):
        choose_run_name("a", "p", tmp_path / "models", tmp_path, may_exist=True)


def test_overwriting_deletes_no_folder_of_models(tmp_path: Path) -> None:
    """Where models lie in the folder of the run's logs, all of them would go."""
    models = tmp_path / "logs" / "a" / "models"
    models.mkdir(parents=True)
    with pytest.raises(ModelError, match="--overwrite would delete .*models with all its models"):
        check_removable("a", models, tmp_path / "logs", [])


def test_overwriting_deletes_nothing_that_is_needed(tmp_path: Path) -> None:
    """Also where it is called by another name."""
    path = make_fresh(tmp_path / "models", "a_final")
    link = tmp_path / "link.zip"
    try:
        link.symlink_to(path)
    except OSError:
        link = path
    for needed in (path, link):
        with pytest.raises(ModelError, match="--overwrite would delete .*, with which the run begins"):
            check_removable("a", tmp_path / "models", tmp_path / "logs", [needed])
    check_removable("b", tmp_path / "models", tmp_path / "logs", [path])


def test_setting_aside_takes_no_name_that_is_used_or_about_to_be(tmp_path: Path) -> None:
    """Neither by files, nor by a folder of logs, nor by a run that is just beginning."""
    models, logs = tmp_path / "models", tmp_path / "logs"
    path = make_fresh(models, "a_final")
    for file in models_of(models, "a"):
        shutil.copy(file, models / "a-1_final.zip")
    (logs / "a-2").mkdir(parents=True)
    with hold_run("a-3", models, logs):
        assert set_aside([path], "a", logs) == "a-4"
    assert not path.exists()
    assert find_model("a-4", models).path == model_path(models, "a-4", "final")


def test_a_run_goes_on_under_a_longer_name_than_a_new_one_may_have(tmp_path: Path) -> None:
    """As branches have; up to where its files would be too long for the file system."""
    folders, branch, longest = (tmp_path / "models", tmp_path / "logs"), "a" * 100 + "-1", "a" * 201
    for name in (branch, longest):
        (tmp_path / "logs" / name).mkdir(parents=True)
    assert choose_run_name(branch, "ppo", *folders, may_exist=True) == branch
    for name, may_exist in ((branch, False), (branch.replace("1", "2"), True), (longest, True), ("a" * 300, True)):
        with pytest.raises(ModelError, match="may hold up to 100"):
            choose_run_name(name, "ppo", *folders, may_exist=may_exist)
