"""Everything that a training run needs to know."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from racer_env.bridge.bridge import Bridge
from racer_env.config import AiConfig
from racer_env.tracks import AnyTrack
from training.algorithms.algorithm import Algorithm
from training.algorithms.settings import Settings
from training.checkpoints.files import model_path
from training.console.messages import command_line
from training.runs.brought import KINDS, Brought


@dataclass(frozen=True)
class Run:
    """A training run.

    Attributes:
        name: Name of the run and of its files.
        algorithm: Algorithm that it trains with.
        tracks: Tracks that it trains on.
        config: Reward weights and episode limits.
        settings: Hyper-parameters of the algorithm.
        num_envs: Number of cars in training.
        timesteps: Environment steps to train, in addition to those of a resumed model.
        seed: Seed of all random generators.
        first_step: Step counter of the resumed model; 0 for a new run.
        device: PyTorch device, such as ``"cpu"``.
        models_dir, logs_dir: Folders of models and of logs.
        checkpoint_freq: Environment steps between checkpoints.
        keep_checkpoints: Number of periodic checkpoints that are kept.
        with_buffer: Whether a replay buffer is saved with the model.
        eval_freq: Environment steps between evaluations; 0 never evaluates.
        eval_laps: Laps of each evaluation episode from the line.
        eval_tracks: Tracks that evaluations drive on.
        eval_random_starts: Number of further starting places on each of them, each used on the move and at rest.
        stop_when_competent, stop_when_lap_time: When to end the run, see ``BestModelCallback``.
        resume_command: Command that calls the script again, without the model to resume.
        track_flags: Flags that find the tracks again on the command line, if their ids are not enough.
        bridge: Bridge to the game; None is the embedded simulator.
        reward: Function of the user's that pays in training; None is the game's own reward.
        wrapper: Class of the user's that wraps the cars of training; None is none.
        kept: Constructor arguments of a resumed model that replace those of its hyper-parameters.
    """

    name: str
    algorithm: Algorithm
    tracks: Sequence[AnyTrack]
    config: AiConfig
    settings: Settings
    num_envs: int
    timesteps: int
    seed: int
    first_step: int
    device: str
    models_dir: Path
    logs_dir: Path
    checkpoint_freq: int
    keep_checkpoints: int
    with_buffer: bool
    eval_freq: int
    eval_laps: int
    eval_tracks: Sequence[AnyTrack]
    eval_random_starts: int
    stop_when_competent: bool
    stop_when_lap_time: float | None
    resume_command: Sequence[str]
    track_flags: Sequence[str]
    bridge: Bridge | None
    reward: Brought | None
    wrapper: Brought | None
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def brought(self) -> dict[str, Brought | None]:
        """What the user brings, by kind."""
        return {kind: getattr(self, kind) for kind in KINDS}

    @property
    def draw_seed(self) -> int:
        """Seed of everything drawn from now on; repeating the same starts and noise would teach a driver nothing."""
        return int(np.random.SeedSequence([self.seed, self.first_step]).generate_state(1)[0])

    @property
    def steps(self) -> int:
        """Environment steps that it trains: as many as asked for, in whole rollouts."""
        rollout = self.algorithm.rollout_steps(self.settings, self.num_envs)
        return math.ceil(self.timesteps / rollout) * rollout

    @property
    def last_step(self) -> int:
        """Step counter at which the run ends."""
        return self.first_step + self.steps

    @property
    def arguments(self) -> dict[str, Any]:
        """Constructor arguments of the algorithm."""
        return {**self.algorithm.arguments(self.settings, self.num_envs, self.last_step), **self.kept}

    @property
    def log_dir(self) -> Path:
        """Folder of this run's TensorBoard events and monitor file."""
        return self.logs_dir / self.name

    def path(self, tag: str | int) -> Path:
        """Return the path of one of the run's models, see ``model_path``."""
        return model_path(self.models_dir, self.name, tag)

    def command_to_resume(self, path: Path, timesteps: int | None) -> str:
        """Return the command that resumes one of its models, for ``timesteps`` steps or, if None, the usual number."""
        more = [] if timesteps is None else ["--timesteps", str(timesteps)]
        return command_line([*self.resume_command, "--resume", str(path), *more, *self._bridge_flags])

    def command_to_evaluate(self, path: Path) -> str:
        """Return the command that measures one of its models."""
        see = ["python", "-m", "training.evaluate", "--model", str(path)]
        return command_line([*see, *self.track_flags, *self._bridge_flags])

    @property
    def _bridge_flags(self) -> list[str]:
        return ["--bridge-url", *self.bridge.names] if self.bridge is not None else []
