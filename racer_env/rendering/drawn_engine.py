"""An engine whose cars are drawn."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.contract import Placement
from racer_env.engine import Engine, NextStart
from racer_env.rendering.scene import Scene, View, view_of
from racer_env.rendering.shadow import Shadow
from racer_env.simulator.engine import SimulatorEngine
from racer_env.tracks import AnyTrack, known_track


class NotedStarts:
    """Asks where episodes start, and remembers it until they do, since an engine may ask one episode ahead."""

    def __init__(self, next_start: NextStart) -> None:
        self._next_start = next_start
        self._noted: dict[int, deque[Placement | None]] = {}

    def __call__(self, car: int) -> Placement | None:
        """Return where a car's next episode starts."""
        placement = self._next_start(car)
        # At most two are pending; after a restart of a bridge, older ones have lapsed.
        self._noted.setdefault(car, deque(maxlen=2)).append(placement)
        return placement

    def forget(self) -> None:
        """Forget all pending starts, as all cars are about to begin anew."""
        self._noted = {}

    def take(self, car: int) -> Placement | None:
        """Return where the episode that a car has just begun started."""
        return self._noted[car].popleft()


class DrawnEngine:
    """An engine that keeps a scene up to date, tick by tick, and otherwise behaves as the engine inside."""

    def __init__(self, engine: Engine, scene: Scene, starts: NotedStarts, shadow: Shadow | None) -> None:
        """Wrap an engine.

        Args:
            engine: The engine to wrap.
            scene: The scene to keep up to date.
            starts: Source of the places where the engine's episodes start.
            shadow: Tells where the engine's cars are; None for an engine with a simulator of its own.
        """
        self.engine = engine
        self.scene = scene
        self._starts = starts
        self._shadow = shadow
        simulator = engine.simulator if isinstance(engine, SimulatorEngine) else None
        assert simulator is not None or shadow is not None
        self._states: npt.NDArray[np.void] = (simulator or shadow.simulator).cars  # type: ignore[union-attr]

    def __getattr__(self, name: str) -> Any:
        if name == "engine":  # while a copy is made
            raise AttributeError(name)
        return getattr(self.engine, name)

    def begin(self) -> None:
        """Begin an episode for every car."""
        self._starts.forget()
        self.engine.begin()
        self._begin(range(len(self._states)))

    def begin_cars(self, cars: Sequence[int]) -> None:
        """Begin an episode for some cars, see ``Engine``."""
        self.engine.begin_cars(cars)
        self._begin(cars)

    def step(self, actions: npt.NDArray[np.floating]) -> None:
        """Advance every car by one tick, see ``Engine``."""
        self.engine.step(actions)
        if self._shadow is not None:
            self._shadow.step(actions)
        begun = () if self.engine.begins_late else tuple(self.engine.terminal_observations)
        self._begin(begun)
        for car in range(len(self._states)):
            if car not in begun:
                self.scene.see(car, self._states[car], self.engine.observations[car])
        if self._shadow is not None:
            self._shadow.check(self.engine.observations)

    def close(self) -> None:
        """Close engine and scene."""
        self.scene.close()
        self.engine.close()

    def _begin(self, cars: Sequence[int]) -> None:
        placements = [self._starts.take(car) for car in cars]
        if self._shadow is not None:
            self._shadow.place(cars, placements)
        for car in cars:
            self.scene.begin(car, self._states[car], self.engine.observations[car])


def make_scene(tracks: Sequence[AnyTrack], num_cars: int, view: View | dict[str, Any] | None, fps: float) -> Scene:
    """Return a scene with the cars, car i on track i modulo the number of tracks; see ``Scene``.

    Raises:
        RenderError: Only a bridge knows one of the tracks.
    """
    return Scene([known_track(track) for track in tracks], num_cars, view_of(view), fps)


def make_shadow(tracks: Sequence[AnyTrack], num_cars: int) -> Shadow:
    """Return the simulator that drives along with a bridge's cars; see ``make_scene``."""
    return Shadow([known_track(track) for track in tracks], num_cars)
