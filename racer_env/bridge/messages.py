"""The messages of a bridge, without a socket: requests to bytes, replies to checked values.

``bridge/PROTOCOL.md`` defines them. Unknown content in a reply is ignored; anything missing, or of a wrong type or
range, is a ``BridgeProtocolError`` that says what came.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from racer_env.bridge.peer import Peer, PeerTrack
from racer_env.config import AiConfig
from racer_env.contract import (
    INFO_DTYPE,
    OBSERVATION_SIZE,
    RESET_INFO_KEYS,
    STEP_INFO,
    STEP_INFO_KEYS,
    Placement,
    checked_actions,
)
from racer_env.errors import BridgeProtocolError, BridgeRefusedError

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

MAX_SHOWN = 80  # characters of a message in an error
MAX_REFUSAL = 500  # characters of a bridge's own error text
FINGERPRINT_LENGTH = 64
MAX_WHOLE = 2**53  # beyond it, doubles cannot hold every whole number
_LARGEST = 1.0 + 1e-6  # largest value of an observation, with room for rounding
_WHOLE_KEYS = tuple(field.name for field in STEP_INFO if field.type is int)
_BOOL_KEYS = tuple(field.name for field in STEP_INFO if field.type is bool)
_NUMBERS = {int, float}

# Binary frames hold nothing but little-endian doubles.
DOUBLE = np.dtype("<f8")
_FIRST_INFO_COLUMN = OBSERVATION_SIZE + 3  # after observation, reward, terminated and truncated
_STEP_COLUMNS = _FIRST_INFO_COLUMN + len(STEP_INFO_KEYS)
_WHOLE_COLUMNS = [_FIRST_INFO_COLUMN + STEP_INFO_KEYS.index(key) for key in _WHOLE_KEYS]
_BOOL_COLUMNS = [
    *(OBSERVATION_SIZE + 1, OBSERVATION_SIZE + 2),
    *(_FIRST_INFO_COLUMN + STEP_INFO_KEYS.index(key) for key in _BOOL_KEYS),
]
_FINISHED_COLUMNS = 1 + OBSERVATION_SIZE + len(RESET_INFO_KEYS)  # the car's index first
_NOWHERE = Placement(0.0)


@dataclass(frozen=True)
class StepResult:
    """One car's step.

    Attributes:
        observation: (14,) float64, as in ``RacerEnv``.
        reward: Sum of the reward components.
        terminated, truncated: Whether the episode has ended, and how.
        info: The step's info, as in ``RacerEnv``.
    """

    observation: FloatArray
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


@dataclass(frozen=True)
class StepResults:
    """A step of N cars on one connection.

    Attributes:
        observations: (N, 14) float64; for a finished car, the first one of its new episode.
        rewards: (N,) float64, sums of the components.
        terminated, truncated: (N,) bool, whether an episode has ended, and how.
        infos: (N,) INFO_DTYPE, one record per car.
        finished: By car, for those whose episode ended: its last observation and the reset info of the new episode.
    """

    observations: FloatArray
    rewards: FloatArray
    terminated: BoolArray
    truncated: BoolArray
    infos: npt.NDArray[np.void]
    finished: dict[int, tuple[FloatArray, dict[str, Any]]]


# --- Requests ---


def hello_request() -> bytes:
    """Ask which version the peer speaks, and what it offers."""
    return orjson.dumps({"type": "hello"})


def track_request(track_id: str) -> bytes:
    """Ask for a track's control points."""
    return orjson.dumps({"type": "track", "trackId": track_id})


def reset_request(track_id: str | None, config: AiConfig | None, start: Placement | None = None) -> bytes:
    """Ask for an episode of one car; a start other than None needs version 2."""
    message = {"type": "reset", **_where(track_id, config)}
    if start is not None:
        message["start"] = _start(start)
    return orjson.dumps(message)


def reset_many_request(
    track_id: str | None,
    config: AiConfig | None,
    starts: Sequence[Placement | None],
    next_starts: Sequence[Placement | None],
) -> bytes:
    """Ask for an episode of N cars and say where the next one of each starts; needs version 2."""
    return orjson.dumps(
        {
            "type": "reset",
            **_where(track_id, config),
            "numEnvs": len(starts),
            "starts": [_start(start) for start in starts],
            "nextStarts": [_start(start) for start in next_starts],
        }
    )


def step_request(action: npt.ArrayLike) -> bytes:
    """Ask for one step of one car.

    Args:
        action: (3,) steer in [-1, 1], throttle and brake in [0, 1].

    Raises:
        ActionError: The action is not three finite numbers.
    """
    one: Any = [action]
    values = checked_actions(one, 1)[0].tolist()
    return b'{"type":"step","action":%b}' % orjson.dumps(values)


def step_many_request(actions: FloatArray, next_starts: Mapping[int, Placement | None]) -> bytes:
    """Ask for one step of N cars, as a binary frame.

    Args:
        actions: (N, 3) finite numbers: steer, throttle, brake.
        next_starts: Next starts by car, for those that the peer does not know yet.
    """
    starts = [(car, 0.0 if start is None else 1.0, *(start or _NOWHERE)) for car, start in next_starts.items()]
    return b"".join(np.ascontiguousarray(rows, DOUBLE).tobytes() for rows in (actions, starts))


def close_request() -> bytes:
    """Say goodbye."""
    return orjson.dumps({"type": "close"})


def _start(start: Placement | None) -> list[float] | None:
    return None if start is None else list(start)


def _where(track_id: str | None, config: AiConfig | None) -> dict[str, Any]:
    where: dict[str, Any] = {} if track_id is None else {"trackId": track_id}
    return where if config is None else {**where, "config": config.to_json()}


# --- Replies ---


def parse_reply(data: bytes, expected: str) -> dict[str, Any]:
    """Return a reply as a JSON object.

    Args:
        data: Payload of a text frame.
        expected: The expected type of the reply.

    Raises:
        BridgeRefusedError: The reply is an error.
        BridgeProtocolError: The reply is not JSON, not an object, or of another type.
    """
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BridgeProtocolError(f"expected a {expected} as JSON, got {_shown(data)} ({error})") from error
    if not isinstance(message, dict):
        raise BridgeProtocolError(f"expected a {expected}, got {_shown(data)}")
    kind = message.get("type")
    if kind == "error":
        raise BridgeRefusedError(one_line(str(message.get("message", "no message")), MAX_REFUSAL))
    if kind != expected:
        raise BridgeProtocolError(f"expected a {expected}, got the type {_shown(kind)}")
    return message


def parse_hello(message: Mapping[str, Any]) -> Peer:
    """Parse a ``hello_result``."""
    where = "hello_result"
    tracks = _list(message, "tracks", where)
    return Peer(
        protocol=_whole(_get(message, "protocol", where), where, "protocol", 1),
        physics=_fingerprint(_get(message, "physics", where), where, "physics"),
        max_envs=_whole(_get(message, "maxEnvs", where), where, "maxEnvs", 1),
        tracks={track.id: track for track in (_peer_track(entry, f"{where}.tracks") for entry in tracks)},
    )


def parse_track(message: Mapping[str, Any]) -> Any:
    """Return the document in a ``track_result``; its content is still to be checked, as for a track file."""
    return _get(message, "track", "track_result")


def parse_reset(message: Mapping[str, Any]) -> tuple[FloatArray, dict[str, Any]]:
    """Parse the ``reset_result`` of one car: observation (14,) float64 and info."""
    where = "reset_result"
    info = _info(_get(message, "info", where), RESET_INFO_KEYS, f"{where}.info")
    return _observation(_get(message, "observation", where), where), info


def parse_reset_many(message: Mapping[str, Any], count: int) -> tuple[FloatArray, list[dict[str, Any]]]:
    """Parse the ``reset_result`` of N cars: observations (N, 14) float64 and infos."""
    where = "reset_result"
    observations, infos = (_list(message, key, where, count) for key in ("observations", "infos"))
    return (
        np.stack([_observation(values, f"{where}.observations") for values in observations]),
        [_info(info, RESET_INFO_KEYS, f"{where}.infos") for info in infos],
    )


def parse_step(message: Mapping[str, Any]) -> StepResult:
    """Parse the ``step_result`` of one car."""
    where = "step_result"
    return StepResult(
        observation=_observation(_get(message, "observation", where), where),
        reward=_number(_get(message, "reward", where), where, "reward"),
        terminated=_bool(_get(message, "terminated", where), where, "terminated"),
        truncated=_bool(_get(message, "truncated", where), where, "truncated"),
        info=_info(_get(message, "info", where), STEP_INFO_KEYS, f"{where}.info"),
    )


def parse_step_many(data: bytes, count: int) -> StepResults:
    """Parse the binary frame that answers a step of N cars."""
    where = "the binary step_result"
    spare = len(data) // DOUBLE.itemsize - count * _STEP_COLUMNS
    if len(data) % DOUBLE.itemsize or spare < 0 or spare % _FINISHED_COLUMNS:
        raise BridgeProtocolError(
            f"{where} must have {_STEP_COLUMNS} doubles for each of {count} cars and {_FINISHED_COLUMNS} more for each "
            f"finished one, got {len(data)} bytes"
        )
    numbers = np.frombuffer(data, DOUBLE)
    if not np.isfinite(numbers).all():
        raise BridgeProtocolError(f"{where} must be finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
    rows = numbers[: count * _STEP_COLUMNS].reshape(count, _STEP_COLUMNS)
    observations = rows[:, :OBSERVATION_SIZE]
    if np.abs(observations).max() > _LARGEST:
        raise BridgeProtocolError(f"{where}: observations must be within [-1, 1], got {_shown(observations)}")
    whole = rows[:, _WHOLE_COLUMNS]
    if (np.floor(whole) != whole).any() or np.abs(whole).max() > MAX_WHOLE:
        raise BridgeProtocolError(f"{where}: {', '.join(_WHOLE_KEYS)} must be whole numbers, got {_shown(whole)}")
    flags = rows[:, _BOOL_COLUMNS]
    if ((flags != 0.0) & (flags != 1.0)).any():
        raise BridgeProtocolError(f"{where}: terminated, truncated and wallContact must be 0 or 1, got {_shown(flags)}")
    infos: npt.NDArray[np.void] = np.empty(count, INFO_DTYPE)
    for key, column in zip(STEP_INFO_KEYS, rows[:, _FIRST_INFO_COLUMN:].T, strict=True):
        infos[key] = column
    terminated, truncated = flags[:, 0] != 0.0, flags[:, 1] != 0.0
    finished = {}
    for row in numbers[count * _STEP_COLUMNS :].reshape(-1, _FINISHED_COLUMNS):
        values = dict(zip(RESET_INFO_KEYS, row[1 + OBSERVATION_SIZE :].tolist(), strict=True))
        finished[int(row[0])] = (row[1 : 1 + OBSERVATION_SIZE], _info(values, RESET_INFO_KEYS, where))
    ended = np.flatnonzero(terminated | truncated).tolist()
    if sorted(finished) != ended:
        raise BridgeProtocolError(f"{where} must list the cars that have ended, {ended}; it lists {sorted(finished)}")
    return StepResults(observations, rows[:, OBSERVATION_SIZE], terminated, truncated, infos, finished)


def _peer_track(entry: Any, where: str) -> PeerTrack:
    track_id, name = (_get(entry, key, where) for key in ("id", "name"))
    if not isinstance(track_id, str) or not isinstance(name, str):
        raise BridgeProtocolError(f"{where}: id and name must be strings, got {_shown([track_id, name])}")
    return PeerTrack(
        track_id,
        name,
        length=_number(_get(entry, "length", where), where, "length"),
        fingerprint=_fingerprint(_get(entry, "fingerprint", where), where, "fingerprint"),
    )


def _info(info: Any, keys: Sequence[str], where: str) -> dict[str, Any]:
    return {key: _info_value(info, key, where) for key in keys}


def _info_value(info: Any, key: str, where: str) -> Any:
    value = _get(info, key, where)
    if key in _BOOL_KEYS:
        return _bool(value, where, key)
    return _whole(value, where, key, 0) if key in _WHOLE_KEYS else _number(value, where, key)


def _get(message: Any, key: str, where: str) -> Any:
    if not isinstance(message, dict):
        raise BridgeProtocolError(f"{where} must be an object, got {_shown(message)}")
    if key not in message:
        raise BridgeProtocolError(f"{where} lacks the key {key!r}; it has: {', '.join(map(str, message)) or 'none'}")
    return message[key]


def _list(message: Any, key: str, where: str, length: int | None = None) -> list[Any]:
    value = _get(message, key, where)
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise BridgeProtocolError(
            f"{where}.{key} must be a list{'' if length is None else f' of {length}'}, got {_shown(value)}"
        )
    return value


def _number(value: Any, where: str, key: str) -> float:
    if type(value) not in _NUMBERS or not math.isfinite(value):
        raise BridgeProtocolError(f"{where}.{key} must be a finite number, got {_shown(value)}")
    return float(value)


def _whole(value: Any, where: str, key: str, at_least: int) -> int:
    number = _number(value, where, key)
    if number != int(number) or not at_least <= number <= MAX_WHOLE:
        raise BridgeProtocolError(f"{where}.{key} must be a whole number of at least {at_least}, got {_shown(value)}")
    return int(number)


def _bool(value: Any, where: str, key: str) -> bool:
    if type(value) is not bool:
        raise BridgeProtocolError(f"{where}.{key} must be true or false, got {_shown(value)}")
    return value


def _fingerprint(value: Any, where: str, key: str) -> str:
    if not isinstance(value, str) or len(value) != FINGERPRINT_LENGTH:
        raise BridgeProtocolError(f"{where}.{key} must be {FINGERPRINT_LENGTH} hexadecimal digits, got {_shown(value)}")
    return value


def _observation(values: Any, where: str) -> FloatArray:
    if (
        type(values) is not list
        or len(values) != OBSERVATION_SIZE
        or not set(map(type, values)) <= _NUMBERS
        or not (min(values) >= -_LARGEST and max(values) <= _LARGEST and sum(values) == sum(values))
    ):
        raise BridgeProtocolError(
            f"{where}: an observation must be {OBSERVATION_SIZE} numbers within [-1, 1], got {_described(values)}"
        )
    return np.array(values, np.float64)


def _described(values: Any) -> str:
    if not isinstance(values, list):
        return _shown(values)
    for index, value in enumerate(values):
        if type(value) not in _NUMBERS or not abs(value) <= _LARGEST:
            return f"{len(values)} entries with {_shown(value)} at {index}"
    return f"{len(values)} numbers"


def _shown(value: Any) -> str:
    try:
        text = value.decode(errors="replace") if isinstance(value, bytes) else repr(value)
    except RecursionError:
        text = f"a {type(value).__name__} that is nested too deeply"
    return one_line(text, MAX_SHOWN)


def one_line(text: str, length: int) -> str:
    """Return a peer's text in a form fit for a message: printable, on one line, and not too long."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * length]).split())
    return text if len(text) <= length else text[: length - 3] + "..."
