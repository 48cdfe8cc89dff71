"""What a training run needs to know."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.bridge.bridge import Bridge
from racer_env.config import AiConfig
from racer_env.tracks import AnyTrack
from training.algorithms.algorithm import Algorithm
from training.algorithms.settings import Settings
from training.checkpoints.files import model_path
from training.console.messages import command_line
from training.console.parser import MAX_SEED


@dataclass(frozen=True)
class Run:
    """A training run.

    Attributes:
        name: The name of the run and of its files.
        algorithm: What it trains with.
        tracks: Where it trains.
        config: Reward weights and episode limits.
        settings: Hyper-parameters.
        num_envs: Cars.
        timesteps: Environment steps to train, on top of what a resumed model has.
        seed: Of everything random.
        first_step: The step counter of the model that the run goes on with; 0 begins.
        device: Of PyTorch.
        models_dir, logs_dir: Where files go.
        checkpoint_freq: Environment steps between checkpoints.
        keep_checkpoints: How many of them stay.
        with_buffer: Whether a replay buffer is saved with the model.
        eval_freq: Environment steps between evaluations; 0 never evaluates.
        eval_laps: Laps of an evaluation.
        eval_tracks: Where evaluations drive.
        eval_random_starts: Places on each of them that they start from too, on the move and at rest.
        stop_when_competent, stop_when_lap_time: See ``BestModelCallback``.
        resume_command: How to call the script again, without the model to resume.
        track_flags: How to find the tracks again on the command line, where their ids are not enough.
        bridge: Where the game is; None is the embedded simulator.
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

    @property
    def draw_seed(self) -> int:
        """The seed of what is drawn from now on: the same starts and noise once more would teach a driver nothing."""
        return (self.seed + self.first_step) % (MAX_SEED + 1)

    @property
    def log_dir(self) -> Path:
        """The folder of this run's TensorBoard events and monitor file."""
        return self.logs_dir / self.name

    def path(self, tag: str | int) -> Path:
        """Return the path of one of its models, see ``model_path``."""
        return model_path(self.models_dir, self.name, tag)

    def command_to_resume(self, path: Path, timesteps: int | None) -> str:
        """Return the command that goes on with one of its models, for so many steps or for the usual number."""
        more = [] if timesteps is None else ["--timesteps", str(timesteps)]
        return command_line([*self.resume_command, "--resume", str(path), *more, *self._bridge_flags])

    def command_to_evaluate(self, path: Path) -> str:
        """Return the command that measures one of its models."""
        see = ["python", "-m", "training.evaluate", "--model", str(path)]
        return command_line([*see, *self.track_flags, *self._bridge_flags])

    @property
    def _bridge_flags(self) -> list[str]:
        return ["--bridge-url", *self.bridge.names] if self.bridge is not None else []
