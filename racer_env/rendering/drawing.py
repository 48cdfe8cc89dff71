"""Drawing the single car of a ``RacerEnv``, whichever engine drives it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.bridge.car import BridgeCar
from racer_env.contract import ACTION_SIZE
from racer_env.rendering.scene import Scene, View, view_of
from racer_env.rendering.shadow import Shadow
from racer_env.simulator.car import SimulatorCar
from racer_env.tracks import known_track


class Drawing:
    """Follows a car and draws it."""

    def __init__(self, car: SimulatorCar | BridgeCar, view: View | dict[str, Any] | None, shows: bool) -> None:
        """Prepare to draw a car.

        Args:
            car: The car to draw.
            view: How it is drawn; None is the default.
            shows: Whether each step is shown in a window.

        Raises:
            ConfigError: The view asks for something impossible.
            RenderError: Only a bridge knows the track.
        """
        self._car = car
        self._shows = shows
        self._track = known_track(car.track)
        self._scene = Scene([self._track], 1, view_of(view))
        self._shadow: Shadow | None = None

    def begin(self, observation: npt.NDArray[np.floating]) -> None:
        """Note the start of an episode."""
        track = known_track(self._car.track)
        if track is not self._track:
            self._track = track
            self._scene.change_tracks([track])
            self._shadow = None
        if isinstance(self._car, BridgeCar):
            if self._shadow is None:
                self._shadow = Shadow([track], 1)
            self._shadow.place([0], [self._car.placement])
        self._scene.begin(0, self._state, observation)
        self._show()

    def step(self, action: npt.NDArray[np.floating], observation: npt.NDArray[np.floating]) -> None:
        """Note a tick.

        Raises:
            RenderError: The game behind the bridge drives differently from the simulator.
        """
        if self._shadow is not None:
            self._shadow.step(np.reshape(action, (1, ACTION_SIZE)))
            self._shadow.check(observation)
        self._scene.see(0, self._state, observation)
        self._show()

    def render(self) -> npt.NDArray[np.uint8] | None:
        """Return the picture (height, width, 3); None if a window shows it."""
        return None if self._shows else self._scene.render()

    def close(self) -> None:
        """Close the window; safe to call twice."""
        self._scene.close()

    @property
    def _state(self) -> Any:
        if isinstance(self._car, SimulatorCar):
            return self._car.simulator.cars[0]
        assert self._shadow is not None
        return self._shadow.simulator.cars[0]

    def _show(self) -> None:
        if self._shows:
            self._scene.show()
