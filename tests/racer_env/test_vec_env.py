"""Many cars as one stable-baselines3 vector environment."""

import gc
import tracemalloc
from typing import Any

import gymnasium
import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from racer_env.config import AiConfig
from racer_env.contract import REWARD_COMPONENTS
from racer_env.env import RacerEnv
from racer_env.errors import ActionError, ClosedError, ConfigError
from racer_env.tracks import Track, load_track
from racer_env.vec_env import RacerVecEnv
from tests.helpers import TEST_CONFIG, FloatArray, random_actions, with_limits
from tests.racer_env.test_env import RESET_INFO_TYPES, STEP_INFO_TYPES, types_of

COAST = [0.0, 0.0, 0.0]
THROTTLE = [0.0, 1.0, 0.0]


@pytest.fixture
def env(track: Track) -> RacerVecEnv:
    """Three cars on the first track."""
    return RacerVecEnv([track], 3, TEST_CONFIG)


def make_short(track: Track, num_envs: int = 2, max_steps: int = 3000, timeout: int = 180, **more: Any) -> RacerVecEnv:
    """Make cars on one track with episode limits."""
    return RacerVecEnv([track], num_envs, with_limits(max_steps, timeout), **more)


def states(env: RacerVecEnv) -> list[bytes]:
    """Return the state of every car."""
    return [car.tobytes() for car in env.simulator.cars]


# --- Steps and infos ---


def test_reset_gives_the_single_environment_s_observation(env: RacerVecEnv) -> None:
    """Every car begins as a single environment does."""
    observations = env.reset()
    expected = RacerEnv(config=TEST_CONFIG).reset()[0]
    assert (observations.shape, observations.dtype) == ((3, 14), np.float32)
    assert observations.tolist() == [expected.tolist()] * 3


def test_steps_equal_the_single_environment_s(env: RacerVecEnv) -> None:
    """Each car sees, earns and reports what a single environment does with the same actions."""
    singles = [RacerEnv(config=TEST_CONFIG) for _ in range(3)]
    env.reset()
    for single in singles:
        single.reset()
    for actions in random_actions(0, 150, 3):
        observations, rewards, dones, infos = env.step(actions)
        for car, single in enumerate(singles):
            observation, reward, terminated, truncated, info = single.step(actions[car])
            assert observations[car].tolist() == observation.tolist()
            assert (rewards[car], dones[car]) == (np.float32(reward), terminated or truncated)
            assert infos[car] == info


def test_step_returns_arrays(env: RacerVecEnv) -> None:
    """Observations and rewards are float32, dones are bools, infos a list of dictionaries."""
    env.reset()
    observations, rewards, dones, infos = env.step(np.array([THROTTLE] * 3))
    assert (observations.shape, observations.dtype) == ((3, 14), np.float32)
    assert (rewards.shape, rewards.dtype) == ((3,), np.float32)
    assert (dones.shape, dones.dtype) == ((3,), np.bool_)
    assert [types_of(info) for info in infos] == [STEP_INFO_TYPES] * 3


def test_what_a_step_returned_is_not_overwritten(env: RacerVecEnv) -> None:
    """Kept results keep their numbers over later steps."""
    env.reset()
    kept = env.step(np.array([THROTTLE] * 3))
    copies = [np.copy(array) for array in kept[:3]]
    for actions in random_actions(1, 20, 3):
        env.step(actions)
    for array, copy in zip(kept[:3], copies, strict=True):
        assert np.asarray(array).tolist() == copy.tolist()


def test_reset_infos(env: RacerVecEnv) -> None:
    """A reset fills the reset infos of all cars, with Python's own types."""
    env.reset()
    assert [types_of(info) for info in env.reset_infos] == [RESET_INFO_TYPES] * 3
    assert env.reset_infos[0] == {"tick": 0, "speed": 0.0, "lap": 1, "checkpoint": 0, "stepCount": 0}


def test_rewards_are_sums(env: RacerVecEnv) -> None:
    """The reward is the sum of the six components in the info, in float32."""
    env.reset()
    for actions in random_actions(2, 100, 3):
        _, rewards, _, infos = env.step(actions)
        for reward, info in zip(rewards, infos, strict=True):
            assert reward == pytest.approx(sum(info[key] for key in REWARD_COMPONENTS), abs=1e-8)


def test_observations_stay_in_the_space(tracks: list[Track]) -> None:
    """Every observation of a long random drive is in the observation space."""
    env = RacerVecEnv(tracks, 12, with_limits(200), random_start_share=0.5)
    env.seed(0)
    env.reset()
    for actions in random_actions(3, 500, 12):
        observations = env.step(actions)[0]
        assert (observations >= env.observation_space.low).all()
        assert (observations <= env.observation_space.high).all()


# --- Ends of an episode ---


def test_time_limit_is_a_truncation(track: Track) -> None:
    """A car that only ran out of steps is done with TimeLimit.truncated."""
    env = make_short(track, max_steps=3)
    env.reset()
    dones = [env.step(np.array([THROTTLE] * 2))[2].tolist() for _ in range(2)]
    _, _, done, infos = env.step(np.array([THROTTLE] * 2))
    assert dones == [[False, False]] * 2
    assert done.tolist() == [True, True]
    assert [info["TimeLimit.truncated"] for info in infos] == [True, True]
    assert type(infos[0]["TimeLimit.truncated"]) is bool


def test_stillness_is_no_truncation(track: Track) -> None:
    """A car that stood still is done without TimeLimit.truncated, and the moving one goes on."""
    env = make_short(track, timeout=3)
    env.reset()
    env.simulator.cars[1]["stillness_counter"] = -100
    for _ in range(3):
        _, _, dones, infos = env.step(np.array([COAST, THROTTLE]))
    assert dones.tolist() == [True, False]
    assert infos[0]["TimeLimit.truncated"] is False
    assert "TimeLimit.truncated" not in infos[1] and "terminal_observation" not in infos[1]


def test_both_limits_on_one_tick_are_no_truncation(track: Track) -> None:
    """A car that stood still to the last step has terminated: there is nothing to bootstrap from."""
    env = make_short(track, max_steps=3, timeout=3)
    env.reset()
    for _ in range(3):
        _, _, dones, infos = env.step(np.array([COAST, COAST]))
    assert dones.tolist() == [True, True]
    assert [info["TimeLimit.truncated"] for info in infos] == [False, False]


@pytest.mark.parametrize(("limits", "action"), [((25, 180), THROTTLE), ((3000, 25), COAST)])
def test_terminal_observation_is_the_real_last_one(track: Track, limits: tuple[int, int], action: list[float]) -> None:
    """The terminal observation is that of the tick that ended the episode, in float32."""
    config = with_limits(*limits)
    env, single = RacerVecEnv([track], 1, config, random_start_share=1.0), RacerEnv(config=config)
    env.reset()
    env.simulator.cars[0]["speed"] = env.simulator.cars[0]["vx"] = env.simulator.cars[0]["vy"] = 0.0
    single.reset()
    for name in env.simulator.cars.dtype.names or ():
        single.simulator.cars[0][name] = env.simulator.cars[0][name]
    for _ in range(25):
        _, _, dones, infos = env.step(np.array([action]))
        last = single.step(np.array(action))[0]
    terminal = infos[0]["terminal_observation"]
    assert dones[0]
    assert (terminal.dtype, terminal.tolist()) == (np.float32, last.tolist())


def test_finished_car_starts_again_within_the_step(track: Track) -> None:
    """The observation of the tick that ends an episode is the start's, for that car alone."""
    env = make_short(track, num_envs=2, max_steps=5)
    start = env.reset()
    env.simulator.cars[1]["step_count"], env.reset_infos = -100, [{}, {}]
    for _ in range(5):
        observations, _, dones, infos = env.step(np.array([THROTTLE] * 2))
    assert dones.tolist() == [True, False]
    assert observations[0].tolist() == start[0].tolist()
    assert observations[0].tolist() != infos[0]["terminal_observation"].tolist()
    assert observations[1].tolist() == infos[0]["terminal_observation"].tolist()
    assert env.reset_infos == [{"tick": 0, "speed": 0.0, "lap": 1, "checkpoint": 0, "stepCount": 0}, {}]


def test_info_of_the_last_tick_is_of_the_old_episode(track: Track) -> None:
    """The info of the tick that ends an episode counts that episode's steps, the next one anew."""
    env = make_short(track, num_envs=1, max_steps=2)
    env.reset()
    counts = [env.step(np.array([THROTTLE]))[3][0]["stepCount"] for _ in range(5)]
    assert counts == [1, 2, 1, 2, 1]


def test_episodes_repeat_after_a_reset_within_the_step(track: Track) -> None:
    """The second episode from the line equals the first with the same actions: nothing is left over."""
    env = make_short(track, num_envs=1, max_steps=60)
    actions, episodes = random_actions(7, 60, 1), []
    env.reset()
    for _ in range(2):
        episodes.append([(row[1].tolist(), row[3][0]["rawSpeed"]) for row in map(env.step, actions)])
    assert episodes[0] == episodes[1]


# --- Tracks ---


def test_cars_take_the_tracks_in_turn(tracks: list[Track]) -> None:
    """Car i drives on track i modulo the number of tracks, and stands on that track's line."""
    env = RacerVecEnv(tracks, 7)
    env.reset()
    assert env.get_attr("track_id") == [tracks[car % 3].id for car in range(7)]
    starts = [tracks[car % 3].geometry.start[:2] for car in range(7)]
    assert [(car["x"], car["y"]) for car in env.simulator.cars] == starts


def test_cars_stay_on_their_tracks(tracks: list[Track]) -> None:
    """A car begins its later episodes on its own track as well."""
    env = RacerVecEnv(tracks, 6, with_limits(3), random_start_share=0.5)
    env.seed(0)
    env.reset()
    for _ in range(9):
        _, _, dones, _ = env.step(np.array([THROTTLE] * 6))
    assert dones.all()
    assert env.simulator.cars["track"].tolist() == [0, 1, 2, 0, 1, 2]


def test_equal_road_value_scales_progress(tracks: list[Track]) -> None:
    """A unit of road earns the same on every track, as much as on one of the mean length."""
    plain = RacerVecEnv(tracks, 3, TEST_CONFIG)
    equal = RacerVecEnv(tracks, 3, TEST_CONFIG, equal_road_value=True)
    mean = sum(track.length for track in tracks) / 3
    for env in (plain, equal):
        env.set_options({"start": {"arc_length": 50.0, "speed": 60.0}})
        env.reset()
    plain_infos, equal_infos = (env.step(np.array([THROTTLE] * 3))[3] for env in (plain, equal))
    for track, one, other in zip(tracks, plain_infos, equal_infos, strict=True):
        assert other["progress"] == pytest.approx(one["progress"] * track.length / mean, rel=1e-12)
        assert other["progress"] * mean == pytest.approx(60.0 / 60, rel=0.1)
        assert {**other, "progress": 0} == {**one, "progress": 0}


# --- Seeds and starts ---


def starts_of(env: RacerVecEnv, car: int, episodes: int = 4) -> list[bytes]:
    """Return the states in which a car begins its next episodes of one step."""
    seen = [states(env)[car]]
    for _ in range(episodes - 1):
        env.step(np.array([COAST] * env.num_envs))
        seen.append(states(env)[car])
    return seen


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_car_draws_the_same_however_many_there_are(track: Track, share: float) -> None:
    """Car i of a vector of one seed has the same starts in a larger one, over several episodes."""
    few, many = (make_short(track, num_envs=cars, max_steps=1, random_start_share=share) for cars in (2, 5))
    for car in range(2):
        few.seed(20)
        many.seed(20)
        few.reset()
        many.reset()
        assert starts_of(few, car, 8) == starts_of(many, car, 8)


def test_cars_of_all_seeds_start_apart(track: Track) -> None:
    """The cars of a vector draw different starts, and so do those of neighbouring seeds."""
    env, places = make_short(track, num_envs=16, random_start_share=1.0), set()
    for seed in (0, 1, 2):
        env.seed(seed)
        env.reset()
        places |= {(car["x"], car["y"]) for car in env.simulator.cars}
    assert len(places) == 3 * 16


def drive(env: RacerVecEnv, seed: int) -> list[Any]:
    """Seed, reset and drive at random, and return observations, rewards and dones."""
    env.seed(seed)
    seen: list[Any] = [env.reset().tolist()]
    for actions in random_actions(5, 100, env.num_envs):
        observations, rewards, dones, _ = env.step(actions)
        seen.append((observations.tolist(), rewards.tolist(), dones.tolist()))
    return seen


def test_same_seed_gives_the_same_rollout(track: Track) -> None:
    """The same seed twice gives exactly equal rollouts over several episodes, another seed does not."""
    env = make_short(track, num_envs=3, max_steps=20, random_start_share=0.5)
    first = drive(env, 1)
    assert drive(make_short(track, num_envs=3, max_steps=20, random_start_share=0.5), 1) == first
    assert drive(env, 1) == first
    assert drive(env, 2) != first


def test_seed_is_used_once(track: Track) -> None:
    """A second reset without a seed draws on, it does not repeat the first."""
    env = make_short(track, num_envs=1, random_start_share=1.0)
    env.seed(3)
    env.reset()
    first = states(env)
    env.reset()
    assert states(env) != first


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0, 0), (0.25, 30, 70), (1.0, 200, 200)])
def test_share_of_random_starts(track: Track, share: float, low: int, high: int) -> None:
    """About the given share of episodes starts on the move, the others on the line."""
    env = make_short(track, num_envs=200, random_start_share=share)
    env.seed(0)
    env.reset()
    assert low <= np.count_nonzero(env.simulator.cars["lap"] == 0) <= high


def test_start_option_holds_for_one_reset(env: RacerVecEnv) -> None:
    """A start given as an option places every car once."""
    env.set_options({"start": {"arc_length": 300.0, "speed": 20.0}})
    env.reset()
    assert env.simulator.cars["speed"].tolist() == [20.0] * 3
    env.reset()
    assert env.simulator.cars["speed"].tolist() == [0.0] * 3


def test_start_options_of_each_car(env: RacerVecEnv) -> None:
    """A list of options gives every car its own start."""
    env.set_options([{"start": {"arc_length": 300.0, "speed": speed}} for speed in (1.0, 2.0, 3.0)])
    env.reset()
    assert env.simulator.cars["speed"].tolist() == [1.0, 2.0, 3.0]


def test_start_attribute_holds_for_later_episodes(track: Track) -> None:
    """A start set on one car is used at every begin of its episodes, and not by the others."""
    env = make_short(track, num_envs=2, max_steps=1)
    env.set_attr("start", {"arc_length": 300.0, "speed": 20.0}, indices=[1])
    env.reset()
    for _ in range(3):
        assert env.simulator.cars["speed"].tolist() == [0.0, 20.0]
        env.step(np.array([COAST] * 2))


def test_wrong_start_is_refused(env: RacerVecEnv) -> None:
    """A start that is none of the three kinds is an error."""
    env.set_attr("start", "flying")
    with pytest.raises(ConfigError, match="expected 'standing', 'random' or a dictionary .* got 'flying'"):
        env.reset()


# --- Attributes ---


def test_get_attr(env: RacerVecEnv) -> None:
    """Attributes of all cars, of some, or of one are a list."""
    assert env.get_attr("index") == [0, 1, 2]
    assert env.get_attr("index", [2, 0]) == [2, 0]
    assert env.get_attr("index", 1) == [1]
    assert env.get_attr("render_mode") == [None] * 3
    assert env.get_attr("action_space", 0) == [RacerEnv().action_space]


def test_unknown_attribute_is_an_attribute_error(env: RacerVecEnv) -> None:
    """An attribute that no car has is the error that stable-baselines3 expects."""
    with pytest.raises(AttributeError, match="colour"):
        env.get_attr("colour")


def test_has_attr(env: RacerVecEnv) -> None:
    """An attribute exists or does not."""
    assert env.has_attr("track_id")
    assert not env.has_attr("colour")


def test_set_attr(env: RacerVecEnv) -> None:
    """An attribute is set for the cars that are named."""
    env.set_attr("start", "random", indices=[0, 2])
    assert env.get_attr("start") == ["random", None, "random"]


def test_what_the_engine_would_not_notice_is_not_set(env: RacerVecEnv, tracks: list[Track]) -> None:
    """Another track of a car would be a lie; something of one's own is kept."""
    with pytest.raises(AttributeError, match="track of a car cannot be set once the environment is made"):
        env.set_attr("track", tracks[1])
    env.set_attr("colour", "red", 1)
    assert env.get_attr("colour", 1) == ["red"]


def test_env_method(env: RacerVecEnv) -> None:
    """A method of the cars is called for those that are named, with arguments."""
    assert env.env_method("get_wrapper_attr", "index") == [0, 1, 2]
    assert env.env_method("get_wrapper_attr", name="index", indices=[1]) == [1]
    env.env_method("set_wrapper_attr", "start", "random", indices=2)
    assert env.get_attr("start") == [None, None, "random"]
    assert env.env_method("has_wrapper_attr", "colour") == [False] * 3
    with pytest.raises(AttributeError, match="a car of a vector environment has no attribute 'reset'; it has index"):
        env.env_method("reset")


def test_env_is_wrapped(env: RacerVecEnv) -> None:
    """No car is in a wrapper."""
    assert env.env_is_wrapped(gymnasium.Wrapper) == [False, False, False]
    assert env.env_is_wrapped(gymnasium.Wrapper, indices=[1]) == [False]


def test_spaces_are_the_single_environment_s(env: RacerVecEnv) -> None:
    """Action and observation space are those of one car."""
    single = RacerEnv()
    assert (env.num_envs, env.action_space, env.observation_space) == (
        3,
        single.action_space,
        single.observation_space,
    )


# --- Errors ---


@pytest.mark.parametrize("num_envs", [-1, 0, 2])
def test_fewer_cars_than_tracks_are_refused(tracks: list[Track], num_envs: int) -> None:
    """Every track needs a car; the error says how many there are."""
    with pytest.raises(ConfigError, match=f"num_envs must be at least the number of tracks, 3; got {num_envs}"):
        RacerVecEnv(tracks, num_envs)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_share_out_of_range_is_refused(track: Track, share: float) -> None:
    """A share is within [0, 1]."""
    with pytest.raises(ConfigError, match=rf"random_start_share must be within \[0, 1\], got {share}"):
        RacerVecEnv([track], 1, random_start_share=share)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.zeros((2, 3)), r"shape \(3, 3\), .*; got \(2, 3\)"),
        (np.zeros(3), r"shape \(3, 3\), .*; got \(3,\)"),
        (np.array([COAST, [0, np.nan, 0], COAST]), "throttle of car 1 is nan"),
    ],
)
def test_wrong_actions_are_refused(env: RacerVecEnv, actions: FloatArray, message: str) -> None:
    """Actions of another shape or not finite are an error, and no car has moved."""
    env.reset()
    before = states(env)
    with pytest.raises(ActionError, match=message):
        env.step(actions)
    assert states(env) == before


def test_closed_is_closed(env: RacerVecEnv) -> None:
    """After close neither step nor reset works; a second close is fine."""
    env.reset()
    env.close()
    env.close()
    with pytest.raises(ClosedError, match="the environment is closed; make a new one"):
        env.step(np.array([COAST] * 3))
    with pytest.raises(ClosedError, match="the environment is closed; make a new one"):
        env.reset()


# --- With stable-baselines3's wrappers, and for long ---


def test_wrappers_of_stable_baselines3(tracks: list[Track]) -> None:
    """VecMonitor counts the episodes and VecNormalize normalises, over a few hundred steps."""
    env = VecNormalize(VecMonitor(RacerVecEnv(tracks, 6, with_limits(50), random_start_share=0.5)))
    env.seed(0)
    env.reset()
    lengths = []
    for actions in random_actions(6, 300, 6):
        observations, rewards, _, infos = env.step(actions)
        assert np.isfinite(observations).all() and np.isfinite(rewards).all()
        assert np.abs(observations).max() <= 10.0
        lengths += [info["episode"]["l"] for info in infos if "episode" in info]
    assert lengths == [50] * 36
    assert np.std(env.get_original_obs(), axis=0)[:9].max() > 0.01
    assert env.get_attr("track_id", [4]) == ["track-02"]


def test_monitored_return_is_the_sum_of_rewards(track: Track) -> None:
    """The return that VecMonitor reports is the sum of the episode's rewards."""
    env = VecMonitor(RacerVecEnv([track], 1, with_limits(40)))
    env.reset()
    total = 0.0
    for actions in random_actions(4, 40, 1):
        _, rewards, _, infos = env.step(actions)
        total += float(rewards[0])
    assert infos[0]["episode"]["r"] == pytest.approx(total, abs=1e-5)


@pytest.mark.timeout(60)
def test_memory_stays_flat_over_many_episodes(track: Track) -> None:
    """Thousands of episodes leave less behind than a single small object each would take."""
    env = make_short(track, num_envs=8, max_steps=1, random_start_share=0.1)
    actions = np.array([THROTTLE] * 8)
    env.reset()

    def memory_after(steps: int) -> int:
        for _ in range(steps):
            env.step(actions)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before, after = memory_after(100), memory_after(500)
    finally:
        tracemalloc.stop()
    episodes = 500 * 8
    assert (after - before) / episodes < 20.0  # bytes; NumPy's own caches fill up to a few tens of kilobytes


def test_default_config_is_the_defaults(track: Track) -> None:
    """Without a configuration the weights are the default ones."""
    env = RacerVecEnv([track], 1)
    env.reset()
    assert env.step(np.array([COAST]))[1][0] == np.float32(AiConfig().weights.stillness_penalty)


def test_unknown_reset_options_are_refused() -> None:
    """A misspelt option is no silent standing start."""
    env = RacerVecEnv([load_track("track-01")], 2)
    env.set_options({"strat": "random"})
    with pytest.raises(ConfigError, match="unknown reset option 'strat'"):
        env.reset()


@pytest.mark.parametrize("options", [5, "start", [{}], [{}, 5], [{}, {1: 2}]])
def test_reset_options_of_another_kind_are_refused(options: Any) -> None:
    """They are a dictionary, or one for each car."""
    env = RacerVecEnv([load_track("track-01")], 2)
    env.set_options(options)
    with pytest.raises(ConfigError, match="option"):
        env.reset()


@pytest.mark.parametrize("wrong", [-1, 2.5, "3", True])
def test_seeds_of_another_kind_are_refused(wrong: Any) -> None:
    """They are whole numbers from 0."""
    with pytest.raises(ConfigError, match="seed must be a whole number from 0, got"):
        RacerVecEnv([load_track("track-01")], 2).seed(wrong)


@pytest.mark.parametrize("wrong", [2.5, "3", True, 10**9])
def test_counts_of_another_kind_are_refused(wrong: Any) -> None:
    """Cars up to the most that drive at once, and ticks of an action."""
    for name in ("num_envs", "action_repeat"):
        with pytest.raises(ConfigError, match=f"{name} must be "):
            RacerVecEnv("track-01", **{name: wrong})


def test_step_before_reset_is_refused() -> None:
    """Like a single environment."""
    env = RacerVecEnv([load_track("track-01")], 2)
    with pytest.raises(ClosedError, match="before reset"):
        env.step(np.zeros((2, 3)))


def test_no_track_is_refused() -> None:
    """At least one track is needed."""
    with pytest.raises(ConfigError, match="at least one track"):
        RacerVecEnv([], 1)
