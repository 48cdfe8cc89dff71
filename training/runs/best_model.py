"""Evaluation during training: which model is the best so far, and when a run may end."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from stable_baselines3.common.logger import Image
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.contract import TICKS_PER_SECOND
from racer_env.errors import BridgeError, ModelError, RecordingError
from racer_env.tracks import Track
from training.algorithms.algorithm import Algorithm
from training.algorithms.inference import make_inference
from training.checkpoints.data import read_model_data
from training.checkpoints.files import find_statistics
from training.checkpoints.saving import remember, save_unit
from training.checkpoints.vec_normalize import statistics_of
from training.console.messages import count_of, note, say
from training.drives.frames import racing_line_picture
from training.drives.recording import record_episode
from training.evaluation.course import CourseCars
from training.evaluation.driving import Policy
from training.evaluation.episode import LINE, Episode
from training.evaluation.summary import MAX_TRACKS_APART, summarise
from training.runs.evaluations import EvaluationLog
from training.runs.fastest_laps import FastestLaps
from training.runs.follower import Follower
from training.runs.health import check_model
from training.runs.periodic import PeriodicCallback

Score = tuple[float, float, float]
MAX_SHOWN = 4  # most tracks whose laps are recorded and drawn at an evaluation
MAX_DRAWN = 10  # most evaluations of a run that are drawn: TensorBoard shows ten pictures under a name
WORST: Score = (-1.0, 0.0, 0.0)


def score_of(episodes: Sequence[Episode], lengths: dict[str, float], reversal_cost: float) -> Score:
    """Return a driver's score, as a racer would judge it; greater is better.

    Args:
        episodes: Episodes that the driver drove.
        lengths: Length of each track in units, by id; on a single track, pace ranks drivers as lap time does.
        reversal_cost: Share of the pace that one steering reversal per second costs.

    Returns:
        Clean laps of episodes that did not stall, plus successes from random starts; the pace of these laps in units/s,
        reduced for time off the road and for restless steering; and, to tell beginners apart, the mean raw
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
    reversals = sum(episode.steering.reversals for episode in episodes) / max(steps, 1) * TICKS_PER_SECOND
    calm = max(0.0, 1.0 - reversal_cost * reversals)
    return float(len(clean) + anywhere), pace * on_road * calm, float(np.mean([e.reward for e in episodes]))


def best_score_of(model: Path, course: str | None = None) -> tuple[Score, str]:
    """Return the score saved with a best model, and what it drove; WORST if there is no whole one.

    Args:
        model: Path of the best model.
        course: Course that it must have been measured on, see ``Course.in_words``; None accepts any.
    """
    try:
        data = read_model_data(model)
        find_statistics(data)
    except ModelError:
        return WORST, ""
    if data.score is None or course not in (None, data.get("score_course", str, course)):
        return WORST, ""
    return data.score, str(data.get("score_in_words", str, ""))


class BestModelCallback(PeriodicCallback):
    """Evaluates every ``frequency`` environment steps and at the end, saves the best model, and may end the run.

    The driver drives from the standing start on separate cars, without exploration noise, and with the current
    statistics of training, which it does not change; rewards are the game's own.

    Attributes:
        best: Score of the run's best model, including before it was resumed.
        best_in_words: When that model was evaluated, and what it drove.
        last_in_words: When the last model was evaluated, and what it drove.
        best_path: Path of the best model.
        why_ended: Why the run was ended early; None if it was not.
        closing_seconds: Duration of the evaluation at the end of the run.
    """

    def __init__(
        self,
        algorithm: Algorithm,
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
        log: EvaluationLog | None = None,
        follower: Follower | None = None,
    ) -> None:
        """Prepare to evaluate.

        Args:
            algorithm: Algorithm of the model.
            cars: Cars that it drives; they must keep actions if laps are to be recorded and drawn.
            statistics: Statistics of the training environment.
            best_path: Path that the best model is saved to.
            frequency: Environment steps between evaluations.
            reversal_cost: Cost of steering reversals, as for ``score_of``.
            action_repeat: Ticks that each action is held.
            stop_when_competent: Whether to end the run once all laps are clean.
            stop_when_lap_time: Ends the run once every track also has a lap of at most so many seconds; or None.
            records: Keeps record laps; None neither records nor draws.
            log: Keeps the figures of every evaluation; None keeps none.
            follower: Is told of every evaluation that is logged, and may end the run; None is nobody.
        """
        super().__init__(frequency)
        self.algorithm = algorithm
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
        self.log = log
        self.follower = follower
        self.last_in_words = ""
        self.why_ended: str | None = None
        self.closing_seconds = 0.0
        self._part = 0  # part of the run in which an evaluation was drawn last
        self._lengths = {track.id: track.length if isinstance(track, Track) else 1.0 for track in self.course.tracks}

    def _on_step(self) -> bool:
        if self.is_due():
            self._evaluate()
        if self.follower is not None and self.why_ended is None:
            self.why_ended = self.follower.why_end()
        return self.why_ended is None

    def _on_training_end(self) -> None:
        if self.why_ended is None:  # the model was updated since the last evaluation
            began = time.monotonic()
            if self.course.bridge is not None:
                say("all steps are trained; evaluating the driver ...")
            self._evaluate(is_last=True)
            self.closing_seconds = time.monotonic() - began

    def _evaluate(self, is_last: bool = False) -> None:
        check_model(self.model)
        try:
            episodes = self.cars.drive(self._make_policy(), self.action_repeat, show=False)
        except BridgeError as error:  # if the game is gone, the next training step reports it
            say(f"evaluation at {self.num_timesteps:,} steps was cut off: {error}")
            return
        self.why_ended = self._why_end(episodes)
        if self.records is not None:
            self._record(episodes, self.records, draws=self._is_drawn(is_last or self.why_ended is not None))
        score = score_of(episodes, self._lengths, self.reversal_cost)
        if self.log is not None:
            line = self.log.add(self.num_timesteps, {**summarise(episodes), "score": list(score)})
            if self.follower is not None:
                self.follower.evaluated(line)
        self._show(episodes)
        self.last_in_words = f"at {self.num_timesteps:,} steps, {evaluation_in_words(episodes)}"
        if score > self.best:
            self._save(score)

    def _is_drawn(self, is_last: bool) -> bool:
        """Return whether to draw an evaluation: the last one, and the first in each of nine parts after the first."""
        model = self.model
        before, planned = model._num_timesteps_at_start, model._total_timesteps
        share = min((self.num_timesteps - before) / (planned - before), 1.0)  # a last rollout exceeds the run
        part = int(share * (MAX_DRAWN - 1))
        is_new, self._part = part > self._part, part
        return is_new or is_last

    def _make_policy(self) -> Policy:
        """Return the driver as it is now."""
        return make_inference(self.algorithm, self.model, statistics_of(self.statistics).scaling)

    def _save(self, score: Score) -> None:
        words = self.last_in_words
        remember(self.model, score=list(score), score_in_words=words, score_course=self.course.in_words())
        try:
            save_unit(self.model, self.statistics, self.best_path)
        except OSError as error:
            say(f"cannot save {self.best_path}: {error.strerror or error}; the best model before is whole")
            return
        finally:
            for name in ("score", "score_in_words", "score_course"):  # they belong to the best model only
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

    def _record(self, episodes: Sequence[Episode], records: FastestLaps, draws: bool) -> None:
        """Offer the episodes as record laps, and log racing lines if asked; of many tracks, only the first ones."""
        for track in self.course.tracks[:MAX_SHOWN]:
            if not isinstance(track, Track):
                continue
            driven = next(episode for episode in episodes if episode.track_id == track.id)
            try:
                recording = record_episode(self.best_path.stem, track, driven, self.course.config)
            except RecordingError as error:
                note(f"{error}; this run keeps no record laps")
                self.records = None
                return
            records.offer(recording, self.num_timesteps)
            if draws:
                picture = Image(racing_line_picture(recording.drive), "HWC")
                self.logger.record(f"racing_line/{track.id}", picture, exclude=("stdout", "log", "json", "csv"))

    def _show(self, episodes: Sequence[Episode]) -> None:
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
    """Return what was driven, in words."""
    figures = summarise(episodes)
    words = f"{figures['clean_laps']} of {count_of(int(figures['laps_asked'] or 0), 'lap')} clean"
    if figures["mean_lap_time_sec"] is not None:
        words += f", mean {figures['mean_lap_time_sec']:.2f} s, best {figures['best_lap_time_sec']:.2f} s"
        words += f", {figures['off_track_share']:.1%} off the road"
        words += f", {figures['steer_reversals_per_sec']:.1f} reversals/s"
    anywhere = [episode.is_success for episode in episodes if episode.start != LINE]
    return f"{words}, {sum(anywhere)} of {count_of(len(anywhere), 'random start')}" if anywhere else words
