"""TD3, twin delayed deep deterministic policy gradient.

Source: Fujimoto, van Hoof and Meger (2018), "Addressing function approximation error in actor-critic methods".
"""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from racer_env.contract import ACTION_SIZE
from training.algorithms.off_policy import OffPolicy, OffPolicySettings
from training.algorithms.settings import setting


@dataclass(frozen=True)
class Td3Settings(OffPolicySettings):
    """Hyper-parameters of TD3."""

    learning_rate: float = setting(7e-4, 0, 1, "step size of actor and critics; constant")
    exploration_noise: float = setting(0.35, 0, 2, "standard deviation of the noise added to actions in [-1, 1]")
    policy_delay: int = setting(2, 1, 100, "updates of the critics for each one of the actor")
    target_noise: float = setting(0.2, 0, 2, "standard deviation of the noise on the target policy's actions")
    target_noise_clip: float = setting(0.5, 0, 2, "largest such noise")


class Td3(OffPolicy):
    """TD3: a deterministic policy, with noise added in training."""

    name = "TD3"
    fast = ("training.algorithms.fast_td3", "FastTD3")
    settings = Td3Settings
    attributes = frozenset({"policy_delay", "target_policy_noise"})
    usual_layers = (400, 300)
    output = "scaled"
    head = ("actor.mu",)
    is_stochastic = False
    stored: ClassVar[dict[str, str]] = {
        **OffPolicy.stored,
        "policy_delay": "policy_delay",
        "target_noise": "target_policy_noise",
        "target_noise_clip": "target_noise_clip",
    }

    def arguments(self, settings: Td3Settings, cars: int, total_steps: int) -> dict[str, Any]:
        """Return TD3's arguments; every car has its own noise."""
        noise: Any = importlib.import_module("stable_baselines3.common.noise")
        one = noise.NormalActionNoise(np.zeros(ACTION_SIZE), np.full(ACTION_SIZE, settings.exploration_noise))
        return super().arguments(settings, cars, total_steps) | {
            "action_noise": noise.VectorizedActionNoise(one, cars),
            "policy_delay": settings.policy_delay,
            "target_policy_noise": settings.target_noise,
            "target_noise_clip": settings.target_noise_clip,
        }

    def settings_in(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return TD3's hyper-parameters; the noise is one if it is equal for all actions."""
        own = super().settings_in(attributes)
        noise = attributes.get("action_noise", "unknown")
        equal = re.fullmatch(r"NormalActionNoise\(mu=\[(?:0\. ?){3}\], sigma=\[([0-9.e-]+) +\1 +\1 *\]\)", str(noise))
        if noise is None or equal is not None:
            own["exploration_noise"] = 0.0 if equal is None else float(equal[1])
        return own


ALGORITHM = Td3()
