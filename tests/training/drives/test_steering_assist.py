"""The steering assist steers as the table says that the page reads too."""

import json
from typing import Any

import pytest

from racer_env.config import AiConfig
from racer_env.physics import load_physics
from racer_env.tracks import load_track
from tests.helpers import RECORDINGS, TICKS_PER_SECOND, TRACK_IDS
from tests.keyboard_driver import Person, drive_by_keys
from training.checkpoints.files import PRETRAINED
from training.drivers.loading import load_driver
from training.drives.steering_assist import AssistSettings, SteeringAssist, assist_settings
from training.evaluation.course import Course, evaluate

TABLE = json.loads((RECORDINGS / "steering_assist.json").read_text(encoding="utf-8"))
SETTINGS = AssistSettings(*(TABLE["settings"][key] for key in ("halfLockSpeed", "secondsToLimit", "secondsToMiddle")))
TOP_SPEED = 160.0  # units/s
LAPS, SLOWER = 3, 1.15  # from a standing start, and how much longer than the bundled driver's their mean may be

PLAIN = Person()  # what it sees is 200 ms old, and that is all
NOISY = Person(guesses=True, aim=0.05, reaction=3)  # it misses its aim by 3 degrees, and reacts within 150 to 250 ms


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["name"])
def test_it_steers_as_the_table_says(case: dict[str, Any]) -> None:
    """Tick by tick, and the page does the same."""
    assist = SteeringAssist(SETTINGS)
    for tick, (wanted, speed, expected) in enumerate(case["steps"]):
        assert assist.step(wanted, speed) == pytest.approx(expected, abs=1e-12), tick


def test_a_car_that_is_put_somewhere_else_begins_in_the_middle() -> None:
    """Whatever key is still held."""
    assist = SteeringAssist(SETTINGS)
    first = assist.step(1.0, 0.0)
    assist.step(1.0, 0.0)
    assist.begin()
    assert assist.step(1.0, 0.0) == first


def test_the_shared_settings_hold_back_at_speed_and_let_go_fast() -> None:
    """Full lock stays possible at rest; at top speed a third of it or less, and back is faster than out."""
    settings, assist = assist_settings(), SteeringAssist()
    steered = [assist.step(1.0, 0.0) for _ in range(60)]
    assert steered[0] < 0.5
    assert steered[-1] == 1.0
    assert 0.2 < assist.step(1.0, TOP_SPEED) < 0.35
    assert settings.seconds_to_middle < settings.seconds_to_limit


# --- A driver with keys ---


def seconds_of_pretrained(track_id: str) -> float:
    """Return the mean lap time of the bundled driver."""
    driver = load_driver(PRETRAINED, load_physics())
    (episode,) = evaluate(driver, Course([load_track(track_id)], AiConfig(), LAPS)).episodes
    assert len(episode.lap_ticks) == LAPS
    return sum(episode.lap_ticks) / LAPS / TICKS_PER_SECOND


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("person", "cars"), [(PLAIN, 1), (NOISY, 10)], ids=["plain", "noisy"])
@pytest.mark.parametrize("track_id", TRACK_IDS)
def test_a_driver_with_keys_laps_cleanly(track_id: str, person: Person, cars: int) -> None:
    """Nine times in ten, at nearly the pace of the bundled driver."""
    attempts = drive_by_keys(load_track(track_id), cars, LAPS, assisted=True, person=person)
    slowest = SLOWER * seconds_of_pretrained(track_id)
    good = [attempt for attempt in attempts if not attempt.touched_wall and attempt.seconds <= slowest]
    assert len(good) >= 0.9 * cars


@pytest.mark.timeout(60)
@pytest.mark.parametrize("person", [PLAIN, NOISY], ids=["plain", "noisy"])
@pytest.mark.parametrize("track_id", TRACK_IDS)
def test_without_the_assist_it_does_not_lap(track_id: str, person: Person) -> None:
    """Not once, on any track: it meets a wall before."""
    attempts = drive_by_keys(load_track(track_id), 3, LAPS, assisted=False, person=person)
    assert [(attempt.laps, attempt.touched_wall) for attempt in attempts] == [(0, True)] * 3
