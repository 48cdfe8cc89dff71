"""What the toolkit needs to know about an algorithm of stable-baselines3."""

import importlib
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from racer_env.packages import need
from training.algorithms.layers import make_network, settings_of
from training.algorithms.settings import Settings

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.policies import BasePolicy
    from stable_baselines3.common.utils import LinearSchedule
    from stable_baselines3.common.vec_env import VecNormalize

VERSION_1_CARS = 8  # each car needs its own connection and simulation, so more cars are no faster


class Algorithm:
    """One algorithm. Each module in ``training.algorithms.members`` defines a subclass and one instance of it.

    Attributes:
        name: Name in stable-baselines3, which model files store.
        package: The package that it is in.
        fast: Module and name of a class that learns the same in less time; None if there is none.
        policy: Name of its policy for vector observations.
        trains: Whether there is a script that trains with it; others have a name, and what it takes to drive.
        is_recurrent: Whether its policy remembers what it saw before.
        settings: Dataclass of its hyper-parameters.
        timesteps, checkpoint_freq, eval_freq: Default values, in environment steps.
        cars, cars_on_several_tracks: Default number of cars in training, on one track and on several.
        attributes: Attributes that only its models have; they identify files that do not name their algorithm.
        to_drive: Attributes for a model that only drives, replacing those that are pickled in its file.
        output: Output of the last layer of its deterministic policy: actions that are clipped to their bounds
            ("clipped"), numbers that tanh maps into [-1, 1] ("tanh"), or numbers within [-1, 1] ("scaled").
        head: Layers of that policy, as attribute paths starting at the policy.
        is_stochastic: Whether its policy can drive with exploration noise once it is trained.
        has_buffer: Whether it learns from a replay buffer.
        in_weights: Hyper-parameters that only set a fresh network's initial weights; loaded weights bring their own.
        set_anew: Hyper-parameters of loaded weights that a new run which begins with them may still set.
        adapted: Hyper-parameters that are initial values, which training then adapts.
        stored: Hyper-parameters that stable-baselines3 itself stores in a model, with their names there.
        usual_layers: Hidden layers that stable-baselines3 gives its policy where none are named.
    """

    name: ClassVar[str]
    package: ClassVar[str] = "stable_baselines3"
    fast: ClassVar[tuple[str, str] | None] = None
    policy: ClassVar[str] = "MlpPolicy"
    trains: ClassVar[bool] = True
    is_recurrent: ClassVar[bool] = False
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
    is_stochastic: ClassVar[bool] = True
    has_buffer: ClassVar[bool] = False
    in_weights: ClassVar[tuple[str, ...]] = ()
    set_anew: ClassVar[tuple[str, ...]] = ("progress_withheld",)
    adapted: ClassVar[tuple[str, ...]] = ()
    stored: ClassVar[dict[str, str]] = {"learning_rate": "learning_rate", "gamma": "gamma"}
    usual_layers: ClassVar[tuple[int, ...]] = (64, 64)

    @property
    def script(self) -> str:
        """Name of the module that trains with it."""
        return f"training.train_{self.name.lower()}"

    @property
    def model_class(self) -> "type[BaseAlgorithm]":
        """Its model class; reading it imports PyTorch.

        Raises:
            PackageError: Its package is not installed.
        """
        need(f"a model of {self.name}", self.package)
        found: type[BaseAlgorithm] = getattr(importlib.import_module(self.package), self.name)
        return found

    @property
    def policy_class(self) -> "type[BasePolicy]":
        """Its policy class for vector observations."""
        return self.model_class.policy_aliases[self.policy]

    def training_class(self, settings: Settings) -> "type[BaseAlgorithm]":
        """Return the class that trains its models: the fast one, unless plain stable-baselines3 is asked for.

        Args:
            settings: Hyper-parameters of the algorithm.
        """
        if self.fast is None or settings.plain_policy:
            return self.model_class
        module, name = self.fast
        found: type[BaseAlgorithm] = getattr(importlib.import_module(module), name)
        return found

    def arguments(self, settings: Any, cars: int, total_steps: int) -> dict[str, Any]:
        """Return the constructor arguments that apply to a resumed model as well.

        Args:
            settings: Hyper-parameters of the algorithm.
            cars: Number of cars in training.
            total_steps: Step counter at which the run ends, with the steps of a resumed model.
        """
        raise NotImplementedError

    def rollout_steps(self, settings: Any, cars: int) -> int:
        """Return the environment steps of all cars between two updates; a run trains whole rollouts."""
        return cars

    def settings_in(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the hyper-parameters of a model that was trained by other means, as far as its file tells them.

        Args:
            attributes: Attributes in the model's file; those that are pickled are objects, and schedules are texts.
        """
        plain = {name: attributes.get(key) for name, key in self.stored.items()}
        return {name: value for name, value in plain.items() if type(value) in (int, float)}

    def network_in(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``hidden`` and ``activation`` of a model's policy, as far as hyper-parameters can express it.

        Args:
            attributes: Attributes in the model's file.
        """
        stored = attributes.get("policy_kwargs")
        return settings_of(stored if isinstance(stored, dict) else {}, self.usual_layers, self.settings().activation)

    def kept(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return constructor arguments that a resumed model keeps, as no hyper-parameter can express them.

        Args:
            attributes: Attributes in the model's file.
        """
        return {}

    def make_model(
        self, env: "VecNormalize", settings: Settings, arguments: dict[str, Any], seed: int, device: str
    ) -> "BaseAlgorithm":
        """Make a fresh model.

        Args:
            env: Environment to train on.
            settings: Hyper-parameters of the algorithm.
            arguments: Constructor arguments, as returned by ``arguments``; ``policy_kwargs`` among them replaces the
                network of the hyper-parameters.
            seed: Seed of the initial weights and the noise.
            device: PyTorch device, such as ``"cpu"``.
        """
        network = make_network(settings.hidden, settings.activation, self.settings().activation)
        make: Callable[..., BaseAlgorithm] = self.training_class(settings)
        return make("MlpPolicy", env, seed=seed, device=device, **{"policy_kwargs": network, **arguments})

    def num_envs(self, num_tracks: int, is_version_1: bool) -> int:
        """Return how many cars train if the user does not say.

        Args:
            num_tracks: Number of tracks; each has at least one car.
            is_version_1: Whether the cars drive over a bridge that speaks version 1 of the protocol.
        """
        if is_version_1:
            return max(VERSION_1_CARS, num_tracks)
        return max(self.cars if num_tracks == 1 else self.cars_on_several_tracks, num_tracks)

    def carried(self, resumes: bool) -> tuple[str, ...]:
        """Return the hyper-parameters that a model brings along when it is resumed, or begins another run."""
        return (*Settings.MADE_WITH, *self.in_weights, *(self.adapted if resumes else ()))

    def fixed(self, resumes: bool) -> tuple[str, ...]:
        """Return those of them that cannot change then."""
        return tuple(name for name in self.carried(resumes) if resumes or name not in self.set_anew)


def line_in(text: Any) -> tuple[float, float, float] | None:
    """Return start, end and end fraction of a LinearSchedule that a model's file describes; None of anything else."""
    line = re.fullmatch(r"LinearSchedule\(start=([0-9.e+-]+), end=([0-9.e+-]+), end_fraction=([0-9.e+-]+)\)", str(text))
    try:
        return None if line is None else (float(line[1]), float(line[2]), float(line[3]))
    except ValueError:
        return None


def falling(rate: float, rollout: int, total_steps: int, share: float = 0.0) -> "LinearSchedule":
    """Return a learning rate that falls linearly over the run; an update has the rate of its rollout's begin.

    stable-baselines3 asks for the rate after a rollout, when nothing is left of the run after the last one.

    Args:
        rate: Learning rate at step 0.
        rollout: Environment steps of all cars in a rollout.
        total_steps: Step counter at which the run ends.
        share: Share of the rate at the end.
    """
    early, end = rollout / total_steps, share * rate
    make = importlib.import_module("stable_baselines3.common.utils").LinearSchedule
    schedule: LinearSchedule = make(rate + early * (rate - end), end, 1 + early)
    return schedule
