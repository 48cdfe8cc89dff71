"""The page of a comparison."""

from collections.abc import Iterator, Sequence
from typing import Any

from training.comparisons import charts, search_charts
from training.comparisons.comparison import Compared, Comparison
from training.comparisons.driving import Driven
from training.comparisons.grouping import differing, shown
from training.comparisons.measures import MEASURES, Measure
from training.comparisons.search import MIN_TRIALS, Search
from training.comparisons.table import has_intervals, parts
from training.console.messages import count_of, in_short
from training.console.tracks import known_tracks
from training.drives.output import driven_by
from training.drives.plots import racing_line
from training.evaluation.summary import MAX_TRACKS_APART
from training.evaluation.tables import COLUMNS, cells, places_of
from training.reports.axes import AXES
from training.reports.html import embedded, fill_in

MAX_ROWS = 100  # most settings in the page's table, the best ones


def make_page(
    title: str, comparison: Comparison, words: Sequence[str], searches: Sequence[Search], driven: Sequence[Driven]
) -> str:
    """Return the HTML page of a comparison.

    Args:
        title: What is compared.
        comparison: The comparison.
        words: What it comes to.
        searches: What a search has found out; empty if nothing was searched.
        driven: What the best drivers drove; empty if they did not drive.
    """
    settings = comparison.settings
    runs = sum(len(each.setting.runs) for each in settings)
    return fill_in(
        "comparisons/comparison.html.j2",
        title=title,
        subtitle=f"{count_of(len(settings), 'setting')}, {count_of(runs, 'run')}, by {comparison.rank.title}",
        words=words,
        measures=[measure.title for measure in MEASURES],
        rows=[_row(each) for each in settings[:MAX_ROWS]],
        more=max(0, len(settings) - MAX_ROWS),
        has_intervals=has_intervals(settings[:MAX_ROWS]),
        differs=_differs(settings[:MAX_ROWS]),
        intervals=embedded(charts.intervals(comparison)),
        curves=list(_curves(settings)),
        unmoved={chart.title: share for chart in charts.CHARTS if (share := charts.unmoved(settings, chart))},
        drawn=count_of(min(len(settings), charts.MAX_DRAWN), "setting"),
        searches=[_search(search, comparison.rank) for search in searches],
        drivers=_drivers(driven),
        columns=COLUMNS,
        lines=list(_lines(driven)),
    )


def _row(compared: Compared) -> dict[str, Any]:
    return {
        "label": compared.label,
        "seeds": len(compared.setting.runs),
        "runs": in_short([run.name for run in compared.setting.runs]),
        "cells": [parts(compared.of(measure), measure) for measure in MEASURES],
    }


def _differs(settings: Sequence[Compared]) -> dict[str, Any] | None:
    """Return a table of what differs between settings; None if nothing does but the algorithm."""
    names = differing([each.setting for each in settings])
    if not names:
        return None
    values = [
        (each.label, [shown(each.setting.values[name]) if name in each.setting.values else "" for name in names])
        for each in settings
    ]
    return {"names": names, "rows": values}


def _curves(settings: Sequence[Compared]) -> Iterator[dict[str, str]]:
    for chart in charts.CHARTS:
        for over in AXES if charts.unmoved(settings, chart) is None else ():
            figure = charts.learning_curve(settings, chart, over)
            if figure is not None:
                yield {"name": f"{chart.title} over {over}", "source": embedded(figure)}


def _search(search: Search, rank: Measure) -> dict[str, Any]:
    bars = search_charts.importances(search)
    others = f"; {count_of(search.others, 'more trial')} ended early or failed" if search.others else ""
    lines = search_charts.parallel_coordinates(search, rank.title)
    return {
        "sweep": search.sweep,
        "label": search.label,
        "about": f"{count_of(len(search.trials), 'finished trial')}{others}",
        "importance": None if bars is None else embedded(bars),
        "few": f"Importance can be estimated from {MIN_TRIALS} finished trials on.",
        "lines": embedded(lines, "png"),  # PNG, as there may be a thousand
    }


def _drivers(driven: Sequence[Driven]) -> list[dict[str, Any]]:
    return [
        {
            "label": each.label,
            "model": str(each.model),
            "track": place + (" (trained there)" if place in each.known else ""),
            "cells": cells(episodes),
        }
        for each in driven
        for place, episodes in places_of(each.evaluation.by_track).items()
    ]


def _lines(driven: Sequence[Driven]) -> Iterator[dict[str, str]]:
    """Yield pictures of the drivers' best laps, on the track where most of them have one."""
    tracks = known_tracks(driven[0].evaluation.course.tracks) if driven else []
    recordings = {
        track.id: [driven_by(each.label, [track], each.evaluation.by_track).recordings[track.id] for each in driven]
        for track in tracks[:MAX_TRACKS_APART]
    }
    most = max(recordings.values(), key=lambda all_: sum(one.drive.best_lap is not None for one in all_), default=[])
    for recording in most:
        drive, lap = recording.drive, recording.drive.best_lap
        if lap is not None:
            picture = embedded(racing_line(drive, lap, width=7.2), "png")
            yield {"name": f"racing line of {drive.driver} on {drive.track.id}", "source": picture}
