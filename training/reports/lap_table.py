"""The lap times of a run, by track: its record laps, and its last evaluation."""

import re
from collections.abc import Sequence

from training.drives.recording import Recording
from training.reports.run_log import RunLog

COLUMNS = (
    *("track", "best clean lap", "driven by", "all laps of that drive in s"),
    *("clean laps of the last evaluation", "its best lap", "its mean lap"),
)
_EVALUATED = re.compile(r"eval_(.+)/laps")
NOTHING = "-"


def lap_table(log: RunLog, tracks: Sequence[str], records: Sequence[Recording]) -> list[list[str]]:
    """Return the rows of a table, with a cell for each of COLUMNS.

    Args:
        log: Log of the run.
        tracks: Ids of the tracks that the run trained on.
        records: Record laps of the run, each the end of its drive.
    """
    by_track = {recording.track.id: recording for recording in records}
    apart = [found[1] for tag in log.tags if (found := _EVALUATED.fullmatch(tag)) is not None]
    evaluated = apart or [track for track in tracks if len(tracks) == 1 and _prefix(log, track) is not None]
    return [
        [track, *_record(by_track.get(track)), *_last_evaluation(log, track)]
        for track in sorted({*by_track, *evaluated})
    ]


def _record(recording: Recording | None) -> list[str]:
    """Return a record lap, its driver, and the laps that it drove until then."""
    lap = recording.drive.best_lap if recording is not None else None
    if recording is None or lap is None:
        return [NOTHING] * 3
    return [f"{lap.seconds:.2f} s", recording.driver, " ".join(f"{each.seconds:.2f}" for each in recording.drive.laps)]


def _last_evaluation(log: RunLog, track: str) -> list[str]:
    """Return the clean laps of the last evaluation, and its best and mean lap time."""
    prefix, laps = _prefix(log, track), log.curve("eval/laps")
    if prefix is None or laps is None:
        return [NOTHING] * 3

    def last(name: str) -> float | None:
        """Return what the last evaluation has logged: without a lap, there is no lap time."""
        curve = log.curve(f"{prefix}/{name}")
        return float(curve.values[-1]) if curve is not None and curve.steps[-1] == laps.steps[-1] else None

    clean, asked = last("clean_laps"), last("laps_asked")
    times = (last("best_lap_time_sec"), last("mean_lap_time_sec"))
    return [
        NOTHING if clean is None or asked is None else f"{clean:.0f} of {asked:.0f}",
        *(NOTHING if seconds is None else f"{seconds:.2f} s" for seconds in times),
    ]


def _prefix(log: RunLog, track: str) -> str | None:
    """Return what the tags of a track's evaluations begin with; None if they tell of several tracks together."""
    if f"eval_{track}/laps" in log.tags:
        return f"eval_{track}"
    episodes = log.curve("eval/episodes")
    return "eval" if episodes is not None and episodes.values[-1] == 1 else None
