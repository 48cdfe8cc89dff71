"""Sine and its like as the kernels have compiled them."""

import numpy as np

from racer_env.contract import DT
from racer_env.fdlibm import atan2, sin_cos
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track
from racer_env.tracks.starts import random_placement, start_for


def turned(heading: float, speed: float, wheel_angle: float, wheelbase: float) -> float:
    """Return the heading after a tick, computed by the functions as they are."""
    half, move = wheelbase / 2.0, speed * DT
    (sin, cos), (wheel_sin, wheel_cos) = sin_cos(heading), sin_cos(heading + wheel_angle)
    front_x, front_y = half * cos + move * wheel_cos, half * sin + move * wheel_sin
    return atan2(front_y - (move - half) * sin, front_x - (move - half) * cos)


def test_compiled_code_gives_the_same_bits(ring: Track) -> None:
    """Neither a library's function nor a product and a sum in one rounding has come in with the compiler."""
    random, physics = np.random.default_rng(1), ring.physics
    starts = [start_for(ring.geometry, random_placement(ring.geometry, random)) for _ in range(1000)]
    simulator = Simulator([ring], len(starts))
    simulator.place(range(len(starts)), starts)
    before = simulator.cars.copy()
    simulator.step(random.uniform(-1.0, 1.0, (len(starts), 3)))
    steered = -simulator.cars["steer"] * physics.max_wheel_angle
    angles = steered * (1.0 / (1.0 + before["speed"] * physics.steering_speed_factor))
    cars = zip(before["heading"].tolist(), before["speed"].tolist(), angles.tolist(), strict=True)
    expected = [turned(*car, physics.wheelbase) for car in cars if car[1] > physics.low_speed]
    assert len(expected) > 900
    assert simulator.cars["heading"][before["speed"] > physics.low_speed].tolist() == expected
