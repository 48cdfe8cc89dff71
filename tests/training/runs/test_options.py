"""Options: the command line as one object, with presets and the run that goes on."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from racer_env.errors import ModelError
from tests.runs import folders, ppo
from training import train_ppo
from training.algorithms.registry import algorithm_named
from training.runs.folders import last_record, record_path
from training.runs.options import TrainingOptions, make_options, make_parser
from training.runs.plan import make_plan

PPO = algorithm_named("PPO")


def options_of(*arguments: str) -> TrainingOptions:
    """Return the options of a command line of train_ppo."""
    return make_options(PPO, make_parser(PPO).parse_args(arguments))


def write(folder: Path, document: dict[str, Any]) -> str:
    """Write a preset and return its path."""
    path = folder / "preset.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_what_is_not_named_has_its_default() -> None:
    """That of the algorithm, where it has one."""
    options = options_of()
    assert (options.timesteps, options.checkpoint_freq, options.eval_freq) == (1_000_000, 50_000, 100_000)
    assert (options.eval_laps, options.keep_checkpoints, options.track_id, options.beginning) == (3, 5, [], None)


def test_the_command_line_overrides_a_preset(tmp_path: Path) -> None:
    """And a preset the defaults."""
    document = {"hyperparameters": {"gamma": 0.9}, "arguments": {"timesteps": 7, "eval_laps": 2}}
    options = options_of("--hyperparams", write(tmp_path, document), "--eval-laps", "5")
    assert (options.timesteps, options.eval_laps) == (7, 5)
    assert options.hyperparameters == ({"gamma": 0.9},)


def test_a_default_that_is_named_overrides_a_preset(tmp_path: Path) -> None:
    """Named is named, also where it is the default."""
    document = {"hyperparameters": {}, "arguments": {"eval_laps": 2}}
    assert options_of("--hyperparams", write(tmp_path, document), "--eval-laps", "3").eval_laps == 3


def test_sets_are_written_out_with_their_seed(tmp_path: Path) -> None:
    """Those of a preset too."""
    document = {"hyperparameters": {}, "arguments": {"track_id": ["procedural:2"]}}
    options = options_of("--hyperparams", write(tmp_path, document), "--track-seed", "4")
    assert options.track_id == ["procedural-4-0", "procedural-4-1"]


@pytest.mark.parametrize("arguments", [[], ["--preset", "general", "--track-id", "track-01"]])
def test_a_seed_without_a_set_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """As an error of the command line; tracks of a preset's evaluations are not the user's."""
    with pytest.raises(SystemExit) as stop:
        options_of("--track-seed", "4", *arguments)
    assert stop.value.code == 2
    assert "--track-seed is of sets of generated tracks" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--resume", "--initialize-from"])
def test_an_empty_name_is_no_fresh_run(flag: str) -> None:
    """As a shell makes of a variable that is not set."""
    with pytest.raises(ModelError, match="expected the path of a model or the name of a run, got ''"):
        options_of(flag, "")


def test_options_do_not_change() -> None:
    """They are frozen."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        options_of().timesteps = 1  # type: ignore[misc]


@pytest.mark.timeout(60)
def test_a_run_that_goes_on_is_evaluated_as_before(tmp_path: Path) -> None:
    """Unless that is named again."""
    arguments = ["--run-name", "a", "--timesteps", "4096", "--num-envs", "64", "--eval-freq", "4096"]
    assert ppo(tmp_path, *arguments, "--eval-laps", "1") == 0
    resumed = options_of("--resume", "a", *folders(tmp_path))
    assert (resumed.eval_freq, resumed.eval_laps) == (4096, 1)
    assert resumed.resumed is not None
    assert resumed.resumed.steps == 4096
    assert options_of("--resume", "a", "--eval-laps", "2", *folders(tmp_path)).eval_laps == 2


@pytest.mark.timeout(60)
def test_evaluations_changed_on_resume_stay_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The settings of the last stretch go on, and so does the best model that was measured with them."""
    first = ["--run-name", "a", "--timesteps", "4096", "--num-envs", "64", "--eval-freq", "4096", "--eval-laps", "1"]
    assert ppo(tmp_path, *first) == 0
    assert "see it drive: " in capsys.readouterr().out  # it does not lap yet
    again = ["--resume", "a", "--timesteps", "4096"]
    assert ppo(tmp_path, *again, "--eval-laps", "2", "--eval-freq", "2048") == 0
    resumed = options_of("--resume", "a", *folders(tmp_path))
    assert (resumed.eval_freq, resumed.eval_laps) == (2048, 2)
    capsys.readouterr()
    assert train_ppo.main([*again, *folders(tmp_path)]) == 0
    assert "was measured on other laps" not in capsys.readouterr().out


def test_a_run_that_goes_on_is_saved_and_ended_as_before(trained: Path, tmp_path: Path) -> None:
    """Unless that is named again, which is told; without evaluations nothing can end it early."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "logs" / "lap" / "config.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    kept = {"checkpoint_freq": 7000, "keep_checkpoints": 50, "stop_when_competent": True, "stop_when_lap_time": 9.5}
    record["arguments"] |= kept
    path.write_text(json.dumps(record), encoding="utf-8")
    resume = ["--resume", "lap", *folders(tmp_path)]
    options = options_of(*resume, "--eval-freq", "4096")
    assert {name: getattr(options, name) for name in kept} == kept
    assert not options_of(*resume, "--eval-freq", "0").stop_when_competent
    named = ["--keep-checkpoints", "5", "--no-stop-when-competent", "--no-stop-when-lap-time"]
    options = options_of(*resume, *named, "--checkpoint-freq", "50000")
    sentences = make_plan(PPO, options, None).sentences
    assert "keep_checkpoints is 5 from here on; it was 50" in sentences
    assert "stop_when_competent is False from here on; it was True" in sentences
    assert "stop_when_lap_time is none from here on; it was 9.5" in sentences


def test_a_model_of_an_earlier_stretch_has_the_settings_of_that(tmp_path: Path) -> None:
    """What began after it is of another branch."""
    for first_step in (0, 100, 300):
        record_path(tmp_path, first_step).touch()
    (tmp_path / "config_from_odd_steps.json").touch()
    found = [last_record(tmp_path, steps).name for steps in (50, 100, 299, 300, 1000)]
    assert found == ["config.json", *2 * ["config_from_100_steps.json"], *2 * ["config_from_300_steps.json"]]


def test_a_resumed_run_is_told_what_its_model_does_not_know() -> None:
    """And nothing that is as usual."""
    options = options_of("--keep-checkpoints", "2", "--eval-track-id", "procedural:3", "--stop-when-competent")
    told = ["--keep-checkpoints", "2", "--eval-track-id", "procedural:3", "--stop-when-competent"]
    assert options.resume_command(PPO) == ["python", "-m", "training.train_ppo", *told]
