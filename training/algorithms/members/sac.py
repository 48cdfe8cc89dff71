"""SAC, soft actor-critic.

Source: Haarnoja et al. (2018), "Soft actor-critic algorithms and applications".
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from racer_env.contract import MAX_ACTION_REPEAT
from training.algorithms.algorithm import Algorithm, Linear
from training.algorithms.settings import Settings, setting


@dataclass(frozen=True)
class SacSettings(Settings):
    """Hyper-parameters, tuned on the shipped tracks.

    With an action repeat of 1, SAC stood still: noise drawn anew sixty times a second cancels out.
    """

    learning_rate: float = setting(7e-4, 0, 1, "step size of actor, critics and entropy; constant")
    gamma: float = setting(0.98, 0, 1, "discount factor of future rewards")
    action_repeat: int = setting(4, 1, MAX_ACTION_REPEAT, "ticks that each action is held; the model remembers it")
    gradient_steps: int = setting(8, 1, 1000, "updates after each step of all cars")
    batch_size: int = setting(256, 2, 65536, "transitions in an update")
    tau: float = setting(0.02, 1e-6, 1, "how fast the target critics follow")
    buffer_size: int = setting(200_000, 1000, 100_000_000, "transitions that the replay buffer holds")
    learning_starts: int = setting(500, 0, 100_000_000, "random steps before the first update")
    entropy: float = setting(0.02, 1e-6, 100, "initial weight of the policy's entropy, which then adapts itself")
    target_entropy: float = setting(-3.0, -100, 100, "entropy that the weight adapts to")


class Sac(Algorithm):
    """SAC: off-policy, with a replay buffer."""

    name = "SAC"
    settings = SacSettings
    timesteps = 40_000
    checkpoint_freq = 5_000
    eval_freq = 2_500
    cars = 32
    cars_on_several_tracks = 32
    attributes = frozenset({"target_entropy", "tau"})
    to_drive: ClassVar[dict[str, Any]] = {"learning_rate": 0.0, "train_freq": 1, "buffer_size": 1}
    output = "tanh"
    head = ("actor.latent_pi", "actor.mu")
    has_buffer = True
    adapted = ("entropy",)

    def arguments(self, settings: SacSettings, cars: int) -> dict[str, Any]:
        """Return SAC's arguments, which do not depend on the number of cars."""
        return {
            "learning_rate": Linear(settings.learning_rate, settings.learning_rate),
            "train_freq": 1,
            "gradient_steps": settings.gradient_steps,
            "batch_size": settings.batch_size,
            "gamma": settings.gamma,
            "tau": settings.tau,
            "buffer_size": settings.buffer_size,
            "learning_starts": settings.learning_starts,
            "ent_coef": f"auto_{settings.entropy}",
            "target_entropy": settings.target_entropy,
        }


ALGORITHM = Sac()
