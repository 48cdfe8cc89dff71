"""A comparison: settings, ranked, with the statistics of every measure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from training.comparisons.finding import FoundRun
from training.comparisons.grouping import Setting, group
from training.comparisons.measures import MEASURES, PACE, Measure, best_of, number
from training.comparisons.spread import Spread, spreads


@dataclass(frozen=True)
class Compared:
    """A setting with what was measured.

    Attributes:
        setting: The setting.
        spreads: Statistics over its seeds, by the measure's key.
    """

    setting: Setting
    spreads: Mapping[str, Spread]

    @property
    def label(self) -> str:
        """Name of the setting."""
        return self.setting.label

    def of(self, measure: Measure) -> Spread:
        """Return the statistics of a measure."""
        return self.spreads[measure.key]

    def by_seed(self, measure: Measure) -> dict[int, float]:
        """Return the values of a measure by seed."""
        return dict(zip(self.setting.seeds, self.of(measure).values, strict=True))


@dataclass(frozen=True)
class Comparison:
    """Settings in the order of their rank.

    Attributes:
        settings: The settings, the best one first.
        rank: The measure by whose median they are ranked.
    """

    settings: Sequence[Compared]
    rank: Measure


def compare(runs: Sequence[FoundRun], rank: Measure = PACE) -> Comparison:
    """Group runs to settings, measure these, and rank them.

    Args:
        runs: The runs.
        rank: Measure to rank by.
    """
    settings = group(runs)
    tables = {
        measure.key: spreads([[measure.of(run.evaluations) for run in setting.runs] for setting in settings])
        for measure in MEASURES
    }
    compared = [
        Compared(setting, {key: table[index] for key, table in tables.items()})
        for index, setting in enumerate(settings)
    ]
    return Comparison(sorted(compared, key=lambda each: _order(each, rank)), rank)


def is_better(one: float, other: float, measure: Measure) -> bool:
    """Return whether one value of a measure is better than another."""
    return one < other if measure.is_less_better else one > other


def _order(compared: Compared, rank: Measure) -> tuple[float, float]:
    """Return what sorts settings: the median, and among equals, such as those that never lap, the mean reward."""
    median, runs = compared.of(rank).median, compared.setting.runs
    rewards = [number(best_of(run.evaluations), "mean_reward") for run in runs]
    known = [reward for reward in rewards if reward is not None]
    return median if rank.is_less_better else -median, -sum(known) / len(known) if known else math.inf
