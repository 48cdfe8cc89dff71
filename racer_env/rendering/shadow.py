"""Where a bridge's cars are, which it does not report: the simulator drives along with the same actions."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from racer_env.contract import Placement
from racer_env.errors import RenderError
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track
from racer_env.tracks.starts import start_for

TOLERANCE = 1e-3  # largest difference of an observation; equal engines agree far better, other physics far worse


class Shadow:
    """A simulator that drives along with a bridge's cars.

    Attributes:
        simulator: The simulator, its cars where the bridge's cars are.
    """

    def __init__(self, tracks: Sequence[Track], num_cars: int) -> None:
        self.simulator = Simulator(tracks, num_cars)

    def place(self, cars: Sequence[int], placements: Sequence[Placement | None]) -> None:
        """Begin an episode for some cars."""
        simulator = self.simulator
        starts = [start_for(simulator.track_of(car).geometry, at) for car, at in zip(cars, placements, strict=True)]
        simulator.place(cars, starts)

    def step(self, actions: npt.NDArray[np.floating]) -> None:
        """Drive all cars by one tick with actions (N, 3)."""
        self.simulator.step(actions)

    def check(self, observations: npt.NDArray[np.floating]) -> None:
        """Compare with the observations (N, 14) that the bridge reports.

        Raises:
            RenderError: The bridge drives differently, so its cars are somewhere else.
        """
        difference = float(np.abs(self.simulator.observations - observations).max())
        if not difference <= TOLERANCE:
            raise RenderError(
                f"the game behind the bridge drives differently from the simulator (an observation differs by "
                f"{difference:.3g}), so its cars cannot be placed; python -m training.parity shows where they part"
            )
