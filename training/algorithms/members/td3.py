"""TD3, twin delayed deep deterministic policy gradient.

Source: Fujimoto, van Hoof and Meger (2018), "Addressing function approximation error in actor-critic methods".
"""

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

from racer_env.contract import ACTION_SIZE, MAX_ACTION_REPEAT
from training.algorithms.algorithm import Algorithm, Linear
from training.algorithms.settings import Settings, setting


@dataclass(frozen=True)
class Td3Settings(Settings):
    """Hyper-parameters, tuned on the shipped tracks. As with SAC, noise drawn anew at every tick cancels out."""

    learning_rate: float = setting(7e-4, 0, 1, "step size of actor and critics; constant")
    gamma: float = setting(0.98, 0, 1, "discount factor of future rewards")
    action_repeat: int = setting(4, 1, MAX_ACTION_REPEAT, "ticks that each action is held; the model remembers it")
    gradient_steps: int = setting(8, 1, 1000, "updates after each step of all cars")
    batch_size: int = setting(256, 2, 65536, "transitions in an update")
    tau: float = setting(0.02, 1e-6, 1, "how fast the target networks follow")
    buffer_size: int = setting(200_000, 1000, 100_000_000, "transitions that the replay buffer holds")
    learning_starts: int = setting(500, 0, 100_000_000, "random steps before the first update")
    exploration_noise: float = setting(0.35, 0, 2, "standard deviation of the noise added to actions in [-1, 1]")
    policy_delay: int = setting(2, 1, 100, "updates of the critics for each one of the actor")
    target_noise: float = setting(0.2, 0, 2, "standard deviation of the noise on the target policy's actions")
    target_noise_clip: float = setting(0.5, 0, 2, "largest such noise")


class Td3(Algorithm):
    """TD3: off-policy, with a replay buffer and a deterministic policy."""

    name = "TD3"
    settings = Td3Settings
    timesteps = 40_000
    checkpoint_freq = 5_000
    eval_freq = 2_500
    cars = 32
    cars_on_several_tracks = 32
    attributes = frozenset({"policy_delay", "target_policy_noise"})
    to_drive: ClassVar[dict[str, Any]] = {"learning_rate": 0.0, "train_freq": 1, "buffer_size": 1}
    output = "scaled"
    head = ("actor.mu",)
    is_stochastic = False
    has_buffer = True

    def arguments(self, settings: Td3Settings, cars: int) -> dict[str, Any]:
        """Return TD3's arguments; every car has its own noise."""
        noise: Any = importlib.import_module("stable_baselines3.common.noise")
        zero = [0.0] * ACTION_SIZE
        one = noise.NormalActionNoise(zero, [settings.exploration_noise] * ACTION_SIZE)
        return {
            "learning_rate": Linear(settings.learning_rate, settings.learning_rate),
            "train_freq": 1,
            "gradient_steps": settings.gradient_steps,
            "batch_size": settings.batch_size,
            "gamma": settings.gamma,
            "tau": settings.tau,
            "buffer_size": settings.buffer_size,
            "learning_starts": settings.learning_starts,
            "action_noise": noise.VectorizedActionNoise(one, cars),
            "policy_delay": settings.policy_delay,
            "target_policy_noise": settings.target_noise,
            "target_noise_clip": settings.target_noise_clip,
        }


ALGORITHM = Td3()
