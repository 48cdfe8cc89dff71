"""What an evaluation leaves to look at: recordings, videos and plots."""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.contract import TICKS_PER_SECOND
from racer_env.contract import REWARD_COMPONENTS
from racer_env.tracks import Track
from training.evaluation import Episode
from training.recording import Drive, Lap, Recording, record_episode, save_recording


@dataclass(frozen=True)
class Driven:
    """What one driver drove.

    Attributes:
        name: The driver's.
        episodes: By track.
        recordings: By track, of the episode with the best lap; empty where nothing is to be looked at.
    """

    name: str
    episodes: dict[str, list[Episode]]
    recordings: dict[str, Recording]


def driven_by(name: str, tracks: Sequence[Track], by_track: dict[str, list[Episode]]) -> Driven:
    """Return what a driver drove, by track, with recordings of it.

    Raises:
        RecordingError: The simulator drives it differently from the game where it was driven.
    """
    recordings = {track.id: record_episode(name, track, min(by_track[track.id], key=_rank)) for track in tracks}
    return Driven(name, by_track, recordings)


def _rank(episode: Episode) -> tuple[float, ...]:
    clean = [ticks for ticks, is_clean in zip(episode.lap_ticks, episode.clean, strict=True) if is_clean]
    return not clean, min(clean or episode.lap_ticks, default=math.inf), -len(episode.lap_ticks)


def episode_of(drive: Drive) -> Episode:
    """Return a replayed drive as an episode, with the reward of the default weights."""
    episode = Episode(drive.track.id, max(1, len(drive.laps)), length=drive.track.length)
    for info, action, observation in zip(drive.infos, drive.actions, drive.observations[1:], strict=True):
        episode.count_step(info, float(sum(info[key] for key in REWARD_COMPONENTS)), action, observation)
    return episode


def show(arguments: argparse.Namespace, driven: Sequence[Driven], tell: Callable[[str], None]) -> None:
    """Write what --record, --video and --plot ask for.

    Args:
        arguments: Those of ``training.evaluate``.
        driven: The driver in question, and one to compare it with.
        tell: Says what was written.

    Raises:
        OSError: A file cannot be written.
    """
    recordings = driven[0].recordings
    for track_id, recording in recordings.items():
        if arguments.record is not None:
            path = _path_for(arguments.record, track_id, recordings)
            save_recording(recording, path)
            seconds = len(recording.actions) / TICKS_PER_SECOND
            tell(f"saved {path}: {seconds:.2f} s on {track_id}, to be replayed with --replay")
        if arguments.video is not None:
            tell(_write_video(arguments, recording.drive, _path_for(arguments.video, track_id, recordings)))
        if arguments.plot is not None:
            from training.plots import save_plots

            drives = [one.recordings[track_id].drive for one in driven]
            episodes = [(one.name, one.episodes[track_id]) for one in driven]
            for path in save_plots(arguments.plot, drives, episodes, track_id):
                tell(f"saved {path}")


def _write_video(arguments: argparse.Namespace, drive: Drive, path: Path) -> str:
    from training.video import check_video, write_video

    fps = check_video(path, arguments.fps)
    lap = drive.best_lap
    what = f"the best lap, {lap.seconds:.2f} s" if lap is not None else "all of the drive, without a completed lap"
    frames = write_video(drive, lap or Lap(0, len(drive.actions), False), path, fps, arguments.camera)
    return f"saved {path}: {what} on {drive.track.id}, {frames:,} frames at {fps} a second"


def _path_for(path: Path, track_id: str, among: dict[str, Recording]) -> Path:
    return path if len(among) == 1 else path.with_name(f"{path.stem}_{track_id}{path.suffix}")
