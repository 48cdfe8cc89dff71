"""Evaluating while training: which model is the best so far, and when a run may end."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.logger import Image
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.contract import TICKS_PER_SECOND
from racer_env.errors import BridgeError, ModelError, RecordingError
from racer_env.tracks import Track
from training.checkpoints.data import read_model_data
from training.checkpoints.files import find_statistics, settle
from training.checkpoints.saving import remember, save_unit
from training.console.messages import count_of, note, say
from training.drives.frames import racing_line_picture
from training.drives.recording import record_episode
from training.evaluation.course import CourseCars
from training.evaluation.episode import LINE, Episode
from training.evaluation.summary import MAX_TRACKS_APART, summarise
from training.runs.fastest_laps import FastestLaps
from training.runs.health import check_model
from training.runs.periodic import PeriodicCallback

Score = tuple[float, float, float]
MAX_SHOWN = 4  # tracks whose laps are recorded and drawn at every evaluation
WORST: Score = (-1.0, 0.0, 0.0)


def score_of(episodes: Sequence[Episode], lengths: dict[str, float], reversal_cost: float) -> Score:
    """Return how good a driver is, as a racer sees it; a greater one is better.

    Args:
        episodes: What it drove.
        lengths: Of the tracks, by id; on one track, pace orders as lap time does.
        reversal_cost: Share of the pace that one reversal of the steering per second takes off.

    Returns:
        Clean laps of episodes that did not stall, and random starts that were driven well; the laps' pace in units/s,
        of which time off the road and restless steering are taken off; and, to tell beginners apart, the mean raw
        reward.
    """
    anywhere = sum(episode.is_success for episode in episodes if episode.start != LINE)
    episodes = [episode for episode in episodes if episode.start == LINE]
    clean = [
        (lengths[episode.track_id], ticks / TICKS_PER_SECOND)
        for episode in episodes
        if not episode.stalls
        for ticks in episode.clean_lap_ticks
    ]
    pace = sum(length for length, _ in clean) / sum(seconds for _, seconds in clean) if clean else 0.0
    steps = sum(episode.steps for episode in episodes)
    on_road = 1.0 - sum(episode.off_track_ticks for episode in episodes) / steps if steps else 0.0
    reversals = sum(episode.steering.reversals.count for episode in episodes) / max(steps, 1) * TICKS_PER_SECOND
    calm = max(0.0, 1.0 - reversal_cost * reversals)
    return float(len(clean) + anywhere), pace * on_road * calm, float(np.mean([e.reward for e in episodes]))


def best_score_of(model: Path, course: str | None = None) -> tuple[Score, str]:
    """Return the score that a best model was saved with, and what it drove; WORST where there is none that is whole.

    Args:
        model: Its file.
        course: What it has to be measured on, see ``Course.in_words``; None takes any.
    """
    settle(model)
    try:
        data = read_model_data(model)
        find_statistics(data)
    except ModelError:
        return WORST, ""
    score = data.get("score", list, [])
    if len(score) != 3 or course not in (None, data.get("score_course", str, course)):
        return WORST, ""
    return (float(score[0]), float(score[1]), float(score[2])), str(data.get("score_in_words", str, ""))


class BestModelCallback(PeriodicCallback):
    """Evaluates every so many environment steps and at the end, saves the best model, and ends a run that may end.

    The driver drives from the standing start on cars of its own, without exploration noise, with the statistics as
    training has them at that moment, which stay untouched; rewards are the game's own.

    Attributes:
        best: The score of the best model of the run, before it was resumed too.
        best_in_words: When that was, and what it drove.
        last_in_words: The same of the last evaluation.
        best_path: Its file.
        why_ended: Why the run was ended early, or None.
    """

    def __init__(
        self,
        cars: CourseCars,
        statistics: VecNormalize,
        best_path: Path,
        *,
        frequency: int,
        reversal_cost: float,
        action_repeat: int = 1,
        stop_when_competent: bool = False,
        stop_when_lap_time: float | None = None,
        records: FastestLaps | None = None,
    ) -> None:
        """Make it.

        Args:
            cars: Where it drives; with actions kept, where laps are to be recorded and drawn.
            statistics: The training environment's.
            best_path: Where the best model goes.
            frequency: Environment steps between evaluations.
            reversal_cost: As for ``score_of``.
            action_repeat: Ticks that each action holds.
            stop_when_competent: End the run once all laps are clean.
            stop_when_lap_time: End it once there is also a lap of at most so many seconds on every track.
            records: Keeps record laps; None records and draws nothing.
        """
        super().__init__(frequency)
        self.cars = cars
        self.course = cars.course
        self.statistics = statistics
        self.best_path = best_path
        self.reversal_cost = reversal_cost
        self.action_repeat = action_repeat
        self.stop_when_competent = stop_when_competent
        self.stop_when_lap_time = stop_when_lap_time
        self.best, self.best_in_words = best_score_of(best_path, self.course.in_words())
        self.records = records
        self.last_in_words = ""
        self.why_ended: str | None = None
        self._lengths = {track.id: track.length if isinstance(track, Track) else 1.0 for track in self.course.tracks}

    def _on_step(self) -> bool:
        if self.is_due():
            self._evaluate()
        return self.why_ended is None

    def _on_training_end(self) -> None:
        if self.why_ended is None:  # there has been an update since the last evaluation
            self._evaluate()

    def _evaluate(self) -> None:
        check_model(self.model)
        try:
            episodes = self.cars.drive(self._policy, self.action_repeat, show=False)
        except BridgeError as error:  # if the game is gone, the next step of training will tell
            say(f"evaluation at {self.num_timesteps:,} steps was cut off: {error}")
            return
        if self.records is not None:
            self._record(episodes, self.records)
        self._log(episodes)
        self.last_in_words = f"at {self.num_timesteps:,} steps, {evaluation_in_words(episodes)}"
        score = score_of(episodes, self._lengths, self.reversal_cost)
        if score > self.best:
            self._save(score)
        self.why_ended = self._why_end(episodes)

    def _policy(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.floating[Any]]:
        normalised: Any = self.statistics.normalize_obs(observations)
        actions, _ = self.model.predict(normalised, deterministic=True)
        return actions

    def _save(self, score: Score) -> None:
        words = self.last_in_words
        remember(self.model, score=list(score), score_in_words=words, score_course=self.course.in_words())
        try:
            save_unit(self.model, self.statistics, self.best_path)
        except OSError as error:
            say(f"cannot save {self.best_path}: {error.strerror or error}; the best model before is whole")
            return
        finally:
            for name in ("score", "score_in_words", "score_course"):  # they are the best model's alone
                del vars(self.model)[name]
        if score[0] > 0:
            say(f"{words}; saved {self.best_path}")
        self.best, self.best_in_words = score, words

    def _why_end(self, episodes: Sequence[Episode]) -> str | None:
        if not all(episode.is_success for episode in episodes):
            return None
        slowest = max(min(episode.lap_times) for episode in episodes if episode.start == LINE)
        if self.stop_when_lap_time is not None and slowest <= self.stop_when_lap_time:
            return f"it laps in {slowest:.2f} s, within the {self.stop_when_lap_time:g} s of --stop-when-lap-time"
        if self.stop_when_competent:
            return f"it is competent: {evaluation_in_words(episodes)}"
        return None

    def _record(self, episodes: Sequence[Episode], records: FastestLaps) -> None:
        """Offer what was driven as record laps, and put racing lines into the log; of many tracks, the first ones."""
        for track in self.course.tracks[:MAX_SHOWN]:
            if not isinstance(track, Track):
                continue
            driven = next(episode for episode in episodes if episode.track_id == track.id)
            try:
                recording = record_episode(self.best_path.stem, track, driven)
            except RecordingError as error:
                note(f"{error}; this run keeps no record laps")
                self.records = None
                return
            records.offer(recording, self.num_timesteps)
            picture = Image(racing_line_picture(recording.drive), "HWC")
            self.logger.record(f"racing_line/{track.id}", picture, exclude=("stdout", "log", "json", "csv"))

    def _log(self, episodes: Sequence[Episode]) -> None:
        for name, value in summarise(episodes).items():
            if value is not None:
                self.logger.record(f"eval/{name}", value)
        if 1 < len(self.course.tracks) <= MAX_TRACKS_APART:
            for track in self.course.tracks:
                for name, value in summarise([e for e in episodes if e.track_id == track.id]).items():
                    if value is not None:
                        self.logger.record(f"eval_{track.id}/{name}", value)
        self.logger.dump(self.num_timesteps)


def evaluation_in_words(episodes: Sequence[Episode]) -> str:
    """Return what was driven in words."""
    figures = summarise(episodes)
    words = f"{figures['clean_laps']} of {count_of(int(figures['laps_asked'] or 0), 'lap')} clean"
    if figures["mean_lap_time_sec"] is not None:
        words += f", mean {figures['mean_lap_time_sec']:.2f} s, best {figures['best_lap_time_sec']:.2f} s"
        words += f", {figures['off_track_share']:.1%} off the road"
        words += f", {figures['steer_reversals_per_sec']:.1f} reversals/s"
    anywhere = [episode.is_success for episode in episodes if episode.start != LINE]
    return f"{words}, {sum(anywhere)} of {count_of(len(anywhere), 'random start')}" if anywhere else words
