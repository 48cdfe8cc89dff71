"""Presets: files of hyper-parameters with the arguments that go with them."""

import json
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from racer_env.errors import ConfigError
from tests.runs import data_of, folders, ppo
from training import train_ppo, train_sac
from training.algorithms.members.ppo import ALGORITHM, PpoSettings
from training.algorithms.presets import preset_names, preset_path, read_preset
from training.algorithms.settings import override
from training.runs.options import TrainingOptions, make_options, make_parser

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("name", preset_names())
def test_shipped_presets_are_sound(name: str) -> None:
    """Every name and value is one of PPO's, and each says what it is for."""
    preset = read_preset(preset_path(name))
    assert override(PpoSettings(), preset.hyperparameters, name)
    assert preset.algorithm == "PPO"
    assert len(preset.about) > 20


def test_the_presets_there_are() -> None:
    """For one track in seconds, for fast laps, for smooth ones, and for any road, in a minute or in minutes."""
    assert preset_names() == ["fast", "general", "general-long", "quick", "smooth", "tune"]
    with pytest.raises(
        ConfigError, match="no preset 'slow'; there are: fast, general, general-long, quick, smooth, tune"
    ):
        preset_path("slow")


def test_a_path_is_a_preset_of_ones_own() -> None:
    """It ends in .json."""
    assert preset_path("logs/sweep_1/best.json") == Path("logs/sweep_1/best.json")


def test_reward_weights_of_a_preset_are_checked(tmp_path: Path) -> None:
    """As those of a configuration are."""
    path = write(tmp_path, {"hyperparameters": {}, "ai_config": {"weights": {"speed": 1}}})
    with pytest.raises(ConfigError, match=r"own\.json: ai_config: unknown key 'speed' in weights"):
        read_preset(Path(path))


def write(folder: Path, document: object) -> str:
    """Write a file and return its path."""
    path = folder / "own.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_arguments_of_a_preset_are_defaults(tmp_path: Path) -> None:
    """What is named on the command line goes first; hyper-parameters go under --set."""
    document = {
        "hyperparameters": {"gamma": 0.9, "epochs": 2},
        "arguments": {"timesteps": 4096, "num_envs": 3, "track_id": ["track-02"]},
    }
    arguments = ["--hyperparams", write(tmp_path, document), "--num-envs", "4", "--set", "epochs=1"]
    assert ppo(tmp_path, "--run-name", "own", *arguments) == 0
    attributes = data_of(tmp_path, "own_final").attributes
    assert (attributes["gamma"], attributes["n_epochs"], attributes["n_envs"]) == (0.9, 1, 4)
    assert attributes["track_ids"] == ["track-02"]
    assert attributes["num_timesteps"] == 4096


def test_a_preset_may_name_the_model_to_begin_with(tmp_path: Path) -> None:
    """Another one on the command line goes first, and a run that goes on begins with none."""
    tune = ["--preset", "tune", "--timesteps", "64"]
    assert ppo(tmp_path, *tune, "--run-name", "own") == 0
    attributes = data_of(tmp_path, "own_final").attributes
    assert (attributes["track_ids"], attributes["hyperparameters"]["hidden"]) == (["track-01"], [128, 128])

    def options(*arguments: str) -> TrainingOptions:
        parsed = make_parser(ALGORITHM).parse_args([*tune, *arguments, *folders(tmp_path)])
        return make_options(ALGORITHM, parsed)

    assert options().initialize_from == "pretrained"
    assert options("--initialize-from", "own").initialize_from == "own"
    assert options("--resume", "own").initialize_from is None
    with pytest.raises(ConfigError, match="initialize_from must be a name"):
        read_preset(Path(write(tmp_path, {"hyperparameters": {}, "arguments": {"initialize_from": 3}})))


def test_evaluations_drive_on_tracks_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Generated ones are of another seed than those of training; the command to go on names them."""
    arguments = ["--track-id", "procedural:1", "--eval-track-id", "procedural:1", "--eval-freq", "4096"]
    assert ppo(tmp_path, "--run-name", "g", "--timesteps", "4096", "--eval-laps", "1", *arguments) == 0
    names = {path.stem for path in (tmp_path / "logs" / "g" / "records").glob("*")}
    assert names <= {"procedural-1000000-0"}
    assert data_of(tmp_path, "g_final").track_ids == ["procedural-0-0"]
    course = data_of(tmp_path, "g_best").attributes["score_course"]
    assert course.startswith("1 laps of procedural-1000000-0 ")


def test_evaluations_drive_from_random_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are in the log, in what is said, and a best score is one of so many."""
    arguments = ["--eval-random-starts", "2", "--eval-freq", "4096", "--eval-laps", "1", "--timesteps", "20000"]
    assert ppo(tmp_path, "--run-name", "r", "--preset", "quick", *arguments) == 0
    assert " of 4 random starts" in capsys.readouterr().out
    assert data_of(tmp_path, "r_best").attributes["score_course"].startswith("1 laps and 2 random starts of track-01 ")
    log = EventAccumulator(str(tmp_path / "logs" / "r"))
    log.Reload()
    for tag in ("eval/moving_start_success", "eval/standing_start_success", "eval/success", "eval/pace_units_per_sec"):
        assert tag in log.Tags()["scalars"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"hyperparameters": {"gama": 1}}, "unknown key 'gama'"),
        ({"hyperparameters": {}, "arguments": {"seed": 1}}, "unknown key 'seed'"),
        ({"hyperparameters": {}, "arguments": {"timesteps": "many"}}, "arguments.timesteps"),
        ({"hyperparameters": {}, "arguments": {"track_id": "track-01"}}, "must be a list of names"),
        ({"hyperparameters": {}, "more": 1}, "unknown key 'more'"),
        ({"hyperparameters": {}, "algorithm": "SAC"}, "is for SAC, not for PPO"),
    ],
)
def test_what_a_preset_cannot_say(
    tmp_path: Path, document: object, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line and exit code 2."""
    assert train_ppo.main(["--hyperparams", write(tmp_path, document), *folders(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_preset_is_for_its_algorithm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PPO's says nothing to SAC."""
    assert train_sac.main(["--preset", "smooth", *folders(tmp_path)]) == 2
    assert "is for PPO, not for SAC" in capsys.readouterr().err


def test_a_resumed_run_is_evaluated_as_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the same tracks, laps and random starts, whoever had named them; so its best model stays."""
    document = {"hyperparameters": {}, "arguments": {"eval_track_id": ["procedural:1"], "eval_laps": 1}}
    arguments = ["--hyperparams", write(tmp_path, document), "--eval-freq", "4096", "--eval-random-starts", "1"]
    assert ppo(tmp_path, "--run-name", "r", "--timesteps", "4096", *arguments) == 0
    course = data_of(tmp_path, "r_best").attributes["score_course"]
    again = ["--resume", "r", "--timesteps", "4096", "--eval-freq", "4096"]
    assert ppo(tmp_path, *again) == 0
    assert "was measured on other" not in capsys.readouterr().out
    assert data_of(tmp_path, "r_best").attributes["score_course"] == course
    assert ppo(tmp_path, *again, "--eval-laps", "2") == 0
    assert "was measured on other laps" in capsys.readouterr().out


def test_the_command_to_go_on_names_what_a_preset_said(tmp_path: Path) -> None:
    """As the one who types it may leave the preset out."""
    document = {"hyperparameters": {}, "arguments": {"eval_track_id": ["procedural:3"], "eval_laps": 2}}
    arguments = make_parser(ALGORITHM).parse_args(["--hyperparams", write(tmp_path, document)])
    told = make_options(ALGORITHM, arguments).resume_command(ALGORITHM)[3:]
    assert told == ["--eval-laps", "2", "--eval-track-id", "procedural:3"]
