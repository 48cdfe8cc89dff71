"""Callbacks for stable-baselines3: what a racer wants to know, and saving on the way."""

import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize
from tqdm import tqdm

from racer_env.physics import TICKS_PER_SECOND as GAME_TICKS_PER_SECOND
from racer_env.spaces import REWARD_KEYS as GAME_REWARD_KEYS
from training.model_files import model_path, save_pair

RECENT = 100  # laps or episodes that the progress display averages over


class RacerMetricsCallback(BaseCallback):
    """Logs reward components, lap times and completion.

    Works on any vector environment whose ``infos`` carry the game's keys. ``reward/<component>`` is logged on
    every step, as the mean over the cars; ``racer/...`` at the end of a rollout, when there is something to say.

    A lap's time is the difference of step counts between two crossings of the line, the first lap's from the
    start of the episode; a start elsewhere than on the line (lap 0) is timed from its first crossing on.

    Attributes:
        total_laps: Laps since the start of training.
        best_lap_time: The fastest of them in seconds, or None.
        recent_lap_times: The last RECENT laps, in seconds.
        recent_completions: Whether the last RECENT finished episodes completed a lap.
    """

    TICKS_PER_SECOND = GAME_TICKS_PER_SECOND
    REWARD_KEYS = GAME_REWARD_KEYS

    def __init__(self, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.total_laps = 0
        self.best_lap_time: float | None = None
        self.recent_lap_times: deque[float] = deque(maxlen=RECENT)
        self.recent_completions: deque[bool] = deque(maxlen=RECENT)
        self._lap_times: list[float] = []
        self._completions: list[bool] = []
        self._clocks: list[_LapClock] = []

    def _on_step(self) -> bool:
        infos, dones = self.locals["infos"], self.locals["dones"]
        for key in self.REWARD_KEYS:
            values = [info[key] for info in infos if key in info]
            if values:
                self.logger.record_mean(f"reward/{key}", sum(values) / len(values))
        if len(self._clocks) != len(infos):
            self._clocks = [_LapClock() for _ in infos]
        for clock, info, done in zip(self._clocks, infos, dones, strict=True):
            if "lap" not in info:
                continue
            if info["lap"] != clock.lap:
                self._count_lap(clock.cross_line(info["lap"], info["stepCount"]))
            if done:
                self._completions.append(clock.laps > 0)
                self.recent_completions.append(clock.laps > 0)
                clock.reset()
        return True

    def _count_lap(self, ticks: int | None) -> None:
        if ticks is None:
            return
        lap_time = ticks / self.TICKS_PER_SECOND
        self.total_laps += 1
        self._lap_times.append(lap_time)
        self.recent_lap_times.append(lap_time)
        if self.best_lap_time is None or lap_time < self.best_lap_time:
            self.best_lap_time = lap_time

    def _on_rollout_end(self) -> None:
        if self._lap_times:
            self.logger.record("racer/mean_lap_time_sec", float(np.mean(self._lap_times)))
            self.logger.record("racer/best_lap_time_sec", float(np.min(self._lap_times)))
        if self._completions:
            self.logger.record("racer/completion_rate", float(np.mean(self._completions)))
            self.logger.record("racer/episodes_this_rollout", len(self._completions))
        self._lap_times.clear()
        self._completions.clear()


class _LapClock:
    """Times the laps of one car within an episode."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lap, self.boundary, self.laps = 1, 0, 0

    def cross_line(self, lap: int, step_count: int) -> int | None:
        """Note a new lap number; return the ticks of the lap that this completes, or None."""
        before, self.lap = self.lap, lap
        if lap <= before:  # an episode that began elsewhere starts at lap 0
            return None
        ticks, self.boundary = step_count - self.boundary, step_count
        if before < 1:
            return None
        self.laps += 1
        return ticks


class CheckpointPairCallback(BaseCallback):
    """Saves model and statistics every ``frequency`` environment steps, whatever the number of cars."""

    def __init__(self, frequency: int, models_dir: Path, run: str, statistics: VecNormalize) -> None:
        super().__init__()
        self.frequency = frequency
        self.models_dir = models_dir
        self.run = run
        self.statistics = statistics
        self._next = 0

    def _on_training_start(self) -> None:
        self._next = (self.num_timesteps // self.frequency + 1) * self.frequency

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            save_pair(self.model, self.statistics, model_path(self.models_dir, self.run, self.num_timesteps))
            self._next = (self.num_timesteps // self.frequency + 1) * self.frequency
        return True


class ProgressCallback(BaseCallback):
    """Shows a progress bar with laps, completion and lap times; a line now and then where there is no terminal."""

    SECONDS_BETWEEN_LINES = 5.0

    def __init__(self, metrics: RacerMetricsCallback, total_steps: int) -> None:
        super().__init__()
        self.metrics = metrics
        self.total_steps = total_steps
        self._first_step = 0
        self._started = 0.0
        self._last_line = 0.0
        self._bar: tqdm[Any] | None = None

    def _on_training_start(self) -> None:
        self._first_step = self.num_timesteps
        self._started = self._last_line = time.monotonic()
        if sys.stderr.isatty():
            self._bar = tqdm(
                total=self.total_steps,
                bar_format="{percentage:3.0f}% |{bar:8}| {n:,}/{total:,}{postfix} [{remaining}]",
                mininterval=0.1,
            )

    def _on_step(self) -> bool:
        if self._bar is not None:
            self._bar.n = self._steps_done()
            if time.monotonic() - self._last_line > 0.2:
                self._last_line = time.monotonic()
                self._bar.set_postfix_str(self._figures(), refresh=True)
        elif time.monotonic() - self._last_line > self.SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            print(f"{self._steps_done():,}/{self.total_steps:,} steps, {self._figures()}", flush=True)
        return True

    def _on_training_end(self) -> None:
        self.close()

    def close(self) -> None:
        """Leave the bar as it is, on a line of its own; twice is fine."""
        if self._bar is not None:
            self._bar.n = self._steps_done()
            self._bar.set_postfix_str(self._figures(), refresh=False)
            self._bar.close()
            self._bar = None

    def _steps_done(self) -> int:
        return min(self.num_timesteps - self._first_step, self.total_steps)  # the last rollout goes beyond

    def _figures(self) -> str:
        metrics = self.metrics
        rate = (self.num_timesteps - self._first_step) / max(time.monotonic() - self._started, 1e-6)
        parts = [f"{rate:,.0f} steps/s", f"{metrics.total_laps:,} laps"]
        if metrics.recent_completions:
            parts.append(f"completion {np.mean(metrics.recent_completions):.0%}")
        if metrics.recent_lap_times:
            parts.append(f"lap {np.mean(metrics.recent_lap_times):.2f} s, best {metrics.best_lap_time:.2f} s")
        return ", ".join(parts)
