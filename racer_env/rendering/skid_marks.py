"""What tyres leave on the ground where a car slides or brakes hard, as on the page."""

import math
from collections import deque
from typing import Any

import numpy as np
import pygame

from racer_env.rendering import style
from racer_env.rendering.camera import Camera
from racer_env.rendering.car_shape import REAR, TRACK

MARK_TICKS = 400  # ticks on which a car leaves marks, until the oldest go
SLIDE = 7.0  # units/s sideways from which a tyre leaves a mark
HARD_BRAKE = 0.6
BRAKE_SPEED = 25.0  # units/s
WIDTH = 0.4  # units of the car's shape


class SkidMarks:
    """The marks of one car: where it was on each tick on which it left some."""

    def __init__(self) -> None:
        self._places: deque[tuple[float, float, float, bool]] = deque(maxlen=MARK_TICKS)  # x, y, heading, begins a line
        self._begins = True

    def __len__(self) -> int:
        return len(self._places)

    def see(self, state: Any) -> None:
        """Take a car's state after a tick, a CAR_DTYPE record."""
        heading = float(state["heading"])
        sideways = abs(float(state["vy"]) * math.cos(heading) - float(state["vx"]) * math.sin(heading))
        if sideways > SLIDE or (state["brake"] > HARD_BRAKE and state["speed"] > BRAKE_SPEED):
            self._places.append((float(state["x"]), float(state["y"]), heading, self._begins))
            self._begins = False
        else:
            self._begins = True

    def lift(self) -> None:
        """Begin a new line with the next mark, as the car stands somewhere else."""
        self._begins = True

    def clear(self) -> None:
        """Remove all marks."""
        self._places.clear()
        self._begins = True

    def draw(self, surface: pygame.Surface, camera: Camera, scale: float, colour: style.Colour) -> None:
        """Draw the marks that the camera sees.

        Args:
            surface: The picture.
            camera: Its camera.
            scale: Pixels per unit of the car's shape; the marks come from its wheels, also where it is drawn enlarged.
            colour: Their colour.
        """
        if len(self) < 2:
            return
        places = np.array(self._places)
        middles, headings = camera.to_pixels(places[:, :2]), places[:, 2] + camera.turn
        along = np.stack([np.cos(headings), -np.sin(headings)], axis=1) * scale
        across = along[:, ::-1] * (1.0, -1.0)
        left, top, width, height = camera.area
        is_seen = np.all((middles > (left, top)) & (middles < (left + width, top + height)), axis=1)
        ends = np.flatnonzero(is_seen[1:] & (places[1:, 3] == 0)) + 1
        thickness = max(1, round(WIDTH * scale))
        for side in (TRACK, -TRACK):
            wheels = (middles + REAR * along + side * across).tolist()
            for end in ends.tolist():
                pygame.draw.aaline(surface, colour, wheels[end - 1], wheels[end], thickness)
