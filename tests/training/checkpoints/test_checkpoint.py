"""Models with their statistics, as a user names them."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest

from racer_env.errors import ModelError
from tests.runs import as_before, make_fresh, rewritten
from training.checkpoints.checkpoint import find_checkpoint
from training.checkpoints.files import STATISTICS, statistics_path
from training.drivers.trained import load_trained_driver


def test_what_was_found_needs_no_file_any_more(tmp_path: Path) -> None:
    """Training may delete or replace a checkpoint as soon as it was read."""
    path = make_fresh(tmp_path / "models", "a_64_steps")
    checkpoint = find_checkpoint("a", path.parent)
    shutil.rmtree(path.parent)
    driver = load_trained_driver(checkpoint, deterministic=True, seed=0, device="cpu")
    assert driver(np.zeros((2, 14), np.float32)).shape == (2, 3)


def test_a_model_needs_no_file_beside_it(fresh_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its statistics are in it, those that are also beside it."""
    alone = Path(shutil.copy(fresh_model, tmp_path / "alone.zip"))
    assert find_checkpoint(alone, tmp_path).statistics == find_checkpoint(fresh_model, tmp_path).statistics is not None
    assert capsys.readouterr().err == ""


def test_statistics_beside_that_are_others_are_not_used(
    fresh_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One note; where they are named, they are refused, as a driver is nothing without its own."""
    own = find_checkpoint(fresh_model, tmp_path).statistics
    assert own is not None
    path = tmp_path / "x_final.zip"
    other = dataclasses.replace(own, obs_mean=(1.0, *own.obs_mean[1:])).document()
    rewritten(fresh_model, path, lambda data: data.update({STATISTICS: other}))
    beside = Path(shutil.copy(statistics_path(fresh_model), statistics_path(path)))
    found = find_checkpoint(path, tmp_path).statistics
    assert found is not None
    assert found.document() == other
    error = capsys.readouterr().err
    assert "x_final_vecnormalize.pkl does not hold what x_final.zip was saved with" in error
    assert error.count("\n") == 1
    with pytest.raises(ModelError, match="are not those that"):
        find_checkpoint(path, tmp_path, statistics=beside)


def test_a_model_of_before_has_them_beside_it(fresh_model: Path, tmp_path: Path) -> None:
    """The same numbers, without a word."""
    path = as_before(make_fresh(tmp_path))
    assert STATISTICS not in find_checkpoint(path, tmp_path).data.attributes
    assert find_checkpoint(path, tmp_path).statistics == find_checkpoint(fresh_model, tmp_path).statistics


def test_leaving_them_out_is_said(fresh_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The driver was trained with them."""
    assert find_checkpoint(fresh_model, tmp_path, normalises=False).statistics is None
    assert "note: --no-vecnorm leaves out the statistics with which" in capsys.readouterr().err
