"""What the runs of a sweep are judged by: one number, taken from a run's evaluations."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Evaluation = dict[str, Any]  # a line of a run's evaluations.jsonl

NOT_REACHED = 1e9  # told to Optuna instead of a lap time, steps or seconds that a run does not have: the worst of all
STARTS = ("moving_start_success", "standing_start_success")


@dataclass(frozen=True)
class Objective:
    """A number by which runs are compared.

    Attributes:
        name: Its name on the command line.
        about: What it is.
        title: Name with its unit, for a column.
        is_less_better: Whether the smaller number is the better one.
        digits: How many digits of a value are shown.
        unit: Its unit.
        needs_laps: Whether a run is done once it has all of its laps clean.
        find: Returns the value of evaluations that are in order and not empty; None if there is none.
    """

    name: str
    about: str
    title: str
    is_less_better: bool
    digits: int
    unit: str
    needs_laps: bool
    find: Callable[[Sequence[Evaluation]], float | None]

    def value_of(self, evaluations: Iterable[Evaluation]) -> float | None:
        """Return the value of a run by its evaluations so far; None if it has not got there, which is the worst."""
        whole = [line for line in evaluations if is_whole(line)]
        return self.find(whole) if whole else None

    def median(self, values: Iterable[float | None]) -> float | None:
        """Return the median of the values of several runs, those without one as the worst; None is worse than any."""
        worst = math.inf if self.is_less_better else -math.inf
        middle = statistics.median([worst if value is None else value for value in values])
        return middle if math.isfinite(middle) else None

    def told(self, value: float | None) -> float:
        """Return what Optuna is told of a value: always a finite number."""
        return value if value is not None else NOT_REACHED if self.is_less_better else 0.0

    def rank(self, value: float | None) -> float:
        """Return what values are sorted by, the best first."""
        return self.told(value) if self.is_less_better else -self.told(value)

    def in_words(self, value: float | None) -> str:
        """Return a value with its unit."""
        return "no clean laps" if value is None else f"{value:,.{self.digits}f} {self.unit}"

    def in_short(self, value: float | None) -> str:
        """Return a value among others that have the same unit."""
        return "none" if value is None else f"{value:,.{self.digits}f}"


def is_whole(line: Evaluation) -> bool:
    """Return whether a line is an evaluation with a score, as training writes it."""
    score = line.get("score")
    return isinstance(score, list) and len(score) == 3 and all(name in line for name in ("success", "laps_asked"))


def best_of(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Return the evaluation of a run's best model, of whole ones: the first one with the greatest score."""
    return max(evaluations, key=lambda line: [*map(float, line["score"])])


def _lap_time(evaluations: Sequence[Evaluation]) -> float | None:
    """Return the best lap of the best model; where it drives several tracks, the mean of its laps on all of them."""
    best = best_of(evaluations)
    if best["success"] < 1:
        return None
    seconds: float | None = best["best_lap_time_sec" if best["episodes"] == 1 else "mean_lap_time_sec"]
    return seconds


def _pace(evaluations: Sequence[Evaluation]) -> float | None:
    """Return the pace of the best model less its costs, times the share of its laps and starts that were clean."""
    best = best_of(evaluations)
    shares = [best["clean_laps"] / best["laps_asked"], *(best[name] for name in STARTS if best.get(name) is not None)]
    return float(best["score"][1]) * statistics.fmean(shares) or None


def _first(name: str) -> Callable[[Sequence[Evaluation]], float | None]:
    """Return what finds a figure of the first evaluation in which all laps were clean."""

    def find(evaluations: Sequence[Evaluation]) -> float | None:
        return next((float(line[name]) for line in evaluations if line["success"] == 1), None)

    return find


_ALL = (
    Objective(
        name="pace",
        about="pace of the best model less its costs",
        title="pace less costs in units/s",
        is_less_better=False,
        digits=2,
        unit="units/s",
        needs_laps=False,
        find=_pace,
    ),
    Objective(
        name="lap-time",
        about="lap time of the best model",
        title="lap time in s",
        is_less_better=True,
        digits=2,
        unit="s",
        needs_laps=False,
        find=_lap_time,
    ),
    Objective(
        name="steps",
        about="steps to an evaluation with all laps clean",
        title="steps to competence",
        is_less_better=True,
        digits=0,
        unit="steps",
        needs_laps=True,
        find=_first("steps"),
    ),
    Objective(
        name="seconds",
        about="seconds to an evaluation with all laps clean",
        title="seconds to competence",
        is_less_better=True,
        digits=1,
        unit="s",
        needs_laps=True,
        find=_first("seconds"),
    ),
)
OBJECTIVES = {objective.name: objective for objective in _ALL}
LAP_TIME = OBJECTIVES["lap-time"]
