"""Real training with SAC: with its defaults it soon laps, and the model carries its action repeat."""

import json
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.runs import SMALL_SAC, classes_of_ours, data_of, sac, weights
from training import evaluate

pytestmark = pytest.mark.timeout(120)


@pytest.mark.slow
def test_seconds_of_training_end_with_clean_laps(trained_sac: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three clean laps in a row from the standing start; evaluation holds its actions as training did."""
    capsys.readouterr()
    assert evaluate.main(["--model", str(trained_sac / "models" / "lap_final"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["action_repeat"] == 4
    assert result["tracks"]["track-01"]["clean_laps"] == 3
    assert data_of(trained_sac, "lap_final").steps < 20_000


def test_tensorboard_has_the_same_as_ppo(trained_sac: Path) -> None:
    """SAC's own rhythm does not keep the metrics from the log: a point every thousand steps or so."""
    events = EventAccumulator(str(trained_sac / "logs" / "lap"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert tags >= {"reward/progress", "racer/mean_speed", "eval/clean_laps", "train/ent_coef"}


def test_same_seed_same_weights(tmp_path: Path) -> None:
    """Two runs of one seed are equal bit by bit, and another seed is not."""
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert sac(tmp_path, "--timesteps", "80", "--run-name", name, "--seed", seed, *SMALL_SAC) == 0
    a, b, c = (weights(tmp_path / "models" / f"{name}_final.zip") for name in "abc")
    assert all(np.array_equal(one, other) for one, other in zip(a, b, strict=True))
    assert not all(np.array_equal(one, other) for one, other in zip(a, c, strict=True))


def test_checkpoints_come_as_with_ppo(tmp_path: Path) -> None:
    """In environment steps, the newest ones, of which the newest has the buffer."""
    arguments = ["--timesteps", "200", "--run-name", "k", "--checkpoint-freq", "40", "--keep-checkpoints", "2"]
    assert sac(tmp_path, *arguments, *SMALL_SAC) == 0
    names = {path.name for path in (tmp_path / "models").iterdir() if path.suffix in (".zip", ".npz")}
    assert names == {"k_160_steps.zip", "k_200_steps.zip", "k_final.zip", "k_final_replay_buffer.npz"}


def test_a_run_within_its_warm_up_says_that_nothing_was_learned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the run and after it, and the same when it goes on."""
    quick = [*SMALL_SAC, "--set", "learning_starts=400"]
    assert sac(tmp_path, "--timesteps", "40", "--run-name", "early", *quick) == 0
    output = capsys.readouterr().out
    assert "warning: --timesteps 40 ends before the first update, after 400 steps" in output
    assert "warning: nothing was learned" in output
    assert sac(tmp_path, "--resume", "early", "--timesteps", "40") == 0
    assert "warning: nothing was learned" in capsys.readouterr().out


def test_its_models_are_of_stable_baselines3_alone(trained_sac: Path) -> None:
    """No pickle in them names a class of this project, so that they load where only stable-baselines3 is."""
    assert classes_of_ours(trained_sac / "models" / "lap_final.zip") == []
