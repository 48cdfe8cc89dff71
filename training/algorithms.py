"""What an algorithm has to tell the training script that is the same for all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecNormalize

    from racer_env.bridge.bridge import Bridge

# Hyper-parameters that a model is made with: what begins with it has them too. Every algorithm has these.
_MADE_WITH = ("hidden", "action_repeat", "progress_withheld")


@dataclass(frozen=True)
class Algorithm:
    """One algorithm.

    Attributes:
        name: As stable-baselines3 has it.
        script: The module that trains with it.
        settings: The dataclass of its hyper-parameters, among them ``gamma``, ``action_repeat``, ``hidden`` and
            ``random_start_share``.
        timesteps, checkpoint_freq, eval_freq: Defaults, in environment steps.
        num_envs: Says how many cars train where the user does not, from the number of tracks and the bridge.
        arguments: Makes the arguments of its constructor from settings and number of cars, those that hold for a model
            that goes on as well.
        make_model: Makes a fresh model from environment, settings, arguments, seed and device.
        has_buffer: Whether it learns from a replay buffer.
        in_weights: Hyper-parameters that a fresh network starts with: another's weights have their own.
        adapted: Hyper-parameters that training starts with and then changes.
    """

    name: str
    script: str
    settings: type
    timesteps: int
    checkpoint_freq: int
    eval_freq: int
    num_envs: "Callable[[int, Bridge | None], int]"
    arguments: Callable[[Any, int], dict[str, Any]]
    make_model: "Callable[[VecNormalize, Any, dict[str, Any], int, str], BaseAlgorithm]"
    has_buffer: bool = False
    in_weights: tuple[str, ...] = ()
    adapted: tuple[str, ...] = ()

    def fixed(self, resumes: bool) -> tuple[str, ...]:
        """Return the hyper-parameters that cannot be changed when a model goes on, or begins another run."""
        return _MADE_WITH + self.in_weights + (self.adapted if resumes else ())


class Linear:
    """A schedule that goes linearly from one value to another over the run."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def __call__(self, remaining: float) -> float:
        """Return the value when a share ``remaining`` of the run is left; below 0 in a last rollout beyond the end."""
        return self.end + (self.start - self.end) * max(remaining, 0.0)
