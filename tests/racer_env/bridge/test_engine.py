"""The vector environment over bridges: it does what the embedded one does, and survives what it can."""

import contextlib
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from racer_env.bridge import process as bridge_process
from racer_env.bridge.bridge import Bridge
from racer_env.bridge.client import BridgeClient
from racer_env.bridge.engine import for_all
from racer_env.bridge.process import BridgeProcess
from racer_env.config import AiConfig
from racer_env.contract import STEP_INFO_KEYS, Placement
from racer_env.errors import (
    ActionError,
    BridgeError,
    BridgeLostError,
    BridgeProtocolError,
    BridgeRefusedError,
    ConfigError,
)
from racer_env.tracks import Track
from racer_env.vec_env import RacerVecEnv
from tests.fake_peer import Drop, FakePeer, version_1_game
from tests.helpers import TEST_CONFIG, random_actions, with_limits
from training.callbacks import RacerMetricsCallback

pytestmark = pytest.mark.timeout(60)  # on a busy machine

TOLERANCE = 1e-9
CARS = 5
TICKS = 150
# Short episodes, so that many end: some by standing still, some by the clock.
LIMITS = with_limits(max_steps=40, stillness_timeout_ticks=25)

Rollout = list[tuple[Any, ...]]


def drive(env: RacerVecEnv, ticks: int = TICKS, seed: int = 3) -> Rollout:
    """Seed, reset and drive, one car not at all, and return all that came back."""
    env.seed(seed)
    seen: Rollout = [(env.reset(), [dict(info) for info in env.reset_infos])]
    actions = random_actions(seed, ticks, env.num_envs)
    actions[:, 0] = 0.0
    for action in actions:
        observations, rewards, dones, infos = env.step(action)
        seen.append((observations, rewards, dones, infos, [dict(info) for info in env.reset_infos]))
    env.close()
    return seen


def assert_same(actual: Any, expected: Any, where: str = "") -> None:
    """Compare rollouts: numbers to 1e-9 (float32 ones to their last digit), everything else exactly."""
    assert type(actual) is type(expected), where
    if isinstance(actual, dict):
        assert list(actual) == list(expected), where
        for key in actual:
            assert_same(actual[key], expected[key], f"{where} {key}")
    elif isinstance(actual, list | tuple):
        assert len(actual) == len(expected), where
        for index, pair in enumerate(zip(actual, expected, strict=True)):
            assert_same(*pair, f"{where} {index}")
    elif isinstance(actual, np.ndarray):
        assert actual.dtype == expected.dtype, where
        np.testing.assert_allclose(
            actual, expected, rtol=0, atol=1e-7 if actual.dtype == np.float32 else 0, err_msg=where
        )
    elif isinstance(actual, float):
        assert abs(actual - expected) <= TOLERANCE, where
    else:
        assert actual == expected, where


def embedded(tracks: list[Track], config: AiConfig = LIMITS, **options: Any) -> Rollout:
    """Return the rollout of the embedded simulator."""
    return drive(RacerVecEnv(tracks, CARS, config, bridge_url="embedded", **options))


# --- It does what the embedded one does ---


@pytest.mark.parametrize("options", [{}, {"random_start_share": 0.6}, {"equal_road_value": True}])
def test_same_rollout_as_the_embedded_one(bridge_server: str, tracks: list[Track], options: dict[str, Any]) -> None:
    """Same seed, same rollout: also starts, ends, terminal observations and infos."""
    over_bridge = drive(RacerVecEnv(tracks, CARS, LIMITS, bridge_url=bridge_server, **options))
    assert_same(over_bridge, embedded(tracks, **options))
    ends = [done for step in over_bridge[1:] for done in step[2]]
    assert sum(ends) >= 2 * CARS


def test_same_rollout_over_several_bridges(bridge_server: str, tracks: list[Track]) -> None:
    """Cars of one track may be on several bridges."""
    with BridgeProcess() as other:
        env = RacerVecEnv(tracks[:1], CARS, LIMITS, bridge_url=[bridge_server, other.url], random_start_share=0.6)
        assert len(env._fleet.engine._connections) == 2  # type: ignore[attr-defined]
        assert_same(drive(env), embedded(tracks[:1], random_start_share=0.6))


def test_same_rollout_over_version_1(tracks: list[Track]) -> None:
    """A bridge that knows nothing but version 1 has a connection per car, and the same rollout."""
    with FakePeer(version_1_game(tracks)) as peer:
        over_bridge = drive(RacerVecEnv(tracks, CARS, LIMITS, bridge_url=peer.url))
        assert peer.connections == 1 + CARS
    assert_same(over_bridge, embedded(tracks))


def test_connections_hold_no_more_cars_than_the_bridge_takes(bridge_server: str, tracks: list[Track]) -> None:
    """More cars are spread over connections."""
    bridge = Bridge(bridge_server)
    object.__setattr__(bridge.peer, "max_envs", 2)
    env = RacerVecEnv(tracks[:1], CARS, LIMITS, bridge_url=bridge)
    assert len(env._fleet.engine._connections) == 3  # type: ignore[attr-defined]
    assert_same(drive(env), embedded(tracks[:1]))


def test_connections_hold_no_more_cars_than_a_request(bridge_server: str, tracks: list[Track]) -> None:
    """However many the bridge says it takes: a reset with starts for all of them has to fit."""
    bridge = Bridge(bridge_server)
    object.__setattr__(bridge.peer, "max_envs", 100_000)
    env = RacerVecEnv(tracks[:1], 257, LIMITS, bridge_url=bridge, random_start_share=1.0)
    assert len(env._fleet.engine._connections) == 2  # type: ignore[attr-defined]
    env.reset()
    env.close()


def test_both_ends_on_one_tick(bridge_server: str, track: Track) -> None:
    """A car that times out in both ways is terminated, not truncated."""
    env = RacerVecEnv([track], 1, with_limits(20, 20), bridge_url=bridge_server)
    env.reset()
    for _ in range(20):
        _, _, dones, infos = env.step(np.zeros((1, 3)))
    assert dones.all()
    assert infos[0]["TimeLimit.truncated"] is False
    env.close()


def test_start_option_of_a_reset(bridge_server: str, track: Track) -> None:
    """Reset options and the cars' own start are honoured."""
    env = RacerVecEnv([track], 2, TEST_CONFIG, bridge_url=bridge_server)
    env.set_options([{"start": {"arc_length": 100.0, "speed": 30.0}}, {}])
    env.reset()
    assert [info["speed"] for info in env.reset_infos] == [30.0, 0.0]
    assert [info["lap"] for info in env.reset_infos] == [0, 1]
    env.close()


def test_closed_environment_leaves_no_connection(tracks: list[Track]) -> None:
    """Closing says goodbye on every connection; twice is fine."""
    with FakePeer(version_1_game(tracks)) as peer:
        env = RacerVecEnv(tracks, CARS, bridge_url=peer.url)
        env.reset()
        env.close()
        env.close()
        deadline = time.monotonic() + 5
        while peer.open_connections and time.monotonic() < deadline:
            time.sleep(0.01)
        assert peer.open_connections == 0


def test_steps_go_out_before_the_first_reply_is_read(tracks: list[Track]) -> None:
    """All cars of version 1 are stepped at once."""
    waiting: set[int] = set()

    def make_answer() -> Callable[[dict[str, Any]], Any]:
        game, name = version_1_game(tracks)(), len(names)
        names.append(name)

        def answer(message: dict[str, Any]) -> Any:
            if message["type"] == "step":
                waiting.add(name)
                deadline = time.monotonic() + 5
                while len(waiting) < CARS and time.monotonic() < deadline:
                    time.sleep(0.001)
            return game(message)

        return answer

    names: list[int] = []
    with FakePeer(make_answer) as peer:
        env = RacerVecEnv(tracks[:1], CARS, bridge_url=peer.url)
        env.reset()
        env.step(np.zeros((CARS, 3)))
        assert len(waiting) == CARS
        env.close()


# --- What is refused ---


def test_random_starts_need_version_2(tracks: list[Track]) -> None:
    """Nothing is quietly left out."""
    with FakePeer(version_1_game(tracks)) as peer:
        with pytest.raises(ConfigError, match="random_start_share must be 0"):
            RacerVecEnv(tracks, CARS, bridge_url=peer.url, random_start_share=0.5)
        with pytest.raises(ConfigError, match="needs the tracks' lengths"):
            RacerVecEnv(["track-01", "track-02"], CARS, bridge_url=peer.url, equal_road_value=True)


def test_wrong_actions_are_not_sent(bridge_server: str, track: Track) -> None:
    """A NaN raises by name, and the environment goes on."""
    env = RacerVecEnv([track], 2, bridge_url=bridge_server)
    env.reset()
    with pytest.raises(ActionError, match="throttle of car 1 is nan"):
        env.step(np.array([[0, 0, 0], [0, np.nan, 0]]))
    env.step(np.zeros((2, 3)))
    env.close()


def test_no_simulator_over_a_bridge(bridge_server: str, track: Track) -> None:
    """The embedded engine is not there."""
    env = RacerVecEnv([track], 1, bridge_url=bridge_server)
    with pytest.raises(ConfigError, match="has no simulator"):
        _ = env.simulator
    env.close()


# --- What goes wrong ---


@pytest.mark.parametrize(("reply", "error"), [(Drop(), BridgeLostError), ("junk", BridgeProtocolError)])
def test_dying_bridge_raises_and_later_calls_do_not_hang(tracks: list[Track], reply: Any, error: type) -> None:
    """What somebody else's bridge does wrong is raised, again at once on the next call."""
    steps = 0

    def make_answer() -> Callable[[dict[str, Any]], Any]:
        game = version_1_game(tracks)()

        def answer(message: dict[str, Any]) -> Any:
            nonlocal steps
            steps += message["type"] == "step"
            return game(message) if steps <= 2 * CARS else reply

        return answer

    with FakePeer(make_answer) as peer:
        env = RacerVecEnv(tracks, CARS, bridge_url=peer.url)
        env.reset()
        for _ in range(2):
            env.step(np.zeros((CARS, 3)))
        with pytest.raises(error, match=peer.url):
            env.step(np.zeros((CARS, 3)))
        began = time.monotonic()
        with pytest.raises(BridgeLostError):
            env.step(np.zeros((CARS, 3)))
        env.close()
        assert time.monotonic() - began < 2


def test_every_connection_is_served_before_the_first_error_is_raised() -> None:
    """No reply stays unread behind an error."""
    served = []

    def talk(connection: Any) -> None:
        served.append(connection)
        if connection < 2:
            raise BridgeRefusedError(f"no {connection}")

    with pytest.raises(BridgeRefusedError, match="no 0"):
        for_all([0, 1, 2], talk)  # type: ignore[list-item]
    assert served == [0, 1, 2]


# --- Restarting ---


@contextlib.contextmanager
def own_bridge(track: Track, config: AiConfig = TEST_CONFIG) -> Iterator[tuple[RacerVecEnv, BridgeProcess]]:
    """An environment over a bridge that may be started again."""
    with Bridge("auto") as bridge:
        env = RacerVecEnv([track], CARS, config, bridge_url=bridge)
        yield env, bridge.processes[0]
        env.close()


def kill(process: BridgeProcess) -> None:
    """End a bridge without a warning."""
    os.kill(process.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)


def test_killed_bridge_is_restarted_and_its_episodes_truncated(
    node_bridge: None, track: Track, caplog: pytest.LogCaptureFixture
) -> None:
    """The step after its death ends every episode with the last observation seen, and training goes on."""
    with own_bridge(track) as (env, process):
        first = env.reset()
        last = env.step(np.tile([0.0, 1.0, 0.0], (CARS, 1)))[0]
        kill(process)
        with caplog.at_level(logging.WARNING):
            observations, rewards, dones, infos = env.step(np.zeros((CARS, 3)))
        assert "restarted the bridge, running episodes are truncated" in caplog.text
        assert dones.all()
        assert not rewards.any()
        np.testing.assert_array_equal(observations, first)
        for info, seen in zip(infos, last, strict=True):
            assert info["TimeLimit.truncated"] is True
            np.testing.assert_array_equal(info["terminal_observation"], seen)
            assert not any(info[key] for key in STEP_INFO_KEYS)
        assert not env.step(np.zeros((CARS, 3)))[2].any()


def test_restart_counts_no_lap(node_bridge: None, track: Track) -> None:
    """Cars that had finished on the step before have not driven their old laps again."""
    with own_bridge(track, with_limits(max_steps=3)) as (env, process):
        metrics = RacerMetricsCallback()
        metrics.model = SimpleNamespace(logger=SimpleNamespace(record_mean=lambda *_: None))  # type: ignore[assignment]
        env.reset()
        for tick in range(5):
            if tick == 3:
                env._fleet.engine.infos["lap"] = 4
                kill(process)
            _, _, dones, infos = env.step(np.zeros((CARS, 3)))
            metrics.locals = {"infos": infos, "dones": dones}
            metrics._on_step()
        assert metrics.total_laps == 0
        assert not any(metrics.recent_completions)


def test_refusal_restarts_nothing(node_bridge: None, track: Track) -> None:
    """A bridge that has been started again would refuse again."""
    with own_bridge(track) as (env, process):
        before = process.pid
        env._fleet.engine.next_start = lambda car: Placement(2e6)  # type: ignore[attr-defined]
        with pytest.raises(BridgeRefusedError, match=r"starts\[0\]\[0\] must be within"):
            env.reset()
        assert process.pid == before


def test_wrong_start_in_the_middle_leaves_the_connections_in_step(bridge_server: str, tracks: list[Track]) -> None:
    """An error of the caller's is raised after every reply is read, and the environment goes on."""
    env = RacerVecEnv(tracks, CARS, with_limits(max_steps=3), bridge_url=bridge_server)
    env.reset()
    for _ in range(2):
        env.step(np.zeros((CARS, 3)))
    env.set_attr("start", "rndom")
    with pytest.raises(ConfigError, match="start: expected"):
        env.step(np.zeros((CARS, 3)))
    env.set_attr("start", None)
    for _ in range(5):
        env.step(np.zeros((CARS, 3)))
    env.close()


def test_closing_waits_for_all_at_once(tracks: list[Track]) -> None:
    """A game that does not answer goodbyes holds up many cars no longer than one."""

    def make_answer() -> Callable[[dict[str, Any]], Any]:
        game = version_1_game(tracks)()
        return lambda message: None if message["type"] == "close" else game(message)

    with FakePeer(make_answer) as peer:
        env = RacerVecEnv(tracks[:1], CARS, bridge_url=Bridge(peer.url))
        began = time.monotonic()
        env.close()
        assert time.monotonic() - began < 2


def test_bridge_killed_before_a_reset_is_restarted(node_bridge: None, track: Track) -> None:
    """A reset just begins."""
    with own_bridge(track) as (env, process):
        first = env.reset()
        kill(process)
        np.testing.assert_array_equal(env.reset(), first)
        assert not env.step(np.zeros((CARS, 3)))[2].any()


def test_hanging_bridge_is_restarted(node_bridge: None, track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bridge that does not answer by the deadline is ended and started again."""
    if not hasattr(signal, "SIGSTOP"):
        pytest.skip("needs SIGSTOP")
    monkeypatch.setattr(bridge_process, "STOP_TIMEOUT_S", 0.1)
    monkeypatch.setitem(BridgeClient.__init__.__kwdefaults__, "reply_timeout_s", 0.5)
    with own_bridge(track) as (env, process):
        env.reset()
        before = process.pid
        os.kill(process.pid, signal.SIGSTOP)
        assert env.step(np.zeros((CARS, 3)))[2].all()
        assert process.pid != before


def test_bridge_that_keeps_dying_is_given_up(node_bridge: None, track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a few restarts within some minutes the error is raised."""
    monkeypatch.setattr(bridge_process, "MAX_RESTARTS", 1)
    with own_bridge(track) as (env, process):
        env.reset()
        kill(process)
        env.step(np.zeros((CARS, 3)))
        kill(process)
        with pytest.raises(BridgeLostError, match="restarted 1 times within 10 minutes already"):
            env.step(np.zeros((CARS, 3)))


def test_somebody_elses_bridge_is_not_restarted(bridge_server: str) -> None:
    """The error is raised as it is."""
    error = BridgeError("gone")
    with pytest.raises(BridgeError, match="gone"):
        Bridge(bridge_server).restart(error)
