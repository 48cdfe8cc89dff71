"""The statistics beside an ONNX file: ``vecnorm_stats.json``, or a file named after the driver."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from racer_env.contract import MAX_ACTION_REPEAT
from racer_env.errors import ModelError
from racer_env.json_files import Checker, read_json
from training.checkpoints.files import STATISTICS_NAME
from training.checkpoints.pickled import read_pickled
from training.checkpoints.statistics import Normalisation, parse_normalisation
from training.console.messages import in_short, note

KEYS = ("obs_mean", "obs_var", "clip_obs", "epsilon")
_REPEAT = "action_repeat"


class Beside(NamedTuple):
    """What a file of statistics says.

    Attributes:
        normalise: How observations are normalised.
        action_repeat: Ticks that each action is held; None if it does not say.
    """

    normalise: Normalisation
    action_repeat: int | None


def statistics_beside(path: Path) -> Path:
    """Return the file of an ONNX file's statistics, which need not exist; one named after the driver goes first.

    A link that leads nowhere counts: something was to be there.
    """
    names = (f"{path.stem}.{STATISTICS_NAME}", f"{path.stem}_{STATISTICS_NAME}", STATISTICS_NAME)
    files = [path.with_name(name) for name in names]
    return next((file for file in files if os.path.lexists(file)), files[-1])


def statistics_digest(document: dict[str, Any]) -> str:
    """Return a digest of the content of ``vecnorm_stats.json`` that does not depend on its layout."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def read_beside(path: Path, digest: str | None = None) -> Beside:
    """Read ``vecnorm_stats.json``, or the statistics of stable-baselines3, which end in ``.pkl``.

    Another program may add keys of its own, which are said and left alone, and a byte order mark.

    Args:
        path: Path of the file.
        digest: Digest that the content must have; None accepts any.

    Raises:
        ModelError: The file is missing or not JSON, its content is wrong, or it belongs to another driver.
    """
    if path.is_symlink() and not path.exists():
        raise ModelError(f"{path} is a link that leads to no file; mend it, or remove it if there are no statistics")
    if path.suffix == ".pkl" and path.is_file():
        return Beside(read_pickled(path), None)
    check = Checker(ModelError, str(path))
    document = read_json(path, ModelError, "statistics", encoding="utf-8-sig")
    others = [key for key in document if key not in (*KEYS, _REPEAT)] if isinstance(document, dict) else []
    values = check.mapping(document, "the statistics", (*KEYS, _REPEAT, *others), required=KEYS)
    normalise = parse_normalisation(values, check)
    if digest not in (None, statistics_digest(document)):
        raise check.fail("these are not the statistics that the model beside was exported with")
    if others:
        note(f"{path} also holds {in_short(others)}, which is not known here and left alone")
    repeat = check.integer(values[_REPEAT], _REPEAT, 1) if _REPEAT in values else None
    if repeat is not None and repeat > MAX_ACTION_REPEAT:
        raise check.fail(f"{_REPEAT} must be at most {MAX_ACTION_REPEAT}, got {repeat}")
    return Beside(normalise, repeat)
