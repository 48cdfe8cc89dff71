"""A comparison as JSON."""

import math
from collections.abc import Sequence
from typing import Any

from training.comparisons.comparison import Compared, Comparison
from training.comparisons.driving import Driven
from training.comparisons.grouping import differing
from training.comparisons.measures import MEASURES
from training.comparisons.search import Search
from training.comparisons.spread import Spread
from training.evaluation.summary import summarise


def as_document(
    comparison: Comparison, words: Sequence[str], searches: Sequence[Search], driven: Sequence[Driven]
) -> dict[str, Any]:
    """Return a comparison in the form that JSON has; what a run never reached is null."""
    names = differing([each.setting for each in comparison.settings])
    return {
        "ranked_by": comparison.rank.key,
        "settings": [_setting(each, names) for each in comparison.settings],
        "words": list(words),
        "searches": [
            {
                "sweep": search.sweep,
                "label": search.label,
                "finished_trials": len(search.trials),
                "other_trials": search.others,
                "importance": search.importance,
            }
            for search in searches
        ],
        "drivers": [
            {
                "setting": each.label,
                "model": str(each.model),
                "tracks": {name: summarise(episodes) for name, episodes in each.evaluation.by_track.items()},
            }
            for each in driven
        ],
    }


def _setting(compared: Compared, names: Sequence[str]) -> dict[str, Any]:
    setting = compared.setting
    return {
        "label": compared.label,
        "algorithm": setting.algorithm,
        "differs": {name: setting.values[name] for name in names if name in setting.values},
        "runs": [str(run.folder) for run in setting.runs],
        "seeds": list(setting.seeds),
        "measures": {measure.key: _spread(compared.of(measure)) for measure in MEASURES},
    }


def _spread(spread: Spread) -> dict[str, Any]:
    return {
        "by_seed": [_finite(value) for value in spread.values],
        "median": _finite(spread.median),
        "interquartile_mean": _finite(spread.middle),
        "interval": None if spread.interval is None else [_finite(end) for end in spread.interval],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
