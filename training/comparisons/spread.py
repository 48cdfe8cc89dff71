"""Statistics of a measure over the seeds of a setting.

Median, interquartile mean and a percentile bootstrap interval of the latter, as Agarwal and others recommend where runs
are few. A run that never got there counts as infinitely bad, and moves them as such.

Source: R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville, M. G. Bellemare: Deep reinforcement learning at the edge
of the statistical precipice, NeurIPS 2021. Their library, rliable, computes the interquartile mean by the same function
of SciPy; it is not used here, as it needs pandas, seaborn, statsmodels and arch as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

CONFIDENCE = 0.95
FEW_SEEDS = 3  # an interval from this many seeds says little, and from fewer there is none
_CUT = 0.25  # share of the runs that the interquartile mean leaves out at each end
_RESAMPLES, _BATCH = 2000, 100

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """A measure over the seeds of a setting.

    Attributes:
        values: Value of each seed.
        median: Median.
        middle: Interquartile mean: the mean without the lowest and the highest quarter; of three or fewer, the mean.
        interval: Lower and upper end of the interval of the interquartile mean; None if there are one or two
            seeds.
    """

    values: tuple[float, ...]
    median: float
    middle: float
    interval: tuple[float, float] | None

    def overlaps(self, other: "Spread") -> bool | None:
        """Return whether the intervals overlap; None if one is missing."""
        if self.interval is None or other.interval is None:
            return None
        return self.interval[0] <= other.interval[1] and other.interval[0] <= self.interval[1]


def spreads(by_setting: Sequence[Sequence[float]]) -> list[Spread]:
    """Return the statistics of a measure for each setting, from its value for each seed.

    Equal values give equal results, as the resampling has a fixed seed.
    """
    found: dict[int, Spread] = {}
    for count in {len(values) for values in by_setting}:
        chosen = [index for index, values in enumerate(by_setting) if len(values) == count]
        table = np.array([by_setting[index] for index in chosen], dtype=np.float64)
        intervals = _intervals(table) if count >= FEW_SEEDS else [None] * len(chosen)
        parts = zip(chosen, table.tolist(), _median(table).tolist(), _middle(table).tolist(), intervals, strict=True)
        for index, values, median, middle, interval in parts:
            found[index] = Spread(tuple(values), median, middle, interval)
    return [found[index] for index in range(len(by_setting))]


def _median(table: FloatArray) -> FloatArray:
    """Return the medians (m,) of a table (m, n); of two infinite values in the middle, infinity."""
    ordered = np.sort(table, axis=-1)
    count = table.shape[-1]
    median: FloatArray = ordered[:, (count - 1) // 2 : count // 2 + 1].mean(axis=-1)
    return median


def _middle(values: FloatArray, axis: int = -1) -> FloatArray:
    middle: FloatArray = stats.trim_mean(values, _CUT, axis=axis)
    return middle


def _intervals(table: FloatArray) -> list[tuple[float, float]]:
    """Return the interval of each row of a table (m, n), of n seeds each."""
    with np.errstate(invalid="ignore"):  # its own ends, between two infinite values, are not used
        result = stats.bootstrap(
            (table,),
            _middle,
            axis=-1,
            n_resamples=_RESAMPLES,
            batch=_BATCH,
            vectorized=True,
            method="percentile",
            rng=np.random.default_rng(0),
        )
    tails = (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2
    low, high = np.quantile(result.bootstrap_distribution, tails, axis=-1, method="inverted_cdf")
    return list(zip(low.tolist(), high.tolist(), strict=True))
