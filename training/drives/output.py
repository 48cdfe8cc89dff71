"""Visible results of an evaluation: recordings, videos and plots."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from racer_env.config import AiConfig
from racer_env.contract import REWARD_COMPONENTS
from racer_env.tracks import Track
from training.drivers.driver import Driver, labels_of
from training.drivers.scripted import scripted_driver
from training.drives.plots import save_plots
from training.drives.recording import Drive, Recording, load_recording, path_for, record_episode, save_recordings
from training.drives.video import write_video
from training.evaluation.counting import Tally
from training.evaluation.course import Course, Evaluation
from training.evaluation.episode import Episode
from training.evaluation.measuring import Measurement, choose_config
from training.evaluation.options import EvaluationOptions, check_video


@dataclass(frozen=True)
class Driven:
    """What one driver drove.

    Attributes:
        name: Name of the driver.
        episodes: Episodes that it drove, by track id.
        recordings: The episode with the best lap, by track id; empty if no drives are to be shown.
    """

    name: str
    episodes: dict[str, list[Episode]]
    recordings: dict[str, Recording]


def driven_by(
    name: str, tracks: Sequence[Track], by_track: dict[str, list[Episode]], config: AiConfig | None = None
) -> Driven:
    """Return what a driver drove, by track, with recordings of its best episodes.

    Raises:
        RecordingError: The simulator drives an episode differently from the game in which it was driven.
    """
    recordings = {track.id: record_episode(name, track, min(by_track[track.id], key=_rank), config) for track in tracks}
    return Driven(name, by_track, recordings)


def _rank(episode: Episode) -> tuple[float, ...]:
    clean = [ticks for ticks, is_clean in zip(episode.lap_ticks, episode.clean, strict=True) if is_clean]
    return not clean, min(clean or episode.lap_ticks, default=math.inf), -len(episode.lap_ticks)


def replay(path: Path, config: Path | None = None) -> tuple[Measurement, Driven]:
    """Replay a recording, and return it as if it had just been driven.

    Args:
        path: Path of the recording.
        config: File of the weights for its reward; None takes those that it was driven with.

    Raises:
        ConfigError: The weights are wrong.
        RecordingError: The recording is missing or damaged, or drives differently here.
    """
    recording = load_recording(path)
    recording = dataclasses.replace(recording, config=choose_config(config, recording.config, path.name))
    driver, track = Driver(recording.driver, scripted_driver, given=recording.driver), recording.track
    episode = episode_of(recording.drive)
    evaluation = Evaluation(driver, Course([track], recording.config or AiConfig(), episode.laps_asked), [episode])
    return Measurement(evaluation), Driven(driver.name, evaluation.by_track, {track.id: recording})


def episode_of(drive: Drive) -> Episode:
    """Return a replayed drive as an episode, with rewards by the weights of its recording."""
    episode = Episode(drive.track.id, max(1, len(drive.laps)), length=drive.track.length)
    tally, one = Tally([episode], [len(drive.infos) + 1]), np.zeros(1, np.int64)
    rewards = sum((drive.infos[key] for key in REWARD_COMPONENTS), np.zeros(len(drive.infos)))
    never = np.zeros(1, np.bool_)
    for tick in range(len(drive.infos)):
        now, after = slice(tick, tick + 1), slice(tick + 1, tick + 2)
        driven = (drive.infos[now], rewards[now], drive.actions[now], drive.observations[after])
        is_last = np.array([tick == len(drive.infos) - 1])
        tally.add(one, ~never, *driven, is_last, never)
    tally.settle()
    return episode


def show_evaluations(
    options: EvaluationOptions, evaluations: Sequence[Evaluation], tracks: Sequence[Track], tell: Callable[[str], None]
) -> None:
    """Write what --record, --video and --plot ask for, from drivers that have just driven; see ``show``."""
    labels = labels_of([evaluation.driver for evaluation in evaluations])
    driven = [
        driven_by(label, tracks, one.from_line, one.course.config)
        for label, one in zip(labels, evaluations, strict=True)
    ]
    show(options, driven, tell)


def show(options: EvaluationOptions, driven: Sequence[Driven], tell: Callable[[str], None]) -> None:
    """Write what --record, --video and --plot ask for.

    Args:
        options: Options that say what to write.
        driven: The driver in question; then one to compare it with, if any, or all others that ``--model`` names.
        tell: Called with a message about each file written.

    Raises:
        OSError: A file cannot be written.
    """
    recordings = driven[0].recordings
    if options.record is not None:
        save_recordings(recordings, options.record, tell)
    for track_id in recordings:
        if options.video is not None:
            shown = driven if options.has_several else driven[:1]
            drives = [one.recordings[track_id].drive for one in shown]
            tell(_write_video(options, drives, path_for(options.video, track_id, recordings)))
        if options.plot is not None:
            drives = [one.recordings[track_id].drive for one in driven]
            episodes = [(one.name, one.episodes[track_id]) for one in driven]
            for path in save_plots(options.plot, drives, episodes, track_id):
                tell(f"saved {path}")


def _write_video(options: EvaluationOptions, drives: Sequence[Drive], path: Path) -> str:
    fps = check_video(path, options.fps)
    lap, ghosts = drives[0].best_lap, drives[1:]
    what = f"the best lap, {lap.seconds:.2f} s" if lap is not None else "all of the drive, without a completed lap"
    frames = write_video([(drive, drive.shown_lap) for drive in drives], path, fps, options.camera, options.colours)
    words = f"saved {path}: {what} on {drives[0].track.id}, {frames:,} frames at {fps} a second"
    return (
        f"{words}; as {'a ghost' if len(ghosts) == 1 else 'ghosts'} {', '.join(map(_ghost, ghosts))}"
        if ghosts
        else words
    )


def _ghost(drive: Drive) -> str:
    lap = drive.best_lap
    return f"{drive.driver} ({'no lap' if lap is None else f'{lap.seconds:.2f} s'})"
