"""Real training with TD3: it laps, and goes through evaluation, resume and export like the other algorithms."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.runs import SMALL_SAC, classes_of_ours, data_of, td3, weights
from training import evaluate, export_onnx

pytestmark = pytest.mark.timeout(120)

SMALL_TD3 = SMALL_SAC  # the names of these settings are the same


@pytest.mark.slow
def test_seconds_of_training_end_with_clean_laps(trained_td3: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three clean laps in a row from the standing start; evaluation holds its actions as training did."""
    capsys.readouterr()
    assert evaluate.main(["--model", str(trained_td3 / "models" / "lap_final"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["action_repeat"] == 4
    assert result["tracks"]["track-01"]["clean_laps"] == 3
    assert data_of(trained_td3, "lap_final").steps < 20_000


def test_the_model_names_its_algorithm(trained_td3: Path) -> None:
    """Its file says TD3, and so does the registry."""
    data = data_of(trained_td3, "lap_final")
    assert data.attributes["algorithm"] == data.algorithm.name == "TD3"


def test_same_seed_same_weights(tmp_path: Path) -> None:
    """Two runs of one seed are equal bit by bit, and another seed is not."""
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert td3(tmp_path, "--timesteps", "80", "--run-name", name, "--seed", seed, *SMALL_TD3) == 0
    a, b, c = (weights(tmp_path / "models" / f"{name}_final.zip") for name in "abc")
    assert all(np.array_equal(one, other) for one, other in zip(a, b, strict=True))
    assert not all(np.array_equal(one, other) for one, other in zip(a, c, strict=True))


def test_it_goes_on_with_its_buffer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Steps count on, the replay buffer is taken over, and the weights move."""
    assert td3(tmp_path, "--timesteps", "80", "--run-name", "a", *SMALL_TD3) == 0
    before = weights(tmp_path / "models" / "a_final.zip")
    assert td3(tmp_path, "--timesteps", "80", "--resume", "a") == 0
    assert "took over 80 steps of its replay buffer" in capsys.readouterr().out
    assert data_of(tmp_path, "a_final").steps == 160
    after = weights(tmp_path / "models" / "a_final.zip")
    assert not all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def test_another_script_names_the_right_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A TD3 model is not for SAC."""
    from training import train_sac

    assert td3(tmp_path, "--timesteps", "40", "--run-name", "a", *SMALL_TD3) == 0
    arguments = ["--models-dir", str(tmp_path / "models"), "--logs-dir", str(tmp_path / "logs")]
    assert train_sac.main(["--resume", "a", *arguments]) == 2
    assert "is a TD3 model; go on with it by python -m training.train_td3" in capsys.readouterr().err


def test_noise_that_it_does_not_have_is_refused(trained_td3: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rather than passed over."""
    assert evaluate.main(["--model", str(trained_td3 / "models" / "lap_final"), "--no-deterministic"]) == 2
    assert "is a TD3 model, whose policy has no noise; leave out --no-deterministic" in capsys.readouterr().err


def test_what_is_exported_drives_as_the_model(
    trained_td3: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the tick, and the files say how long to hold an action."""
    model = str(trained_td3 / "models" / "lap_final.zip")
    assert export_onnx.main(["--model", model, "--output-dir", str(tmp_path)]) == 0
    laps = []
    for driver in (model, str(tmp_path / "driver.onnx")):
        capsys.readouterr()
        assert evaluate.main(["--model", driver, "--json"]) == 0
        laps.append(json.loads(capsys.readouterr().out)["tracks"]["track-01"]["lap_times_sec"])
    assert laps[0] == laps[1]
    assert json.loads((tmp_path / "vecnorm_stats.json").read_text())["action_repeat"] == 4


def test_its_models_are_of_stable_baselines3_alone(trained_td3: Path) -> None:
    """No pickle in them names a class of this project, so that they load where only stable-baselines3 is."""
    assert classes_of_ours(trained_td3 / "models" / "lap_final.zip") == []
