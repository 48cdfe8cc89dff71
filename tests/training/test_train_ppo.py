"""Real training with PPO: it ends with clean laps, is reproducible, and leaves a run's files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from racer_env.physics import load_physics
from tests.runs import classes_of_ours, data_of, folders, load, ppo, weights
from training import evaluate, train_ppo
from training.algorithms.members.ppo import ALGORITHM, PpoSettings

pytestmark = pytest.mark.timeout(60)


@pytest.mark.slow
def test_a_few_seconds_of_training_end_with_clean_laps(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The driver laps three times from the standing start without touching a wall."""
    capsys.readouterr()
    assert evaluate.main(["--model", str(trained / "models" / "lap_final"), "--json"]) == 0
    track = json.loads(capsys.readouterr().out)["tracks"]["track-01"]
    assert track["clean_laps"] == 3
    assert track["completion"] == 1.0
    assert track["mean_lap_time_sec"] < 12.0
    assert len(track["lap_times_sec"][0]) == 3


def test_files_of_a_run(trained: Path) -> None:
    """Checkpoints come every 30,000 steps, each with its statistics; best and final model too, and nothing else."""
    names = {path.name for path in (trained / "models").iterdir()}
    assert names == {
        *(f"lap_{steps}_steps.zip" for steps in (30016, 60032)),
        *(f"lap_vecnormalize_{steps}_steps.{kind}" for steps in (30016, 60032) for kind in ("pkl", "json")),
        *("lap_final.zip", "lap_final_vecnormalize.pkl", "lap_final_vecnormalize.json"),
        *("lap_best.zip", "lap_best_vecnormalize.pkl", "lap_best_vecnormalize.json"),
    }
    lines = (trained / "logs" / "lap" / "monitor.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("r,l,t")


def test_tensorboard_has_what_a_racer_wants(trained: Path) -> None:
    """Lap times, components, contacts, speed, and what evaluations found, under their names."""
    events = EventAccumulator(str(trained / "logs" / "lap"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    racer = {f"racer/{name}" for name in ("best_lap_time_sec", "mean_lap_time_sec", "laps", "mean_speed")}
    shares = {"racer/wall_contact_share", "racer/off_track_share"}
    found = {f"eval/{name}" for name in ("clean_laps", "mean_lap_time_sec", "mean_reward", "off_track_share")}
    assert tags >= racer | shares | found | {"reward/progress", "reward/offTrack"}
    assert [event.step for event in events.Scalars("eval/clean_laps")][:4] == [20032, 40000, 60032, 80000]


def test_the_record_of_a_run(trained: Path) -> None:
    """Before the first step the folder says everything that the run was started with."""
    record = json.loads((trained / "logs" / "lap" / "config.json").read_text(encoding="utf-8"))
    assert record["hyperparameters"]["learning_rate"] == 1e-3
    assert record["algorithm_arguments"]["n_steps"] == 64
    assert record["ai_config"]["episode"]["maxSteps"] == 3000
    assert record["physics_fingerprint"] == load_physics().fingerprint
    assert set(record["track_fingerprints"]) == {"track-01"}
    assert record["seed"] == 0
    assert record["arguments"]["checkpoint_freq"] == 30000
    assert record["packages"]["torch"]
    assert "command" in record
    assert "commit" in record


def test_the_record_is_there_before_the_first_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that fails at once has it until then; nothing was trained, so its name is free again."""
    found = []

    def fail(self: object) -> bool:
        found.append(json.loads((tmp_path / "logs" / "early" / "config.json").read_text(encoding="utf-8")))
        raise RuntimeError("out of luck")

    monkeypatch.setattr("training.callbacks.RacerMetricsCallback._on_training_start", fail)
    with pytest.raises(RuntimeError, match="out of luck"):
        ppo(tmp_path, "--timesteps", "4096", "--run-name", "early", "--set", "gamma=0.9")
    assert found[0]["hyperparameters"]["gamma"] == 0.9
    assert not (tmp_path / "logs" / "early").exists()


def test_same_seed_same_weights(tmp_path: Path) -> None:
    """Two runs of one seed are equal bit by bit, and another seed is not."""
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        arguments = ["--timesteps", "6144", "--run-name", name, "--seed", seed, "--track-id", "all"]
        assert ppo(tmp_path, *arguments) == 0
    a, b, c = (weights(tmp_path / "models" / f"{name}_final.zip") for name in "abc")
    assert all(np.array_equal(one, other) for one, other in zip(a, b, strict=True))
    assert not all(np.array_equal(one, other) for one, other in zip(a, c, strict=True))


def test_evaluating_changes_nothing(trained: Path, tmp_path: Path) -> None:
    """A run that evaluates learns what one that does not learns: its cars, statistics and noise are its own."""
    for name, every in (("a", "4096"), ("b", "0")):
        arguments = ["--timesteps", "8192", "--run-name", name, "--eval-freq", every, "--eval-laps", "1"]
        assert ppo(tmp_path, "--initialize-from", str(trained / "models" / "lap_final"), *arguments) == 0
    a, b = (weights(tmp_path / "models" / f"{name}_final.zip") for name in "ab")
    assert all(np.array_equal(one, other) for one, other in zip(a, b, strict=True))


def test_few_cars_keep_the_rollout_long(tmp_path: Path) -> None:
    """With 4 cars a rollout still has about 4,096 steps."""
    assert ppo(tmp_path, "--timesteps", "4096", "--num-envs", "4", "--run-name", "few") == 0
    assert load(tmp_path / "models" / "few_final.zip").n_steps == 1024  # type: ignore[attr-defined]


@pytest.mark.parametrize("cars", [1, 3, 5, 64, 96, 1000])
@pytest.mark.parametrize("minibatches", [1, 4, 7, 64, 1024])
def test_minibatches_are_of_equal_size(cars: int, minibatches: int) -> None:
    """A last one of a single sample would spoil the update; none is smaller than two."""
    arguments = ALGORITHM.arguments(PpoSettings(minibatches=minibatches), cars, 1000)
    assert arguments["n_steps"] * cars == arguments["batch_size"] * minibatches
    assert arguments["batch_size"] >= 2
    assert arguments["n_steps"] * cars >= 4096 - cars


def test_a_rollout_is_as_long_as_asked() -> None:
    """For each of many cars at least so many steps; few cars drive longer."""
    assert ALGORITHM.arguments(PpoSettings(steps_per_car=256), 96, 1000)["n_steps"] == 256
    assert ALGORITHM.arguments(PpoSettings(steps_per_car=256), 8, 1000)["n_steps"] == 512


def test_an_update_has_the_learning_rate_of_its_rollouts_begin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It falls to 0 at the end of the run, and no update is made with 0."""
    rates: list[float] = []
    monkeypatch.setattr(
        "stable_baselines3.ppo.ppo.PPO._update_learning_rate", lambda self, _: rates.append(rate_of(self))
    )
    assert ppo(tmp_path, "--timesteps", "10000", "--run-name", "three") == 0
    assert rates == pytest.approx([1e-3, 1e-3 * 2 / 3, 1e-3 / 3])


def rate_of(model: Any) -> float:
    """Return the learning rate of an update that begins now."""
    return float(model.lr_schedule(model._current_progress_remaining))


def test_a_run_of_one_rollout_learns(tmp_path: Path) -> None:
    """A single step asked for is a whole rollout; going on for one changes the weights."""
    assert ppo(tmp_path, "--timesteps", "1", "--run-name", "one") == 0
    assert data_of(tmp_path, "one_final").steps == 4096
    first = weights(tmp_path / "models" / "one_final.zip")
    assert ppo(tmp_path, "--resume", "one", "--timesteps", "4000") == 0
    second = weights(tmp_path / "models" / "one_final.zip")
    assert all(abs(before - after).max() > 1e-4 for before, after in zip(first, second, strict=True))


def test_hyperparameters_reach_the_algorithm(tmp_path: Path) -> None:
    """File and single values are in the model that comes out, and the model says so."""
    file = tmp_path / "params.json"
    file.write_text('{"hidden": 16, "gamma": 0.9}', encoding="utf-8")
    arguments = ["--timesteps", "4096", "--run-name", "own", "--hyperparams", str(file), "--set", "gamma=0.8"]
    assert ppo(tmp_path, *arguments, "--set", "action_repeat=2") == 0
    data = data_of(tmp_path, "own_final")
    assert data.attributes["gamma"] == 0.8
    assert data.attributes["policy_kwargs"]["net_arch"] == [16, 16]
    assert data.action_repeat == 2
    assert data.attributes["hyperparameters"]["gamma"] == 0.8


def test_a_name_in_use_is_refused_unless_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run of the same name does not replace the first; --overwrite deletes it, checkpoints too."""
    assert ppo(tmp_path, "--timesteps", "8192", "--run-name", "lap", "--checkpoint-freq", "4096") == 0
    before = (tmp_path / "models" / "lap_final.zip").read_bytes()
    assert ppo(tmp_path, "--timesteps", "4096", "--run-name", "lap") == 2
    assert "--overwrite" in capsys.readouterr().err
    assert (tmp_path / "models" / "lap_final.zip").read_bytes() == before
    assert ppo(tmp_path, "--timesteps", "4096", "--run-name", "lap", "--overwrite") == 0
    assert {path.name for path in (tmp_path / "models").glob("*.zip")} == {"lap_final.zip"}
    assert len([*(tmp_path / "logs" / "lap").glob("events*")]) == 1


def test_only_the_newest_checkpoints_stay(tmp_path: Path) -> None:
    """--keep-checkpoints counts the periodic ones."""
    arguments = ["--timesteps", "20480", "--run-name", "k", "--checkpoint-freq", "4096", "--keep-checkpoints", "2"]
    assert ppo(tmp_path, *arguments) == 0
    names = {path.name for path in (tmp_path / "models").glob("*.zip")}
    assert names == {"k_16384_steps.zip", "k_20480_steps.zip", "k_final.zip"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "nonsense"], "--device 'nonsense' cannot be used"),
        (["--models-dir", __file__], f"expected a folder, and {__file__} is a file"),
        (["--run-name", ".."], "a run's name may hold"),
        (["--run-name", "x_final"], "does not end in _final, _interrupted"),
        (["--set", "gama=1"], "unknown key 'gama'"),
        (["--hyperparams", "missing.json"], "hyper-parameter file not found: missing.json"),
        (["--initialize-from", "missing"], "no model or run missing"),
        (["--resume", ""], "expected the path of a model or the name of a run, got ''"),
    ],
)
def test_what_cannot_work_is_said_before_training(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit code 2, and no time spent."""
    assert train_ppo.main([*folders(tmp_path), "--timesteps", "4096", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "logs").exists()  # so the name is still free for a second try


@pytest.mark.parametrize("flag", [["--stop-when-competent"], ["--stop-when-lap-time", "7"]])
def test_stopping_needs_evaluations(flag: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A condition that nothing would look at is an argument error."""
    with pytest.raises(SystemExit) as stop:
        train_ppo.main([*flag, "--eval-freq", "0"])
    assert stop.value.code == 2
    assert "need evaluations" in capsys.readouterr().err


def test_too_few_steps_for_a_lap_are_warned_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An episode limit below the shortest lap is named with both numbers."""
    config = tmp_path / "short.json"
    config.write_text('{"episode": {"maxSteps": 300}}', encoding="utf-8")
    assert ppo(tmp_path, "--timesteps", "4096", "--run-name", "s", "--config", str(config)) == 0
    assert "maxSteps 300 ends an episode on track-01 before a lap is possible" in capsys.readouterr().out


def test_a_crash_saves_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong in the middle, what was trained is on disk."""

    def fail(self: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr("training.callbacks.RacerMetricsCallback._on_rollout_end", fail)
    with pytest.raises(RuntimeError, match="out of luck"):
        ppo(tmp_path, "--timesteps", "8192", "--run-name", "crash")
    assert data_of(tmp_path, "crash_interrupted").steps == 4096


def test_its_models_are_of_stable_baselines3_alone(trained: Path) -> None:
    """No pickle in them names a class of this project, so that they load where only stable-baselines3 is."""
    assert classes_of_ours(trained / "models" / "lap_final.zip") == []
