"""The steering assist steers as the table says that the page reads too."""

import json
from typing import Any

import pytest

from tests.helpers import RECORDINGS
from training.drives.steering_assist import AssistSettings, SteeringAssist, assist_settings

TABLE = json.loads((RECORDINGS / "steering_assist.json").read_text(encoding="utf-8"))
SETTINGS = AssistSettings(*(TABLE["settings"][key] for key in ("halfLockSpeed", "secondsToLimit", "secondsToMiddle")))
TOP_SPEED = 160.0  # units/s


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
