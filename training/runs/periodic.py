"""Doing something at a fixed interval of environment steps."""

from stable_baselines3.common.callbacks import BaseCallback


class PeriodicCallback(BaseCallback):
    """Does something every ``frequency`` environment steps, regardless of the number of cars."""

    def __init__(self, frequency: int) -> None:
        super().__init__()
        self.frequency = frequency
        self._next = 0

    def _on_training_start(self) -> None:
        self._plan()

    def _on_step(self) -> bool:
        return True

    def is_due(self) -> bool:
        """Return whether it is time; True only once each time."""
        if self.num_timesteps < self._next:
            return False
        self._plan()
        return True

    def _plan(self) -> None:
        self._next = (self.num_timesteps // self.frequency + 1) * self.frequency
