"""A training run, whatever the algorithm: environment, callbacks, interruption, saving, resuming."""

import itertools
import pickle
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import CallbackList
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize
from tqdm.contrib.logging import logging_redirect_tqdm

from racer_env.bridge import AnyTrack, Bridge
from racer_env.bridge_url import EMBEDDED
from racer_env.config import AiConfig
from racer_env.errors import ModelError
from racer_env.physics import Physics, load_physics
from racer_env.spaces import make_observation_space
from racer_env.tracks import Track
from racer_env.vec_env import RacerVecEnv
from training.callbacks import CheckpointPairCallback, ProgressCallback, RacerMetricsCallback
from training.cli import DONE, INTERRUPTED, say
from training.model_files import model_path, save_pair

CLIP = 10.0  # of normalised observations and rewards
MONITOR_NAME = "monitor.csv"
UNKNOWN_PHYSICS = "unknown"  # instead of the fingerprint, where a bridge did not tell


@dataclass(frozen=True)
class Run:
    """What a training run needs to know, apart from its algorithm.

    Attributes:
        name: Of its files.
        tracks: Where it trains.
        config: Reward weights and episode limits.
        num_envs: Cars.
        timesteps: Environment steps to train, on top of what a resumed model has.
        checkpoint_freq: Environment steps between checkpoints.
        seed: Of everything random.
        bridge: Where the game is; None is the embedded simulator.
        random_start_share: Share of the episodes that start anywhere, on the move.
        models_dir, logs_dir: Where files go.
        resume_command: How to call the script again, without the model to resume.
    """

    name: str
    tracks: list[AnyTrack]
    config: AiConfig
    num_envs: int
    timesteps: int
    checkpoint_freq: int
    seed: int
    random_start_share: float
    models_dir: Path
    logs_dir: Path
    resume_command: list[str]
    bridge: Bridge | None = None

    @property
    def bridge_flags(self) -> list[str]:
        """How to name the bridge on the command line."""
        return ["--bridge-url", *self.bridge.names] if self.bridge is not None else []

    @property
    def log_dir(self) -> Path:
        """The folder of this run's TensorBoard events and monitor file."""
        return self.logs_dir / self.name


def make_training_env(run: Run, gamma: float, statistics: Path | None = None) -> VecNormalize:
    """Make the environment: cars, monitor file, normalisation of observations and rewards.

    Args:
        run: The run.
        gamma: Discount, for the scale of the rewards.
        statistics: Of a model to go on with; None starts fresh.
    """
    run.log_dir.mkdir(parents=True, exist_ok=True)
    knows_lengths = all(isinstance(track, Track) for track in run.tracks)
    if len(run.tracks) > 1 and not knows_lengths:
        say("the bridge does not tell how long its tracks are: a lap is worth the same on each, whatever its length")
    has_starts = run.bridge is None or run.bridge.has_extensions
    cars = RacerVecEnv(
        run.tracks,
        run.num_envs,
        run.config,
        random_start_share=run.random_start_share if has_starts else 0.0,
        equal_road_value=len(run.tracks) > 1 and knows_lengths,
        bridge_url=run.bridge or EMBEDDED,
    )
    monitored = VecMonitor(cars, str(_free_monitor_path(run.log_dir)))
    if statistics is None:
        env = VecNormalize(monitored, clip_obs=CLIP, clip_reward=CLIP, gamma=gamma)
    else:
        env = load_statistics(statistics, monitored)
    env.seed(run.seed)
    return env


def _free_monitor_path(log_dir: Path) -> Path:
    """Return a monitor file that does not exist yet: a resumed run leaves the first part's alone."""
    names = itertools.chain([MONITOR_NAME], (f"{number}.{MONITOR_NAME}" for number in itertools.count(2)))
    return next(log_dir / name for name in names if not (log_dir / name).exists())


def prepare(seed: int, device: str) -> None:
    """Seed everything and give PyTorch the one thread that is fastest for networks this small.

    Raises:
        ModelError: There is no such device.
    """
    try:
        torch.empty(1, device="cpu" if device == "auto" else device).item()
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        raise ModelError(f"--device {device!r} cannot be used: {_first_line(error)}; cpu always works") from error
    torch.set_num_threads(1)
    set_random_seed(seed)


def train(run: Run, model: BaseAlgorithm, env: VecNormalize, resumes: bool) -> int:
    """Train, show progress, save checkpoints, and save the end whatever it is.

    Returns:
        The script's exit code.
    """
    # stable-baselines3 saves every attribute with the model.
    physics = physics_behind(run.bridge)
    model.physics_fingerprint = UNKNOWN_PHYSICS if physics is None else physics.fingerprint  # type: ignore[attr-defined]
    model.track_ids = [track.id for track in run.tracks]  # type: ignore[attr-defined]
    model.set_logger(configure(str(run.log_dir), ["tensorboard"]))
    metrics = RacerMetricsCallback()
    progress = ProgressCallback(metrics, run.timesteps)
    checkpoints = CheckpointPairCallback(run.checkpoint_freq, run.models_dir, run.name, env)
    first_step = model.num_timesteps if resumes else 0
    began = time.monotonic()
    try:
        with logging_redirect_tqdm():  # what a bridge logs must not break the progress bar
            model.learn(
                run.timesteps,
                callback=CallbackList([metrics, checkpoints, progress]),
                log_interval=1,
                reset_num_timesteps=not resumes,
            )
    except BaseException as error:
        progress.close()
        if model.num_timesteps == first_step:  # nothing to lose
            raise
        path = model_path(run.models_dir, run.name, "interrupted")
        save_pair(model, env, path)
        left = max(run.timesteps - (model.num_timesteps - first_step), 1)
        rest = ["--resume", str(path), "--run-name", run.name, "--timesteps", str(left), *run.bridge_flags]
        say(f"interrupted at {model.num_timesteps:,} steps; saved {path}")
        say(f"go on with: {shlex.join([*run.resume_command, *rest])}")
        if isinstance(error, KeyboardInterrupt):
            return INTERRUPTED
        raise
    finally:
        env.close()
    elapsed = time.monotonic() - began
    path = model_path(run.models_dir, run.name, "final")
    save_pair(model, env, path)
    steps = model.num_timesteps - first_step
    rate = steps / elapsed
    say(f"trained {steps:,} steps in {elapsed:.1f} s ({rate:,.0f} steps/s): {_figures(metrics)}")
    say(f"saved {path}")
    see = ["python", "-m", "training.evaluate", "--model", str(path), *run.bridge_flags]
    say(f"see it lap: {shlex.join(see)}")
    return DONE


def _figures(metrics: RacerMetricsCallback) -> str:
    if metrics.best_lap_time is None:
        return "no lap completed yet"
    return f"{metrics.total_laps:,} laps, best {metrics.best_lap_time:.2f} s"


def load_model(algorithm: type[BaseAlgorithm], path: Path, env: VecNormalize | None, **settings: Any) -> BaseAlgorithm:
    """Load a model.

    Raises:
        ModelError: It is damaged, or of another algorithm or other spaces.
    """
    try:
        return algorithm.load(path, env=env, **settings)
    except Exception as error:  # a damaged pickle raises anything
        raise ModelError(f"cannot load {path} as a {algorithm.__name__} model: {_first_line(error)}") from error


def physics_behind(bridge: Bridge | None) -> Physics | None:
    """Return the physics that cars drive on; None if a bridge does not tell."""
    return load_physics() if bridge is None or bridge.peer.physics is not None else None


def check_physics(model: BaseAlgorithm, path: Path, physics: Physics | None) -> None:
    """Refuse a model of other physics; where they are not known, anything goes.

    Raises:
        ModelError: Its fingerprint is another one.
    """
    trained_on = getattr(model, "physics_fingerprint", None)
    if physics is None:
        return
    if trained_on == UNKNOWN_PHYSICS:
        raise ModelError(
            f"{path} was trained over a bridge that does not tell its physics; go on over that bridge, with "
            "--bridge-url (training.parity compares it with the simulator; training.evaluate takes --any-physics)"
        )
    if trained_on != physics.fingerprint:
        raise ModelError(
            f"{path} was trained on other physics: {str(trained_on)[:12]} against {physics.fingerprint[:12]} now; "
            "go back to the physics.json that it was trained on"
        )


def load_statistics(path: Path, env: VecEnv | None = None) -> VecNormalize:
    """Load normalisation statistics, for an environment or just to normalise observations.

    Raises:
        ModelError: They are damaged, or of another observation.
    """
    try:
        with path.open("rb") as file:
            statistics = pickle.load(file)
    except Exception as error:  # a damaged pickle raises anything
        raise ModelError(f"cannot load statistics {path}: {_first_line(error)}") from error
    shape = make_observation_space().shape
    if not isinstance(statistics, VecNormalize) or statistics.observation_space.shape != shape:
        raise ModelError(f"{path} holds no statistics of observations of shape {shape}")
    if env is not None:
        statistics.set_venv(env)
    return statistics


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
