"""Twins: environments that are copied or pickled go on as the original does, number by number."""

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from racer_env import RacerEnv, RacerVecEnv, RacerVectorEnv
from racer_env.errors import ConfigError
from racer_env.simulator.kernels import step_cars
from racer_env.tracks import Track
from tests.fake_peer import FakePeer, version_1_game
from tests.helpers import random_actions, with_limits

SMALL = {"size": (192, 96)}
WAYS: list[Callable[[Any], Any]] = [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]


@pytest.mark.parametrize("twin_of", WAYS)
@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
def test_one_car(twin_of: Callable[[Any], Any], render_mode: str | None) -> None:
    """With its track's turn, its random starts and its picture; the twin leaves the original alone."""
    config = with_limits(max_steps=40)
    tracks = ["track-01", "track-02"]
    env = gymnasium.make("TopDownRacer-v0", track_id=tracks, config=config, render_mode=render_mode, view=SMALL)

    def drive(each: gymnasium.Env) -> list[Any]:
        seen: list[Any] = []
        for action in random_actions(1, 50).astype(np.float32):
            seen.append([*each.step(action)])
            if seen[-1][3]:
                seen.append([*each.reset(options={"start": "random"}), each.unwrapped.track.id])
        return [*seen, None if render_mode is None else each.render().tobytes()]

    env.reset(seed=3, options={"start": "random"})
    drive(env)
    twin = twin_of(env)
    expected = repr(drive(twin))
    assert repr(drive(env)) == expected
    env.close()
    assert repr(twin.step(np.zeros(3, np.float32)))


@pytest.mark.parametrize("twin_of", WAYS)
def test_many_cars_of_stable_baselines3(twin_of: Callable[[Any], Any]) -> None:
    """With episodes that end, decisions of several ticks and what was set for a car."""
    options = {"random_start_share": 0.5, "action_repeat": 3, "render_mode": "rgb_array", "view": SMALL}
    env = RacerVecEnv(["track-01", "track-03"], 4, with_limits(max_steps=40), equal_road_value=True, **options)

    def drive(each: RacerVecEnv) -> str:
        steps = [each.step(actions) for actions in random_actions(2, 30, 4)]
        return repr(steps) + repr(each.render().tobytes())  # type: ignore[union-attr]

    env.set_attr("start", {"arc_length": 100.0}, indices=2)
    env.seed(5)
    env.reset()
    drive(env)
    twin = twin_of(env)
    expected = drive(twin)
    assert drive(env) == expected
    assert twin.get_attr("start", 2) == [{"arc_length": 100.0}]


@pytest.mark.parametrize("twin_of", WAYS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_many_cars_of_gymnasium(twin_of: Callable[[Any], Any], mode: str) -> None:
    """Also between the end of an episode and the begin of the next."""
    env = RacerVectorEnv(3, config=with_limits(max_steps=20), random_start_share=1.0, autoreset_mode=mode)
    env.reset(seed=1)
    for actions in random_actions(0, 20, 3):
        env.step(actions)
    twin = twin_of(env)
    expected = repr([twin.step(actions) for actions in random_actions(3, 30, 3)])
    assert repr([env.step(actions) for actions in random_actions(3, 30, 3)]) == expected


def test_a_twin_compiles_nothing() -> None:
    """Its arrays are of the types that the kernels were compiled for."""
    env = RacerEnv()
    compiled = len(step_cars.overloads)
    for twin_of in WAYS:
        twin_of(env)
    assert len(step_cars.overloads) == compiled


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")  # what was half made is left in silence
@pytest.mark.parametrize("twin_of", WAYS)
@pytest.mark.parametrize("kind", [RacerEnv, RacerVecEnv, RacerVectorEnv])
def test_over_a_bridge_there_is_no_twin(kind: type, twin_of: Callable[[Any], Any], track: Track) -> None:
    """Which is said in one line; the environment drives on."""
    with FakePeer(version_1_game([track])) as peer:
        env = kind(bridge_url=peer.url)
        env.reset()
        with pytest.raises(ConfigError, match=r"over a bridge cannot be copied or pickled, .*; make another environ"):
            twin_of(env)
        gc.collect()
        env.reset()
        env.close()
