"""The tables of a comparison, for a terminal."""

from collections.abc import Sequence

from racer_env.printable import printable
from training.comparisons.comparison import Compared, Comparison
from training.comparisons.driving import Driven
from training.comparisons.measures import (
    CLEAN_LAPS,
    LAP_TIME,
    MEASURES,
    OFF_ROAD,
    PACE,
    REVERSALS,
    SECONDS,
    STEPS,
    Measure,
    best_of,
)
from training.comparisons.spread import Spread
from training.console.messages import count_of, in_short
from training.evaluation.tables import side_by_side

MAX_ROWS = 20  # most settings in the table of a terminal, the best ones
_TABLES = ((PACE, LAP_TIME, CLEAN_LAPS), (STEPS, SECONDS), (REVERSALS, OFF_ROAD))


def settings_table(comparison: Comparison) -> list[str]:
    """Return the lines of the tables, a row for each of the best settings."""
    shown = comparison.settings[:MAX_ROWS]
    cells = (
        "; in each cell the median over the seeds | the interquartile mean (its 95 % interval), unless all are equal"
    )
    by = f"{count_of(len(comparison.settings), 'setting')} by {comparison.rank.title}"
    lines = [f"{by}{cells if has_intervals(shown) else ''}; - is never"]
    for measures in _TABLES:
        lines += _lines(shown, measures)
    if len(comparison.settings) > len(shown):
        lines.append(f"and {count_of(len(comparison.settings) - len(shown), 'setting')} more; --json has them all")
    if any(best_of(run.evaluations)["episodes"] > 1 for each in shown for run in each.setting.runs):
        lines.append("lap time is the best lap where an evaluation is of one track, and else the mean of all laps")
    return lines


def drivers_table(driven: Sequence[Driven]) -> list[str]:
    """Return the lines of the table of the best drivers, as ``training.evaluate`` has it; none if none drove."""
    if not driven:
        return []
    known = [f"{each.label} was trained on {in_short(each.known)}" for each in driven if each.known]
    return [
        "the best driver of each of the best settings, side by side",
        *side_by_side([(each.label, each.evaluation.by_track) for each in driven]),
        *known,
    ]


def has_intervals(settings: Sequence[Compared]) -> bool:
    """Return whether any cell of the tables is more than a median."""
    return any(len(parts(each.of(measure), measure)) > 1 for each in settings for measure in MEASURES)


def parts(spread: Spread, measure: Measure) -> list[str]:
    """Return a median, and with three seeds or more the interquartile mean and the interval, unless all are equal."""
    if spread.interval is None or min(spread.values) == max(spread.values):
        return [measure.shown(spread.median)]
    return [
        measure.shown(spread.median),
        measure.shown(spread.middle),
        " to ".join(map(measure.shown, spread.interval)),
    ]


def _cell(spread: Spread, measure: Measure) -> str:
    median, *others = parts(spread, measure)
    return median + (f" | {others[0]} ({others[1]})" if others else "")


def _lines(settings: Sequence[Compared], measures: Sequence[Measure]) -> list[str]:
    rows = [["setting", "seeds", *(measure.title for measure in measures)]]
    rows += [
        [
            printable(each.label),
            str(len(each.setting.runs)),
            *(_cell(each.of(measure), measure) for measure in measures),
        ]
        for each in settings
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
