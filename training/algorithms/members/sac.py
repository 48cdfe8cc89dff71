"""SAC, soft actor-critic.

Source: Haarnoja et al. (2018), "Soft actor-critic algorithms and applications".
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from training.algorithms.off_policy import OffPolicy, OffPolicySettings
from training.algorithms.settings import setting


@dataclass(frozen=True)
class SacSettings(OffPolicySettings):
    """Hyper-parameters of SAC."""

    learning_rate: float = setting(7e-4, 0, 1, "step size of actor, critics and entropy; constant")
    entropy: float = setting(0.02, 1e-6, 100, "initial weight of the policy's entropy, which then adapts itself")
    target_entropy: float = setting(-3.0, -100, 100, "entropy that the weight adapts to")


class Sac(OffPolicy):
    """SAC: a stochastic policy whose entropy is rewarded."""

    name = "SAC"
    settings = SacSettings
    attributes = frozenset({"target_entropy", "tau"})
    output = "tanh"
    head = ("actor.latent_pi", "actor.mu")
    adapted = ("entropy",)
    stored: ClassVar[dict[str, str]] = {**OffPolicy.stored, "target_entropy": "target_entropy"}

    def arguments(self, settings: SacSettings, cars: int, total_steps: int) -> dict[str, Any]:
        """Return SAC's arguments, which do not depend on the number of cars."""
        return super().arguments(settings, cars, total_steps) | {
            "ent_coef": f"auto_{settings.entropy}",
            "target_entropy": settings.target_entropy,
        }


ALGORITHM = Sac()
