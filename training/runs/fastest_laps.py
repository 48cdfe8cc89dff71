"""The fastest clean lap that a run has driven on each track, kept as a recording."""

import re
from pathlib import Path

from racer_env.errors import RecordingError
from racer_env.tracks import Track
from training.checkpoints.writing import without_link
from training.console.messages import note
from training.drives.recording import Recording, load_recording, save_recording

RECORDS_FOLDER = "records"
_DRIVER = re.compile(r".* at (?P<steps>[\d,]+) steps")  # its name in a recording


def record_path(log_dir: Path, track_id: str) -> Path:
    """Return the path of a run's record lap on a track."""
    return log_dir / RECORDS_FOLDER / f"{track_id}.npz"


def remove_later_laps(log_dir: Path, steps: int) -> None:
    """Remove the record laps of drivers that were trained for longer; those that do not say stay."""
    for path in (log_dir / RECORDS_FOLDER).glob("*.npz"):
        try:
            driver = _DRIVER.fullmatch(load_recording(path).driver)
        except RecordingError:
            continue
        if driver is not None and int(driver["steps"].replace(",", "")) > steps:
            path.unlink()


class FastestLaps:
    """Keeps the record laps of a run, including those from before it was resumed."""

    def __init__(self, log_dir: Path, run: str) -> None:
        """Prepare to keep records.

        Args:
            log_dir: Folder of the run's logs.
            run: Name of the run.
        """
        self._log_dir = log_dir
        self._run = run
        self._ticks: dict[str, float] = {}
        self._has_failed = False

    def offer(self, recording: Recording, steps: int) -> None:
        """Keep the fastest clean lap of an episode if it is the run's record there; if that fails, say so once.

        Args:
            recording: Recording of the episode.
            steps: Environment steps the driver was trained for.
        """
        track = recording.track
        clean = [lap for lap in recording.drive.laps if lap.is_clean]
        if not clean:
            return
        lap = min(clean, key=lambda lap: lap.last - lap.first)
        path = record_path(self._log_dir, track.id)
        if lap.last - lap.first >= self._record_on(track, path):
            return
        driver = f"{self._run} at {steps:,} steps"
        try:
            without_link(path.parent)
            save_recording(recording.until(lap.last, driver), path)
        except (OSError, RecordingError) as error:
            if not self._has_failed:
                note(
                    f"cannot save the record lap {path}: {getattr(error, 'strerror', None) or error}; training goes on"
                )
            self._has_failed = True
            return
        self._ticks[track.id] = lap.last - lap.first

    def _record_on(self, track: Track, path: Path) -> float:
        if track.id not in self._ticks:
            self._ticks[track.id] = float("inf")
            if path.is_file():
                try:
                    recording = load_recording(path, track.physics)
                    lap = recording.drive.best_lap
                    is_same = recording.track.fingerprint == track.fingerprint
                except RecordingError as error:
                    note(f"the record lap is replaced by the next one: {error}")
                else:
                    self._ticks[track.id] = lap.last - lap.first if lap is not None and is_same else float("inf")
        return self._ticks[track.id]
