"""Train a driver with SAC: ``python -m training.train_sac``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training.algorithms import Algorithm, Linear
from training.cli import leave
from training.hyperparameters import setting
from training.training_script import run_training

if TYPE_CHECKING:
    from stable_baselines3 import SAC
    from stable_baselines3.common.vec_env import VecNormalize

    from racer_env.bridge.bridge import Bridge


@dataclass(frozen=True)
class SacSettings:
    """Hyper-parameters, found on the shipped tracks.

    With an action repeat of 1, SAC stood still: its noise, drawn anew sixty times a second, cancels out.
    """

    learning_rate: float = setting(7e-4, 0, 1, "of actor, critics and entropy; constant")
    gradient_steps: int = setting(8, 1, 1000, "updates after each step of all cars")
    batch_size: int = setting(256, 2, 65536, "transitions in an update")
    gamma: float = setting(0.98, 0, 1, "discount")
    tau: float = setting(0.02, 1e-6, 1, "how fast the target critics follow")
    buffer_size: int = setting(200_000, 1000, 100_000_000, "transitions that the replay buffer holds")
    learning_starts: int = setting(500, 0, 100_000_000, "random steps before the first update")
    entropy: float = setting(0.02, 1e-6, 100, "initial weight of the policy's entropy, which then adapts itself")
    target_entropy: float = setting(-3.0, -100, 100, "the entropy that it adapts to")
    hidden: int = setting(64, 1, 4096, "units of each of the two hidden layers")
    random_start_share: float = setting(0.7, 0, 1, "share of the episodes that start anywhere, on the move")
    standing_share: float = setting(0.0, 0, 1, "share of these that start at rest")
    episode_ticks: int = setting(1_000_000, 60, 1_000_000, "most ticks of an episode in training, within maxSteps")
    steer_change_penalty: float = setting(0.0, 0, 1000, "against the square of each change of the steering command")
    extra_off_track_penalty: float = setting(0.0, -1, 0, "in training, on top of offTrackPenalty")
    reversal_cost: float = setting(
        0.005, 0, 1, "share of the pace, in choosing the best model, that a reversal of the steering per second costs"
    )
    progress_withheld: int = setting(0, 0, 1, "1 hides the lap's progress, so that a driver learns no single track")
    action_repeat: int = setting(4, 1, 60, "ticks that each action holds; the model carries it")


def num_envs(num_tracks: int, bridge: "Bridge | None") -> int:
    """Return how many cars train where the user does not say."""
    if bridge is not None and not bridge.has_extensions:
        return max(8, num_tracks)
    return max(32, num_tracks)


def sac_arguments(settings: SacSettings, cars: int) -> dict[str, Any]:
    """Return SAC's arguments; the number of cars changes none."""
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


def make_model(env: "VecNormalize", settings: SacSettings, arguments: dict[str, Any], seed: int, device: str) -> "SAC":
    """Make a fresh model.

    Args:
        env: The training environment.
        settings: Hyper-parameters.
        arguments: As ``sac_arguments`` makes them.
        seed: Of weights and noise.
        device: Of PyTorch.
    """
    from stable_baselines3 import SAC

    network = {"net_arch": [settings.hidden, settings.hidden]}
    return SAC("MlpPolicy", env, policy_kwargs=network, seed=seed, device=device, **arguments)


SAC_ALGORITHM = Algorithm(
    name="SAC",
    script="training.train_sac",
    settings=SacSettings,
    timesteps=40_000,
    checkpoint_freq=5_000,
    eval_freq=2_500,
    num_envs=num_envs,
    arguments=sac_arguments,
    make_model=make_model,
    has_buffer=True,
    adapted=("entropy",),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_training(SAC_ALGORITHM, argv)


if __name__ == "__main__":
    leave(main())
