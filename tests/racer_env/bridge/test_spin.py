"""When a wait polls: while that pays, and ever more rarely once it does not."""

import pytest

from racer_env.bridge import spin
from racer_env.bridge.spin import CALM, LONGEST_PAUSE, SHORTEST_PAUSE, Spin


@pytest.fixture(autouse=True)
def many_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a single one, no wait ever polls."""
    monkeypatch.setattr(spin, "POLL_S", 1e-3)


def waits_until_poll(spinning: Spin) -> int:
    """Return the number of waits that block before the next one that polls."""
    waits = 0
    while not spinning.begin():
        waits += 1
    return waits


def test_quick_replies_are_always_polled_for() -> None:
    """Nothing is lost where polling pays."""
    spinning = Spin()
    for _ in range(3 * CALM):
        assert spinning.begin() > 0
        spinning.end(True)


def test_polls_in_vain_become_rare() -> None:
    """Each time that one fails again, twice as many waits block."""
    spinning = Spin()
    pauses = []
    for _ in range(9):
        pauses.append(waits_until_poll(spinning))
        spinning.end(False)
    assert pauses[:4] == [0, SHORTEST_PAUSE, 2 * SHORTEST_PAUSE, 4 * SHORTEST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE


def test_a_machine_that_has_become_calm_is_trusted_again() -> None:
    """A single interruption then costs a short pause only."""
    spinning = Spin()
    for _ in range(9):
        waits_until_poll(spinning)
        spinning.end(False)
    waits_until_poll(spinning)
    for _ in range(CALM):
        spinning.end(True)
    spinning.end(False)
    assert waits_until_poll(spinning) == SHORTEST_PAUSE
