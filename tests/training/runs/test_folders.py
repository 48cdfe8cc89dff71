"""A run's place on disk: its name, its lock, and what --overwrite may delete."""

import shutil
from pathlib import Path

import pytest

from racer_env.errors import ModelError
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


@pytest.mark.parametrize("name", ["\N{OLD PERSIAN SIGN A}" * 40, "a_vecnormalize", "a_replay_buffer_3"])
def test_names_that_files_could_not_have(tmp_path: Path, name: str) -> None:
    """Too many bytes, or what would be taken for a companion of another run's model."""
    with pytest.raises(ModelError, match="a run's name"):
        choose_run_name(name, "p", tmp_path, tmp_path, may_exist=True)


def test_a_link_is_no_folder_of_its_own(tmp_path: Path) -> None:
    """What it leads to is not the run's."""
    (tmp_path / "elsewhere").mkdir()
    try:
        (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
    except OSError:
        pytest.skip("this system makes no links")
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
