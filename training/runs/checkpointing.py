"""Saving a run's checkpoints during training."""

from pathlib import Path

from stable_baselines3.common.vec_env import VecNormalize

from training.checkpoints.files import model_path
from training.checkpoints.pruning import prune_checkpoints
from training.checkpoints.saving import save_unit
from training.console.messages import say
from training.runs.options import DEFAULT_KEPT
from training.runs.periodic import PeriodicCallback


class CheckpointPairCallback(PeriodicCallback):
    """Saves model and statistics every ``frequency`` environment steps, regardless of the number of cars.

    The newest ``keep`` periodic checkpoints of the run are kept. If one cannot be written, for example because the disk
    is full, it says so and training goes on: the last whole one is still there, and the next may succeed.
    """

    def __init__(
        self,
        frequency: int,
        models_dir: Path,
        run: str,
        statistics: VecNormalize,
        *,
        keep: int = DEFAULT_KEPT,
        with_buffer: bool = False,
    ) -> None:
        super().__init__(frequency)
        self.models_dir = models_dir
        self.run = run
        self.statistics = statistics
        self.keep = keep
        self.with_buffer = with_buffer

    def _on_step(self) -> bool:
        if self.is_due():
            path = model_path(self.models_dir, self.run, self.num_timesteps)
            try:
                save_unit(self.model, self.statistics, path, self.with_buffer)
                prune_checkpoints(self.models_dir, self.run, self.keep)
            except OSError as error:
                say(f"cannot save {path}: {error.strerror or error}; training goes on, what was saved before is whole")
        return True
