"""Lap times from lap numbers and step counts."""

from racer_env.rendering.stopwatch import Stopwatch


def test_laps_are_timed_from_line_to_line() -> None:
    """The first from the start; the best is the fastest, the last the latest."""
    watch = Stopwatch()
    assert (watch.lap, watch.current, watch.last, watch.best) == (1, 0.0, None, None)
    for lap, step in ((1, 100), (2, 600), (3, 1080), (4, 1620)):
        watch.see(lap, step)
    watch.see(4, 1650)
    assert (watch.lap, watch.current, watch.last, watch.best) == (4, 0.5, 9.0, 8.0)


def test_the_way_to_the_line_is_no_lap() -> None:
    """A start elsewhere is on lap 0: its first crossing ends none."""
    watch = Stopwatch()
    watch.begin(0)
    watch.see(0, 50)
    assert watch.current is None
    watch.see(1, 120)
    assert (watch.lap, watch.current, watch.last, watch.best) == (1, 0.0, None, None)
    watch.see(2, 480)
    assert watch.last == watch.best == 6.0


def test_a_new_episode_begins_anew() -> None:
    """Nothing of the one before stays."""
    watch = Stopwatch()
    watch.see(2, 300)
    watch.begin(1)
    assert (watch.lap, watch.current, watch.last, watch.best) == (1, 0.0, None, None)


def test_a_lost_lap_does_not_count() -> None:
    """Those before it do, and the next crossing of the line begins it anew."""
    watch = Stopwatch()
    watch.see(2, 480)
    watch.see(2, 600)
    watch.lose_lap()
    assert (watch.lap, watch.current, watch.laps) == (0, None, [8.0])
    watch.see(0, 30)
    watch.see(1, 90)
    assert (watch.lap, watch.current, watch.laps) == (2, 0.0, [8.0])
    watch.see(2, 510)
    assert (watch.lap, watch.last, watch.laps) == (3, 7.0, [8.0, 7.0])
