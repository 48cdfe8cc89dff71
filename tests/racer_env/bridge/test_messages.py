"""Requests to bytes and replies to checked values, without a socket."""

import json
from typing import Any

import numpy as np
import pytest

from racer_env.bridge.messages import (
    parse_hello,
    parse_reply,
    parse_reset,
    parse_reset_many,
    parse_step,
    parse_step_many,
    reset_many_request,
    reset_request,
    step_many_request,
    step_request,
)
from racer_env.contract import Placement
from racer_env.errors import ActionError, BridgeProtocolError, BridgeRefusedError
from tests.helpers import TEST_CONFIG, with_value, without

RESET_INFO = {"tick": 0, "speed": 0, "lap": 1, "checkpoint": 0, "stepCount": 0}
STEP_INFO = {
    "progress": 0.5,
    "speed": 0,
    "wall": -0.002,
    "offTrack": 0,
    "backward": 0,
    "stillness": 0,
    "tick": 7,
    "rawSpeed": 12.5,
    "lap": 1,
    "checkpoint": 3,
    "stepCount": 7,
    "wallContact": True,
    "stillnessCounter": 0,
}
OBSERVATION = [index / 20 for index in range(14)]
RESET = {"type": "reset_result", "observation": OBSERVATION, "info": RESET_INFO}
STEP = {
    "type": "step_result",
    "observation": OBSERVATION,
    "reward": 0.498,
    "terminated": False,
    "truncated": True,
    "info": STEP_INFO,
}
# Two cars of a binary step, the second of which has finished: a row each, and a row for its end.
STEP_ROW = [*OBSERVATION, 0.25, 0, 0, *map(float, STEP_INFO.values())]
FINISHED_ROW = [*STEP_ROW[:15], 1, 0, *STEP_ROW[17:]]
END_ROW = [1, *OBSERVATION[::-1], *map(float, RESET_INFO.values())]
STEP_MANY = [*STEP_ROW, *FINISHED_ROW, *END_ROW]
FINGERPRINT = "ab" * 32
HELLO = {
    "type": "hello_result",
    "protocol": 2,
    "physics": FINGERPRINT,
    "maxEnvs": 256,
    "tracks": [{"id": "a", "name": "A", "length": 1000.5, "fingerprint": FINGERPRINT}],
}


def doubles(numbers: list[float]) -> bytes:
    """Return numbers as a binary frame holds them."""
    return np.array(numbers, "<f8").tobytes()


# --- Requests ---


def test_step_request_holds_three_numbers() -> None:
    """An action goes out as plain numbers, exactly."""
    message = json.loads(step_request(np.array([0.1, 1, 0], np.float32)))
    assert message == {"type": "step", "action": [float(np.float32(0.1)), 1.0, 0.0]}


@pytest.mark.parametrize(
    ("action", "match"),
    [
        ([0.0, float("nan"), 0.0], "throttle of car 0 is nan"),
        ([0.0, 0.0, float("inf")], "brake of car 0 is inf"),
        (np.array([0.0, 0.0, np.nan]), "brake of car 0 is nan"),
        ([0.0, 0.0], r"shape \(1, 3\)"),
        ([[0.0, 0.0, 0.0]], r"shape \(1, 3\)"),
        (1.0, r"shape \(1, 3\)"),
        (["1", "0", "0"], "must be real numbers"),
        ([True, False, False], "must be real numbers"),
        ([None, 0.0, 0.0], "must be real numbers"),
        ([10**400, 0, 0], "must be real numbers"),
    ],
)
def test_step_request_refuses_other_actions(action: Any, match: str) -> None:
    """Whatever is not three finite numbers is refused by name before it is sent."""
    with pytest.raises(ActionError, match=match):
        step_request(action)


def test_reset_request_holds_what_is_given() -> None:
    """Track, configuration and start are there when they are given, and only then."""
    assert json.loads(reset_request(None, None)) == {"type": "reset"}
    message = json.loads(reset_request("track-02", TEST_CONFIG, Placement(10.0, 1.0, 0.1, 50.0)))
    assert message["trackId"] == "track-02"
    assert message["config"] == TEST_CONFIG.to_json()
    assert message["start"] == [10.0, 1.0, 0.1, 50.0]


def test_reset_many_request_holds_a_start_per_car() -> None:
    """None is the standing start."""
    message = json.loads(reset_many_request("a", None, [None, Placement(5.0)], [None, None]))
    assert message["numEnvs"] == 2
    assert message["starts"] == [None, [5.0, 0.0, 0.0, 0.0]]
    assert message["nextStarts"] == [None, None]


def test_step_many_request_is_doubles() -> None:
    """Actions, then the next starts that the bridge does not know yet."""
    actions = np.array([[0.5, 1.0, 0.0], [-0.5, 0.0, 1.0]])
    assert np.frombuffer(step_many_request(actions, {})).tolist() == actions.ravel().tolist()
    news = {1: None, 0: Placement(10.0, 1.0, 0.1, 50.0)}
    numbers = np.frombuffer(step_many_request(actions[::1], news)).tolist()
    assert numbers[6:] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 10.0, 1.0, 0.1, 50.0]


# --- Replies ---


def test_parse_step() -> None:
    """A step has every value, in the type that the environment promises."""
    result = parse_step(STEP)
    assert result.observation.tolist() == OBSERVATION
    assert (result.reward, result.terminated, result.truncated) == (0.498, False, True)
    assert result.info == STEP_INFO
    assert [type(result.info[key]) for key in ("speed", "tick", "wallContact")] == [float, int, bool]


def test_parse_reset() -> None:
    """A reset has an observation and an info."""
    observation, info = parse_reset(RESET)
    assert observation.tolist() == OBSERVATION
    assert info == RESET_INFO
    assert type(info["speed"]) is float


def test_parse_step_many() -> None:
    """A step of many cars becomes arrays."""
    results = parse_step_many(doubles(STEP_MANY), 2)
    assert results.observations.tolist() == [OBSERVATION, OBSERVATION]
    assert results.rewards.tolist() == [0.25, 0.25]
    assert (results.terminated.tolist(), results.truncated.tolist()) == ([False, True], [False, False])
    assert results.infos[1].item() == tuple(STEP_INFO.values())
    assert list(results.finished) == [1]
    assert results.finished[1][0].tolist() == OBSERVATION[::-1]
    assert results.finished[1][1] == RESET_INFO


def test_parse_hello() -> None:
    """A hello tells version, physics and tracks."""
    peer = parse_hello(HELLO)
    assert (peer.protocol, peer.physics, peer.max_envs) == (2, FINGERPRINT, 256)
    assert peer.tracks["a"].length == 1000.5


def test_what_a_later_version_adds_is_ignored() -> None:
    """Keys that nobody knows do no harm."""
    assert parse_step({**STEP, "more": 1, "info": {**STEP_INFO, "fuel": 3}}).info == STEP_INFO


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "as JSON"),
        (b"no json", "got no json"),
        (b'{"type":"step_result"', "as JSON"),
        (b'{"type":"step_result","reward":NaN}', "step_result.reward must be a finite number, got nan"),
        (b'{"type":"step_result","a":[{"b":-Infinity}]}', r"step_result.a\[0\].b must be a finite number, got -inf"),
        (b'{"type":"step_result","reward":1e999}', "step_result.reward must be a finite number, got inf"),
        (b"\xff\xfe", "as JSON"),
        (b"[1]", r"got \[1\]"),
        (b"null", "got null"),
        (b'{"type":"reset_result"}', "got the type 'reset_result'"),
        (b"{}", "got the type None"),
    ],
)
def test_parse_reply_refuses_nonsense(data: bytes, match: str) -> None:
    """Whatever is not an object of the expected type is nonsense, and the message shows it."""
    with pytest.raises(BridgeProtocolError, match=match):
        parse_reply(data, "step_result")


def test_parse_reply_raises_what_the_bridge_refused() -> None:
    """An error reply is a refusal, with the bridge's words on one line."""
    with pytest.raises(BridgeRefusedError, match="^no such track, sorry$"):
        parse_reply(b'{"type":"error","message":"no\\n such\\r\\u001b\\u2028track, sorry"}', "step_result")


WRONG_STEPS = [
    (("observation",), OBSERVATION[:13], "14 numbers .*, got 13 numbers"),
    (("observation",), [*OBSERVATION, 0.0], "14 numbers .*, got 15 numbers"),
    (("observation",), [*OBSERVATION[:13], None], "None at 13"),
    (("observation",), [*OBSERVATION[:13], "0"], "'0' at 13"),
    (("observation",), [*OBSERVATION[:13], True], "True at 13"),
    (("observation",), [*OBSERVATION[:13], float("inf")], "inf at 13"),
    (("observation",), [*OBSERVATION[:13], float("nan")], "nan at 13"),
    (("observation",), [*OBSERVATION[:13], -1.001], "-1.001 at 13"),
    (("observation",), [5.0, *OBSERVATION[1:]], "5.0 at 0"),
    (("observation",), [OBSERVATION], "14 numbers"),
    (("observation",), "text", "got 'text'"),
    (("observation",), {}, "14 numbers"),
    (("reward",), None, "reward must be a finite number, got None"),
    (("reward",), "1", "reward must be a finite number"),
    (("reward",), True, "reward must be a finite number"),
    (("terminated",), 0, "terminated must be true or false, got 0"),
    (("truncated",), None, "truncated must be true or false"),
    (("info",), None, "info must be an object"),
    (("info",), [], "info must be an object"),
    (("info", "lap"), 1.5, "lap must be a whole number"),
    (("info", "lap"), -1, "lap must be a whole number"),
    (("info", "tick"), 1e300, "tick must be a whole number"),
    (("info", "wallContact"), 1, "wallContact must be true or false"),
    (("info", "progress"), None, "progress must be a finite number"),
]


@pytest.mark.parametrize(("keys", "value", "match"), WRONG_STEPS)
def test_parse_step_refuses_wrong_values(keys: tuple[str, ...], value: Any, match: str) -> None:
    """A value of another type, length or range is nonsense, and the message names it."""
    with pytest.raises(BridgeProtocolError, match=match):
        parse_step(with_value(STEP, value, *keys))


@pytest.mark.parametrize("key", ["observation", "reward", "terminated", "truncated", "info"])
def test_parse_step_refuses_missing_keys(key: str) -> None:
    """A missing key is named."""
    with pytest.raises(BridgeProtocolError, match=f"lacks the key '{key}'"):
        parse_step(without(STEP, key))


@pytest.mark.parametrize("key", STEP_INFO)
def test_parse_step_refuses_missing_info(key: str) -> None:
    """A missing value of the info is named."""
    with pytest.raises(BridgeProtocolError, match=f"lacks the key '{key}'"):
        parse_step(without(STEP, "info", key))


@pytest.mark.parametrize("key", RESET_INFO)
def test_parse_reset_refuses_missing_info(key: str) -> None:
    """The same holds for a reset."""
    with pytest.raises(BridgeProtocolError, match=f"lacks the key '{key}'"):
        parse_reset(without(RESET, "info", key))


def changed(index: int, value: float) -> list[float]:
    """Return the step of two cars with another number in one place."""
    return [*STEP_MANY[:index], value, *STEP_MANY[index + 1 :]]


@pytest.mark.parametrize(
    ("numbers", "match"),
    [
        ([], "30 doubles for each of 2 cars and 20 more for each finished one, got 0 bytes"),
        (STEP_ROW, "got 240 bytes"),
        (STEP_MANY[:-1], "got 632 bytes"),
        ([*STEP_MANY, 0.0], "got 648 bytes"),
        (changed(33, float("nan")), r"step_result\[1\]: observation\[3\] must be a finite number, got nan"),
        (changed(14, float("nan")), r"step_result\[0\]: reward must be a finite number, got nan"),
        (changed(75, float("inf")), r"finished\[0\]: tick must be a finite number, got inf"),
        (changed(61, 5.0), r"finished\[0\]: terminal observation\[0\] must be within \[-1, 1\], got 5.0"),
        (changed(3, 5.0), r"step_result\[0\]: observation\[3\] must be within \[-1, 1\], got 5.0"),
        (changed(15, 2.0), r"step_result\[0\]: terminated must be 0 or 1, got 2.0"),
        (changed(28, 0.5), "info.wallContact must be 0 or 1, got 0.5"),
        (changed(25, 1.5), "info.lap must be a whole number of at least 0, got 1.5"),
        (changed(25, 1e300), "info.lap must be a whole number"),
        (changed(25, -1.0), "info.lap must be a whole number"),
        (changed(60, 0.0), r"must list the cars that have ended, \[1\]; it lists \[0\]"),
        (STEP_MANY[:60], r"must list the cars that have ended, \[1\]; it lists \[\]"),
        (changed(79, -1.0), "stepCount must be a whole number"),
    ],
)
def test_parse_step_many_refuses_wrong_values(numbers: list[float], match: str) -> None:
    """A wrong size or value is found among many cars too."""
    with pytest.raises(BridgeProtocolError, match=match):
        parse_step_many(doubles(numbers), 2)


def test_parse_step_many_refuses_half_a_double() -> None:
    """Bytes that are no doubles are nonsense."""
    with pytest.raises(BridgeProtocolError, match="got 643 bytes"):
        parse_step_many(doubles(STEP_MANY) + b"odd", 2)


def test_parse_reset_many_refuses_another_count() -> None:
    """A reset of two cars has two observations and two infos."""
    message = {"observations": [OBSERVATION] * 2, "infos": [RESET_INFO] * 2}
    assert parse_reset_many(message, 2)[1] == [RESET_INFO] * 2
    with pytest.raises(BridgeProtocolError, match="infos must be a list of 2"):
        parse_reset_many({**message, "infos": [RESET_INFO]}, 2)
    with pytest.raises(BridgeProtocolError, match="observations must be a list of 2"):
        parse_reset_many({**message, "observations": [OBSERVATION]}, 2)
    with pytest.raises(BridgeProtocolError, match="got 13"):
        parse_reset_many({**message, "observations": [OBSERVATION, OBSERVATION[:13]]}, 2)


@pytest.mark.parametrize(
    ("keys", "value", "match"),
    [
        (("protocol",), "2", "protocol must be"),
        (("protocol",), 0, "protocol must be"),
        (("physics",), "abc", "64 hexadecimal digits"),
        (("physics",), None, "64 hexadecimal digits"),
        (("maxEnvs",), 0, "maxEnvs must be"),
        (("tracks",), {}, "tracks must be a list"),
        (("tracks", 0), "a", r"tracks\[0\] must be an object"),
        (("tracks", 0, "id"), 5, "must be strings"),
        (("tracks", 0, "length"), None, "length must be a finite number"),
    ],
)
def test_parse_hello_refuses_wrong_values(keys: tuple[Any, ...], value: Any, match: str) -> None:
    """A hello that says nonsense is nonsense, not version 1."""
    with pytest.raises(BridgeProtocolError, match=match):
        parse_hello(with_value(HELLO, value, *keys))


@pytest.mark.parametrize("parse", [parse_hello, parse_reset, parse_step])
def test_a_reply_that_is_nested_deeply_is_nonsense(parse: Any) -> None:
    """Not a RecursionError, whatever place it stands in."""
    message = parse_reply(b'{"type": "t", "tracks": %b1%b}' % (b"[" * 1000, b"]" * 1000), "t")
    for key in ("observation", "info", "protocol", "reward"):
        with pytest.raises(BridgeProtocolError):
            parse({**message, key: message["tracks"]})
