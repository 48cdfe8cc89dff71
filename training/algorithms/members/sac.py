"""SAC, soft actor-critic.

Source: Haarnoja et al. (2018), "Soft actor-critic algorithms and applications".
"""

import contextlib
from collections.abc import Mapping
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
    fast = ("training.algorithms.fast_sac", "FastSAC")
    settings = SacSettings
    attributes = frozenset({"target_entropy", "tau"})
    usual_layers = (256, 256)
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

    def settings_in(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return SAC's hyper-parameters, with the weight of the entropy that training began with."""
        own = super().settings_in(attributes)
        weight = str(attributes.get("ent_coef")).removeprefix("auto").removeprefix("_") or "1"
        with contextlib.suppress(ValueError):
            own["entropy"] = float(weight)
        return own

    def kept(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the weight of the entropy: a model in which it is fixed has no optimiser for it."""
        weight = attributes.get("ent_coef")
        return {"ent_coef": weight} if isinstance(weight, int | float | str) else {}


ALGORITHM = Sac()
