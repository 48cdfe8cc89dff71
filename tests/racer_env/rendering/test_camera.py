"""From the world to a picture."""

import math

import numpy as np
import pytest

from racer_env.rendering.camera import Camera

AREA = (100, 20, 400, 200)


def test_a_camera_that_turns_has_a_heading_up() -> None:
    """The place of the camera is at its anchor, and what lies ahead is above it, what lies to the right is right."""
    for heading in np.linspace(0.0, 6.0, 7):
        camera = Camera(7.0, -3.0, 2.0, AREA, 24.0, turn=math.pi / 2 - heading, anchor=(0.5, 0.7))
        ahead = np.array([math.cos(heading), math.sin(heading)])
        right = np.array([ahead[1], -ahead[0]])
        assert camera.to_pixels((7.0, -3.0)) == pytest.approx((300.0, 160.0))
        assert camera.to_pixels(ahead * 10 + (7.0, -3.0)) == pytest.approx((300.0, 140.0))
        assert camera.to_pixels(right * 10 + (7.0, -3.0)) == pytest.approx((320.0, 160.0))
