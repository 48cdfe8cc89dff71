"""RacerMetricsCallback against crafted infos, and the checkpoint rhythm, without a game."""

import itertools
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import CallbackList
from stable_baselines3.common.logger import KVWriter, Logger
from stable_baselines3.common.vec_env import VecEnvWrapper, VecNormalize

from racer_env.config import AiConfig
from racer_env.contract import EpisodeLimits
from racer_env.vec_env import RacerVecEnv
from training.callbacks import RacerMetricsCallback
from training.runs.checkpointing import CheckpointPairCallback
from training.runs.progress import ProgressCallback
from training.runs.schedules import LogSchedule, ReplayBufferWarmUp

pytestmark = pytest.mark.timeout(60)  # on a busy machine


class FakeLogger:
    """Keeps what was recorded and what was averaged apart."""

    def __init__(self) -> None:
        self.recorded: dict[str, float] = {}
        self.averaged: dict[str, list[float]] = {}

    def record(self, key: str, value: float) -> None:
        self.recorded[key] = value

    def record_mean(self, key: str, value: float) -> None:
        self.averaged.setdefault(key, []).append(value)


def make_callback() -> tuple[RacerMetricsCallback, FakeLogger]:
    """Return a callback that logs to a FakeLogger."""
    callback, logger = RacerMetricsCallback(), FakeLogger()
    callback.model = SimpleNamespace(logger=logger, num_timesteps=0)  # type: ignore[assignment]
    return callback, logger


def info(lap: int, step_count: int, **components: float) -> dict[str, Any]:
    """Return an info with the game's keys."""
    rewards = dict.fromkeys(RacerMetricsCallback.REWARD_KEYS, 0.0)
    return {**rewards, **components, "lap": lap, "stepCount": step_count}


def step(callback: RacerMetricsCallback, *infos: dict[str, Any], dones: tuple[bool, ...] = ()) -> None:
    """Let the callback see one step."""
    callback.locals = {"infos": list(infos), "dones": dones or (False,) * len(infos)}
    assert callback.on_step()


def test_constants_are_the_games() -> None:
    """Sixty ticks a second and six reward components."""
    assert RacerMetricsCallback.TICKS_PER_SECOND == 60
    assert RacerMetricsCallback.REWARD_KEYS == ("progress", "speed", "wall", "offTrack", "backward", "stillness")


def test_logs_every_component_on_every_step() -> None:
    """Each component is averaged over the cars, once a step."""
    callback, logger = make_callback()
    step(callback, info(1, 1, progress=0.1), info(1, 1, progress=0.3))
    step(callback, info(1, 2, wall=-0.002), info(1, 2))
    assert logger.averaged["reward/progress"] == pytest.approx([0.2, 0.0])
    assert logger.averaged["reward/wall"] == pytest.approx([0.0, -0.001])
    assert len([key for key in logger.averaged if key.startswith("reward/")]) == 6


def test_lap_time_is_the_difference_of_step_counts() -> None:
    """The first lap counts from the start of the episode, the second from the end of the first."""
    callback, logger = make_callback()
    for lap, count in ((1, 1), (2, 600), (2, 601), (3, 1140)):
        step(callback, info(lap, count))
    callback.on_rollout_end()
    assert logger.recorded["racer/mean_lap_time_sec"] == pytest.approx((10.0 + 9.0) / 2)
    assert logger.recorded["racer/best_lap_time_sec"] == pytest.approx(9.0)


def test_two_episodes_one_with_a_lap_complete_half() -> None:
    """The completion rate is the share of episodes with a lap."""
    callback, logger = make_callback()
    step(callback, info(2, 500))
    step(callback, info(2, 501), dones=(True,))
    step(callback, info(1, 180), dones=(True,))
    callback.on_rollout_end()
    assert logger.recorded["racer/completion_rate"] == 0.5
    assert logger.recorded["racer/episodes_this_rollout"] == 2


def test_nothing_to_report_logs_nothing() -> None:
    """A rollout without a lap or an end of an episode records no figure."""
    callback, logger = make_callback()
    step(callback, info(1, 1))
    callback.on_rollout_end()
    assert logger.recorded == {}


def test_accumulators_are_cleared() -> None:
    """A rollout reports its own laps only."""
    callback, logger = make_callback()
    step(callback, info(2, 600), dones=(True,))
    callback.on_rollout_end()
    logger.recorded.clear()
    callback.on_rollout_end()
    assert logger.recorded == {}
    assert callback.total_laps == 1


def test_no_lap_across_an_episode_border() -> None:
    """An episode that ends on lap 3 and a new one on lap 1 make no lap, and the new one counts from 0."""
    callback, logger = make_callback()
    for lap, count in ((2, 600), (3, 1200)):
        step(callback, info(lap, count))
    step(callback, info(3, 1500), dones=(True,))
    step(callback, info(1, 1))
    step(callback, info(2, 480))
    callback.on_rollout_end()
    assert callback.total_laps == 3
    assert logger.recorded["racer/best_lap_time_sec"] == pytest.approx(8.0)


def test_a_start_elsewhere_is_timed_from_its_first_crossing() -> None:
    """The way to the line after a start on lap 0 is no lap."""
    callback, logger = make_callback()
    for lap, count in ((0, 1), (1, 200), (2, 740)):
        step(callback, info(lap, count))
    callback.on_rollout_end()
    assert callback.total_laps == 1
    assert logger.recorded["racer/best_lap_time_sec"] == pytest.approx(9.0)


def test_cars_are_timed_apart() -> None:
    """Two cars' laps do not mix."""
    callback, logger = make_callback()
    step(callback, info(2, 300), info(1, 300))
    step(callback, info(2, 360), info(2, 360))
    callback.on_rollout_end()
    assert callback.total_laps == 2
    assert logger.recorded["racer/mean_lap_time_sec"] == pytest.approx((5.0 + 6.0) / 2)


def test_infos_without_the_games_keys_are_ignored() -> None:
    """Another environment's infos are no error."""
    callback, logger = make_callback()
    step(callback, {}, dones=(True,))
    callback.on_rollout_end()
    assert logger.averaged == {}
    assert logger.recorded == {}


def test_no_lap_is_timed_where_infos_do_not_tell_the_time() -> None:
    """A wrapper of the user's may drop ``stepCount``; the run goes on."""
    callback, _ = make_callback()
    step(callback, {"lap": 2}, dones=(True,))
    assert callback.total_laps == 0
    assert not callback.recent_completions


def test_contacts_and_speed_are_shares_of_the_cars() -> None:
    """Wall contact and off-track as shares, speed as the mean, once a step."""
    callback, logger = make_callback()
    touching = {**info(1, 1, offTrack=-0.001), "wallContact": True, "rawSpeed": 30.0}
    step(callback, touching, {**info(1, 1), "wallContact": False, "rawSpeed": 50.0})
    assert logger.averaged["racer/wall_contact_share"] == [0.5]
    assert logger.averaged["racer/off_track_share"] == [0.5]
    assert logger.averaged["racer/mean_speed"] == [40.0]


def test_several_tracks_are_reported_apart() -> None:
    """Each track has its own lap times and completion; all together too."""
    callback, logger = make_callback()
    cars = SimpleNamespace(get_attr=lambda name: ["one", "two"])
    callback.model.get_env = lambda: cars  # type: ignore[method-assign]
    callback.on_training_start({}, {})
    step(callback, info(2, 600), info(1, 600))
    step(callback, info(2, 601), info(2, 900), dones=(True, True))
    callback.on_rollout_end()
    assert logger.recorded["racer_one/mean_lap_time_sec"] == pytest.approx(10.0)
    assert logger.recorded["racer_two/best_lap_time_sec"] == pytest.approx(15.0)
    assert logger.recorded["racer/mean_lap_time_sec"] == pytest.approx(12.5)
    assert logger.recorded["racer_one/completion_rate"] == logger.recorded["racer_two/completion_rate"] == 1.0
    assert logger.recorded["racer/laps"] == 2


def test_a_crossing_within_a_decision_is_timed_to_the_tick() -> None:
    """With an action repeat, the step count of the crossing counts, not that of the decision's last tick."""
    callback, logger = make_callback()
    step(callback, {**info(2, 604), "lapStepCount": 601})
    step(callback, {**info(3, 1144), "lapStepCount": 1143})
    callback.on_rollout_end()
    assert logger.recorded["racer/mean_lap_time_sec"] == pytest.approx((601 + 542) / 2 / 60)


def test_a_start_elsewhere_that_crosses_at_once_makes_no_lap() -> None:
    """The first decision of an episode may already end beyond the line: timing begins there."""
    callback, logger = make_callback()
    step(callback, {**info(1, 4), "lapStepCount": 3})
    step(callback, {**info(2, 544), "lapStepCount": 543})
    callback.on_rollout_end()
    assert callback.total_laps == 1
    assert logger.recorded["racer/best_lap_time_sec"] == pytest.approx(9.0)


# --- SAC's rhythm ---


class KeptWriter(KVWriter):
    """Keeps what a logger writes, point by point."""

    def __init__(self) -> None:
        self.points: list[tuple[int, dict[str, Any]]] = []

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0) -> None:
        self.points.append((step, dict(key_values)))


def sac_callback() -> tuple[RacerMetricsCallback, Logger, KeptWriter]:
    """Return a callback of an off-policy algorithm with a real logger."""
    writer = KeptWriter()
    logger = Logger(None, [writer])
    callback = RacerMetricsCallback()
    model = SAC.__new__(SAC)
    model.num_timesteps = 0
    model.env = None
    model._logger = logger
    callback.model = model
    callback.on_training_start({}, {})
    return callback, logger, writer


def test_laps_between_two_points_of_an_off_policy_log_are_gathered() -> None:
    """Its rollouts are single steps: a point is about all laps since the last one, each lap in one point only."""
    callback, logger, writer = sac_callback()
    for infos in ((2, 600), (3, 1200), (4, 1740)):
        step(callback, info(*infos))
        callback.on_rollout_end()
    logger.dump(1)
    step(callback, info(5, 2220))
    callback.on_rollout_end()
    logger.dump(2)
    assert [point["racer/laps"] for _, point in writer.points] == [3, 1]
    assert writer.points[0][1]["racer/mean_lap_time_sec"] == pytest.approx((10 + 10 + 9) / 3)
    assert writer.points[1][1]["racer/mean_lap_time_sec"] == pytest.approx(8.0)


def test_what_is_left_at_the_end_of_off_policy_training_is_written() -> None:
    """The last laps reach TensorBoard too."""
    callback, _, writer = sac_callback()
    step(callback, info(2, 600), dones=(True,))
    callback.on_rollout_end()
    callback.on_training_end()
    assert writer.points[0][1]["racer/completion_rate"] == 1.0


def test_metrics_of_real_sac_reach_the_log_in_its_own_rhythm() -> None:
    """Every so many steps a point, also while no episode ends, with the components and the contacts."""
    writer = KeptWriter()
    env = RacerVecEnv(["track-01"], 4, AiConfig(), action_repeat=4)
    model = SAC("MlpPolicy", env, learning_starts=1000, buffer_size=1000, seed=0, device="cpu")
    model.set_logger(Logger(None, [writer]))
    model.learn(200, callback=CallbackList([RacerMetricsCallback(), LogSchedule(40)]), log_interval=None)
    points = [step for step, point in writer.points if "racer/mean_speed" in point]
    assert len(points) >= 4
    assert all(0 < later - earlier <= 44 for earlier, later in itertools.pairwise(points))
    assert {"reward/progress", "racer/wall_contact_share"} <= set(writer.points[0][1])


def test_metrics_reach_the_log_in_stable_baselines3s_rhythm() -> None:
    """Left alone, SAC writes at the end of episodes; the callback's figures are in there."""
    writer = KeptWriter()
    env = RacerVecEnv(["track-01"], 2, AiConfig(), action_repeat=30)
    model = SAC("MlpPolicy", env, learning_starts=1000, buffer_size=1000, seed=0, device="cpu")
    model.set_logger(Logger(None, [writer]))
    model.learn(600, callback=RacerMetricsCallback(), log_interval=1)
    assert any("racer/completion_rate" in point for _, point in writer.points)


class FakeBuffer:
    """A replay buffer of two cars that only counts."""

    n_envs = 2

    def __init__(self) -> None:
        self.rows = 0

    def size(self) -> int:
        return self.rows


def test_an_empty_buffer_is_refilled_before_learning_goes_on() -> None:
    """Gradient steps pause until the buffer holds what it held when training began."""
    model = SimpleNamespace(
        num_timesteps=5000, learning_starts=100, gradient_steps=8, replay_buffer=FakeBuffer(), logger=None
    )
    callback = ReplayBufferWarmUp()
    callback.model = model  # type: ignore[assignment]
    callback.on_training_start({}, {})
    assert model.gradient_steps == 0
    model.replay_buffer.rows = 49
    callback.on_rollout_end()
    assert model.gradient_steps == 0
    model.replay_buffer.rows = 50
    callback.on_rollout_end()
    assert model.gradient_steps == 8


# --- Checkpoints ---


def checkpoints(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cars: int, last: int, fails: bool = False
) -> list[str]:
    """Return the names that are saved while some cars step to ``last``."""
    saved: list[str] = []

    def save(model: Any, statistics: Any, path: Path, with_buffer: bool) -> None:
        saved.append(path.name)
        if fails:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("training.runs.checkpointing.save_unit", save)
    callback = CheckpointPairCallback(100, tmp_path, "run", None)  # type: ignore[arg-type]
    callback.model = SimpleNamespace(num_timesteps=0, logger=None)  # type: ignore[assignment]
    callback.on_training_start({}, {})
    for steps in range(cars, last + 1, cars):
        callback.model.num_timesteps = steps
        assert callback.on_step()
    return saved


@pytest.mark.parametrize(("cars", "saves"), [(1, [100, 200]), (64, [128, 256]), (300, [300])])
def test_checkpoints_come_every_so_many_environment_steps(
    cars: int, saves: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The rhythm is in environment steps, whatever the number of cars."""
    saved = checkpoints(monkeypatch, tmp_path, cars, 300 if cars == 300 else 257)
    assert saved == [f"run_{steps}_steps.zip" for steps in saves]


def test_a_checkpoint_that_cannot_be_written_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Training goes on over a full disk, and tries again at the next one."""
    assert len(checkpoints(monkeypatch, tmp_path, 1, 200, fails=True)) == 2
    assert "run_100_steps.zip: No space left on device; training goes on" in capsys.readouterr().out


def test_the_progress_bar_survives_a_last_rollout_beyond_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal shows the bar to the end, with the figures, though rollouts are whole."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    metrics, _ = make_callback()
    progress = ProgressCallback(metrics, 100)
    progress.model = SimpleNamespace(num_timesteps=0)  # type: ignore[assignment]
    progress.on_training_start({}, {})
    progress.model.num_timesteps = 128
    assert progress.on_step()
    assert "0 laps" in progress._figures()
    metrics.recent_lap_times.append(7.3)
    metrics.best_lap_time, metrics.total_laps = 7.25, 12_345
    assert progress._bar is not None
    progress._bar.set_postfix_str(progress._figures())
    assert re.match(r"\d+%, .* left, lap 7.30 s, best 7.25 s, 12,345 laps", str(progress._bar).strip()[:80])
    progress.on_training_end()
    progress.close()


def test_driving_for_real_gives_the_same_laps_with_and_without_repeat() -> None:
    """A driver that decides every four ticks is timed to the tick, as one who holds its actions itself."""
    from training.drivers.scripted import scripted_driver

    times = []
    for repeat in (1, 4):
        callback, _ = make_callback()
        env = RacerVecEnv(["track-01"], 1, AiConfig(), action_repeat=repeat)
        observations: Any = env.reset()
        for tick in range(1200 // repeat):
            if repeat == 4 or tick % 4 == 0:
                actions = scripted_driver(observations)
            observations, _, dones, infos = env.step(actions)
            step(callback, *infos, dones=tuple(np.asarray(dones).tolist()))
        times.append([lap_time for _, lap_time in callback._lap_times])
    assert len(times[0]) >= 2
    assert times[0] == times[1]


@pytest.mark.parametrize("repeat", [1, 4])
def test_the_array_of_all_infos_gives_the_same_figures(repeat: int) -> None:
    """Laps, completions and means of real cars, whether they are read from their array or from each info."""
    from training.drivers.scripted import scripted_driver

    config = AiConfig(episode=EpisodeLimits(max_steps=700))
    env = RacerVecEnv(["track-01"], 6, config, random_start_share=0.7, action_repeat=repeat)
    env.cars[0].start = {"arc_length": -1.0, "speed": 60.0}  # crosses the line at once
    env.seed(0)
    (from_infos, one), (from_array, other) = make_callback(), make_callback()
    from_array.model.get_env = lambda: env  # type: ignore[method-assign, assignment, return-value]
    from_array.on_training_start({}, {})
    from_array._track_ids = []
    observations: Any = env.reset()
    for _ in range(2):
        for _ in range(1000 // repeat):
            observations, _, dones, infos = env.step(scripted_driver(observations))
            for callback in (from_infos, from_array):
                step(callback, *infos, dones=tuple(dones.tolist()))
        for callback in (from_infos, from_array):
            callback.on_rollout_end()
        assert other.recorded == one.recorded
        assert other.averaged.keys() == one.averaged.keys()
        for name, means in one.averaged.items():
            assert other.averaged[name] == [pytest.approx(np.mean(means))], name
        one.averaged.clear()
        other.averaged.clear()
    assert from_array.total_laps == from_infos.total_laps > 6


class Slow(VecEnvWrapper):
    """A wrapper of the user's, whose infos tell another speed."""

    def reset(self) -> Any:
        """Begin."""
        return self.venv.reset()

    def step_wait(self) -> Any:
        """Advance."""
        observations, rewards, dones, infos = self.venv.step_wait()
        return observations, rewards, dones, [{**info, "rawSpeed": 7.0} for info in infos]


def test_what_a_wrapper_tells_is_what_counts() -> None:
    """And not what the cars beneath it have told."""
    env = VecNormalize(Slow(RacerVecEnv(["track-01"], 2, AiConfig())))
    callback, logger = make_callback()
    callback.model.get_env = lambda: env  # type: ignore[method-assign, assignment, return-value]
    callback.on_training_start({}, {})
    env.reset()
    _, _, dones, infos = env.step(np.zeros((2, 3), np.float32))
    step(callback, *infos, dones=tuple(dones.tolist()))
    callback.on_rollout_end()
    assert logger.averaged["racer/mean_speed"] == [7.0]
