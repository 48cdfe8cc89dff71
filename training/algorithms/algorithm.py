"""What the toolkit has to know about an algorithm of stable-baselines3."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from training.algorithms.settings import Settings

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.policies import BasePolicy
    from stable_baselines3.common.vec_env import VecNormalize

VERSION_1_CARS = 8  # each needs a connection and a simulation of its own, and none is faster for it


class Algorithm:
    """One algorithm. A module in ``training.algorithms.members`` derives a class from it and makes one object of that.

    Attributes:
        name: As stable-baselines3 has it; model files store it.
        settings: The dataclass of its hyper-parameters.
        timesteps, checkpoint_freq, eval_freq: Defaults, in environment steps.
        cars, cars_on_several_tracks: How many train where the user does not say, on one track and on several.
        attributes: What only its models have among their attributes; it tells files that do not say their algorithm.
        to_drive: Attributes for a model that only drives, in the place of what is pickled in its file.
        output: What the last layer of its deterministic policy gives: actions that are clipped to their bounds
            ("clipped"), numbers that tanh brings into [-1, 1] ("tanh"), or numbers within [-1, 1] ("scaled").
        head: The layers of that policy, as paths of attributes from the policy.
        has_buffer: Whether it learns from a replay buffer.
        in_weights: Hyper-parameters that a fresh network starts with: another's weights have their own.
        adapted: Hyper-parameters that training starts with and then changes.
    """

    name: ClassVar[str]
    settings: ClassVar[type[Settings]]
    timesteps: ClassVar[int]
    checkpoint_freq: ClassVar[int]
    eval_freq: ClassVar[int]
    cars: ClassVar[int]
    cars_on_several_tracks: ClassVar[int]
    attributes: ClassVar[frozenset[str]]
    to_drive: ClassVar[dict[str, Any]]
    output: ClassVar[Literal["clipped", "tanh", "scaled"]]
    head: ClassVar[tuple[str, ...]]
    has_buffer: ClassVar[bool] = False
    in_weights: ClassVar[tuple[str, ...]] = ()
    adapted: ClassVar[tuple[str, ...]] = ()

    @property
    def script(self) -> str:
        """The module that trains with it."""
        return f"training.train_{self.name.lower()}"

    @property
    def model_class(self) -> "type[BaseAlgorithm]":
        """Its class; asking for it loads PyTorch."""
        found: type[BaseAlgorithm] = getattr(importlib.import_module("stable_baselines3"), self.name)
        return found

    @property
    def policy_class(self) -> "type[BasePolicy]":
        """The class of its policy for vectors."""
        return self.model_class.policy_aliases["MlpPolicy"]

    def arguments(self, settings: Any, cars: int) -> dict[str, Any]:
        """Return the arguments of its constructor, those that hold for a model that goes on as well.

        Args:
            settings: Hyper-parameters.
            cars: How many there are.
        """
        raise NotImplementedError

    def make_model(
        self, env: "VecNormalize", settings: Settings, arguments: dict[str, Any], seed: int, device: str
    ) -> "BaseAlgorithm":
        """Make a fresh model.

        Args:
            env: The training environment.
            settings: Hyper-parameters.
            arguments: As ``arguments`` makes them.
            seed: Of weights and noise.
            device: Of PyTorch.
        """
        network = {"net_arch": [settings.hidden, settings.hidden]}
        make: Callable[..., BaseAlgorithm] = self.model_class
        return make("MlpPolicy", env, policy_kwargs=network, seed=seed, device=device, **arguments)

    def num_envs(self, num_tracks: int, is_version_1: bool) -> int:
        """Return how many cars train where the user does not say.

        Args:
            num_tracks: Each has one car at least.
            is_version_1: Whether they drive over a bridge that speaks version 1 of the protocol.
        """
        if is_version_1:
            return max(VERSION_1_CARS, num_tracks)
        return max(self.cars if num_tracks == 1 else self.cars_on_several_tracks, num_tracks)

    def fixed(self, resumes: bool) -> tuple[str, ...]:
        """Return the hyper-parameters that cannot be changed when a model goes on, or begins another run."""
        return (*Settings.MADE_WITH, *self.in_weights, *(self.adapted if resumes else ()))


class Linear:
    """A schedule that goes linearly from one value to another over the run."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def __call__(self, remaining: float) -> float:
        """Return the value when a share ``remaining`` of the run is left; below 0 in a last rollout beyond the end."""
        return self.end + (self.start - self.end) * max(remaining, 0.0)
