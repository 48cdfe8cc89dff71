"""A run's progress on the screen."""

import sys
import time
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

from training.console.messages import count_of
from training.runs.metrics import RacerMetricsCallback


class ProgressCallback(BaseCallback):
    """Shows a progress bar with laps, completion and lap times; without a terminal, a line now and then."""

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
                # What matters most comes first: a narrow terminal cuts off the rest.
                bar_format="{percentage:3.0f}%, {remaining} left{postfix} |{bar:8}| {n:,}/{total:,}",
                dynamic_ncols=True,
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
        """Leave the bar as it is, on its own line; safe to call twice."""
        if self._bar is not None:
            self._bar.n = self._steps_done()
            self._bar.set_postfix_str(self._figures(), refresh=False)
            self._bar.close()
            self._bar = None

    def _steps_done(self) -> int:
        return min(self.num_timesteps - self._first_step, self.total_steps)  # the last rollout exceeds the total

    def _figures(self) -> str:
        metrics = self.metrics
        rate = (self.num_timesteps - self._first_step) / max(time.monotonic() - self._started, 1e-6)
        parts = []
        if metrics.recent_lap_times:
            parts.append(f"lap {np.mean(metrics.recent_lap_times):.2f} s, best {metrics.best_lap_time:.2f} s")
        parts.append(count_of(metrics.total_laps, "lap"))
        if metrics.recent_completions:
            parts.append(f"{np.mean(metrics.recent_completions):.0%} complete")
        return ", ".join([*parts, f"{rate:,.0f} steps/s"])
