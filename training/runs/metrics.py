"""Racing metrics of a run in training: laps, lap times, completion, contacts, reward components."""

import contextlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecEnvWrapper

from racer_env import contract
from racer_env.vec_env import RacerVecEnv
from training.evaluation.summary import MAX_TRACKS_APART

# What is logged as a mean: its name in the infos, that in the log, and whether it is the share of values other than 0.
MEASURED = (
    *((name, f"reward/{name}", False) for name in contract.REWARD_COMPONENTS),
    ("wallContact", "racer/wall_contact_share", True),
    ("offTrack", "racer/off_track_share", True),
    ("rawSpeed", "racer/mean_speed", False),
)
_TIMED = {"lap", "stepCount"}  # without these, as behind a wrapper that drops them, no lap is counted
_LEAVE_INFOS = ("training.", "stable_baselines3.")  # wrappers of these packages do
RECENT = 100  # laps or episodes averaged in the progress display


class RacerMetricsCallback(BaseCallback):
    """Logs reward components, lap times, completion, contacts and speed.

    Works on any vector environment whose ``infos`` carry the game's keys. As means over cars and steps:
    ``reward/<component>``, ``racer/wall_contact_share``, ``racer/off_track_share`` and ``racer/mean_speed`` (units/s).
    At the end of a rollout, if there is anything to report: ``racer/mean_lap_time_sec``, ``racer/best_lap_time_sec``,
    ``racer/laps``, ``racer/completion_rate`` and ``racer/episodes_this_rollout``; if the cars drive on several
    tracks, also lap times and completion for each as ``racer_<track>/...``.

    A lap's time is the difference of step counts between two crossings of the line; for the first lap, from the
    start of the episode. After a start elsewhere (lap 0), timing begins at the first crossing.

    An off-policy algorithm's rollout is one step or a few, so its laps are gathered until the logger writes them: a
    point in TensorBoard then covers all laps since the last one.

    Attributes:
        total_laps: Number of laps since the start of training.
        best_lap_time: Fastest of these laps in seconds, or None.
        recent_lap_times: Times of the last RECENT laps, in seconds.
        recent_completions: Whether each of the last RECENT finished episodes completed a lap.
    """

    TICKS_PER_SECOND: ClassVar[int] = contract.TICKS_PER_SECOND
    REWARD_KEYS: ClassVar[tuple[str, ...]] = contract.REWARD_COMPONENTS

    def __init__(self, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.total_laps = 0
        self.best_lap_time: float | None = None
        self.recent_lap_times: deque[float] = deque(maxlen=RECENT)
        self.recent_completions: deque[bool] = deque(maxlen=RECENT)
        self._lap_times: list[tuple[str, float]] = []  # pairs of track and lap time in seconds
        self._completions: list[tuple[str, bool]] = []
        self._clocks: list[_LapClock] = []
        self._laps: npt.NDArray[np.int64] = np.zeros(0, np.int64)  # that each car is on, as far as its clock knows
        self._begun: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)  # whether each has begun an episode in the last step
        self._cars: RacerVecEnv | None = None  # keeps the infos of all cars in one array; None if the cars are others
        self._steps: list[bytes] = []  # these arrays of the rollout so far
        self._track_ids: list[str] = []  # by car
        self._gathers = False
        self._reported: dict[str, float] = {}
        self._reported_counts = (0, 0)  # laps and episodes in the last report

    def _on_training_start(self) -> None:
        self._gathers = isinstance(self.model, OffPolicyAlgorithm)
        env = self.model.get_env() if hasattr(self.model, "get_env") else None
        with contextlib.suppress(AttributeError):  # cars of other environments have no tracks
            self._track_ids = [] if env is None else list(env.get_attr("track_id"))
        self._cars = _cars_beneath(env)

    def _on_step(self) -> bool:
        infos, dones = self.locals["infos"], np.asarray(self.locals["dones"], np.bool_)
        if len(self._clocks) != len(infos):
            self._clocks = [_LapClock() for _ in infos]
            self._laps, self._begun = np.ones(len(infos), np.int64), np.ones(len(infos), np.bool_)
        if self._cars is None:
            self._record_means(lambda name: [info[name] for info in infos if name in info])
            looked_at: Sequence[int] = range(len(infos))
        else:
            records = self._cars.step_records
            self._steps.append(records.tobytes())  # NumPy copies bytes a hundred times as fast as records
            # In the first decision of an episode, a car may cross the line on to the lap that its clock begins with.
            looked_at = np.flatnonzero((records["lap"] != self._laps) | self._begun).tolist()
        for car in looked_at:
            if infos[car].keys() >= _TIMED:
                self._count_laps(car, infos[car])
        for car in np.flatnonzero(dones).tolist():
            if infos[car].keys() >= _TIMED:
                self._count_episode(car)
        self._begun = dones
        return True

    def _record_means(self, column: Callable[[str], npt.ArrayLike]) -> None:
        """Record means of the values that ``column`` returns for their names; of none there is no mean."""
        for name, key, is_share in MEASURED:
            values = np.asarray(column(name))
            if values.size:
                self.logger.record_mean(key, float(np.mean(values != 0 if is_share else values)))

    def _count_laps(self, car: int, info: Mapping[str, Any]) -> None:
        """Count the lap of a car that has crossed the line, if it has."""
        clock = self._clocks[car]
        if info["lap"] != clock.lap or "lapStepCount" in info:
            ticks = clock.cross_line(info["lap"], info.get("lapStepCount", info["stepCount"]))
            self._laps[car] = clock.lap
            if ticks is not None:
                self._note_lap(self._track_of(car), ticks / self.TICKS_PER_SECOND)

    def _count_episode(self, car: int) -> None:
        """Count an episode that has ended."""
        has_completed = self._clocks[car].laps > 0
        self._completions.append((self._track_of(car), has_completed))
        self.recent_completions.append(has_completed)
        self._clocks[car].reset()
        self._laps[car] = self._clocks[car].lap

    def _track_of(self, car: int) -> str:
        return self._track_ids[car] if car < len(self._track_ids) else ""

    def _note_lap(self, track: str, lap_time: float) -> None:
        self.total_laps += 1
        self._lap_times.append((track, lap_time))
        self.recent_lap_times.append(lap_time)
        if self.best_lap_time is None or lap_time < self.best_lap_time:
            self.best_lap_time = lap_time

    def _on_rollout_end(self) -> None:
        if self._steps:
            records = np.frombuffer(b"".join(self._steps), contract.INFO_DTYPE)
            self._record_means(records.__getitem__)
            self._steps.clear()
        if self._gathers and not self._is_pending():  # the logger has written it
            self._forget()
        self._reported, self._reported_counts = self._report(), (len(self._lap_times), len(self._completions))
        for key, value in self._reported.items():
            self.logger.record(key, value)
        if not self._gathers:
            self._forget()

    def _on_training_end(self) -> None:
        if self._gathers and self._is_pending():
            self.logger.dump(self.num_timesteps)

    def _is_pending(self) -> bool:
        """Whether the logger still holds what was reported last."""
        return any(key in self.logger.name_to_value for key in self._reported)

    def _forget(self) -> None:
        """Drop what was reported; laps since then are kept for the next report."""
        laps, episodes = self._reported_counts
        del self._lap_times[:laps], self._completions[:episodes]
        self._reported_counts = (0, 0)

    def _report(self) -> dict[str, float]:
        report = _summary("racer", [t for _, t in self._lap_times], [c for _, c in self._completions])
        if self._lap_times:
            report["racer/laps"] = len(self._lap_times)
        if self._completions:
            report["racer/episodes_this_rollout"] = len(self._completions)
        tracks = sorted(set(self._track_ids))
        for track in tracks if 1 < len(tracks) <= MAX_TRACKS_APART else []:
            lap_times = [lap_time for where, lap_time in self._lap_times if where == track]
            completions = [completed for where, completed in self._completions if where == track]
            report |= _summary(f"racer_{track}", lap_times, completions)
        return report


def _cars_beneath(env: Any) -> RacerVecEnv | None:
    """Return the cars beneath wrappers that leave infos as they are; one of the user's own may change them."""
    while isinstance(env, VecEnvWrapper) and type(env).__module__.startswith(_LEAVE_INFOS):
        env = env.venv
    return env if isinstance(env, RacerVecEnv) else None


def _summary(prefix: str, lap_times: list[float], completions: list[bool]) -> dict[str, float]:
    summary = {}
    if lap_times:
        summary[f"{prefix}/mean_lap_time_sec"] = float(np.mean(lap_times))
        summary[f"{prefix}/best_lap_time_sec"] = float(np.min(lap_times))
    if completions:
        summary[f"{prefix}/completion_rate"] = float(np.mean(completions))
    return summary


class _LapClock:
    """Times the laps of one car within an episode."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lap, self.boundary, self.laps = 1, 0, 0

    def cross_line(self, lap: int, step_count: int) -> int | None:
        """Note a new lap number; return the ticks of the lap just completed, or None."""
        before, self.lap = self.lap, lap
        if lap < before:  # an episode that began elsewhere starts at lap 0
            return None
        ticks, self.boundary = step_count - self.boundary, step_count
        if lap == before or before < 1:  # the end of lap 0, within one decision or seen apart
            return None
        self.laps += 1
        return ticks
