"""The best setting of a comparison in words, with the command to drive it, and what the next ones are."""

import math
from collections.abc import Iterator

from training.comparisons.comparison import Compared, Comparison
from training.comparisons.driving import best_run
from training.comparisons.measures import LAP_TIME, Measure
from training.comparisons.words import MAX_RIVALS
from training.console.messages import command_line, count_of
from training.runs.recorded import recorded_track_flags


def best_in_words(comparison: Comparison) -> str:
    """Return what the best setting is, its lap time, and of how many seeds."""
    best = comparison.settings[0]
    is_known = len({each.setting.course for each in comparison.settings}) == 1  # else the rank says nothing
    count = len(best.setting.runs)
    seeds = count_of(count, "seed") if count == 1 else f"median of {count_of(count, 'seed')}"
    lap_time = best.of(LAP_TIME).median
    laps = f"lap time {LAP_TIME.shown(lap_time)} s" if math.isfinite(lap_time) else "not all of its laps are clean"
    return f"{'best' if is_known else 'first in rank'} is {_described(best)}; {laps}, {seeds}"


def try_in_words(best: Compared, rank: Measure) -> str:
    """Return the command that lets the best run of a setting drive."""
    run = best_run(best.setting.runs, rank)
    if not run.best_model.is_file():
        return f"its best model is not there: {run.best_model}"
    flags = recorded_track_flags(run.records[-1])
    command = ["python", "-m", "training.evaluate", "--model", str(run.best_model), *flags]
    return f"see its best run lap: {command_line(command)}"


def next_in_words(comparison: Comparison) -> Iterator[str]:
    """Yield what the settings next to the best one are, where their names do not say so."""
    for each in comparison.settings[1 : 1 + MAX_RIVALS]:
        if each.setting.about:
            yield f"next is {_described(each)}"


def _described(compared: Compared) -> str:
    return compared.label + (f": {compared.setting.about}" if compared.setting.about else "")
