"""What is drawn of a drive."""

import itertools

import numpy as np

from racer_env.config import AiConfig
from racer_env.tracks import Track
from tests.runs import drive
from training.drivers.scripted import scripted_driver
from training.drives.frames import view_of_lap, views_of
from training.drives.recording import Lap, record, record_episode


def test_the_end_of_a_lap_is_seen_as_after_every_tick_before(track: Track) -> None:
    """Place, inputs, rays and times, though only some ticks are looked at."""
    (episode,) = drive(scripted_driver, [track], config=AiConfig(), laps=2, keeps_actions=True)
    driven = record_episode("scripted", track, episode).drive
    lap = driven.laps[-1]
    *_, seen = itertools.islice(views_of(driven), lap.last + 1)
    car = view_of_lap(driven, lap)
    assert vars(car.stopwatch) == vars(seen.stopwatch)
    assert (car.x, car.y, car.steer, car.rays.tolist()) == (seen.x, seen.y, seen.steer, seen.rays.tolist())
    assert len(car.trail) == lap.last - lap.first + 1


def test_only_the_car_in_focus_has_a_trail(track: Track) -> None:
    """Those of several would have the same colours."""
    drive = record("it", track, [np.array([0.0, 1.0, 0.0])] * 9).drive
    trails = [[len(car.trail) for car in views_of(drive, index)][-1] for index in (0, 1)]
    assert trails == [10, 0]


def test_a_lap_as_a_trail_has_no_skid_marks(track: Track) -> None:
    """As not every tick is looked at, they would be drawn across the map."""
    actions = [np.array([0.0, 1.0, 0.0])] * 80 + [np.array([0.0, 0.0, 1.0])] * 40
    drive = record("it", track, actions).drive
    *_, seen = itertools.islice(views_of(drive), 101)
    assert len(seen.marks) > 0
    assert len(view_of_lap(drive, Lap(0, 100, True)).marks) == 0
