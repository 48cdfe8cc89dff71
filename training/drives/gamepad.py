"""Gamepads and other joysticks: what they ask for, and which of their buttons were pressed."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pygame
from pygame._sdl2 import controller

DEAD_ZONE = 0.12  # share of a stick's way that asks for nothing, as no stick rests exactly in the middle
FULL = 32767.0  # value of an axis at its end, as a controller tells it
PUT_BACK, PAUSE, RESTART, CAMERA, RAYS = "put back", "pause", "restart", "camera", "rays"

_BUTTONS = {  # the same as in the page
    pygame.CONTROLLER_BUTTON_Y: PUT_BACK,
    pygame.CONTROLLER_BUTTON_START: PAUSE,
    pygame.CONTROLLER_BUTTON_BACK: RESTART,
    pygame.CONTROLLER_BUTTON_RIGHTSHOULDER: CAMERA,
    pygame.CONTROLLER_BUTTON_X: RAYS,
}


class Device(Protocol):
    """Something with sticks and buttons."""

    def wish(self) -> tuple[float, float, float]:
        """Return the steering in [-1, 1], throttle and brake in [0, 1] that it asks for now."""

    def held(self) -> set[str]:
        """Return what its buttons that are held down are for."""


class Gamepad:
    """A gamepad whose layout SDL knows: left stick or cross, triggers or A and B."""

    def __init__(self, pad: controller.Controller) -> None:
        self._pad = pad

    def wish(self) -> tuple[float, float, float]:
        """Return what it asks for now; see ``Device``."""
        button, axis = self._pad.get_button, self._pad.get_axis
        cross = button(pygame.CONTROLLER_BUTTON_DPAD_RIGHT) - button(pygame.CONTROLLER_BUTTON_DPAD_LEFT)
        steer = cross or without_dead_zone(axis(pygame.CONTROLLER_AXIS_LEFTX) / FULL)
        throttle = without_dead_zone(axis(pygame.CONTROLLER_AXIS_TRIGGERRIGHT) / FULL)
        brake = without_dead_zone(axis(pygame.CONTROLLER_AXIS_TRIGGERLEFT) / FULL)
        return (
            float(steer),
            max(throttle, float(button(pygame.CONTROLLER_BUTTON_A))),
            max(brake, float(button(pygame.CONTROLLER_BUTTON_B))),
        )

    def held(self) -> set[str]:
        """Return what is held down; see ``Device``."""
        return {purpose for button, purpose in _BUTTONS.items() if self._pad.get_button(button)}


class Joystick:
    """Any other joystick: its stick steers, and forward and back are throttle and brake."""

    def __init__(self, stick: pygame.joystick.JoystickType) -> None:
        self._stick = stick

    def wish(self) -> tuple[float, float, float]:
        """Return what it asks for now; see ``Device``."""
        if self._stick.get_numaxes() < 2:
            return 0.0, 0.0, 0.0
        steer, back = (without_dead_zone(self._stick.get_axis(axis)) for axis in (0, 1))
        return steer, max(-back, 0.0), max(back, 0.0)

    def held(self) -> set[str]:
        """Return nothing: what is printed on its buttons is not known."""
        return set()


class Devices:
    """All of them that are connected, also those that come later."""

    def __init__(self) -> None:
        pygame.joystick.init()
        controller.init()
        self._devices: list[Device] = []
        self._held: set[str] = set()

    def wish(self) -> npt.NDArray[np.float64]:
        """Return the steer, throttle and brake (3,) that the device that asks for most asks for."""
        if pygame.joystick.get_count() != len(self._devices):
            self._devices = [_device(index) for index in range(pygame.joystick.get_count())]
        wishes = [device.wish() for device in self._devices]
        return np.array(max(wishes, key=lambda wish: sum(map(abs, wish)), default=(0.0, 0.0, 0.0)))

    def pressed(self) -> Iterator[str]:
        """Yield what the buttons are for that were pressed since the last call."""
        held = set[str]().union(*(device.held() for device in self._devices))
        yield from sorted(held - self._held)
        self._held = held


def without_dead_zone(value: float) -> float:
    """Return the share in [-1, 1] of the way beyond DEAD_ZONE that an axis has gone."""
    beyond = min(max(abs(value) - DEAD_ZONE, 0.0) / (1.0 - DEAD_ZONE), 1.0)
    return beyond if value > 0.0 else -beyond


def _device(index: int) -> Device:
    if controller.is_controller(index):
        return Gamepad(controller.Controller(index))
    return Joystick(pygame.joystick.Joystick(index))
