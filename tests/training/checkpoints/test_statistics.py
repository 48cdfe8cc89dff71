"""Normalisation statistics as numbers: what they do, and which are refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import ModelError
from racer_env.vec_env import RacerVecEnv
from tests.helpers import random_actions
from training.checkpoints.pickled import read_pickled
from training.checkpoints.statistics import parse_statistics
from training.checkpoints.vec_normalize import normalised, statistics_of
from training.runs.health import check_statistics


@pytest.fixture(scope="module")
def driven() -> VecNormalize:
    """An environment of three cars that has seen something, with settings of its own."""
    env = VecNormalize(RacerVecEnv(["track-01"], 3), clip_obs=2.0, clip_reward=3.0, gamma=0.9, epsilon=1e-4)
    env.seed(1)
    env.reset()
    for actions in random_actions(0, 50, 3):
        env.step(actions)
    return env


def test_they_normalise_as_stable_baselines3_does(driven: VecNormalize) -> None:
    """Bit by bit, clipped values included, also after a round through JSON."""
    statistics = parse_statistics(json.loads(json.dumps(statistics_of(driven).document())), "x")
    observations = np.random.default_rng(0).random((100, 14), dtype=np.float32)
    expected: Any = driven.normalize_obs(observations)
    assert np.array_equal(statistics(observations), expected)
    assert (np.abs(expected) == 2.0).any()
    assert statistics(observations).dtype == np.float32


@pytest.mark.parametrize("cars", [3, 5])
def test_training_goes_on_as_before(driven: VecNormalize, cars: int) -> None:
    """With moments, counts, bounds and discount, for any number of cars; one step later they have learnt the same."""
    env = normalised(RacerVecEnv(["track-01"], cars), statistics_of(driven))
    assert statistics_of(env) == statistics_of(driven)
    assert env.returns.shape == (cars,)
    again = normalised(RacerVecEnv(["track-01"], cars), statistics_of(driven))
    for other in (env, again):
        other.seed(2)
        other.reset()
        other.step(np.ones((cars, 3)))
    assert statistics_of(env) == statistics_of(again) != statistics_of(driven)
    assert env.obs_rms.count == driven.obs_rms.count + 2 * cars


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"obs_mean": [0.0] * 13}, "obs_mean must be a list of 14 numbers"),
        ({"obs_mean": [0.0] * 13 + [float("nan")]}, "obs_mean must be a finite number"),
        ({"obs_mean": [[0.0]] * 14}, "obs_mean must be a number"),
        ({"obs_var": [1.0] * 13 + [-1.0]}, "obs_var must not be negative"),
        ({"obs_var": None}, "obs_var must be a list"),
        ({"obs_count": 0}, "obs_count must be above 0"),
        ({"return_count": -1.0}, "return_count must be above 0"),
        ({"return_mean": "0"}, "return_mean must be a number"),
        ({"return_var": -1e-9}, "return_var must not be negative"),
        ({"clip_obs": 0.0}, "clip_obs must be above 0"),
        ({"epsilon": 1e400}, "epsilon must be a finite number"),
        ({"obs_mean": [0.0] * 13 + [-1e308]}, r"obs_mean must be within \+-1e\+30, got -1e\+308"),
        ({"obs_var": [1.7e308] * 14}, "obs_var must be within"),
        ({"return_mean": 1e308}, "return_mean must be within"),
        ({"clip_obs": 1e308}, "clip_obs must be within"),
        ({"obs_count": 1e308}, "obs_count must be within"),
        ({"epsilon": 5e-324}, "epsilon must be at least 1e-30, got"),
        ({"gamma": 1.1}, "gamma must be from 0 to 1"),
        ({"gamma": True}, "gamma must be a number"),
        ({"norm_reward": 1}, "norm_reward must be true or false"),
        ({"more": 1}, "unknown key 'more'"),
    ],
)
def test_other_numbers_are_refused(driven: VecNormalize, change: dict[str, Any], message: str) -> None:
    """One line that says where and what."""
    with pytest.raises(ModelError, match=f"^x: .*{message}"):
        parse_statistics({**statistics_of(driven).document(), **change}, "x")


@pytest.mark.parametrize("document", [None, [], {}, 3, "text"])
def test_other_documents_are_refused(document: Any) -> None:
    """Whatever JSON can hold."""
    with pytest.raises(ModelError, match="the statistics"):
        parse_statistics(document, "x")


@pytest.mark.parametrize("norm_reward", [True, False])
def test_observations_that_stay_as_they_are(norm_reward: bool, tmp_path: Path) -> None:
    """From the file of an environment that does not normalise them, through JSON, and on in training."""
    env = VecNormalize(RacerVecEnv(["track-01"], 3), norm_obs=False, norm_reward=norm_reward, clip_obs=0.5)
    env.reset()
    env.step(np.ones((3, 3)))
    env.save(str(tmp_path / "x.pkl"))
    statistics = read_pickled(tmp_path / "x.pkl")
    assert statistics == statistics_of(env) == parse_statistics(json.loads(json.dumps(statistics.document())), "x")
    observations = np.random.default_rng(0).uniform(-1, 1, (100, 14)).astype(np.float32)
    np.testing.assert_array_equal(statistics(observations), observations)
    again = normalised(RacerVecEnv(["track-01"], 2), statistics)
    again.reset()
    np.testing.assert_array_equal(again.step(np.ones((2, 3)))[0], again.get_original_obs())
    assert (again.norm_obs, again.norm_reward) == (False, norm_reward)
    check_statistics(again, 0)
