"""The command line of a sweep, and what is refused before it takes its name."""

import json
from pathlib import Path

import pytest

from racer_env.errors import RacerError
from tests.runs import make_fresh
from training.sweeps.bases import Base, check_unchanged, make_bases
from training.sweeps.objective import OBJECTIVES
from training.sweeps.options import parse


def bases(*arguments: str) -> list[Base]:
    """Return the bases of a sweep, as its command line describes them."""
    options = parse(arguments)
    return make_bases(options, OBJECTIVES[options.objective])


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the line with which a command line is refused."""
    with pytest.raises(SystemExit) as ended:
        bases(*arguments)
    assert ended.value.code == 2
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    return output


def test_options_of_training_go_to_every_run() -> None:
    """As they are."""
    (base,) = bases("--timesteps", "5000", "--seeds", "3", "--set", "gamma=0.9", "--track-id", "all")
    assert base.arguments[:6] == ("--timesteps", "5000", "--set", "gamma=0.9", "--track-id", "all")
    assert (base.run.settings.gamma, len(base.run.tracks)) == (0.9, 3)


def test_algorithms_and_presets_are_crossed() -> None:
    """Each pair is a base."""
    assert [base.label for base in bases("--preset", "quick", "smooth")] == ["PPO quick", "PPO smooth"]
    assert [base.label for base in bases("--algorithm", "sac", "td3")] == ["SAC", "TD3"]


def test_seeds_are_counted_from_the_first() -> None:
    """Which is 0 if nothing is said."""
    assert parse(["--seeds", "3"]).all_seeds == [0, 1, 2]
    assert parse(["--seeds", "2", "--seed", "5"]).all_seeds == [5, 6]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--run-name a", "the runs of a sweep have names of their own"),
        ("--overwrite", "the runs of a sweep have names of their own"),
        ("--bridge-url auto", "runs side by side cannot share a game"),
        ("--eval-freq 0", "a sweep judges runs by their evaluations, got --eval-freq 0"),
        ("--resume a --timesteps 5000", "a sweep goes on as it was begun; leave out --timesteps"),
        ("--resume a --seeds 2", "a sweep goes on as it was begun; leave out --seeds"),
        ("--trials 5", "--trials is of a search"),
        ("--algorithm PPO PPO", "--algorithm names one twice"),
        ("--algorithm A2C", "invalid choice: 'A2C'"),
        ("--seeds 0", "expected at least 1"),
        ("--objective speed", "invalid choice: 'speed'"),
        ("--no-such-option", "unrecognized arguments: --no-such-option"),
        ("--track-seed 5", "--track-seed is of sets of generated tracks"),
    ],
)
def test_what_a_sweep_cannot_have_is_one_line(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether the sweep or its runs cannot have it."""
    assert message in refusal(capsys, *arguments.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--set gama=1", "unknown key 'gama'"),
        ("--preset slow", "no preset 'slow'; there are: fast, general"),
        ("--algorithm SAC --preset smooth", "preset smooth is for PPO, not for SAC"),
        ("--search --set gamma=0.9", "gamma is set by --set and searched too"),
        ("--search none.json", "search space file not found: none.json"),
        ("--track-id none", "none"),
        ("--initialize-from none", "no model or run none"),
    ],
)
def test_what_is_wrong_or_missing_is_found_before_anything_is_trained(arguments: str, message: str) -> None:
    """By the checks of the training scripts."""
    with pytest.raises(RacerError, match=message):
        bases(*arguments.split())


def test_every_algorithm_is_searched_in_its_own_space(tmp_path: Path) -> None:
    """Files say which they are for; one that does not is for all."""
    own = {name: tmp_path / f"{name}.json" for name in ("PPO", "SAC")}
    for name, path in own.items():
        path.write_text(json.dumps({"algorithm": name, "hyperparameters": {"gamma": [0.9]}}))
    found = bases("--algorithm", "SAC", "PPO", "--search", *map(str, own.values()))
    assert [base.space.document["algorithm"] for base in found] == ["SAC", "PPO"]
    shipped = bases("--algorithm", "SAC", "PPO", "--search")
    assert [base.space.document["algorithm"] for base in shipped] == ["SAC", "PPO"]
    with pytest.raises(RacerError, match="--search takes one search space for TD3, and names none; see --algorithm"):
        bases("--algorithm", "PPO", "TD3", "--search", str(own["PPO"]))
    with pytest.raises(RacerError, match="SAC.json is for 'SAC', which is not among --algorithm"):
        bases("--search", *map(str, own.values()))


def test_runs_end_once_their_steps_to_clean_laps_are_known() -> None:
    """Unless they are asked not to."""
    (base,) = bases("--objective", "steps")
    assert base.run.stop_when_competent
    (base,) = bases("--objective", "steps", "--no-stop-when-competent")
    assert not base.run.stop_when_competent
    (base,) = bases("--objective", "pace")
    assert not base.run.stop_when_competent


@pytest.mark.timeout(60)
def test_a_model_to_begin_with_is_found_from_the_folders_of_the_runs(tmp_path: Path) -> None:
    """Where its name alone would mean nothing."""
    model = make_fresh(tmp_path)
    (base,) = bases("--initialize-from", "fresh", "--models-dir", str(tmp_path))
    assert base.arguments[-4:] == ("--initialize-from", str(model), "--bridge-url", "embedded")


def test_a_game_that_is_the_users_default_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs are told."""
    monkeypatch.setenv("RACER_BRIDGE_URL", "ws://127.0.0.1:1")
    (base,) = bases()
    assert base.arguments == ("--bridge-url", "embedded")


def test_a_sweep_goes_on_only_with_what_it_began_with(tmp_path: Path) -> None:
    """What has changed since is named."""
    path = tmp_path / "settings.json"
    path.write_text('{"gamma": 0.9}')
    before = [base.as_document() for base in bases("--hyperparams", str(path))]
    check_unchanged(before, bases("--hyperparams", str(path)))
    path.write_text('{"gamma": 0.8}')
    with pytest.raises(RacerError, match="PPO: hyperparameters was .* when the sweep began, and now is"):
        check_unchanged(before, bases("--hyperparams", str(path)))
