"""Train a driver with PPO: ``python -m training.train_ppo``."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from training.bridges import add_bridge_argument, open_bridge
from training.cli import (
    LOGS_DIR,
    MAX_CARS,
    MAX_SEED,
    MODELS_DIR,
    add_track_arguments,
    count_of,
    run_script,
    say,
    whole_number,
)

if TYPE_CHECKING:
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecNormalize

    from racer_env.bridge import Bridge

ROLLOUT_STEPS = 4096  # environment steps per rollout with few cars
DEFAULT_CHECKPOINT_FREQ = 50_000
STEPS_PER_CAR = 64  # and at least this many for each of many cars


@dataclass(frozen=True)
class PpoSettings:
    """Hyper-parameters, found on the shipped tracks.

    Attributes:
        learning_rate: Falls linearly to 0 over the run.
        minibatches: A rollout is cut into so many.
        epochs: Passes over a rollout.
        gamma, gae_lambda, clip_range, entropy_coefficient, value_coefficient, max_gradient_norm: PPO's own.
        hidden: Units of each of the two hidden layers.
        log_std: Initial logarithm of the exploration noise of steer, throttle and brake.
        bias: Initial output of the policy; presses the throttle, so that a fresh driver moves.
        random_start_share: Share of the episodes that start anywhere, on the move.
    """

    learning_rate: float = 1e-3
    minibatches: int = 4
    epochs: int = 5
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    entropy_coefficient: float = 0.0
    value_coefficient: float = 0.5
    max_gradient_norm: float = 0.5
    hidden: int = 64
    log_std: tuple[float, float, float] = (-1.0, -0.5, -0.5)
    bias: tuple[float, float, float] = (0.0, 1.2, -1.2)
    random_start_share: float = 0.7


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m training.train_ppo",
        description="Train a driver with PPO, on the embedded simulator or over the game's bridge.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Model files contain pickles: resume only from files that you trust.",
    )
    parser.add_argument("--run-name", metavar="NAME", help="of the run's files (default: the next free ppo_run_N)")
    parser.add_argument("--overwrite", action="store_true", help="replace the files of a run of that name")
    parser.add_argument(
        "--timesteps",
        type=whole_number(1),
        default=2_000_000,
        help="environment steps to train; on resume, more steps (default: 2000000)",
    )
    parser.add_argument(
        "--num-envs",
        type=whole_number(1, MAX_CARS),
        help="cars (default: 64, or 96 for several tracks; 8 or one for each over a bridge that speaks version 1)",
    )
    add_bridge_argument(parser)
    add_track_arguments(parser, "those of the model to resume, or all of --tracks-dir, or track-01")
    parser.add_argument(
        "--checkpoint-freq",
        type=whole_number(1),
        default=DEFAULT_CHECKPOINT_FREQ,
        help="environment steps between checkpoints (default: 50000)",
    )
    parser.add_argument("--resume", metavar="PATH", help="model to go on with, with or without .zip")
    parser.add_argument("--seed", type=whole_number(0, MAX_SEED), default=0, help="of everything random (default: 0)")
    parser.add_argument(
        "--device", default="cpu", help="cpu, cuda or auto; cpu is fastest for these networks (default: cpu)"
    )
    parser.add_argument("--models-dir", type=Path, default=MODELS_DIR, help="where models go (default: models/)")
    parser.add_argument("--logs-dir", type=Path, default=LOGS_DIR, help="where logs go (default: logs/)")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_train, make_parser().parse_args(argv))


def _train(arguments: argparse.Namespace) -> int:
    with open_bridge(arguments) as bridge:
        return _train_over(bridge, arguments)


def _train_over(bridge: "Bridge | None", arguments: argparse.Namespace) -> int:
    from racer_env.config import load_config
    from racer_env.errors import ConfigError
    from training.loading import Preparation
    from training.model_files import (
        choose_run_name,
        claim_folders,
        find_model,
        find_statistics,
        load_tracks_for,
        run_of,
    )

    settings = PpoSettings()
    config = load_config(arguments.config)
    resumed = find_model(arguments.resume) if arguments.resume else None
    statistics = find_statistics(resumed) if resumed else None
    tracks = load_tracks_for(resumed, arguments.track_id, arguments.tracks_dir, bridge)
    num_envs = arguments.num_envs or default_num_envs(len(tracks), bridge)
    if num_envs < len(tracks):
        raise ConfigError(f"--num-envs must be at least the number of tracks, {len(tracks)}; got {num_envs}")
    goes_on = resumed is not None and arguments.run_name == run_of(resumed) and resumed.parent == arguments.models_dir
    may_exist = arguments.overwrite or goes_on
    name = choose_run_name(arguments.run_name, "ppo_run", arguments.models_dir, arguments.logs_dir, may_exist)

    with Preparation(None if bridge else tracks[0]):
        from stable_baselines3 import PPO

        from training.session import (
            Run,
            check_physics,
            load_model,
            load_statistics,
            make_training_env,
            physics_behind,
            prepare,
            train,
        )

    # Whatever can be refused is refused before the run takes its name on disk.
    prepare(arguments.seed, arguments.device)
    if resumed and statistics:
        check_physics(load_model(PPO, resumed, None, device=arguments.device), resumed, physics_behind(bridge))
        load_statistics(statistics)
    claim_folders(name, arguments.models_dir, arguments.logs_dir, may_exist)

    run = Run(
        name=name,
        tracks=tracks,
        config=config,
        num_envs=num_envs,
        timesteps=arguments.timesteps,
        checkpoint_freq=arguments.checkpoint_freq,
        seed=arguments.seed,
        random_start_share=settings.random_start_share,
        models_dir=arguments.models_dir,
        logs_dir=arguments.logs_dir,
        resume_command=["python", "-m", "training.train_ppo", *_repeated(arguments)],
        bridge=bridge,
    )
    env = make_training_env(run, settings.gamma, statistics)
    if resumed:
        model = load_model(
            PPO, resumed, env, device=arguments.device, seed=run.seed, **rollout_size(num_envs, settings)
        )
        say(f"resumed {resumed} at {model.num_timesteps:,} steps")
    else:
        model = make_model(env, settings, run.seed, arguments.device)
    names = ", ".join(track.id if track.name == track.id else f"{track.id} ({track.name})" for track in tracks)
    say(f"training run {run.name!r} on {names} with {count_of(num_envs, 'car')} for {run.timesteps:,} steps")
    return train(run, model, env, resumes=resumed is not None)


def default_num_envs(num_tracks: int, bridge: "Bridge | None") -> int:
    """Return how many cars train where the user does not say."""
    if bridge is not None and not bridge.has_extensions:
        return max(8, num_tracks)  # each needs a connection and a simulation of its own, and none is faster for it
    return 64 if num_tracks == 1 else 96


def _repeated(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments that a resumed run needs again; the tracks are in the model where they were not named."""
    flags = ["--track-id", *arguments.track_id] if arguments.track_id else []
    for flag, value, default in (
        ("--num-envs", arguments.num_envs, None),
        ("--tracks-dir", arguments.tracks_dir, None),
        ("--config", arguments.config, None),
        ("--checkpoint-freq", arguments.checkpoint_freq, DEFAULT_CHECKPOINT_FREQ),
        ("--seed", arguments.seed, 0),
        ("--device", arguments.device, "cpu"),
        ("--models-dir", arguments.models_dir, MODELS_DIR),
        ("--logs-dir", arguments.logs_dir, LOGS_DIR),
    ):
        if value != default:
            flags += [flag, str(value)]
    return flags


def rollout_size(num_envs: int, settings: PpoSettings) -> dict[str, int]:
    """Return PPO's n_steps and batch_size for a number of cars: few cars drive longer, so that a rollout stays long."""
    n_steps = max(STEPS_PER_CAR, ROLLOUT_STEPS // num_envs // settings.minibatches * settings.minibatches)
    return {"n_steps": n_steps, "batch_size": n_steps * num_envs // settings.minibatches}


def make_model(env: "VecNormalize", settings: PpoSettings, seed: int, device: str) -> "PPO":
    """Make a fresh model.

    Args:
        env: The training environment.
        settings: Hyper-parameters.
        seed: Of weights and noise.
        device: Of PyTorch.
    """
    import torch
    from stable_baselines3 import PPO

    size = rollout_size(env.num_envs, settings)
    model = PPO(
        "MlpPolicy",
        env,
        learning_rate=falling(settings.learning_rate),
        n_steps=size["n_steps"],
        batch_size=size["batch_size"],
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_range,
        ent_coef=settings.entropy_coefficient,
        vf_coef=settings.value_coefficient,
        max_grad_norm=settings.max_gradient_norm,
        policy_kwargs={"net_arch": [settings.hidden, settings.hidden]},
        seed=seed,
        device=device,
    )
    with torch.no_grad():
        model.policy.log_std.copy_(torch.tensor(settings.log_std))
        model.policy.action_net.bias.copy_(torch.tensor(settings.bias))  # type: ignore[operator]
    return model


class falling:  # noqa: N801 (a function that can be pickled)
    """A schedule that falls linearly from ``start`` to 0 over the run."""

    def __init__(self, start: float) -> None:
        self.start = start

    def __call__(self, remaining: float) -> float:
        """Return the value when a share ``remaining`` of the run is left."""
        return self.start * remaining


if __name__ == "__main__":
    sys.exit(main())
