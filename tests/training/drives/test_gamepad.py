"""Gamepads and joysticks, as SDL tells of them."""

from typing import Any

import pygame
import pytest

from training.drives import gamepad
from training.drives.gamepad import CAMERA, PAUSE, PUT_BACK, Devices, Gamepad, Joystick, without_dead_zone


class FakePad:
    """A controller, as pygame has it: whole numbers for axes, 0 or 1 for buttons."""

    def __init__(self) -> None:
        self.axes: dict[int, int] = {}
        self.buttons: set[int] = set()

    def get_axis(self, axis: int) -> int:
        return self.axes.get(axis, 0)

    def get_button(self, button: int) -> int:
        return int(button in self.buttons)


class FakeStick:
    """A joystick of another kind: shares for axes."""

    def __init__(self, *axes: float) -> None:
        self.axes = axes

    def get_numaxes(self) -> int:
        return len(self.axes)

    def get_axis(self, axis: int) -> float:
        return self.axes[axis]


@pytest.fixture
def pads(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is connected; the test adds to it."""
    connected: list[Any] = []
    monkeypatch.setattr(pygame.joystick, "get_count", lambda: len(connected))
    monkeypatch.setattr(gamepad, "_device", lambda index: connected[index])
    return connected


def test_stick_and_triggers_drive() -> None:
    """All the way is all of it; the rest is a share of what lies beyond the dead zone."""
    pad = FakePad()
    device = Gamepad(pad)  # type: ignore[arg-type]
    assert device.wish() == (0.0, 0.0, 0.0)
    pad.axes = {pygame.CONTROLLER_AXIS_LEFTX: -32768, pygame.CONTROLLER_AXIS_TRIGGERRIGHT: 32767}
    assert device.wish() == (-1.0, 1.0, 0.0)
    pad.axes = {pygame.CONTROLLER_AXIS_LEFTX: 16384, pygame.CONTROLLER_AXIS_TRIGGERLEFT: 16384}
    steer, throttle, brake = device.wish()
    assert (steer, throttle, brake) == (pytest.approx((0.5 - 0.12) / 0.88, abs=1e-3), 0.0, pytest.approx(steer))


def test_cross_and_buttons_drive_too() -> None:
    """Fully, and the cross before a stick that does not rest in the middle."""
    pad = FakePad()
    pad.axes = {pygame.CONTROLLER_AXIS_LEFTX: 9000}
    pad.buttons = {pygame.CONTROLLER_BUTTON_DPAD_LEFT, pygame.CONTROLLER_BUTTON_A}
    assert Gamepad(pad).wish() == (-1.0, 1.0, 0.0)  # type: ignore[arg-type]
    pad.buttons = {pygame.CONTROLLER_BUTTON_DPAD_RIGHT, pygame.CONTROLLER_BUTTON_B}
    assert Gamepad(pad).wish() == (1.0, 0.0, 1.0)  # type: ignore[arg-type]


def test_any_other_joystick_drives_with_its_stick() -> None:
    """Forward is throttle, back is brake; one without a stick asks for nothing."""
    assert Joystick(FakeStick(0.0, -1.0)).wish() == (0.0, 1.0, 0.0)  # type: ignore[arg-type]
    assert Joystick(FakeStick(-1.0, 1.0)).wish() == (-1.0, 0.0, 1.0)  # type: ignore[arg-type]
    assert Joystick(FakeStick(1.0)).wish() == (0.0, 0.0, 0.0)  # type: ignore[arg-type]


def test_a_stick_at_rest_asks_for_nothing() -> None:
    """And there is no step where the dead zone ends."""
    assert [without_dead_zone(value) for value in (0.0, 0.1, -0.12, 1.0, -1.0, 2.0)] == [0, 0, 0, 1, -1, 1]
    assert without_dead_zone(0.13) == pytest.approx(0.011, abs=1e-3)


def test_a_pad_may_come_later(pads: list[Any]) -> None:
    """And go again; of several, the one that asks for most drives."""
    devices = Devices()
    assert devices.wish().tolist() == [0.0, 0.0, 0.0]
    pads += [Joystick(FakeStick(0.0, 0.0)), Joystick(FakeStick(1.0, 0.0))]
    assert devices.wish().tolist() == [1.0, 0.0, 0.0]
    pads.clear()
    assert devices.wish().tolist() == [0.0, 0.0, 0.0]


def test_a_button_counts_once(pads: list[Any]) -> None:
    """For as long as it is held down, and again after it was let go."""
    pad = FakePad()
    pads.append(Gamepad(pad))  # type: ignore[arg-type]
    devices = Devices()
    devices.wish()
    pad.buttons = {pygame.CONTROLLER_BUTTON_Y}
    assert [*devices.pressed()] == [PUT_BACK]
    pad.buttons = {pygame.CONTROLLER_BUTTON_Y, pygame.CONTROLLER_BUTTON_START, pygame.CONTROLLER_BUTTON_RIGHTSHOULDER}
    assert sorted(devices.pressed()) == sorted([CAMERA, PAUSE])
    pad.buttons = set()
    assert [*devices.pressed()] == []
    pad.buttons = {pygame.CONTROLLER_BUTTON_Y}
    assert [*devices.pressed()] == [PUT_BACK]
