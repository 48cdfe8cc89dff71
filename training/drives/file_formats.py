"""How a recording is written: as an archive of NumPy with every state, or as JSON with the last one, for a browser."""

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from racer_env.contract import ACTION_NAMES, ACTION_SIZE
from racer_env.errors import RecordingError
from racer_env.json_files import Checker, read_json
from racer_env.simulator.kernels import CAR_DTYPE
from training.checkpoints.archives import open_archive, read_array

JSON = ".json"  # ending of a recording for browsers; that of an archive is .npz
MAX_TICKS = 2_000_000  # ticks; more than nine hours, which take half a minute and a gigabyte to replay
MAX_CARD = 8_000_000  # bytes of what a recording says about itself, which is mostly its track
_TICK_SIZE = CAR_DTYPE.itemsize + 3 * 8  # bytes of a state and an action

_NUMBERS, _COUNTS = ("x", "y", "heading", "speed"), ("checkpoint", "lap")
_END_DTYPE = np.dtype([(name, CAR_DTYPE[name]) for name in (*_NUMBERS, *_COUNTS)])
_TEXTS = ("driver", "physics_fingerprint", "track_fingerprint")
_REQUIRED = ("format", *_TEXTS, "track", "start", "actions", "end")
_ALLOWED = (*_REQUIRED, "ai_config")  # the last one is not known to a browser


class Content(NamedTuple):
    """The content of a recording's file.

    Attributes:
        card: Its format, driver, physics, track, start, and reward weights.
        actions: (T, 3) steer, throttle, brake of every tick.
        states: The car after the last ticks: (T + 1,) CAR_DTYPE from the start on, or (1,) with less about it.
    """

    card: dict[str, Any]
    actions: npt.NDArray[np.float64]
    states: npt.NDArray[np.void]


def as_bytes(content: Content, suffix: str) -> bytes:
    """Return the bytes of a file with that ending; of a file of any other one than .json, they are an archive's."""
    if suffix != JSON:
        file = io.BytesIO()
        np.savez_compressed(
            file, card=np.array(json.dumps(content.card)), actions=content.actions, states=content.states
        )
        return file.getvalue()
    end = {name: content.states[-1][name].item() for name in _END_DTYPE.names or ()}
    document = {**content.card, "actions": content.actions.tolist(), "end": end}
    return json.dumps(document, separators=(",", ":")).encode()


def read_content(path: Path) -> Content:
    """Read a file of either kind; whether it makes sense is not known yet.

    Raises:
        RecordingError: It is damaged or something else, or larger than a recording can be.
    """
    return _read_json(path) if path.suffix == JSON else _read_archive(path)


def _read_archive(path: Path) -> Content:
    def refuse(why: str) -> RecordingError:
        return RecordingError(f"cannot load the recording {path}, damaged or none: {why}")

    with open_archive(path, refuse, MAX_TICKS * _TICK_SIZE + MAX_CARD) as archive:
        if archive.getinfo("card.npy").file_size > MAX_CARD:
            raise refuse(f"its card has more than {MAX_CARD:,} bytes")
        card = json.loads(str(read_array(archive, "card")))
        return Content(card, read_array(archive, "actions"), read_array(archive, "states"))


def _read_json(path: Path) -> Content:
    check = Checker(RecordingError, f"cannot load the recording {path}")
    content = check.mapping(read_json(path, RecordingError, "recording"), "the recording", _ALLOWED, _REQUIRED)
    for key in _TEXTS:
        check.text(content[key], key)
    card = {**content, "start": _state(check, content["start"], "start")}
    end = np.array([tuple(_state(check, content["end"], "end").values())], _END_DTYPE)
    return Content(card, _actions(check, content["actions"]), end)


def _state(check: Checker, value: Any, key: str) -> dict[str, float]:
    content = check.mapping(value, key, (*_NUMBERS, *_COUNTS), required=(*_NUMBERS, *_COUNTS))
    numbers = {name: check.number(content[name], f"{key}.{name}") for name in _NUMBERS}
    return {**numbers, **{name: check.integer(content[name], f"{key}.{name}", 0) for name in _COUNTS}}


def _actions(check: Checker, rows: Any) -> npt.NDArray[np.float64]:
    if not isinstance(rows, list):
        raise check.fail(f"actions must be a list with an action for each tick, got {type(rows).__name__}")
    for tick, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != ACTION_SIZE:
            raise check.fail(f"actions[{tick}] must be a list of {ACTION_SIZE} numbers ({', '.join(ACTION_NAMES)})")
        for name, value in zip(ACTION_NAMES, row, strict=True):
            check.number(value, f"{name} of actions[{tick}]")
    return np.array(rows, np.float64).reshape(-1, ACTION_SIZE)
