"""One car as a Gymnasium environment: its contract."""

import math
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import racer_env
from racer_env.config import AiConfig
from racer_env.contract import REWARD_COMPONENTS, STEP_INFO_KEYS
from racer_env.env import RacerEnv
from racer_env.errors import (
    ActionError,
    BridgeLostError,
    BridgeRefusedError,
    ClosedError,
    ConfigError,
    RacerError,
    TrackError,
)
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track
from tests.fake_peer import FakePeer, version_1_game
from tests.helpers import TEST_CONFIG, nearest_centre, random_actions, ring_document, with_limits

STEP_INFO_TYPES = {
    **dict.fromkeys(("progress", "speed", "wall", "offTrack", "backward", "stillness"), float),
    "tick": int,
    "rawSpeed": float,
    "lap": int,
    "checkpoint": int,
    "stepCount": int,
    "wallContact": bool,
    "stillnessCounter": int,
}
RESET_INFO_TYPES = {"tick": int, "speed": float, "lap": int, "checkpoint": int, "stepCount": int}
COAST = np.zeros(3, np.float32)
THROTTLE = np.array([0.0, 1.0, 0.0], np.float32)


@pytest.fixture
def env() -> RacerEnv:
    """A fresh environment on the first track."""
    return RacerEnv(config=TEST_CONFIG)


def types_of(info: dict[str, Any]) -> dict[str, type]:
    """Return the exact type of every value."""
    return {key: type(value) for key, value in info.items()}


def rollout(env: RacerEnv, seed: int | None, start: Any = "random", ticks: int = 100) -> list[Any]:
    """Reset and drive at random, and return all that came back."""
    seen: list[Any] = [env.reset(seed=seed, options={"start": start})]
    seen += [env.step(action) for action in random_actions(1, ticks)]
    return [[item.tolist() if isinstance(item, np.ndarray) else item for item in row] for row in seen]


# --- Spaces and info ---


def test_action_space(env: RacerEnv) -> None:
    """Actions are steer, throttle and brake in float32."""
    expected = gymnasium.spaces.Box(np.array([-1, 0, 0], np.float32), np.array([1, 1, 1], np.float32))
    assert env.action_space == expected


def test_observation_space(env: RacerEnv) -> None:
    """Observations are 14 numbers in float32; yaw rate and steer may be negative."""
    low = np.zeros(14, np.float32)
    low[[10, 11]] = -1.0
    assert env.observation_space == gymnasium.spaces.Box(low, np.ones(14, np.float32))


def test_step_info_has_exact_keys_and_types(env: RacerEnv) -> None:
    """The info of a step has the documented keys in their order, with Python's own types."""
    env.reset()
    info = env.step(THROTTLE)[4]
    assert types_of(info) == STEP_INFO_TYPES
    assert list(info) == list(STEP_INFO_TYPES) == list(STEP_INFO_KEYS)


def test_reset_info_has_exact_keys_and_types(env: RacerEnv) -> None:
    """The info of a reset has the documented keys, with Python's own types, at the begin of lap 1."""
    _, info = env.reset()
    assert types_of(info) == RESET_INFO_TYPES
    assert info == {"tick": 0, "speed": 0.0, "lap": 1, "checkpoint": 0, "stepCount": 0}


def test_step_returns_python_types(env: RacerEnv) -> None:
    """Reward and flags are Python's own float and bools, the observation is float32."""
    env.reset()
    observation, reward, terminated, truncated, _ = env.step(THROTTLE)
    assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
    assert (observation.dtype, observation.shape) == (np.float32, (14,))


def test_reward_is_the_sum_of_the_components(env: RacerEnv) -> None:
    """The reward is the sum of the six components in the info."""
    env.reset(seed=0, options={"start": "random"})
    for action in random_actions(0, 100):
        _, reward, _, _, info = env.step(action)
        assert reward == pytest.approx(sum(info[key] for key in REWARD_COMPONENTS), abs=1e-17)


def test_info_counts_steps(env: RacerEnv) -> None:
    """Tick and step count are the number of steps since the reset."""
    for _ in range(2):
        env.reset()
        infos = [env.step(COAST)[4] for _ in range(3)]
        assert [(info["tick"], info["stepCount"], info["stillnessCounter"]) for info in infos] == [
            (1, 1, 1),
            (2, 2, 2),
            (3, 3, 3),
        ]


def test_observations_stay_in_the_space(env: RacerEnv) -> None:
    """Every observation of a long random drive is in the observation space."""
    observation, _ = env.reset(seed=3, options={"start": "random"})
    assert env.observation_space.contains(observation)
    for action in random_actions(3, 2000):
        observation = env.step(action)[0]
        assert env.observation_space.contains(observation)


def test_observations_are_the_simulator_s(env: RacerEnv) -> None:
    """The environment shows what the engine computes, in float32."""
    simulator = Simulator([env.track], 1, TEST_CONFIG)
    observation, _ = env.reset()
    assert observation.tolist() == simulator.observations[0].astype(np.float32).tolist()
    for action in random_actions(2, 100):
        simulator.step(action[None])
        observation, reward, *_ = env.step(action)
        assert observation.tolist() == simulator.observations[0].astype(np.float32).tolist()
        assert reward == simulator.rewards[0]


def test_observation_is_not_overwritten_by_the_next_step(env: RacerEnv) -> None:
    """A kept observation keeps its numbers."""
    first, _ = env.reset()
    copy = first.copy()
    env.step(THROTTLE)
    env.step(THROTTLE)
    assert first.tolist() == copy.tolist()


# --- Seeds and starts ---


@pytest.mark.parametrize("start", ["standing", "random"])
def test_same_seed_gives_the_same_rollout(start: str) -> None:
    """Two environments with one seed give exactly equal rollouts."""
    assert rollout(RacerEnv(), 5, start) == rollout(RacerEnv(), 5, start)


def test_same_environment_repeats_a_seed(env: RacerEnv) -> None:
    """A used environment with the same seed gives the same rollout again."""
    assert rollout(env, 5) == rollout(env, 5)


def test_other_seed_gives_another_random_start(env: RacerEnv) -> None:
    """Random starts depend on the seed, and go on without one."""
    observations = [env.reset(seed=seed, options={"start": "random"})[0].tobytes() for seed in (1, 2, None, None)]
    assert len(set(observations)) == 4


def test_standing_start_is_the_default(env: RacerEnv) -> None:
    """Without an option the car stands on the line, also after a random start."""
    env.reset(seed=1, options={"start": "random"})
    env.reset()
    car = env.simulator.cars[0]
    assert (car["x"], car["y"], car["heading"]) == env.track.geometry.start
    assert car["speed"] == 0.0


def test_start_option_places_the_car(env: RacerEnv) -> None:
    """A dictionary puts the car where it says, on an out-lap."""
    _, info = env.reset(options={"start": {"arc_length": 410.0, "lateral": -6.0, "heading": 0.1, "speed": 44.0}})
    car = env.simulator.cars[0]
    arc_length, distance = nearest_centre(env.track.geometry, car["x"], car["y"])
    assert (arc_length, distance) == pytest.approx((410.0, 6.0), abs=0.01)
    assert (info["speed"], info["lap"]) == (44.0, 0)
    assert info["checkpoint"] == pytest.approx(410.0 / env.track.length * 30, abs=1.0)


def test_start_option_needs_only_an_arc_length(env: RacerEnv) -> None:
    """Lateral, heading and speed are 0 when left out."""
    env.reset(options={"start": {"arc_length": 100}})
    car = env.simulator.cars[0]
    tangent = env.track.geometry.centre_line.unit_tangent_at(np.array(100.0))
    assert (car["x"], car["y"]) == tuple(env.track.geometry.centre_line.point_at(np.array(100.0)))
    assert (car["heading"], car["speed"]) == (math.atan2(tangent[1], tangent[0]), 0.0)


def test_track_option_stays_until_another(env: RacerEnv) -> None:
    """The track that a reset names is driven on by later resets too."""
    env.reset(options={"track_id": "track-02"})
    assert env.track.id == "track-02"
    env.reset()
    assert env.track.id == "track-02"
    env.reset(options={"track_id": "track-01"})
    assert env.track.id == "track-01"


def test_going_back_to_a_track_equals_a_fresh_environment(env: RacerEnv) -> None:
    """A track driven on before starts as if it were new."""
    fresh = rollout(RacerEnv(config=TEST_CONFIG), 4)
    rollout(env, 1)
    env.reset(options={"track_id": "track-03"})
    env.reset(options={"track_id": "track-01"})
    assert rollout(env, 4) == fresh


def test_unknown_option_is_refused(env: RacerEnv) -> None:
    """A reset option that does not exist is an error that names it and the allowed ones."""
    with pytest.raises(ConfigError, match="unknown reset option 'trackId'; allowed: track_id, start"):
        env.reset(options={"trackId": "track-02"})


def test_unknown_track_option_is_refused(env: RacerEnv) -> None:
    """A track that does not exist is an error, and the environment stays on its track."""
    with pytest.raises(TrackError, match="no track 'track-99'"):
        env.reset(options={"track_id": "track-99"})
    assert env.track.id == "track-01"


# --- Making one ---


def test_track_argument() -> None:
    """The environment begins on the track it is made with."""
    assert RacerEnv(track_id="track-03").track.id == "track-03"


def test_unknown_track_argument_is_refused() -> None:
    """An id without a file is an error that lists the ids there are."""
    with pytest.raises(TrackError, match=r"no track 'track-99' in .*; there are: track-01"):
        RacerEnv(track_id="track-99")


def test_tracks_of_one_s_own(tmp_path: Path) -> None:
    """A folder of track files is looked through for the track."""
    (tmp_path / "mine.json").write_text(str(ring_document()).replace("'", '"'))
    env = RacerEnv(track_id="mine", tracks_dir=tmp_path)
    assert env.track.name == "Test"
    env.reset(options={"track_id": "track-02"})
    assert env.track.id == "track-02"


def test_config_path_argument(tmp_path: Path) -> None:
    """Weights and limits come from the file that is named."""
    path = tmp_path / "config.json"
    path.write_text('{"weights": {"stillnessPenalty": -0.25}, "episode": {"maxSteps": 1}}')
    env = RacerEnv(config_path=path)
    env.reset()
    _, reward, _, truncated, _ = env.step(COAST)
    assert (reward, truncated) == (-0.25, True)


def test_default_config_is_the_project_s() -> None:
    """Without arguments the weights are those of the shipped file."""
    env = RacerEnv()
    env.reset()
    assert env.step(COAST)[1] == AiConfig().weights.stillness_penalty


# --- Over a bridge ---


def test_same_rollout_over_a_bridge(bridge_server: str) -> None:
    """The bridge drives the same episode: standing, at random, and placed."""
    for start in ("standing", "random", {"arc_length": 300.0, "lateral": 5.0, "heading": 0.2, "speed": 70.0}):
        seen = [rollout(RacerEnv(url, config=TEST_CONFIG), 5, start) for url in (bridge_server, "embedded")]
        for over_bridge, embedded in zip(*seen, strict=True):
            np.testing.assert_allclose(over_bridge[0], embedded[0], rtol=0, atol=1e-7)
            assert over_bridge[-1] == pytest.approx(embedded[-1], rel=0, abs=1e-9)
            assert types_of(over_bridge[-1]) == types_of(embedded[-1])


def test_track_option_over_a_bridge(bridge_server: str, tracks: list[Track]) -> None:
    """Tracks are the bridge's; one that it does not have changes nothing."""
    env = RacerEnv(bridge_server)
    env.reset(options={"track_id": "track-02"})
    assert isinstance(env.track, Track)
    assert env.track.to_json() == tracks[1].to_json()
    with pytest.raises(TrackError, match="has no track 'moon'"):
        env.reset(options={"track_id": "moon"})
    assert env.track.id == "track-02"
    env.step(COAST)
    env.close()


def test_environment_variable_names_the_bridge(bridge_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """RACER_BRIDGE_URL is the default; an argument comes first."""
    monkeypatch.setenv("RACER_BRIDGE_URL", bridge_server)
    with pytest.raises(ConfigError, match="has no simulator"):
        _ = gymnasium.make(racer_env.ENV_ID).unwrapped.simulator  # type: ignore[attr-defined]
    assert RacerEnv("embedded").simulator


def test_unreachable_bridge_is_refused() -> None:
    """The error says how to start one."""
    with pytest.raises(BridgeLostError, match="npm start"):
        RacerEnv("ws://127.0.0.1:1")


@pytest.mark.parametrize("url", ["", "aut", "http://127.0.0.1:9876", "ws://example.org:9876"])
def test_other_urls_are_refused(url: str) -> None:
    """What is no bridge's URL is an error of its own."""
    with pytest.raises(ConfigError, match="bridge"):
        RacerEnv(url)


def test_version_1_bridge_has_what_the_environment_needs(tracks: list[Track]) -> None:
    """The user's own game, which speaks nothing else, drives the same; other starts are refused."""
    with FakePeer(version_1_game(tracks)) as peer:
        env = RacerEnv(peer.url, track_id="track-02", config=TEST_CONFIG)
        assert rollout(env, 5, "standing") == rollout(RacerEnv(track_id="track-02", config=TEST_CONFIG), 5, "standing")
        with pytest.raises(ConfigError, match="standing starts only"):
            env.reset(options={"start": "random"})
        with pytest.raises(BridgeRefusedError, match="refused: unknown key or track"):
            env.reset(options={"track_id": "moon"})
        env.step(COAST)
        env.close()


def test_bundled_bridge_is_started_and_started_again(node_bridge: None) -> None:
    """With auto an environment has a bridge of its own, which a reset brings back."""
    env = RacerEnv("auto")
    first, _ = env.reset()
    (process,) = env._car._bridge.processes  # type: ignore[union-attr]
    process.stop()
    with pytest.raises(BridgeLostError):
        env.step(COAST)
    np.testing.assert_array_equal(env.reset()[0], first)
    env.step(COAST)
    env.close()


def test_reset_after_the_bridge_was_lost_connects_anew(tracks: list[Track]) -> None:
    """A bridge that is there again can be used again."""
    with FakePeer(version_1_game(tracks)) as peer:
        env = RacerEnv(peer.url)
        first, _ = env.reset()
        peer.drop_all()
        for _ in range(2):
            with pytest.raises(BridgeLostError):
                env.step(COAST)
        np.testing.assert_array_equal(env.reset()[0], first)
        env.step(COAST)
        env.close()
        env.close()


def test_render_mode_is_refused() -> None:
    """What is no render mode is named with those there are."""
    with pytest.raises(ConfigError, match="render_mode must be None, 'human' or 'rgb_array', got 'ansi'"):
        RacerEnv(render_mode="ansi")


def test_errors_share_a_root() -> None:
    """A script can catch all of the project's errors at once."""
    with pytest.raises(RacerError):
        RacerEnv(track_id="track-99")


# --- Actions and order of calls ---


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ([math.nan, 0, 0], "actions must be finite numbers; steer of car 0 is nan"),
        ([0, math.inf, 0], "throttle of car 0 is inf"),
        ([0, 0, -math.inf], "brake of car 0 is -inf"),
        ([0, 0], r"shape \(3,\); got shape \(2,\)"),
        ([[0, 0, 0]], r"shape \(3,\); got shape \(1, 3\)"),
        (0.5, r"shape \(3,\); got shape \(\)"),
        (None, r"shape \(3,\); got shape \(\)"),
        (["a", "b", "c"], "actions must be real numbers"),
    ],
)
def test_wrong_action_is_refused(env: RacerEnv, action: Any, message: str) -> None:
    """Anything that is not three finite numbers is an error, and the car has not moved."""
    env.reset()
    with pytest.raises(ActionError, match=message):
        env.step(action)
    assert env.step(COAST)[4]["tick"] == 1


def test_action_beyond_the_bounds_is_clamped() -> None:
    """Actions out of range do what the nearest ones in range do."""
    one, other = RacerEnv(), RacerEnv()
    one.reset()
    other.reset()
    for _ in range(10):
        wild, tame = one.step(np.array([-7, 9, -1], np.float32)), other.step(np.array([-1, 1, 0], np.float32))
        assert wild[0].tolist() == tame[0].tolist()
        assert wild[1:] == tame[1:]


def test_step_before_reset_is_refused(env: RacerEnv) -> None:
    """An episode begins with a reset."""
    with pytest.raises(ClosedError, match=r"step\(\) before reset\(\)"):
        env.step(COAST)


def test_closed_is_closed(env: RacerEnv) -> None:
    """After close neither step nor reset works."""
    env.reset()
    env.close()
    with pytest.raises(ClosedError, match=r"step\(\) on a closed environment"):
        env.step(COAST)
    with pytest.raises(ClosedError, match=r"reset\(\) on a closed environment; make a new one"):
        env.reset()


def test_closing_twice_is_fine(env: RacerEnv) -> None:
    """A second close does nothing, with or without an episode."""
    env.close()
    env.close()
    with pytest.raises(ClosedError, match="closed"):
        env.reset()


# --- Ends of an episode ---


def test_max_steps_truncates() -> None:
    """The episode is truncated at maxSteps, and a reset begins the count anew."""
    env = RacerEnv(config=with_limits(max_steps=4))
    for _ in range(2):
        env.reset()
        assert [env.step(THROTTLE)[2:4] for _ in range(4)] == [(False, False)] * 3 + [(False, True)]


def test_stillness_terminates() -> None:
    """The episode terminates after the timeout's ticks at rest, and is not truncated."""
    env = RacerEnv(config=with_limits(stillness_timeout_ticks=3))
    env.reset()
    assert [env.step(COAST)[2:4] for _ in range(3)] == [(False, False)] * 2 + [(True, False)]


# --- Through Gymnasium's registry ---


def test_make() -> None:
    """The registered id makes the environment, and passes arguments on."""
    env = gymnasium.make("TopDownRacer-v0", track_id="track-02", config=TEST_CONFIG)
    assert isinstance(env.unwrapped, RacerEnv)
    assert env.unwrapped.track.id == "track-02"
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)


def test_make_adds_no_time_limit() -> None:
    """The environment truncates itself; no TimeLimit wrapper is around it."""
    env = gymnasium.make(racer_env.ENV_ID)
    assert env.spec is not None
    assert env.spec.max_episode_steps is None
    while isinstance(env, gymnasium.Wrapper):
        assert not isinstance(env, gymnasium.wrappers.TimeLimit)
        env = env.env


def test_make_vec() -> None:
    """Gymnasium's own vector environment drives three cars, each as a single environment does."""
    envs = gymnasium.make_vec(racer_env.ENV_ID, num_envs=3, vectorization_mode="sync")
    observations, _ = envs.reset(seed=9, options={"start": "random"})
    assert observations.shape == (3, 14)
    single = RacerEnv()
    assert observations[2].tolist() == single.reset(seed=11, options={"start": "random"})[0].tolist()
    for actions in random_actions(0, 30, 3):
        actions = np.clip(actions, [-1, 0, 0], 1).astype(np.float32)
        observations, rewards, _, _, infos = envs.step(actions)
        observation, reward, *_ = single.step(actions[2])
        assert observations[2].tolist() == observation.tolist()
        assert (rewards[2], infos["tick"].shape) == (reward, (3,))
    envs.close()


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"arc_length": 1, "speed": 1000}, r"speed must be within \[0, 160\] units/s, got 1000"),
        ({"arc_length": 1, "lateral": 1e308}, "lateral must be within 1000 units"),
        ({"arc_length": 2e6}, r"arc_length must be within 1e\+06 of 0, got 2e\+06"),
        ({"arc_length": 1, "heading": -1e9}, r"heading must be within 1e\+06 of 0"),
        ({"arc_length": "x"}, "arc_length must be a number, got 'x'"),
        ({"arc_length": True}, "arc_length must be a number, got True"),
        ({"speed": 3}, "lacks the key 'arc_length'"),
        ({"arc_length": 1, "place": 2}, "unknown key 'place'"),
        ({"arc_length": math.nan}, "arc_length must be a finite number, got nan"),
        ({"arc_length": 1, "heading": math.inf}, "heading must be a finite number, got inf"),
        ({"arc_length": 1, "speed": -1.0}, r"speed must be within \[0, 160\] units/s, got -1"),
        ({}, "lacks the key 'arc_length'"),
        ("flying", "start: expected 'standing', 'random' or a dictionary with arc_length, got 'flying'"),
        (None, "expected 'standing', 'random' or a dictionary"),
        (7, "expected 'standing', 'random' or a dictionary"),
        (np.zeros(3), "expected 'standing', 'random' or a dictionary"),
    ],
)
def test_a_start_that_is_none_is_refused(start: Any, message: str) -> None:
    """Each mistake in a start is named."""
    env = RacerEnv()
    with pytest.raises(ConfigError, match=message):
        env.reset(options={"start": start})


def test_a_refused_reset_leaves_the_episode_running() -> None:
    """A reset that fails changes neither track nor state."""
    env = RacerEnv()
    env.reset()
    env.step(np.array([0, 1, 0], np.float32))
    with pytest.raises(ConfigError):
        env.reset(options={"track_id": "track-02", "start": "x"})
    assert env.track.id == "track-01"
    assert env.step(np.array([0, 1, 0], np.float32))[4]["stepCount"] == 2


@pytest.mark.parametrize("action", [["1", "0", "0"], np.array([1j, 0, 0]), [None, 0, 0], [True, False, False]])
def test_an_action_of_anything_but_numbers_is_refused(action: Any) -> None:
    """Text, complex numbers, None and booleans are no action."""
    env = RacerEnv()
    env.reset()
    with pytest.raises(ActionError, match="real numbers"):
        env.step(action)
