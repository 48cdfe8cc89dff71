"""Algorithms whose models drive here, and are trained elsewhere: A2C, and TQC and RecurrentPPO of sb3-contrib."""

from collections.abc import Mapping
from typing import Any, ClassVar

from training.algorithms.algorithm import Algorithm
from training.algorithms.members.ppo import Ppo
from training.algorithms.members.sac import Sac

CONTRIB = "sb3_contrib"


class Guest(Algorithm):
    """An algorithm that has no script here.

    Attributes:
        module: Module of the policy, which tells its models from those of similar algorithms.
    """

    trains = False
    module: ClassVar[str]

    def is_of(self, attributes: Mapping[str, Any]) -> bool:
        """Return whether a model's file is of this algorithm."""
        policy = attributes.get("policy_class")
        return isinstance(policy, dict) and policy.get("__module__") == self.module


class A2c(Guest):
    """A2C: its policy is that of PPO."""

    name = "A2C"
    module = "stable_baselines3.common.policies"
    to_drive: ClassVar[dict[str, Any]] = {"learning_rate": 0.0}
    output, head = Ppo.output, Ppo.head

    def is_of(self, attributes: Mapping[str, Any]) -> bool:
        """Return whether it lacks what PPO and TRPO have besides."""
        others = {"n_epochs", "target_kl"} & attributes.keys()
        return super().is_of(attributes) and "gae_lambda" in attributes and not others


class Tqc(Guest):
    """TQC, truncated quantile critics: its actor is that of SAC."""

    name = "TQC"
    package = CONTRIB
    module = "sb3_contrib.tqc.policies"
    to_drive: ClassVar[dict[str, Any]] = {**Sac.to_drive, "target_entropy": 0.0}  # pickled, as a number of NumPy
    output, head = Sac.output, Sac.head


class RecurrentPpo(Guest):
    """RecurrentPPO: PPO with a memory, which begins empty with each drive."""

    name = "RecurrentPPO"
    package = CONTRIB
    policy = "MlpLstmPolicy"
    module = "sb3_contrib.common.recurrent.policies"
    to_drive: ClassVar[dict[str, Any]] = {**Ppo.to_drive, "n_steps": 2}  # it keeps a memory of each
    is_recurrent = True


GUESTS: tuple[Guest, ...] = (A2c(), Tqc(), RecurrentPpo())
