"""What runs are compared by, each a number of a run; four are what sweeps judge by."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from training.sweeps.objective import OBJECTIVES

Figures = dict[str, Any]  # an evaluation, a line of a run's evaluations.jsonl
_NEEDED = ("steps", "seconds", "episodes", "success", "laps_asked", "clean_laps")
_MAY_BE_NONE = ("best_lap_time_sec", "mean_lap_time_sec", "moving_start_success", "standing_start_success")


@dataclass(frozen=True)
class Measure:
    """Something that runs are compared by.

    Attributes:
        key: Name in JSON.
        title: Name with its unit, for people.
        find: Returns its value for a run with these evaluations; None if the run has not got there.
        is_less_better: Whether a smaller value is better.
        better: What a better setting does, with "than".
        form: Format of a value.
    """

    key: str
    title: str
    find: Callable[[Sequence[Figures]], float | None]
    is_less_better: bool
    better: str
    form: str

    def of(self, evaluations: Sequence[Figures]) -> float:
        """Return the value of a run; the worst of all, infinite or 0, if it has not got there."""
        value = self.find(evaluations)
        return value if value is not None else math.inf if self.is_less_better else 0.0

    def shown(self, value: float) -> str:
        """Return a value for people."""
        return "-" if not math.isfinite(value) else format(value, self.form)


def number(figures: Figures, name: str) -> float | None:
    """Return a figure of an evaluation; None if it was not measured, or is no finite number."""
    value = figures.get(name)
    return float(value) if _is_number(value) else None


def is_whole(figures: Figures) -> bool:
    """Return whether an evaluation has all that measures need, as training writes it."""
    score = figures.get("score")
    if not isinstance(score, list) or len(score) != 3:
        return False
    needed = [*score, *map(figures.get, _NEEDED), *(figures.get(name) or 0.0 for name in _MAY_BE_NONE)]
    return all(map(_is_number, needed)) and figures["laps_asked"] > 0


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def best_of(evaluations: Sequence[Figures]) -> Figures:
    """Return the evaluation of a run's best model, of whole ones: the first one with the greatest score."""
    return max(evaluations, key=lambda figures: [*map(float, figures["score"])])


def clean_share(figures: Figures) -> float:
    """Return the share of the laps of an evaluation that were clean, in [0, 1]."""
    return (number(figures, "clean_laps") or 0.0) / (number(figures, "laps_asked") or 1.0)


def _judged(objective: str, key: str, better: str, form: str) -> Measure:
    """Return a measure that sweeps judge by too."""
    found = OBJECTIVES[objective]
    return Measure(key, found.title, found.value_of, found.is_less_better, better, form)


PACE = _judged("pace", "pace_less_costs", "is better by pace less costs than", ".1f")
LAP_TIME = _judged("lap-time", "lap_time_sec", "is faster than", ".2f")
STEPS = _judged("steps", "steps_to_competence", "needs fewer steps than", ",.0f")
SECONDS = _judged("seconds", "seconds_to_competence", "needs fewer seconds than", ".1f")
CLEAN_LAPS = Measure(
    "clean_laps_share", "clean laps", lambda every: clean_share(best_of(every)), False, "laps more cleanly than", ".0%"
)
REVERSALS = Measure(
    *("steer_reversals_per_sec", "reversals per s", lambda every: number(best_of(every), "steer_reversals_per_sec")),
    *(True, "steers more smoothly than", ".2f"),
)
OFF_ROAD = Measure(
    *("off_track_share", "off the road", lambda every: number(best_of(every), "off_track_share")),
    *(True, "keeps to the road more than", ".1%"),
)
MEASURES = (PACE, LAP_TIME, CLEAN_LAPS, STEPS, SECONDS, REVERSALS, OFF_ROAD)
BY_OBJECTIVE = {"pace": PACE, "lap-time": LAP_TIME, "steps": STEPS, "seconds": SECONDS}
