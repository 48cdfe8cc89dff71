"""Many cars as a vector environment of Gymnasium."""

import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

from racer_env import ENV_ID, RacerEnv, RacerVectorEnv
from racer_env.errors import ActionError, ClosedError, ConfigError
from racer_env.project import PROJECT_ROOT
from racer_env.tracks import Track
from tests.fake_peer import FakePeer, version_1_game
from tests.helpers import random_actions, with_limits

MODES = ["NextStep", "SameStep"]
SHORT = with_limits(max_steps=30, stillness_timeout_ticks=20)


def make(num_envs: int = 3, **more: Any) -> Any:
    """Make cars with short episodes by Gymnasium's registry."""
    return gymnasium.make_vec(ENV_ID, num_envs=num_envs, **{"config": SHORT, **more})


def assert_same_infos(infos: dict[str, Any], expected: dict[str, Any]) -> None:
    """Both have the same values wherever their masks say that there is one."""
    for name in {*infos, *expected} - {"final_info", "final_obs"}:
        if name.startswith("_"):
            nowhere = np.zeros(len(infos["_tick"]), np.bool_)
            assert np.array_equal(infos.get(name, nowhere), expected.get(name, nowhere)), name
        elif name in expected:
            mask = expected[f"_{name}"]
            assert infos[name].dtype == expected[name].dtype
            assert np.array_equal(infos[name][mask], expected[name][mask]), name
    assert ("final_info" in infos) == ("final_info" in expected)
    if "final_info" in infos:
        assert_same_infos(infos["final_info"], expected["final_info"])
        for observation, other in zip(infos["final_obs"], expected["final_obs"], strict=True):
            assert np.array_equal(observation, other)


@pytest.mark.parametrize("mode", MODES)
def test_it_drives_as_gymnasium_s_own_vector_environment(mode: str) -> None:
    """Observations, rewards, ends and infos, over several episodes that end in both ways."""
    tracks = ["track-01", "track-02"]
    envs = make(2, autoreset_mode=mode, track_id=tracks)
    makers = [lambda track=track: RacerEnv(track_id=track, config=SHORT) for track in tracks]
    others = SyncVectorEnv(makers, autoreset_mode=AutoresetMode(mode))
    options = {"start": "random"}
    results, expected = envs.reset(seed=[4, 5], options=options), others.reset(seed=[4, 5], options=options)
    assert np.array_equal(results[0], expected[0])
    assert_same_infos(results[1], expected[1])
    ends = np.zeros(2, np.int64)
    for actions in random_actions(1, 80, 2).clip([-1, 0, 0], 1).astype(np.float32):
        actions[0] = 0.0
        *results, infos = envs.step(actions)
        *expected, expected_infos = others.step(actions)
        for array, other in zip(results, expected, strict=True):
            assert array.dtype == other.dtype
            assert np.array_equal(array, other)
        assert_same_infos(infos, expected_infos)
        ends += [results[2].sum(), results[3].sum()]
    assert (ends >= 2).all()


@pytest.mark.parametrize("mode", MODES)
def test_it_drives_the_same_over_a_bridge(engine_url: str, mode: str) -> None:
    """With random starts and decisions of several ticks."""
    more = {"random_start_share": 1.0, "action_repeat": 7, "autoreset_mode": mode}
    embedded, envs = make(**more), make(**more, bridge_url=engine_url)
    results = []
    for each in (embedded, envs):
        rows = [each.reset(seed=1)[0]]
        for actions in random_actions(2, 20, 3):
            rows += each.step(actions)[:4]
        results.append(np.concatenate([np.ravel(row).astype(np.float64) for row in rows]))
    assert results[0] == pytest.approx(results[1], abs=1e-6)
    envs.close()


def test_a_decision_ends_with_the_episode_and_the_next_one_begins_at_rest() -> None:
    """With several ticks in a decision, a car that waits does not coast."""
    envs = make(1, action_repeat=4, config=with_limits(max_steps=6))
    first, _ = envs.reset()
    throttle = np.array([[0.0, 1.0, 0.0]])
    rows = [envs.step(throttle) for _ in range(3)]
    assert [row[3].tolist() for row in rows] == [[False], [True], [False]]
    assert np.array_equal(rows[2][0], first)
    assert (rows[2][1].tolist(), rows[1][4]["stepCount"].tolist(), rows[2][4]["stepCount"].tolist()) == (
        [0.0],
        [6],
        [0],
    )


def test_same_seed_gives_the_same_starts_and_another_none_of_them() -> None:
    """And no seed goes on with the generators."""
    envs = make(8, random_start_share=1.0)
    first, again, other = envs.reset(seed=1)[0], envs.reset(seed=1)[0], envs.reset(seed=2)[0]
    assert np.array_equal(first, again)
    assert not np.array_equal(first, envs.reset()[0])
    assert not {row.tobytes() for row in first} & {row.tobytes() for row in other}


def test_spaces_and_metadata() -> None:
    """Of one car and of all."""
    envs, one = make(2), RacerEnv()
    assert (envs.single_observation_space, envs.single_action_space) == (one.observation_space, one.action_space)
    assert (envs.observation_space.shape, envs.action_space.shape) == ((2, 14), (2, 3))
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.observation_space.contains(envs.reset(seed=0)[0])
    assert envs.observation_space.contains(envs.step(envs.action_space.sample())[0])


def test_gymnasium_s_wrappers_are_content() -> None:
    """They count, normalise, clip and rearrange, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counted = wrappers.RecordEpisodeStatistics(make(4))
        envs: Any = wrappers.NormalizeReward(wrappers.NormalizeObservation(counted))
        envs = wrappers.ClipAction(wrappers.DtypeObservation(envs, np.float32))
        envs.reset(seed=0)
        for _ in range(70):
            observations, rewards, *_ = envs.step(np.full((4, 3), [0.0, 2.0, 0.0]))
            assert np.isfinite(observations).all() and np.isfinite(rewards).all()
        listed = wrappers.DictInfoToList(make(2))
        assert [info["stepCount"] for info in listed.reset()[1]] == [0, 0]  # type: ignore[call-overload]
    assert set(counted.length_queue) == {30}
    assert counted.episode_count == 8
    envs.close()


def test_statistics_are_counted_in_both_modes() -> None:
    """A return is the sum of an episode's rewards, however its end is told."""
    returns = []
    for mode in MODES:
        envs = wrappers.RecordEpisodeStatistics(make(2, autoreset_mode=mode))
        envs.reset()
        for _ in range(31):
            *_, infos = envs.step(np.tile([0.0, 1.0, 0.0], (2, 1)))
            if "episode" in infos:
                returns.append([*infos["episode"]["r"], *infos["episode"]["l"]])
    assert returns[0] == returns[1]
    assert returns[0][2:] == [30, 30]


def test_each_car_has_a_picture(tmp_path: Any) -> None:
    """Of its own, which Gymnasium's recorder puts together."""
    view = {"size": (160, 96), "camera": "follow"}
    envs = make(2, render_mode="rgb_array", view=view)
    envs.reset(options={"start": {"arc_length": 50.0}})
    pictures = envs.render()
    assert [picture.shape for picture in pictures] == [(96, 160, 3)] * 2
    envs.step(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    first, second = envs.render()
    assert not np.array_equal(first, second)
    windowed = make(1, render_mode="human", view=view)
    windowed.reset()
    assert windowed.render() is None
    windowed.close()


def test_attributes_of_the_cars() -> None:
    """As of Gymnasium's own vector environments."""
    envs = make(2, track_id=["track-01", "track-02"])
    assert envs.get_attr("track_id") == ("track-01", "track-02")
    envs.set_attr("start", [{"arc_length": 9.0}, {"arc_length": 90.0}])
    envs.reset()
    assert envs.unwrapped.simulator.cars["arc_length"] == pytest.approx([9.0, 90.0], abs=1e-3)
    assert envs.call("get_wrapper_attr", "index") == (0, 1)
    with pytest.raises(ConfigError, match="a value of start for each car would be 2 values, got 1"):
        envs.set_attr("start", ["random"])


def test_what_is_wrong_is_said_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    """And nothing else is printed."""
    for message, arguments in {
        "autoreset_mode must be 'NextStep' or 'SameStep', got 'Disabled'": {"autoreset_mode": AutoresetMode.DISABLED},
        "num_envs must be at least the number of tracks, 3; got 2": {"num_envs": 2, "track_id": "all"},
        "num_envs must be a whole number up to 16,384, got 1000000000": {"num_envs": 10**9},
    }.items():
        with pytest.raises(ConfigError, match=message):
            gymnasium.make_vec(ENV_ID, **arguments)
    envs = make(2)
    with pytest.raises(ClosedError, match="before reset"):
        envs.step(np.zeros((2, 3)))
    with pytest.raises(ConfigError, match="unknown reset option 'strat'"):
        envs.reset(options={"strat": "random"})
    with pytest.raises(ConfigError, match="a seed for each car would be 2 seeds, got 3"):
        envs.reset(seed=[1, 2, 3])
    for wrong in (-1, 2.5, True, [1, -1], [True, 1], "34"):
        with pytest.raises(ConfigError, match="seed must be a whole number from 0, got"):
            envs.reset(seed=wrong)
    with pytest.raises(ConfigError, match="options of a reset must be a dictionary, got 5"):
        envs.reset(options=5)
    envs.reset()
    for _ in range(20):
        envs.step(np.zeros((2, 3)))
    with pytest.raises(ActionError, match=r"shape \(2, 3\)"):
        envs.step(np.zeros((1, 3)))
    envs.close()
    envs.close()
    with pytest.raises(ClosedError, match="closed"):
        envs.reset()
    assert capfd.readouterr().err == ""


def test_a_killed_bridge_truncates_all_and_the_next_step_begins_anew(node_bridge: None) -> None:
    """If it was started here."""
    envs = make(2, bridge_url="auto")
    first, _ = envs.reset()
    throttle = np.tile([0.0, 1.0, 0.0], (2, 1))
    envs.step(throttle)
    (process,) = envs._fleet._bridge.processes
    process._process.kill()
    process._process.wait()
    ended, begun = envs.step(throttle), envs.step(throttle)
    assert [row[3].tolist() for row in (ended, begun)] == [[True, True], [False, False]]
    assert np.array_equal(begun[0], first)
    envs.close()


def test_a_lost_bridge_of_someone_else_s_is_a_connection_error(track: Track) -> None:
    """It is not started again."""
    with FakePeer(version_1_game([track])) as peer:
        envs = make(2, bridge_url=peer.url)
        envs.reset()
        envs.step(np.zeros((2, 3)))
        peer.drop_all()
        with pytest.raises(ConnectionError, match="lost the bridge"):
            envs.step(np.zeros((2, 3)))
        envs.close()


def test_pytorch_is_not_loaded() -> None:
    """A script without it starts faster."""
    code = f"import sys, gymnasium, racer_env; gymnasium.make_vec('{ENV_ID}'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT_ROOT, timeout=60, check=False).returncode == 0


def test_it_is_the_class_behind_the_name() -> None:
    """Gymnasium's own vectorization still works on request."""
    assert isinstance(make(1), RacerVectorEnv)
