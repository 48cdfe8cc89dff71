"""Laps by distance along the track."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.tracks import Track
from tests.runs import drive
from training.drivers.scripted import scripted_driver
from training.drives.along import along, braking_points, gap_to_reference
from training.drives.recording import Drive, record_episode

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def driven(tracks: list[Track]) -> Drive:
    """Two laps of the scripted driver on the second track."""
    (episode,) = drive(scripted_driver, [tracks[1]], config=AiConfig(), laps=2, keeps_actions=True)
    return record_episode("scripted", tracks[1], episode).drive


def test_a_lap_by_arc_length(driven: Drive) -> None:
    """It rises from the line to the line, and seconds with it."""
    lap = along(driven, driven.laps[1])
    assert abs(lap.arc_length[0]) < 5
    assert lap.arc_length[-1] == pytest.approx(driven.track.length, abs=5)
    assert (np.diff(lap.arc_length) >= 0).all()
    assert lap.seconds[-1] == driven.laps[1].seconds


def test_braking_points_are_where_braking_begins() -> None:
    """Once for each time that the brake goes down, however it trembles before it is released."""
    brake = [0, 0.2, 0.5, 0.25, 0.6, 0.05, 0, 0.31, 0.9]
    lap: Any = SimpleNamespace(states=np.array([(value,) for value in brake], dtype=[("brake", float)]))
    assert braking_points(lap).tolist() == [2, 7]


def test_a_lap_has_no_gap_to_itself(driven: Drive) -> None:
    """It is ahead of a slower one, which is a gap below 0: in the end of the difference of their times."""
    first, second = ((driven, lap) for lap in driven.laps)
    assert not gap_to_reference(second, second)[1].any()
    distance, gap = gap_to_reference(second, first)  # the first lap begins at rest
    assert distance[-1] == driven.track.length
    assert gap[0] == pytest.approx(0.0, abs=0.05)
    assert gap[-1] == pytest.approx(second[1].seconds - first[1].seconds, abs=0.05)
    assert gap[-1] < 0
