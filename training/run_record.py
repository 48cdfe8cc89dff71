"""What a run was started with, in its folder: enough to know later what a driver comes from, and to make it again."""

import json
import platform
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from racer_env.project import PROJECT_ROOT
from racer_env.tracks import Track
from training.cli import note

RECORD_NAME = "config.json"
_PACKAGES = ("stable-baselines3", "torch", "gymnasium", "numpy", "numba", "websocket-client", "tensorboard")


def write_record(folder: Path, record: dict[str, Any], first_step: int) -> Path:
    """Write a run's record; what a resumed run goes on with stands beside what it began with.

    Args:
        folder: The run's.
        record: Its content.
        first_step: The step counter it begins at.
    """
    path = folder / (RECORD_NAME if first_step == 0 else f"config_from_{first_step}_steps.json")
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path


def surroundings() -> dict[str, Any]:
    """Return when, with which versions and from which commit something is run."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
    }


def track_fingerprints(tracks: Sequence[Any]) -> dict[str, str | None]:
    """Return the fingerprint of each track by id; None where a bridge does not tell."""
    return {track.id: track.fingerprint if isinstance(track, Track) else None for track in tracks}


def note_changed_tracks(known: dict[str, Any], driver: str, tracks: Sequence[Any]) -> None:
    """Say which tracks are no longer those of that name that a driver was trained on.

    Args:
        known: Their fingerprints then, as ``track_fingerprints`` has them.
        driver: Its name.
        tracks: Those of now.
    """
    for track_id, fingerprint in track_fingerprints(tracks).items():
        if known.get(track_id) not in (None, fingerprint) and fingerprint is not None:
            note(f"{track_id} is not the track of that name that {driver} was trained on: its file has changed")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Return the project's commit, with "-dirty" where files differ from it; None where it is no clone."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(PROJECT_ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
