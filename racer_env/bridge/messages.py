"""The messages of a bridge, without a socket: requests to bytes, replies to checked values.

``bridge/PROTOCOL.md`` defines them. Unknown content in a reply is ignored; anything missing, or of a wrong type or
range, is a ``BridgeProtocolError`` that says what came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt
import orjson

from racer_env.bridge.checks import (
    LARGEST_OBSERVED,
    MAX_WHOLE,
    fingerprint_of,
    finite_number,
    list_of,
    no_number_of_json,
    observation_of,
    one_line,
    shown,
    truth_value,
    value_of,
    whole_number,
)
from racer_env.bridge.peer import Peer, PeerTrack
from racer_env.config import AiConfig
from racer_env.contract import (
    ACTION_SIZE,
    INFO_DTYPE,
    OBSERVATION_SIZE,
    RESET_INFO,
    RESET_INFO_KEYS,
    STEP_INFO,
    STEP_INFO_KEYS,
    Placement,
    checked_actions,
)
from racer_env.errors import BridgeProtocolError, BridgeRefusedError

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

MAX_REFUSAL = 500  # characters of a bridge's own error text
_KINDS = {field.name: field.type for field in (*RESET_INFO, *STEP_INFO)}  # by key
_WHOLE_KEYS = tuple(field.name for field in STEP_INFO if field.type is int)
_BOOL_KEYS = tuple(field.name for field in STEP_INFO if field.type is bool)
_USUAL_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))

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
_OBSERVATION_FIELDS = [f"observation[{index}]" for index in range(OBSERVATION_SIZE)]
_STEP_FIELDS = [*_OBSERVATION_FIELDS, "reward", "terminated", "truncated", *(f"info.{key}" for key in STEP_INFO_KEYS)]
_WHOLE_FIELDS = [_STEP_FIELDS[column] for column in _WHOLE_COLUMNS]
_BOOL_FIELDS = [_STEP_FIELDS[column] for column in _BOOL_COLUMNS]
_FINISHED_FIELDS = ["car", *(f"terminal {name}" for name in _OBSERVATION_FIELDS), *RESET_INFO_KEYS]
_NOWHERE = Placement(0.0)


class StepResult(NamedTuple):
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
    if _is_usual(action):
        return _step(action)
    one: Any = [action]
    return _step(checked_actions(one, 1)[0])


def _step(action: FloatArray) -> bytes:
    return b'{"type":"step","action":%b}' % orjson.dumps(action.tolist())


def _is_usual(action: npt.ArrayLike) -> TypeGuard[FloatArray]:
    """Whether an action is right at first sight, as nearly all are; a full check takes three times as long."""
    return (
        isinstance(action, np.ndarray)
        and action.shape == (ACTION_SIZE,)
        and action.dtype in _USUAL_DTYPES
        and all(map(isfinite, action.tolist()))
    )


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
        wrong = no_number_of_json(data, expected) or f"expected a {expected} as JSON, got {shown(data)} ({error})"
        raise BridgeProtocolError(wrong) from error
    if not isinstance(message, dict):
        raise BridgeProtocolError(f"expected a {expected}, got {shown(data)}")
    kind = message.get("type")
    if kind == "error":
        words = message.get("message", "no message")
        raise BridgeRefusedError(one_line(words, MAX_REFUSAL) if isinstance(words, str) else shown(words))
    if kind != expected:
        raise BridgeProtocolError(f"expected a {expected}, got the type {shown(kind)}")
    return message


def parse_hello(message: Mapping[str, Any]) -> Peer:
    """Parse a ``hello_result``."""
    where = "hello_result"
    tracks = list_of(message, "tracks", where)
    return Peer(
        protocol=whole_number(value_of(message, "protocol", where), where, "protocol", 1),
        physics=fingerprint_of(value_of(message, "physics", where), where, "physics"),
        max_envs=whole_number(value_of(message, "maxEnvs", where), where, "maxEnvs", 1),
        tracks={
            track.id: track
            for track in (_peer_track(entry, f"{where}.tracks[{index}]") for index, entry in enumerate(tracks))
        },
    )


def parse_track(message: Mapping[str, Any]) -> Any:
    """Return the document in a ``track_result``; its content is still to be checked, as for a track file."""
    return value_of(message, "track", "track_result")


def parse_reset(message: Mapping[str, Any]) -> tuple[FloatArray, dict[str, Any]]:
    """Parse the ``reset_result`` of one car: observation (14,) float64 and info."""
    where = "reset_result"
    info = _info(value_of(message, "info", where), RESET_INFO_KEYS, f"{where}.info")
    return observation_of(value_of(message, "observation", where), f"{where}.observation"), info


def parse_reset_many(message: Mapping[str, Any], count: int) -> tuple[FloatArray, list[dict[str, Any]]]:
    """Parse the ``reset_result`` of N cars: observations (N, 14) float64 and infos."""
    where = "reset_result"
    observations, infos = (list_of(message, key, where, count) for key in ("observations", "infos"))
    return (
        np.stack([observation_of(values, f"{where}.observations[{car}]") for car, values in enumerate(observations)]),
        [_info(info, RESET_INFO_KEYS, f"{where}.infos[{car}]") for car, info in enumerate(infos)],
    )


def parse_step(message: Mapping[str, Any]) -> StepResult:
    """Parse the ``step_result`` of one car."""
    where = "step_result"
    return StepResult(
        observation=observation_of(value_of(message, "observation", where), f"{where}.observation"),
        reward=finite_number(value_of(message, "reward", where), where, "reward"),
        terminated=truth_value(value_of(message, "terminated", where), where, "terminated"),
        truncated=truth_value(value_of(message, "truncated", where), where, "truncated"),
        info=_info(value_of(message, "info", where), STEP_INFO_KEYS, f"{where}.info"),
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
    rows = numbers[: count * _STEP_COLUMNS].reshape(count, _STEP_COLUMNS)
    ends = numbers[count * _STEP_COLUMNS :].reshape(-1, _FINISHED_COLUMNS)
    if not np.isfinite(numbers).all():
        _refuse_cell(~np.isfinite(rows), rows, _STEP_FIELDS, where, "a finite number")
        _refuse_cell(~np.isfinite(ends), ends, _FINISHED_FIELDS, f"{where}: finished", "a finite number")
    observations, last_observations = rows[:, :OBSERVATION_SIZE], ends[:, 1 : 1 + OBSERVATION_SIZE]
    is_wrong = np.abs(observations) > LARGEST_OBSERVED
    _refuse_cell(is_wrong, observations, _OBSERVATION_FIELDS, where, "within [-1, 1]")
    is_wrong = np.abs(last_observations) > LARGEST_OBSERVED
    _refuse_cell(is_wrong, last_observations, _FINISHED_FIELDS[1:], f"{where}: finished", "within [-1, 1]")
    whole = rows[:, _WHOLE_COLUMNS]
    is_wrong = (np.floor(whole) != whole) | (whole < 0) | (whole > MAX_WHOLE)
    _refuse_cell(is_wrong, whole, _WHOLE_FIELDS, where, "a whole number of at least 0")
    flags = rows[:, _BOOL_COLUMNS]
    _refuse_cell((flags != 0.0) & (flags != 1.0), flags, _BOOL_FIELDS, where, "0 or 1")
    infos: npt.NDArray[np.void] = np.empty(count, INFO_DTYPE)
    for key, column in zip(STEP_INFO_KEYS, rows[:, _FIRST_INFO_COLUMN:].T, strict=True):
        infos[key] = column
    terminated, truncated = flags[:, 0] != 0.0, flags[:, 1] != 0.0
    finished = {}
    for row in ends:
        values = dict(zip(RESET_INFO_KEYS, row[1 + OBSERVATION_SIZE :].tolist(), strict=True))
        finished[int(row[0])] = (row[1 : 1 + OBSERVATION_SIZE], _info(values, RESET_INFO_KEYS, f"{where}: finished"))
    ended, listed = np.flatnonzero(terminated | truncated).tolist(), ends[:, 0].tolist()
    if sorted(listed) != ended:
        cars = ", ".join(f"{car:g}" for car in listed)
        raise BridgeProtocolError(f"{where} must list the cars that have ended, {ended}; it lists [{cars}]")
    return StepResults(observations, rows[:, OBSERVATION_SIZE], terminated, truncated, infos, finished)


def _refuse_cell(is_wrong: BoolArray, rows: FloatArray, fields: Sequence[str], where: str, expected: str) -> None:
    """Raise an error that names the first wrong number of a table, if there is one."""
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        raise BridgeProtocolError(f"{where}[{row}]: {fields[column]} must be {expected}, got {rows[row, column]}")


def _peer_track(entry: Any, where: str) -> PeerTrack:
    track_id, name = (value_of(entry, key, where) for key in ("id", "name"))
    if not isinstance(track_id, str) or not isinstance(name, str):
        raise BridgeProtocolError(f"{where}: id and name must be strings, got {shown([track_id, name])}")
    return PeerTrack(
        track_id,
        name,
        length=finite_number(value_of(entry, "length", where), where, "length"),
        fingerprint=fingerprint_of(value_of(entry, "fingerprint", where), where, "fingerprint"),
    )


def _info(info: Any, keys: Sequence[str], where: str) -> dict[str, Any]:
    """Return the values of an info, checked; at first sight, as nearly always nothing is wrong."""
    checked = {}
    for key in keys:
        value: Any = info.get(key) if type(info) is dict else None
        kind, expected = type(value), _KINDS[key]
        if kind is int and expected is float:  # JSON of JavaScript has 0 for 0.0
            value, kind = float(value), float
        is_plain = kind is expected and (kind is bool or (0 <= value <= MAX_WHOLE if kind is int else isfinite(value)))
        checked[key] = value if is_plain else _info_value(info, key, where)
    return checked


def _info_value(info: Any, key: str, where: str) -> Any:
    value = value_of(info, key, where)
    if key in _BOOL_KEYS:
        return truth_value(value, where, key)
    return whole_number(value, where, key, 0) if key in _WHOLE_KEYS else finite_number(value, where, key)
