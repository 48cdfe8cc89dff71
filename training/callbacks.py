"""Callbacks for stable-baselines3: what a racer wants to know, and saving on the way."""

import contextlib
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecNormalize, unwrap_vec_wrapper
from tqdm import tqdm

from racer_env.contract import TICKS_PER_SECOND as GAME_TICKS_PER_SECOND
from racer_env.contract import REWARD_COMPONENTS as GAME_REWARD_KEYS
from training.cli import MAX_TRACKS_APART, say
from training.model_files import model_path, prune_checkpoints
from training.saving import save_unit
from training.shaping import SmoothSteering

RECENT = 100  # laps or episodes that the progress display averages over
DEFAULT_KEPT = 5  # checkpoints


class RacerMetricsCallback(BaseCallback):
    """Logs reward components, lap times, completion, contacts and speed.

    Works on any vector environment whose ``infos`` carry the game's keys. On every step, as means over the cars:
    ``reward/<component>``, ``racer/wall_contact_share``, ``racer/off_track_share`` and ``racer/mean_speed`` (units/s).
    At the end of a rollout, when there is something to say: ``racer/mean_lap_time_sec``, ``racer/best_lap_time_sec``,
    ``racer/laps``, ``racer/completion_rate`` and ``racer/episodes_this_rollout``; where the cars drive on several
    tracks, also lap times and completion for each as ``racer_<track>/...``.

    A lap's time is the difference of step counts between two crossings of the line, the first lap's from the
    start of the episode; a start elsewhere than on the line (lap 0) is timed from its first crossing on.

    An off-policy algorithm's rollout is a single step or a few: what its rollouts say is gathered until the logger
    writes it, so that a point in TensorBoard is about all laps since the last one.

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
        self._lap_times: list[tuple[str, float]] = []  # with their track
        self._completions: list[tuple[str, bool]] = []
        self._clocks: list[_LapClock] = []
        self._track_ids: list[str] = []  # by car
        self._gathers = False
        self._reported: dict[str, float] = {}
        self._reported_counts = (0, 0)  # laps and episodes in it

    def _on_training_start(self) -> None:
        self._gathers = isinstance(self.model, OffPolicyAlgorithm)
        env = self.model.get_env() if hasattr(self.model, "get_env") else None
        with contextlib.suppress(AttributeError):  # another environment's cars have no tracks
            self._track_ids = [] if env is None else list(env.get_attr("track_id"))

    def _on_step(self) -> bool:
        infos, dones = self.locals["infos"], self.locals["dones"]
        for key in self.REWARD_KEYS:
            self._record_mean(f"reward/{key}", [info[key] for info in infos if key in info])
        self._record_mean("racer/wall_contact_share", [info["wallContact"] for info in infos if "wallContact" in info])
        self._record_mean("racer/off_track_share", [info["offTrack"] != 0 for info in infos if "offTrack" in info])
        self._record_mean("racer/mean_speed", [info["rawSpeed"] for info in infos if "rawSpeed" in info])
        if len(self._clocks) != len(infos):
            self._clocks = [_LapClock() for _ in infos]
        for car, (clock, info, done) in enumerate(zip(self._clocks, infos, dones, strict=True)):
            if "lap" not in info:
                continue
            if info["lap"] != clock.lap or "lapStepCount" in info:
                self._count_lap(car, clock.cross_line(info["lap"], info.get("lapStepCount", info["stepCount"])))
            if done:
                self._completions.append((self._track_of(car), clock.laps > 0))
                self.recent_completions.append(clock.laps > 0)
                clock.reset()
        return True

    def _record_mean(self, key: str, values: list[float]) -> None:
        if values:
            self.logger.record_mean(key, sum(values) / len(values))

    def _track_of(self, car: int) -> str:
        return self._track_ids[car] if car < len(self._track_ids) else ""

    def _count_lap(self, car: int, ticks: int | None) -> None:
        if ticks is None:
            return
        lap_time = ticks / self.TICKS_PER_SECOND
        self.total_laps += 1
        self._lap_times.append((self._track_of(car), lap_time))
        self.recent_lap_times.append(lap_time)
        if self.best_lap_time is None or lap_time < self.best_lap_time:
            self.best_lap_time = lap_time

    def _on_rollout_end(self) -> None:
        if self._gathers and not self._is_pending():  # the logger has written it
            self._forget()
        self._reported, self._reported_counts = self._report(), (len(self._lap_times), len(self._completions))
        for key, value in self._reported.items():
            self.logger.record(key, value)
        if not self._gathers:
            self._forget()

    def _on_training_end(self) -> None:
        if self._gathers and self._is_pending():
            self.logger.dump(self.num_timesteps)

    def _is_pending(self) -> bool:
        """Whether the logger still holds what was reported last."""
        return any(key in self.logger.name_to_value for key in self._reported)

    def _forget(self) -> None:
        """Drop what was reported; laps since then stay for the next report."""
        laps, episodes = self._reported_counts
        del self._lap_times[:laps], self._completions[:episodes]
        self._reported_counts = (0, 0)

    def _report(self) -> dict[str, float]:
        report = _summary("racer", [t for _, t in self._lap_times], [c for _, c in self._completions])
        if self._lap_times:
            report["racer/laps"] = len(self._lap_times)
        if self._completions:
            report["racer/episodes_this_rollout"] = len(self._completions)
        tracks = sorted(set(self._track_ids))
        for track in tracks if 1 < len(tracks) <= MAX_TRACKS_APART else []:
            lap_times = [lap_time for where, lap_time in self._lap_times if where == track]
            completions = [completed for where, completed in self._completions if where == track]
            report |= _summary(f"racer_{track}", lap_times, completions)
        return report


def _summary(prefix: str, lap_times: list[float], completions: list[bool]) -> dict[str, float]:
    summary = {}
    if lap_times:
        summary[f"{prefix}/mean_lap_time_sec"] = float(np.mean(lap_times))
        summary[f"{prefix}/best_lap_time_sec"] = float(np.min(lap_times))
    if completions:
        summary[f"{prefix}/completion_rate"] = float(np.mean(completions))
    return summary


class _LapClock:
    """Times the laps of one car within an episode."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lap, self.boundary, self.laps = 1, 0, 0

    def cross_line(self, lap: int, step_count: int) -> int | None:
        """Note a new lap number; return the ticks of the lap that this completes, or None."""
        before, self.lap = self.lap, lap
        if lap < before:  # an episode that began elsewhere starts at lap 0
            return None
        ticks, self.boundary = step_count - self.boundary, step_count
        if lap == before or before < 1:  # lap 0 and its end within one decision, or seen apart
            return None
        self.laps += 1
        return ticks


class PeriodicCallback(BaseCallback):
    """Does something every ``frequency`` environment steps, whatever the number of cars."""

    def __init__(self, frequency: int) -> None:
        super().__init__()
        self.frequency = frequency
        self._next = 0

    def _on_training_start(self) -> None:
        self._plan()

    def _on_step(self) -> bool:
        return True

    def is_due(self) -> bool:
        """Return whether it is time, once each time."""
        if self.num_timesteps < self._next:
            return False
        self._plan()
        return True

    def _plan(self) -> None:
        self._next = (self.num_timesteps // self.frequency + 1) * self.frequency


class CheckpointPairCallback(PeriodicCallback):
    """Saves model and statistics every ``frequency`` environment steps, whatever the number of cars.

    The newest ``keep`` periodic checkpoints of the run stay. When one cannot be written, on a full disk say, that is
    said, and training goes on: the last whole one is still there, and the next may succeed.
    """

    def __init__(
        self,
        frequency: int,
        models_dir: Path,
        run: str,
        statistics: VecNormalize,
        *,
        keep: int = DEFAULT_KEPT,
        with_buffer: bool = False,
    ) -> None:
        super().__init__(frequency)
        self.models_dir = models_dir
        self.run = run
        self.statistics = statistics
        self.keep = keep
        self.with_buffer = with_buffer

    def _on_step(self) -> bool:
        if self.is_due():
            path = model_path(self.models_dir, self.run, self.num_timesteps)
            try:
                save_unit(self.model, self.statistics, path, self.with_buffer)
                prune_checkpoints(self.models_dir, self.run, self.keep)
            except OSError as error:
                say(f"cannot save {path}: {error.strerror or error}; training goes on, what was saved before is whole")
        return True


class LogRhythmCallback(PeriodicCallback):
    """Writes an off-policy algorithm's log every so many environment steps.

    By itself it would write once for each episode that ends: never while all go on, many times when all end at once.
    """

    def _on_rollout_end(self) -> None:
        if self.is_due():
            self.model.dump_logs()


class RefillCallback(BaseCallback):
    """Lets a driver whose replay buffer is empty drive for a while before it learns on, as it did when it began.

    stable-baselines3 would learn from the first few steps over and over, since the step counter is past the start.
    """

    def __init__(self) -> None:
        super().__init__()
        self._gradient_steps: int | None = None

    def _on_training_start(self) -> None:
        model: Any = self.model
        if self.num_timesteps >= model.learning_starts and self._filled() < model.learning_starts:
            self._gradient_steps, model.gradient_steps = model.gradient_steps, 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if self._gradient_steps is not None and self._filled() >= self.model.learning_starts:  # type: ignore[attr-defined]
            self.model.gradient_steps, self._gradient_steps = self._gradient_steps, None  # type: ignore[attr-defined]

    def _on_training_end(self) -> None:
        if self._gradient_steps is not None:  # it is saved with the model
            self.model.gradient_steps = self._gradient_steps  # type: ignore[attr-defined]

    def _filled(self) -> int:
        buffer: Any = self.model.replay_buffer  # type: ignore[attr-defined]
        return int(buffer.size() * buffer.n_envs)


class QuieterCallback(BaseCallback):
    """Keeps PPO's exploration noise below a line that falls over the run."""

    def __init__(self, start: Sequence[float], end: float) -> None:
        """Make it.

        Args:
            start: Logarithm of the noise of each action at the begin of the run.
            end: That of all at its end.
        """
        super().__init__()
        self._start = torch.tensor(start)
        self._end = end

    def _on_rollout_start(self) -> None:
        remaining = max(float(self.model._current_progress_remaining), 0.0)
        limit = self._end + (self._start - self._end) * remaining
        log_std: Any = self.model.policy.log_std
        with torch.no_grad():
            log_std.copy_(torch.minimum(log_std, limit.to(log_std.device)))

    def _on_step(self) -> bool:
        return True


class SmootherCallback(BaseCallback):
    """Lets the penalty on changes of the steering grow over the run, by an equal factor in equal times.

    While a driver explores, most changes are noise, and a large penalty on them would drown out the laps.
    """

    def __init__(self, start: float, end: float) -> None:
        """Make it.

        Args:
            start: Weight of the penalty at the begin of the run.
            end: That at its end.
        """
        super().__init__()
        self._start = start
        self._end = end

    def _on_rollout_start(self) -> None:
        remaining = max(float(self.model._current_progress_remaining), 0.0)
        shaped = unwrap_vec_wrapper(self.training_env, SmoothSteering)
        if shaped is not None:
            shaped.weight = self._end * (self._start / self._end) ** remaining

    def _on_step(self) -> bool:
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
