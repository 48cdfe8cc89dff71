"""The bundled bridge and the simulator, where the last bit decides; ``tests.provoke`` drives far more."""

import pytest

from racer_env.bridge.bridge import Bridge
from racer_env.tracks import Track
from tests.provoke import Differences, provoke


@pytest.mark.timeout(60)  # on a busy machine
def test_engines_are_the_same_to_the_last_bit(bridge_server: str, tracks: list[Track]) -> None:
    """Cars at knife edges, driven into walls, do the same on both."""
    found = provoke(tracks, Bridge(bridge_server), cars=48, ticks=90)
    assert found.contacts > 300
    assert found == Differences(ticks=48 * 90, contacts=found.contacts)
