"""Keeping a model under another name: nothing is lost by it."""

from pathlib import Path
from typing import Any

import pytest
from stable_baselines3 import SAC
from stable_baselines3.common.vec_env import VecNormalize

from tests.helpers import in_child
from tests.training.checkpoints.test_saving import NEW, OLD, die_at, make_unit, posix_only, save, version_of
from training.checkpoints.files import buffer_path, models_of, statistics_path
from training.checkpoints.keeping import keep_replaced
from training.checkpoints.leftovers import clear_leftovers
from training.checkpoints.saving import save_unit

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def unit() -> tuple[Any, VecNormalize]:
    """A small SAC model, which has a replay buffer."""
    return make_unit(SAC)


def save_at(unit: tuple[Any, VecNormalize], path: Path, version: int, steps: int) -> None:
    """Save a version of the unit at a step."""
    unit[0].num_timesteps = steps
    save(unit, path, version)


def test_a_replaced_model_becomes_the_checkpoint_of_its_step(
    tmp_path: Path, unit: tuple[Any, VecNormalize], capsys: pytest.CaptureFixture[str]
) -> None:
    """With its statistics and buffer, in place of one from before its last update, and not of a later one."""
    path, kept = tmp_path / "a_interrupted.zip", tmp_path / "a_4000_steps.zip"
    keep_replaced(path, with_buffer=True)  # there is none
    save_at(unit, kept, OLD, 4000)
    save_at(unit, path, NEW, 4000)
    keep_replaced(path, with_buffer=True)
    assert "a_interrupted.zip of 4,000 steps is kept as a_4000_steps.zip" in capsys.readouterr().out
    assert kept.read_bytes() == path.read_bytes()
    path.unlink()
    assert version_of(tmp_path, "a") == NEW
    save_at(unit, path, NEW, 4000)
    save_at(unit, kept, NEW, 4000)
    keep_replaced(path, with_buffer=True)
    assert kept.read_bytes() != path.read_bytes()


def test_no_buffer_is_kept_beside_a_newer_one(tmp_path: Path, unit: tuple[Any, VecNormalize]) -> None:
    """It is as large as many models."""
    save_at(unit, tmp_path / "a_final.zip", OLD, 1)
    keep_replaced(tmp_path / "a_final.zip", with_buffer=False)
    kept = tmp_path / "a_1_steps.zip"
    assert (kept.is_file(), statistics_path(kept).is_file(), buffer_path(kept).is_file()) == (True, True, False)


@posix_only
def test_killed_at_every_instant_the_replaced_model_is_whole(tmp_path: Path, unit: tuple[Any, VecNormalize]) -> None:
    """Under its own name or as the checkpoint, with its replay buffer."""
    code, instant = 137, 0
    while code != 0:
        path = tmp_path / f"{instant}" / "a_final.zip"
        save_at(unit, path, OLD, 1)

        def act(instant: int = instant, path: Path = path) -> None:
            die_at(instant, path.parent)
            keep_replaced(path, with_buffer=True)
            save_unit(*unit, path, with_buffer=False)

        code = in_child(act)
        assert code in (0, 137)
        clear_leftovers(path.parent, "a")
        old = "a_1_steps" if (path.parent / "a_1_steps.zip").is_file() else "a_final"
        assert version_of(path.parent, old) == OLD
        assert {model.stem for model in models_of(path.parent, "a")} <= {"a_1_steps", "a_final"}
        instant += 1
    assert instant > 10
