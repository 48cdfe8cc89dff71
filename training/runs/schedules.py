"""What changes during a run: exploration noise, penalties, and when an off-policy algorithm learns and logs."""

from collections.abc import Sequence
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import unwrap_vec_wrapper

from training.algorithms.settings import Settings
from training.runs.periodic import PeriodicCallback
from training.runs.shaping import OffRoadCost, SmoothSteering

LOG_FREQUENCY = 1_000  # environment steps between an off-policy algorithm's points in TensorBoard
# The wrapper that subtracts each penalty that may grow, by its hyper-parameter.
_SUBTRACTED_BY: dict[str, type[OffRoadCost] | type[SmoothSteering]] = {
    "steer_change_penalty": SmoothSteering,
    "off_track_cost": OffRoadCost,
}


def schedules_for(settings: Settings, is_off_policy: bool) -> list[BaseCallback]:
    """Return callbacks for everything that changes during a run with these hyper-parameters."""
    schedules: list[BaseCallback] = [ReplayBufferWarmUp(), LogSchedule(LOG_FREQUENCY)] if is_off_policy else []
    if settings.exploration_schedule is not None:
        schedules.append(ExplorationSchedule(*settings.exploration_schedule))
    schedules += [PenaltySchedule(_SUBTRACTED_BY[name], *ends) for name, ends in settings.penalty_schedules.items()]
    return schedules


def _share_left(model: BaseAlgorithm) -> float:
    """Return the share of a run that is left; stable-baselines3's own is that of the last update, or of another run."""
    return max(1 - model.num_timesteps / model._total_timesteps, 0.0)


class LogSchedule(PeriodicCallback):
    """Writes an off-policy algorithm's log every ``frequency`` environment steps.

    Otherwise it would be written at each end of an episode: never while all last, many times when all end at once.
    """

    def _on_rollout_end(self) -> None:
        if self.is_due():
            self.model.dump_logs()


class ReplayBufferWarmUp(BaseCallback):
    """Lets a driver with an empty replay buffer drive for a while before it learns on, as at its beginning.

    Otherwise, with the step counter past the start, stable-baselines3 would learn from the first few steps repeatedly.
    """

    def __init__(self) -> None:
        super().__init__()
        self._gradient_steps: int | None = None

    def _on_training_start(self) -> None:
        model: Any = self.model
        if self.num_timesteps >= model.learning_starts and self._filled() < model.learning_starts:
            self._gradient_steps, model.gradient_steps = model.gradient_steps, 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if self._gradient_steps is not None and self._filled() >= self.model.learning_starts:  # type: ignore[attr-defined]
            self.model.gradient_steps, self._gradient_steps = self._gradient_steps, None  # type: ignore[attr-defined]

    def _on_training_end(self) -> None:
        if self._gradient_steps is not None:  # the attribute is saved with the model
            self.model.gradient_steps = self._gradient_steps  # type: ignore[attr-defined]

    def _filled(self) -> int:
        buffer: Any = self.model.replay_buffer  # type: ignore[attr-defined]
        return int(buffer.size() * buffer.n_envs)


class ExplorationSchedule(BaseCallback):
    """Keeps PPO's exploration noise below a line that falls over the run, unless it depends on the state."""

    def __init__(self, start: Sequence[float], end: float) -> None:
        """Set the two ends of the line.

        Args:
            start: Logarithm of each action's noise at the beginning of the run.
            end: Logarithm of every action's noise at its end.
        """
        super().__init__()
        self._start = torch.tensor(start)
        self._end = end

    def _on_rollout_start(self) -> None:
        if self.model.use_sde:  # its log_std is a layer of weights, not one number for each action
            return
        remaining = _share_left(self.model)
        limit = self._end + (self._start - self._end) * remaining
        log_std: Any = self.model.policy.log_std
        with torch.no_grad():
            log_std.copy_(torch.minimum(log_std, limit.to(log_std.device)))

    def _on_step(self) -> bool:
        return True


class PenaltySchedule(BaseCallback):
    """Increases a penalty over the run, by equal factors in equal times.

    While a driver explores, much of what is punished is noise, and a large penalty on it would outweigh the laps.
    """

    def __init__(self, shaping: "type[OffRoadCost] | type[SmoothSteering]", start: float, end: float) -> None:
        """Set the two ends of the schedule.

        Args:
            shaping: Wrapper that subtracts the penalty.
            start: Weight of the penalty at the beginning of the run.
            end: Weight of the penalty at its end.
        """
        super().__init__()
        self._shaping = shaping
        self._start = start
        self._end = end

    def _on_rollout_start(self) -> None:
        remaining = _share_left(self.model)
        shaped = unwrap_vec_wrapper(self.training_env, self._shaping)
        if shaped is not None:
            shaped.weight = self._end * (self._start / self._end) ** remaining

    def _on_step(self) -> bool:
        return True
