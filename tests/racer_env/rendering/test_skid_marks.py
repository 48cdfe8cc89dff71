"""What tyres leave on the ground."""

from dataclasses import replace

import numpy as np
import pygame
import pytest

from racer_env.physics import load_physics
from racer_env.rendering import style
from racer_env.rendering.camera import Camera
from racer_env.rendering.painter import MARK_OPACITY
from racer_env.rendering.skid_marks import MARK_TICKS, SkidMarks
from racer_env.simulator.kernels import CAR_DTYPE
from racer_env.tracks import Track
from tests.racer_env.rendering.test_painter import DARK, changed, frame_of, make_car, make_painter

SLIDING = {"vx": 8.0}  # to the right, while the car heads north
BRAKING = {"brake": 1.0}
WHITE = (255, 255, 255)
CAMERA = Camera(200.0, 0.0, 3.0, (0, 0, 200, 200), 24.0)
SCALE = 6.0  # pixels per unit of the car's shape


def state(y: float, **more: float) -> np.void:
    """Return the state of a car that heads north at 40 units/s."""
    car = np.zeros(1, CAR_DTYPE)
    for name, value in {"x": 200.0, "y": y, "heading": np.pi / 2, "speed": 40.0, "vy": 40.0, **more}.items():
        car[name] = value
    return car[0]


def drawn(marks: SkidMarks, camera: Camera = CAMERA) -> np.ndarray:
    """Return the pixels (n, 2) of the marks, x from the middle of the picture and y upward."""
    surface = pygame.Surface(camera.area[2:], depth=32)
    marks.draw(surface, camera, SCALE, WHITE)
    return (np.argwhere(pygame.surfarray.array3d(surface).sum(axis=2) > 380) - 100) * (1, -1)


def marks_of(*states: np.void) -> SkidMarks:
    """Return the marks that a car leaves on its way."""
    marks = SkidMarks()
    for each in states:
        marks.see(each)
    return marks


@pytest.mark.parametrize("how", [SLIDING, BRAKING])
def test_a_car_that_slides_or_brakes_hard_leaves_two_lines(how: dict[str, float]) -> None:
    """From its drawn rear wheels, as long as its way."""
    pixels = drawn(marks_of(*(state(tick, **how) for tick in range(21))))
    for side in (-1, 1):
        line = pixels[np.sign(pixels[:, 0]) == side]
        assert np.abs(line[:, 0]).mean() == pytest.approx(0.92 * SCALE, abs=1)
        assert line[:, 1].min() == pytest.approx(-1.3 * SCALE, abs=1)
        assert line[:, 1].max() == pytest.approx(-1.3 * SCALE + 20 * CAMERA.scale, abs=1)


def test_marks_turn_with_the_world() -> None:
    """A quarter of a turn counter-clockwise, for a camera that turns."""
    marks = marks_of(*(state(tick, **SLIDING) for tick in range(21)))
    north, west = drawn(marks), drawn(marks, replace(CAMERA, turn=np.pi / 2))
    for axis, expected in ((0, -north[:, 1]), (1, north[:, 0])):
        assert west[:, axis].min() == pytest.approx(expected.min(), abs=1)
        assert west[:, axis].max() == pytest.approx(expected.max(), abs=1)


@pytest.mark.parametrize("how", [{"vx": 6.0}, {"brake": 0.5}, {"brake": 1.0, "speed": 20.0}])
def test_a_car_that_drives_leaves_none(how: dict[str, float]) -> None:
    """Nor one that brakes gently, or from a low speed."""
    assert len(drawn(marks_of(*(state(tick, **how) for tick in range(20))))) == 0


def test_marks_have_gaps() -> None:
    """Where the tyres held, and where the car was put elsewhere."""
    held = drawn(marks_of(*(state(tick, **({} if 5 <= tick < 15 else SLIDING)) for tick in range(21))))
    car, physics, observation = make_car(0.0, 0.0), load_physics(), np.zeros(14)
    for tick in (*range(5), *range(15, 21)):
        take = car.put_back if tick == 15 else car.see
        take(state(tick, **SLIDING), observation, physics)
    for pixels in (held, drawn(car.marks)):
        assert pixels[:, 1].max() - pixels[:, 1].min() > 55
        middle = pixels[:, 1] + 1.3 * SCALE - 30
        assert len(pixels[np.abs(middle) < 10]) == 0


def test_the_oldest_marks_go(ring: Track) -> None:
    """And all of them when an episode begins; who is put back on the road keeps them."""
    car, physics, observation = make_car(0.0, 0.0), load_physics(), np.zeros(14)
    for tick in range(MARK_TICKS + 50):
        car.see(state(0.1 * tick, **SLIDING), observation, physics)
    car.put_back(state(0.0), observation, physics)
    assert len(car.marks) == MARK_TICKS
    car.begin(state(0.0), observation, physics)
    assert len(car.marks) == 0


def test_marks_are_in_the_picture(ring: Track) -> None:
    """On the road below the cars, half as dark as rubber."""
    painter, car = make_painter(ring), make_car(-200.0, 0.0)
    before = frame_of(painter, car)
    car.marks = marks_of(*(state(tick, **SLIDING) for tick in range(20)))
    mark = style.mixed(DARK.road, DARK.skid, MARK_OPACITY)
    after = frame_of(painter, car)
    pixels = changed(before, after)
    assert (after[pixels[:, 1], pixels[:, 0]] == mark).all(axis=1).sum() > 10
    assert np.abs(pixels - painter.camera_on(None).to_pixels((200.0, 10.0))).max() < 30
