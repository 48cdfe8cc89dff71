"""Search spaces: what their files may say, and what is refused before anything is trained."""

import json
from pathlib import Path
from typing import Any

import optuna
import pytest

from racer_env.config import AiConfig
from racer_env.errors import ConfigError
from training.algorithms.members.ppo import PpoSettings
from training.algorithms.registry import all_algorithms
from training.sweeps.search_space import SearchSpace, parse_space, read_space, shipped_space


def space(weights: dict[str, Any] | None = None, /, **hyperparameters: Any) -> SearchSpace:
    """Return a search space for PPO."""
    return parse_space({"hyperparameters": hyperparameters, "weights": weights or {}}, PpoSettings(), "space.json")


def suggested(searched: SearchSpace) -> dict[str, Any]:
    """Return what Optuna chooses for every name."""
    trial = optuna.create_study().ask()
    return {name: dimension.suggest(trial, name) for name, dimension in searched.dimensions.items()}


@pytest.mark.parametrize("name", [*all_algorithms()])
def test_every_algorithm_has_a_space_of_its_own(name: str) -> None:
    """Which holds its defaults, so that a search begins with them."""
    algorithm = all_algorithms()[name]
    path = shipped_space(algorithm)
    document = read_space(path)
    assert document["algorithm"] == name
    searched = parse_space(document, algorithm.settings(), str(path))
    assert len(searched.dimensions) > 5
    assert searched.place_of(algorithm.settings(), AiConfig(), "") is not None


def test_what_is_suggested_is_in_the_space() -> None:
    """Values of any kind, whole numbers, and reward weights."""
    searched = space(
        {"offTrackPenalty": {"low": -0.01, "high": -0.005}},
        gamma=[0.98, 0.99],
        epochs={"low": 3, "high": 5},
        hidden=[[32, 32], [64]],
        activation={"values": ["relu", "elu"]},
        learning_rate={"low": 1e-4, "high": 1e-3, "log": True},
    )
    values = suggested(searched)
    assert values["gamma"] in (0.98, 0.99)
    assert type(values["epochs"]) is int
    assert values["hidden"] in ([32, 32], [64])
    assert values["activation"] in ("relu", "elu")
    assert 1e-4 <= values["learning_rate"] <= 1e-3
    assert -0.01 <= values["offTrackPenalty"] <= -0.005


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learning_rat": [1]}, "unknown key 'learning_rat' in hyperparameters"),
        ({"gamma": [0.5, 1.5]}, r"gamma must be within \[0, 1\], got 1.5"),
        ({"gamma": {"low": 0.5, "high": 1.5}}, r"gamma must be within \[0, 1\], got 1.5"),
        ({"gamma": {"low": 0.9, "high": 0.5}}, "gamma must have its low end first, got low 0.9 and high 0.5"),
        ({"gamma": {"low": float("nan"), "high": 0.5}}, "gamma must be a finite number, got nan"),
        ({"gamma": {"low": 0, "high": 0.5, "log": True}}, "gamma must have a low end above 0, as log is true, got 0"),
        ({"gamma": {"low": 0.1, "high": 0.5, "log": 1}}, "gamma.log must be true or false, got 1"),
        ({"gamma": {"low": 0.1}}, "gamma lacks the key 'high'"),
        ({"gamma": {"low": 0.1, "high": 0.5, "step": 1}}, "unknown key 'step' in gamma"),
        ({"gamma": {"low": 0.1, "high": 0.5, "values": [0.5]}}, "gamma must have values or a range"),
        ({"gamma": 0.5}, "gamma must be an object, got float"),
        ({"gamma": []}, "gamma.values must be a list of values"),
        ({"gamma": [0.5, 0.5]}, "gamma.values has 0.5 twice"),
        ({"gamma": ["much"]}, "gamma must be a number, got 'much'"),
        ({"epochs": {"low": 1.5, "high": 3}}, "epochs must be a whole number, got 1.5"),
        ({"hidden": {"low": 16, "high": 64}}, "hidden is not one number, so it has no range; give it values"),
        ({"activation": ["step"]}, "activation must be one of"),
    ],
)
def test_what_a_hyper_parameter_cannot_be_is_one_line(given: dict[str, Any], message: str) -> None:
    """That names the file, the name and the value."""
    with pytest.raises(ConfigError, match=message) as refusal:
        space(**given)
    assert str(refusal.value).startswith("space.json: ")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"offTrack": [0]}, "unknown key 'offTrack' in weights"),
        ({"wallPenalty": [-1e7]}, "weights.wallPenalty must be within"),
        ({"wallPenalty": {"low": 0, "high": -1}}, "wallPenalty must have its low end first"),
        ({"wallPenalty": {"low": -1, "high": 0, "log": True}}, "wallPenalty must have a low end above 0"),
    ],
)
def test_what_a_reward_weight_cannot_be_is_one_line(given: dict[str, Any], message: str) -> None:
    """Like a hyper-parameter."""
    with pytest.raises(ConfigError, match=message):
        space(given)


@pytest.mark.parametrize("content", ["{}", "[]", '{"hyperparameters": {}, "other": 1}', "{"])
def test_a_file_of_something_else_is_refused(content: str, tmp_path: Path) -> None:
    """With its path."""
    path = tmp_path / "space.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=r"space\.json"):
        read_space(path)


def test_a_grid_has_every_combination() -> None:
    """By Optuna's names, to which lists are texts."""
    grid = space({"speedBonus": [0, 1]}, hidden=[[32], [64]]).grid("PPO: ")
    assert len(grid) == 4
    assert {"PPO: hidden": json.dumps([64]), "PPO: speedBonus": 0} in grid


def test_a_grid_takes_no_ranges_and_has_an_end() -> None:
    """Nobody waits for ten thousand trials."""
    with pytest.raises(ConfigError, match="learning_rate is searched in a range"):
        space(learning_rate={"low": 0.1, "high": 0.2}).grid("")
    many = [number / 1000 for number in range(200)]
    with pytest.raises(ConfigError, match="up to 10,000 settings"):
        space(gamma=many, gae_lambda=many).grid("")


def test_settings_outside_a_space_have_no_place_in_it() -> None:
    """So that a search does not begin with what it may not try."""
    assert space(gamma=[0.5, 0.99]).place_of(PpoSettings(), AiConfig(), "") == {"gamma": 0.99}
    assert space(gamma=[0.5, 0.6]).place_of(PpoSettings(), AiConfig(), "") is None
    assert space({"wallPenalty": {"low": -1, "high": 0}}).place_of(PpoSettings(), AiConfig(), "") is not None
