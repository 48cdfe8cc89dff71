"""Fixtures that several test files share."""

import pytest

from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track, load_track
from tests.helpers import TRACK_IDS, ring_track


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels, half a minute when Numba's cache is empty, before the first test's time runs."""
    if not session.config.option.collectonly:
        Simulator([ring_track()], 1)


@pytest.fixture(autouse=True)
def no_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's default engine out of the tests."""
    monkeypatch.delenv("RACER_BRIDGE_URL", raising=False)


@pytest.fixture(scope="session")
def tracks() -> list[Track]:
    """The shipped tracks, in order."""
    return [load_track(track_id) for track_id in TRACK_IDS]


@pytest.fixture(scope="session")
def track(tracks: list[Track]) -> Track:
    """The first shipped track."""
    return tracks[0]


@pytest.fixture(scope="session")
def ring() -> Track:
    """A round track of radius 200, counter-clockwise, its start at the right."""
    return ring_track()
