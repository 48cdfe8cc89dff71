"""When a wait polls: while that pays, and ever more rarely once it does not."""

import pytest

from racer_env.bridge import spin
from racer_env.bridge.spin import CALM, LONGEST_PAUSE, MOST_SAVED_S, SHORTEST_PAUSE, Spin

POLL_S = 2e-4
QUICK_S = 1e-5


@pytest.fixture(autouse=True)
def many_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a single one, no wait ever polls."""
    monkeypatch.setattr(spin, "POLL_S", POLL_S)


def waits_until_poll(spinning: Spin) -> int:
    """Return the number of waits that block before the next one that polls."""
    waits = 0
    while not spinning.begin():
        waits += 1
    return waits


def poll(spinning: Spin, times: int, *, found: bool = True, took_s: float = QUICK_S) -> list[int]:
    """Let some polls end in the same way, and return how many waits blocked before each."""
    pauses = []
    for _ in range(times):
        pauses.append(waits_until_poll(spinning))
        spinning.end(found, took_s)
    return pauses


def test_quick_replies_are_always_polled_for() -> None:
    """Nothing is lost where polling pays."""
    assert poll(Spin(), 3 * CALM) == [0] * 3 * CALM


@pytest.mark.parametrize(("found", "took_s"), [(False, POLL_S), (True, 4e-3)], ids=["no reply", "an interruption"])
def test_polls_in_vain_become_rare(found: bool, took_s: float) -> None:
    """Each time that one fails again, twice as many waits block."""
    pauses = poll(Spin(), 9, found=found, took_s=took_s)
    assert pauses[:4] == [0, SHORTEST_PAUSE, 2 * SHORTEST_PAUSE, 4 * SHORTEST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE


def test_a_poll_in_vain_now_and_then_is_paid_for_by_others() -> None:
    """As long as those save more than it takes."""
    spinning = Spin()
    for _ in range(50):
        assert poll(spinning, 5) == [0] * 5
        assert poll(spinning, 1, found=False, took_s=POLL_S) == [0]
    assert poll(spinning, 100, found=False, took_s=POLL_S) != [0] * 100


def test_savings_have_an_end() -> None:
    """After hours of polls that pay, a busy machine is noticed as quickly as after a moment."""
    spinning = Spin()
    poll(spinning, 100_000)
    poll(spinning, 1, took_s=MOST_SAVED_S)
    assert waits_until_poll(spinning) == 0
    spinning.end(False, POLL_S)
    assert waits_until_poll(spinning) == SHORTEST_PAUSE


def test_a_machine_that_has_become_calm_is_trusted_again() -> None:
    """A single interruption then costs a short pause only."""
    spinning = Spin()
    poll(spinning, 9, found=False, took_s=POLL_S)
    poll(spinning, CALM)
    spinning.end(False, 2 * MOST_SAVED_S)
    assert waits_until_poll(spinning) == SHORTEST_PAUSE
