"""RacerMetricsCallback against crafted infos, and the checkpoint rhythm, without a game."""

from types import SimpleNamespace
from typing import Any

import pytest

from training.callbacks import CheckpointPairCallback, ProgressCallback, RacerMetricsCallback


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
    assert len(logger.averaged) == 6


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


@pytest.mark.parametrize(("cars", "saves"), [(1, [100, 200]), (64, [128, 256]), (300, [300])])
def test_checkpoints_come_every_so_many_environment_steps(
    cars: int, saves: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """The rhythm is in environment steps, whatever the number of cars."""
    saved: list[str] = []
    monkeypatch.setattr("training.callbacks.save_pair", lambda model, statistics, path: saved.append(path.name))
    callback = CheckpointPairCallback(100, tmp_path, "run", None)  # type: ignore[arg-type]
    callback.model = SimpleNamespace(num_timesteps=0)  # type: ignore[assignment]
    callback.on_training_start({}, {})
    for steps in range(cars, 301 if cars == 300 else 257, cars):
        callback.model.num_timesteps = steps
        callback.on_step()
    assert saved == [f"run_{steps}_steps.zip" for steps in saves]


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
    progress.on_training_end()
    progress.close()
