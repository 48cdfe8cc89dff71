"""How a sweep stands, on the screen."""

import sys
import time
from typing import Any

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0


class SweepProgress:
    """A bar at the bottom of a terminal; elsewhere, a line now and then, but none at the end, which the sweep tells."""

    def __init__(self, total: float, done: float) -> None:
        """Begin to show.

        Args:
            total: How many runs there are to be.
            done: How many of them were done before.
        """
        self._total, self._before = total, done
        self._began = self._last_line = time.monotonic()
        self._bar: tqdm[Any] | None = None
        if sys.stderr.isatty():
            self._bar = tqdm(total=total, initial=done, bar_format="{desc} |{bar:8}|", dynamic_ncols=True)

    def show(self, done: float, words: str, is_new: bool) -> None:
        """Show how the sweep stands.

        Args:
            done: How many runs are done; those on the way count in part.
            words: Trials and runs done, and the best so far.
            is_new: Whether a trial has ended since, so that a line is due.
        """
        line = f"{words}; {self._left_in_words(done)}"
        if self._bar is not None:
            self._bar.n = min(done, self._total)
            self._bar.set_description_str(line)
        elif done < self._total and (is_new or time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES):
            self._last_line = time.monotonic()
            print(line, flush=True)

    def close(self) -> None:
        """Take the bar away; safe to call twice."""
        if self._bar is not None:
            self._bar.leave = False
            self._bar.close()
            self._bar = None

    def _left_in_words(self, done: float) -> str:
        elapsed, new = time.monotonic() - self._began, done - self._before
        if new < 1 / 20:
            return "time left not known yet"
        return f"{duration(elapsed * (self._total - done) / new)} left"


def duration(seconds: float) -> str:
    """Return a duration for people."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
