"""What the algorithms with a replay buffer share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from racer_env.contract import MAX_ACTION_REPEAT
from training.algorithms.algorithm import Algorithm, line_in
from training.algorithms.settings import Settings, default_of, setting


@dataclass(frozen=True)
class OffPolicySettings(Settings):
    """Their hyper-parameters, tuned on the shipped tracks.

    With an action repeat of 1, they stood still: noise drawn anew sixty times a second cancels out.
    """

    gamma: float = setting(0.98, 0, 1, "discount factor of future rewards")
    activation: str = default_of(Settings, "activation", "relu")
    action_repeat: int = setting(4, 1, MAX_ACTION_REPEAT, "ticks that each action is held; the model remembers it")
    gradient_steps: int = setting(8, 1, 1000, "updates after each step of all cars")
    batch_size: int = setting(256, 2, 65536, "transitions in an update")
    tau: float = setting(0.02, 1e-6, 1, "how fast the target networks follow")
    buffer_size: int = setting(200_000, 1000, 100_000_000, "transitions that the replay buffer holds")
    learning_starts: int = setting(500, 0, 100_000_000, "random steps before the first update")


class OffPolicy(Algorithm):
    """An algorithm with a replay buffer."""

    timesteps = 40_000
    checkpoint_freq = 5_000
    eval_freq = 2_500
    cars = 32
    cars_on_several_tracks = 32
    to_drive: ClassVar[dict[str, Any]] = {"learning_rate": 0.0, "train_freq": 1, "buffer_size": 1}
    has_buffer = True
    stored: ClassVar[dict[str, str]] = {
        **Algorithm.stored,
        **{name: name for name in ("gradient_steps", "batch_size", "tau", "buffer_size", "learning_starts")},
    }

    def settings_in(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return what all of them have; a learning rate that changed over the run stays as it was at last."""
        own = super().settings_in(attributes)
        cars, line = attributes.get("n_envs"), line_in(attributes.get("learning_rate"))
        if own.get("gradient_steps") == -1 and type(cars) is int:
            own["gradient_steps"] = cars  # as many updates as steps
        left = attributes.get("_current_progress_remaining")
        if line is not None and isinstance(left, int | float):
            start, end, fraction = line
            own["learning_rate"] = start + min((1 - left) / fraction, 1) * (end - start) if fraction > 0 else end
        return own

    def arguments(self, settings: Any, cars: int, total_steps: int) -> dict[str, Any]:
        """Return the arguments that all of them have; ``settings`` are ``OffPolicySettings``."""
        return {
            "learning_rate": settings.learning_rate,
            "train_freq": 1,
            "gradient_steps": settings.gradient_steps,
            "batch_size": settings.batch_size,
            "gamma": settings.gamma,
            "tau": settings.tau,
            "buffer_size": settings.buffer_size,
            "learning_starts": settings.learning_starts,
        }
