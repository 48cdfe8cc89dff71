"""Train a driver with PPO: ``python -m training.train_ppo``."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training.algorithms import Algorithm, Linear
from training.cli import leave
from training.hyperparameters import setting
from training.training_script import run_training

if TYPE_CHECKING:
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecNormalize

    from racer_env.bridge.bridge import Bridge

ROLLOUT_STEPS = 4096  # environment steps per rollout, at least


@dataclass(frozen=True)
class PpoSettings:
    """Hyper-parameters, found on the shipped tracks."""

    learning_rate: float = setting(1e-3, 0, 1, "falls linearly to 0 over the run")
    minibatches: int = setting(4, 1, 1024, "a rollout is cut into so many")
    epochs: int = setting(5, 1, 100, "passes over a rollout")
    steps_per_car: int = setting(64, 1, 10_000, "environment steps of each car in a rollout, at least")
    gamma: float = setting(0.99, 0, 1, "discount")
    gae_lambda: float = setting(0.95, 0, 1, "bias against variance of the advantage")
    clip_range: float = setting(0.2, 1e-6, 10, "how far an update may change the policy")
    entropy_coefficient: float = setting(0.0, 0, 10, "weight of the entropy in the loss")
    value_coefficient: float = setting(0.5, 0, 100, "weight of the value function in the loss")
    max_gradient_norm: float = setting(0.5, 1e-6, 1e6, "gradients are clipped to it")
    hidden: int = setting(64, 1, 4096, "units of each of the two hidden layers")
    log_std: tuple[float, float, float] = setting(
        (-1.0, -0.5, -0.5), -20, 5, "initial logarithm of the exploration noise of steer, throttle and brake"
    )
    final_log_std: float = setting(5.0, -20, 5, "the noise is kept below a line that falls to this; 5 is no limit")
    bias: tuple[float, float, float] = setting(
        (0.0, 1.2, -1.2), -100, 100, "initial output of the policy; presses the throttle, so that a fresh driver moves"
    )
    random_start_share: float = setting(0.7, 0, 1, "share of the episodes that start anywhere, on the move")
    standing_share: float = setting(0.0, 0, 1, "share of these that start at rest")
    episode_ticks: int = setting(1_000_000, 60, 1_000_000, "most ticks of an episode in training, within maxSteps")
    steer_change_penalty: float = setting(0.0, 0, 1000, "against the square of each change of the steering command")
    final_steer_change_penalty: float = setting(0.0, 0, 1000, "that grows to it over the run; 0 leaves it as it is")
    extra_off_track_penalty: float = setting(0.0, -1, 0, "in training, on top of offTrackPenalty")
    reversal_cost: float = setting(
        0.005, 0, 1, "share of the pace, in choosing the best model, that a reversal of the steering per second costs"
    )
    progress_withheld: int = setting(0, 0, 1, "1 hides the lap's progress, so that a driver learns no single track")
    action_repeat: int = setting(1, 1, 60, "ticks that each action holds")


def num_envs(num_tracks: int, bridge: "Bridge | None") -> int:
    """Return how many cars train where the user does not say."""
    if bridge is not None and not bridge.has_extensions:
        return max(8, num_tracks)  # each needs a connection and a simulation of its own, and none is faster for it
    return 64 if num_tracks == 1 else 96


def ppo_arguments(settings: PpoSettings, cars: int) -> dict[str, Any]:
    """Return PPO's arguments: few cars drive longer, so that a rollout stays long; minibatches are of equal size."""
    least = max(settings.steps_per_car, ROLLOUT_STEPS // cars, math.ceil(2 * settings.minibatches / cars))
    unit = settings.minibatches // math.gcd(settings.minibatches, cars)
    n_steps = math.ceil(least / unit) * unit
    return {
        "learning_rate": Linear(settings.learning_rate, 0.0),
        "n_steps": n_steps,
        "batch_size": n_steps * cars // settings.minibatches,
        "n_epochs": settings.epochs,
        "gamma": settings.gamma,
        "gae_lambda": settings.gae_lambda,
        "clip_range": settings.clip_range,
        "ent_coef": settings.entropy_coefficient,
        "vf_coef": settings.value_coefficient,
        "max_grad_norm": settings.max_gradient_norm,
    }


def make_model(env: "VecNormalize", settings: PpoSettings, arguments: dict[str, Any], seed: int, device: str) -> "PPO":
    """Make a fresh model.

    Args:
        env: The training environment.
        settings: Hyper-parameters.
        arguments: As ``ppo_arguments`` makes them.
        seed: Of weights and noise.
        device: Of PyTorch.
    """
    import torch
    from stable_baselines3 import PPO

    network = {"net_arch": [settings.hidden, settings.hidden]}
    model = PPO("MlpPolicy", env, policy_kwargs=network, seed=seed, device=device, **arguments)
    with torch.no_grad():
        model.policy.log_std.copy_(torch.tensor(settings.log_std))
        model.policy.action_net.bias.copy_(torch.tensor(settings.bias))  # type: ignore[operator]
    return model


PPO_ALGORITHM = Algorithm(
    name="PPO",
    script="training.train_ppo",
    settings=PpoSettings,
    timesteps=2_000_000,
    checkpoint_freq=50_000,
    eval_freq=100_000,
    num_envs=num_envs,
    arguments=ppo_arguments,
    make_model=make_model,
    in_weights=("log_std", "bias"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_training(PPO_ALGORITHM, argv)


if __name__ == "__main__":
    leave(main())
