"""Saving a model with everything that belongs to it: one renaming makes it visible, whole."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecNormalize

from training.checkpoints.files import STATISTICS, buffer_path, document_path, statistics_path
from training.checkpoints.pruning import prune_buffers
from training.checkpoints.replay_buffer import write_buffer
from training.checkpoints.vec_normalize import statistics_of, write_document
from training.checkpoints.writing import beside, digest_of, flush_folder, move, naming
from training.console.interruption import Interruption

TRAINED = 3  # times that a fresh model grows in training: the optimiser keeps two numbers with each weight
NO_BUFFER = "none"  # instead of the digest, if there is no replay buffer


def remember(model: BaseAlgorithm, **attributes: Any) -> None:
    """Set attributes that are saved with the model, as stable-baselines3 saves all attributes; JSON values only."""
    vars(model).update(attributes)


def try_saving(model: BaseAlgorithm, path: Path) -> None:
    """Write as much as a trained model takes, and delete it, so that a full disk is found before anything is trained.

    Raises:
        OSError: It cannot be written.
    """
    content = io.BytesIO()
    model.save(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_beside(path, lambda name: Path(name).write_bytes(content.getvalue() * TRAINED))
    finally:
        beside(path).unlink(missing_ok=True)


def save_unit(model: BaseAlgorithm, statistics: VecNormalize, path: Path, with_buffer: bool = False) -> None:
    """Save a model with its statistics and, if asked for, its replay buffer.

    The model holds its statistics and the digest of its buffer. All files are written under temporary names and
    flushed before the model is renamed. If cut off before that, the old unit is whole; after that, the new one is: its
    buffer may then still wait under its temporary name, where ``find_buffer`` finds it. What else waits are copies of
    the statistics for other programs. ``training.checkpoints.leftovers`` puts in place what waits.

    Raises:
        OSError: A file cannot be written; what was there before is still whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with Interruption.shield():
        parts: dict[Path, Callable[[str], Any]] = {}
        buffer = model.replay_buffer if with_buffer and isinstance(model, OffPolicyAlgorithm) else None
        if buffer is not None:
            parts[buffer_path(path)] = lambda name: write_buffer(buffer, name)

        def write_model(name: str) -> None:
            buffer_digest = NO_BUFFER if buffer is None else digest_of(beside(buffer_path(path)))
            saves = vars(model).get("saves", 0) + 1
            remember(model, saves=saves, buffer_digest=buffer_digest)
            remember(model, **{STATISTICS: statistics_of(statistics).document()})
            content = io.BytesIO()
            model.save(content)  # PyTorch's error about a full disk says neither file nor reason
            Path(name).write_bytes(content.getvalue())

        parts[path] = write_model  # after the buffer, as it needs the digest
        parts[document_path(path)] = lambda name: write_document(statistics, name)
        parts[statistics_path(path)] = statistics.save
        try:
            for part, write in parts.items():
                _write_beside(part, write)
        except BaseException:
            for part in parts:
                beside(part).unlink(missing_ok=True)
            raise
        move(beside(path), path)
        for part in parts:
            if part != path:
                move(beside(part), part)
        flush_folder(path.parent)
        if buffer is not None:
            prune_buffers(path)
        else:
            buffer_path(path).unlink(missing_ok=True)  # left by an earlier model of that name


def _write_beside(path: Path, write: Callable[[str], Any]) -> None:
    beside(path).unlink(missing_ok=True)  # a link there would be written through
    with naming(beside(path)):
        write(str(beside(path)))
        with beside(path).open("rb+") as file:
            os.fsync(file.fileno())
