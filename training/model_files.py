"""Files of a run: names, whole writes, and finding the statistics that belong to a model.

A model ``models/<run>_<steps>_steps.zip`` has its normalisation statistics in
``models/<run>_vecnormalize_<steps>_steps.pkl``; the finished ``models/<run>_final.zip`` in
``models/<run>_final_vecnormalize.pkl``, and likewise ``_interrupted`` and ``_best``.
"""

import contextlib
import itertools
import json
import os
import re
import signal
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from racer_env.errors import ModelError, TrackError
from racer_env.tracks import ALL_TRACKS, load_tracks

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecNormalize

    from racer_env.bridge import AnyTrack, Bridge

STATISTICS_SUFFIX = "_vecnormalize.pkl"
_PERIODIC = re.compile(r"(?P<run>.+)_(?P<steps>\d+)_steps")


def model_path(models_dir: Path, run: str, tag: str | int) -> Path:
    """Return the path of a run's model; ``tag`` is a step count, or ``final``, ``interrupted``, ``best``."""
    return models_dir / (f"{run}_{tag}_steps.zip" if isinstance(tag, int) else f"{run}_{tag}.zip")


def statistics_path(model: Path) -> Path:
    """Return where the statistics of a model are, by the model's name."""
    periodic = _PERIODIC.fullmatch(model.stem)
    if periodic:
        return model.with_name(f"{periodic['run']}_vecnormalize_{periodic['steps']}_steps.pkl")
    return model.with_name(model.stem + STATISTICS_SUFFIX)


def find_model(name: str | Path) -> Path:
    """Return the model file that a user named, with or without ``.zip``.

    Raises:
        ModelError: There is no such file, or it is no model.
    """
    path = Path(name)
    if not path.name:
        raise ModelError(f"expected the path of a model, got {str(name)!r}")
    candidates = [path] if path.suffix == ".zip" else [path.with_name(path.name + ".zip"), path]
    for candidate in candidates:
        if candidate.is_file():
            if not zipfile.is_zipfile(candidate):
                raise ModelError(f"{candidate} is no model: expected a zip file as stable-baselines3 writes it")
            return candidate
    folder = path.parent
    near = [file.name for file in folder.glob("*.zip")] if folder.is_dir() else []
    near.sort(key=lambda name: (_PERIODIC.fullmatch(Path(name).stem) is not None, name))  # finished ones first
    hint = f"in {folder} there are: {', '.join(near[:8])}" if near else "python -m training.train_ppo makes one"
    raise ModelError(f"no model {candidates[0]}; {hint}")


def run_of(model: Path) -> str:
    """Return the name of the run that a model belongs to, by the model's name."""
    periodic = _PERIODIC.fullmatch(model.stem)
    return periodic["run"] if periodic else re.sub(r"_(final|interrupted|best)$", "", model.stem)


def claim_folders(run: str, models_dir: Path, logs_dir: Path, may_exist: bool) -> None:
    """Make a run's folders before any work is done, so that no other run takes its name and nothing fails at the end.

    Raises:
        ModelError: Another run has just taken the name.
        OSError: A folder cannot be made or written to.
    """
    models_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=models_dir):
        pass
    try:
        (logs_dir / run).mkdir(parents=True, exist_ok=may_exist)
    except FileExistsError as taken:
        raise ModelError(f"{logs_dir / run} exists; choose another --run-name") from taken


def choose_run_name(wanted: str | None, prefix: str, models_dir: Path, logs_dir: Path, may_exist: bool) -> str:
    """Return the name of a run.

    Args:
        wanted: What the user asked for; None is the next free ``<prefix>_<number>``.
        prefix: Of the automatic names.
        models_dir, logs_dir: Where a run's files would be.
        may_exist: Whether a name in use is fine.

    Raises:
        ModelError: The name is in use, or cannot be part of a file name.
    """
    if wanted is None:
        numbers = itertools.count(1)
        return next(name for n in numbers if not _is_used(name := f"{prefix}_{n}", models_dir, logs_dir))
    if not re.fullmatch(r"\w[\w.-]{0,99}", wanted):
        raise ModelError(
            f"a run's name may hold up to 100 letters, digits, '_', '-' and '.' and begins with one of the first "
            f"three, got {wanted[:120]!r}"
        )
    if not may_exist and _is_used(wanted, models_dir, logs_dir):
        raise ModelError(
            f"there are files of a run {wanted!r} already; choose another --run-name, go on with --resume, "
            "or replace them with --overwrite"
        )
    return wanted


def _is_used(run: str, models_dir: Path, logs_dir: Path) -> bool:
    models = [re.escape(run) + ending for ending in (r"_\d+_steps\.zip", r"_(final|interrupted|best)\.zip")]
    files = models_dir.iterdir() if models_dir.is_dir() else []
    return (logs_dir / run).exists() or any(re.fullmatch("|".join(models), file.name) for file in files)


def read_track_ids(model: Path) -> list[str]:
    """Return the tracks that a model says it was trained on; none if it does not say."""
    try:
        with zipfile.ZipFile(model) as archive:
            data = json.loads(archive.read("data"))
    except (KeyError, ValueError, OSError, RecursionError, zipfile.BadZipFile, zlib.error):
        return []
    track_ids = data.get("track_ids") if isinstance(data, dict) else None
    return [str(track_id) for track_id in track_ids] if isinstance(track_ids, list) else []


def load_tracks_for(
    model: Path | None, names: Sequence[str], tracks_dir: Path | None, bridge: "Bridge | None" = None
) -> "list[AnyTrack]":
    """Load the tracks that a user named; else those of the model; else all of the user's folder; else the first one.

    Args:
        model: The model that is going to drive.
        names: What the user named.
        tracks_dir: The user's folder.
        bridge: Whose tracks they are; None is the embedded simulator.

    Raises:
        TrackError: A track does not exist or is wrong.
    """
    own = read_track_ids(model) if model is not None and not names else []
    wanted = names or own or ["track-01" if tracks_dir is None else ALL_TRACKS]
    try:
        return bridge.tracks(wanted, tracks_dir) if bridge is not None else [*load_tracks(wanted, tracks_dir)]
    except TrackError as error:
        if not own or model is None:
            raise
        raise TrackError(
            f"{error}; {model.name} was trained there, so name its --tracks-dir or another --track-id"
        ) from error


def find_statistics(model: Path) -> Path:
    """Return the statistics file that belongs to a model.

    Raises:
        ModelError: It is missing.
    """
    path = statistics_path(model)
    if not path.is_file():
        raise ModelError(
            f"the statistics of {model} are missing: expected {path}; put them there, as training wrote them"
        )
    return path


def save_pair(model: "BaseAlgorithm", statistics: "VecNormalize", path: Path) -> None:
    """Save a model with its statistics, each whole: written beside, flushed, then renamed.

    The statistics go first, so that a model that is there has them.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _undisturbed():
        _write_whole(statistics_path(path), statistics.save)
        _write_whole(path, model.save)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C for the moment that saving takes; where signals can be handled, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _write_whole(path: Path, write: Callable[[str], None]) -> None:
    beside = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        write(str(beside))
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
