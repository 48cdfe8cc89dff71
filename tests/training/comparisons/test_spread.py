"""Statistics over seeds."""

import math

import pytest

from training.comparisons.spread import spreads

pytestmark = pytest.mark.timeout(60)


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end() -> None:
    """So that one odd seed does not move it; the median beside it."""
    (spread,) = spreads([[1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0, 1000.0]])
    assert spread.middle == 5.5
    assert spread.median == 5.5
    assert spread.values[-1] == 1000.0


def test_of_three_seeds_it_is_the_mean() -> None:
    """There is no quarter to leave out."""
    (spread,) = spreads([[1.0, 2.0, 6.0]])
    assert (spread.middle, spread.median) == (3.0, 2.0)


def test_the_interval_is_that_of_the_bootstrap() -> None:
    """Of three values, one resample in 27 has the lowest one three times, so the ends are those of the values."""
    (spread,) = spreads([[1.0, 2.0, 3.0]])
    assert spread.interval == (1.0, 3.0)
    narrow, wide = spreads([[4.9, 5.0, 5.0, 5.1, 5.0] * 4, [1.0, 5.0, 5.0, 9.0, 5.0] * 4])
    assert narrow.interval is not None
    assert wide.interval is not None
    assert wide.interval[0] <= narrow.interval[0] <= 5.0 <= narrow.interval[1] <= wide.interval[1]


@pytest.mark.parametrize("values", [[5.0], [5.0, 6.0]])
def test_one_or_two_seeds_have_no_interval(values: list[float]) -> None:
    """Next to nothing is known of their luck."""
    (spread,) = spreads([values])
    assert spread.interval is None
    assert spread.overlaps(spread) is None


def test_a_seed_that_never_got_there_moves_them_to_infinity() -> None:
    """As far as it is among those that count."""
    one_of_five, three_of_five, all_ = spreads([[1.0] * 4 + [math.inf], [1.0] * 2 + [math.inf] * 3, [math.inf] * 5])
    assert (one_of_five.median, one_of_five.middle) == (1.0, 1.0)
    assert one_of_five.interval == (1.0, math.inf)
    assert three_of_five.median == three_of_five.middle == math.inf
    assert all_.interval == (math.inf, math.inf)


def test_two_infinite_values_in_the_middle_have_an_infinite_median() -> None:
    """And so has one of them."""
    assert [spread.median for spread in spreads([[1.0, math.inf], [math.inf] * 4])] == [math.inf] * 2


def test_a_setting_has_the_same_interval_alone_and_among_others() -> None:
    """Whatever else is compared, and how many seeds that has."""
    values = [1.0, 2.0, 4.0, 3.0]
    alone, again = spreads([values]), spreads([[5.0], values, [1.0, 2.0], [0.0] * 4])
    assert alone[0] == again[1]


@pytest.mark.parametrize(
    ("other", "overlaps"), [([3.0, 3.5, 4.0], True), ([4.5, 4.6, 5.0], False), ([-1.0, 0.0, 0.5], False)]
)
def test_intervals_overlap_if_they_share_a_value(other: list[float], overlaps: bool) -> None:
    """From either side."""
    one, another = spreads([[1.0, 2.0, 4.0], other])
    assert one.overlaps(another) is another.overlaps(one) is overlaps
