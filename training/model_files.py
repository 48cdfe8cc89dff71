"""Files of a run: names, whole writes, and finding the statistics that belong to a model.

A model ``models/<run>_<steps>_steps.zip`` has its normalisation statistics in
``models/<run>_vecnormalize_<steps>_steps.pkl``; the finished ``models/<run>_final.zip`` in
``models/<run>_final_vecnormalize.pkl``, and likewise ``_interrupted`` and ``_best``.
"""

import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from racer_env.errors import ModelError

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecNormalize

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
    candidates = [path] if path.suffix == ".zip" else [path.with_name(path.name + ".zip"), path]
    for candidate in candidates:
        if candidate.is_file():
            if not zipfile.is_zipfile(candidate):
                raise ModelError(f"{candidate} is no model: expected a zip file as stable-baselines3 writes it")
            return candidate
    folder = path.parent
    near = sorted(file.name for file in folder.glob("*.zip")) if folder.is_dir() else []
    hint = f"; in {folder} there are: {', '.join(near[:8])}" if near else "; train one with python -m training.train_ppo"
    raise ModelError(f"no model {candidates[0]}{hint}")


def find_statistics(model: Path) -> Path:
    """Return the statistics file that belongs to a model.

    Raises:
        ModelError: It is missing.
    """
    path = statistics_path(model)
    if not path.is_file():
        raise ModelError(f"the statistics of {model} are missing: expected {path}; a model is worth nothing without them")
    return path


def save_pair(model: "BaseAlgorithm", statistics: "VecNormalize", path: Path) -> None:
    """Save a model with its statistics, each whole: written beside, flushed, then renamed.

    The statistics go first, so that a model that is there has them.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_whole(statistics_path(path), statistics.save)
    _write_whole(path, model.save)


def _write_whole(path: Path, write: Callable[[str], None]) -> None:
    beside = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        write(str(beside))
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
