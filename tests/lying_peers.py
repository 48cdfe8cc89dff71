"""Games that do what the protocol forbids: one table for whoever has to survive them."""

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.fake_peer import Answer, Close, Drop, Endless, Raw, frame
from tests.helpers import with_value
from tests.racer_env.bridge.test_messages import RESET, STEP, STEP_INFO

TEXT, CONTINUES, PING, BINARY = 0x81, 0x00, 0x89, 0x82
NO_REPLY = "no step_result within"
NESTED = "[" * 100_000
NESTED_REFUSAL = f'{{"type":"error","message":{"[" * 999}1{"]" * 999}}}'


class Lie(NamedTuple):
    """A game that answers some steps rightly, and then wrongly.

    Attributes:
        name: What it does.
        tell: Makes the wrong answer out of the right one and the one before.
        match: What the error says, as a pattern.
    """

    name: str
    tell: Callable[[dict[str, Any], dict[str, Any]], Any]
    match: str


def _sent(reply: Any) -> Callable[[dict[str, Any], dict[str, Any]], Any]:
    return lambda right, before: reply


def _with(value: Any, *keys: Any) -> Callable[[dict[str, Any], dict[str, Any]], Any]:
    """Return what puts a value into the right answer; NaN and infinity stay, as Python writes them."""
    return lambda right, before: with_value(right, value, *keys)


def _without_reward(right: dict[str, Any], before: dict[str, Any]) -> Any:
    return {key: value for key, value in {**right, "terminated": True}.items() if key != "reward"}


LIES = [
    # What never ends, or ends too early
    Lie("says nothing", _sent(None), NO_REPLY),
    Lie("sends a byte now and then", _sent(Endless(bytes([TEXT, 126, 234, 96]), b" ", pause_s=0.05)), NO_REPLY),
    Lie("never ends a frame", _sent(Raw(bytes([TEXT, 126, 3, 232]) + b"{")), NO_REPLY),
    Lie("tells a length of 64 bits", _sent(Raw(bytes([TEXT, 127]) + struct.pack("!Q", 2**62) + b"{")), NO_REPLY),
    Lie("floods with pings", _sent(Endless(b"", bytes([PING, 0]) * 2000)), f"{NO_REPLY}|sending failed|no WebSocket"),
    Lie(
        "continues without end",
        _sent(Endless(bytes([0x01, 0]), bytes([CONTINUES, 125]) + b" " * 125)),
        f"{NO_REPLY}|does not end after",
    ),
    Lie("dies", _sent(Drop()), "gone without a goodbye"),
    Lie("dies in the middle of a frame", _sent([Raw(frame(b"x" * 50)[:20]), Drop()]), "gone without a goodbye"),
    Lie("hangs up", _sent(Close(1009)), r"code 1009, which means that .* it must take 65,536 bytes"),
    Lie("hangs up with words", _sent(Close(1011, "out\nof\x1b petrol")), r"code 1011, .* \(out of petrol\)"),
    # What is no WebSocket message, or no JSON
    Lie("compresses, which was not agreed on", _sent(Raw(bytes([TEXT | 0x40, 2]) + b"{}")), "rsv"),
    Lie("uses a reserved opcode", _sent(Raw(bytes([0x83, 0]))), "opcode"),
    Lie("continues nothing", _sent(Raw(bytes([0x80, 2]) + b"{}")), "got no WebSocket frame"),
    Lie("pings in pieces", _sent(Raw(bytes([0x09, 0]))), "got no WebSocket frame"),
    Lie("pings at length", _sent(Raw(bytes([PING, 126, 0, 200]) + b" " * 200)), "got no WebSocket frame"),
    Lie("closes with half a code", _sent(Raw(bytes([0x88, 1, 3]))), "got no WebSocket frame"),
    Lie("sends text that is not UTF-8", _sent(Raw(frame(b'{"type":"\xff\xfe"}'))), "as JSON"),
    Lie("sends no JSON", _sent("no json"), "got no json"),
    Lie("sends a binary frame", _sent(b"\x00\x01"), "binary frame of 2 bytes"),
    Lie("nests deeply", _sent(NESTED), "as JSON"),
    Lie("refuses with something nested deeply", _sent(NESTED_REFUSAL), "refused"),
    # What is not the reply that was due
    Lie("answers another request", _with("reset_result", "type"), "got the type 'reset_result'"),
    Lie("repeats a reply", lambda right, before: before, r"stepCount must rise .* got \d+ after \d+"),
    Lie("lets time run backwards", _with(1, "info", "stepCount"), r"stepCount must rise .* got 1 after \d+"),
    Lie("answers twice", lambda right, before: [right, right], "not asked for|must rise"),
    Lie("ends an episode without a reward", _without_reward, "step_result lacks the key 'reward'"),
    # A field that is not what it should be: the error names it and what came
    Lie("gives NaN", _with(float("nan"), "reward"), "step_result.reward must be .*, got nan"),
    Lie(
        "sees infinity", _with(float("inf"), "observation", 3), r"step_result.observation\[3\] must be a finite number"
    ),
    Lie("gives null", _with(None, "info", "wall"), "step_result.info.wall must be a finite number, got None"),
    Lie("gives text", _with("1", "reward"), "step_result.reward must be a finite number, got '1'"),
    Lie("sees null", _with(None, "observation", 4), "step_result.observation must be 14 numbers .* None at 4"),
    Lie("sees too little", _with([0.0] * 13, "observation"), "step_result.observation must be 14 .* got 13 numbers"),
    Lie("sees too deep", _with([[0.0]] * 14, "observation"), "step_result.observation must be 14 numbers"),
    Lie("has a list for an object", _with([], "info"), "step_result.info must be an object"),
]


def lying(lie: Lie, game: Callable[[], Answer], honest_steps: int = 2) -> Callable[[], Answer]:
    """Return what makes a fake peer a game that lies after some honest steps on a connection."""

    def make_answer() -> Answer:
        answer = game()
        steps: list[dict[str, Any]] = []

        def answer_or_lie(message: dict[str, Any]) -> Any:
            reply = answer(message)
            if message["type"] != "step":
                return reply
            steps.append(reply)
            return lie.tell(reply, steps[-2]) if len(steps) > honest_steps else reply

        return answer_or_lie

    return make_answer


def counting_game() -> Answer:
    """Return the simplest game that is right: every step is like the first, and counted."""
    count = 0

    def answer(message: dict[str, Any]) -> Any:
        nonlocal count
        if message["type"] == "reset":
            count = 0
            return RESET
        if message["type"] != "step":
            return {"type": "error", "message": "unknown type"}
        count += 1
        return {**STEP, "info": {**STEP_INFO, "stepCount": count}}

    return answer
