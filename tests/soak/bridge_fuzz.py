"""Nonsense for the bridge: every message is answered, what is refused changes nothing, and others notice nothing.

Beside the fuzzed bridge runs a quiet one, which gets only what the fuzzed one accepted. Whatever the two answer has to
be equal byte by byte: the fuzzed connection's replies, and those of a twin on a connection of its own.
"""

import functools
import itertools
import json
import logging
import random
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from racer_env.bridge.process import BridgeProcess
from tests.soak.cases import Budget, Case, Outcome, chance_of, run_cases
from tests.soak.mutators import mutated_bytes, mutated_json
from tests.soak.processes import memory_of
from tests.soak.wire import BINARY, CLOSE, PING, PONG, TEXT, GoneError, RawClient, client_frame

KIND = "bridge fuzzer"
ROUNDS = 60  # messages of a case
MAX_REQUEST = 65_536  # bytes
MAX_MESSAGE = 1_000  # characters of a refusal
FAIR_S = 5.0  # seconds in which the twin is answered, whatever the others do
MEMORY_LIMIT = 2**30  # bytes
TOO_LONG, NOT_UTF8, DONE = 1009, 1007, 1000
CLOSE_CODES = {None, 1000, 1001, 1002, 1003, 1006, 1007, 1008, 1009}


class Arena:
    """The two bridges, with the twin on one and its witness on the other; a context manager."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._handler = logging.Handler()
        self._handler.emit = lambda record: self.said.append(record.getMessage())  # type: ignore[method-assign]
        logging.getLogger("racer_env.bridge.process").addHandler(self._handler)
        self.fuzzed, self.quiet = BridgeProcess(), BridgeProcess()
        self._twin, self._witness = (RawClient(port_of(bridge)) for bridge in (self.fuzzed, self.quiet))
        begin = json.dumps({"type": "reset", "numEnvs": 3}).encode()
        assert self._twin.ask(begin) == self._witness.ask(begin)

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, *details: object) -> None:
        for each in (self._twin, self._witness):
            each.__exit__()
        for bridge in (self.fuzzed, self.quiet):
            bridge.stop()
        logging.getLogger("racer_env.bridge.process").removeHandler(self._handler)

    def fault(self, chance: random.Random) -> str | None:
        """Return what the twin notices of all the others; None if nothing."""
        step = json.dumps({"type": "step", "actions": [action_of(chance) for _ in range(3)]}).encode()
        begin = time.monotonic()
        try:
            answer = self._twin.ask(step)
        except (GoneError, OSError) as error:
            return f"the twin has lost the bridge: {error}"
        waited = time.monotonic() - begin
        if answer != self._witness.ask(step):
            return "the twin's simulation is no longer that of its witness"
        if waited > FAIR_S:
            return f"the twin waited {waited:.0f} s for a step"
        if memory_of(self.fuzzed.pid) > MEMORY_LIMIT:
            return f"the bridge uses more than {MEMORY_LIMIT / 2**30:g} GB"
        internal = [line for line in self.said if "internal error" in line]
        self.said.clear()
        return internal[0][:300] if internal else None


def cases(seed: int, arena: Arena) -> Iterator[Case]:
    """Yield nonsense of every kind in turn, without end."""
    kinds = (_messages, _messages, _frames, _handshake, _flood)
    for number in itertools.count():
        kind = kinds[number % len(kinds)]
        yield Case(kind.__name__.strip("_"), functools.partial(_run, kind, seed, number, arena))


def run(seed: int, folder: Path, budget: Budget) -> Outcome:
    """Fuzz a bridge; the folder is for other kinds."""
    with Arena() as arena:
        return run_cases(KIND, seed, cases(seed, arena), budget)


def _run(kind: Callable[[Arena, random.Random], str | None], seed: int, number: int, arena: Arena) -> str | None:
    chance = chance_of(KIND, seed, number)
    try:
        fault = kind(arena, chance)
    except TimeoutError:
        fault = "no reply"
    return fault or arena.fault(chance)


def port_of(bridge: BridgeProcess) -> int:
    """Return the port of a bridge."""
    return int(bridge.url.rsplit(":", 1)[1])


# --- Messages ---


def action_of(chance: random.Random) -> list[float]:
    """Return an action, now and then beyond its bounds."""
    return [chance.choice([chance.uniform(-1, 1), chance.uniform(-3, 3), 0, 1]) for _ in range(3)]


def _start_of(chance: random.Random) -> Any:
    return chance.choice([None, [chance.uniform(-500, 2000), chance.uniform(-20, 20), chance.uniform(-3, 3), 30.0]])


def _request(chance: random.Random, cars: int) -> tuple[dict[str, Any], int]:
    """Return a request that is right, and for how many cars a reset is: 0 is one without ``numEnvs``."""
    act = chance.random()
    if act < 0.1:
        kinds: list[dict[str, Any]] = [{"type": "hello"}, {"type": "track", "trackId": "track-02"}, {"type": "close"}]
        return chance.choices(kinds, [5, 5, 1])[0], cars
    if act < 0.25:
        episode = {"maxSteps": chance.choice([1, 5, 3000]), "stillnessTimeoutTicks": chance.choice([1, 180])}
        extras = {"trackId": chance.choice(["track-01", "track-03"]), "config": {"episode": episode}}
        reset = {"type": "reset", **{key: extras[key] for key in extras if chance.random() < 0.5}}
        cars = chance.choice([0, 1, 3, 256])
        starts = {"numEnvs": cars, "starts": [_start_of(chance) for _ in range(cars)]} if cars else {}
        return {**reset, **(starts or {"start": _start_of(chance)})}, cars
    if cars == 0:
        return {"type": "step", "action": action_of(chance)}, cars
    step = {"type": "step", "actions": [action_of(chance) for _ in range(cars)]}
    return (
        {**step, "nextStarts": [[chance.randrange(cars), _start_of(chance)]]} if chance.random() < 0.3 else step
    ), cars


def _message(chance: random.Random, cars: int) -> tuple[bytes, int, int]:
    """Return a message, right or wrong, its opcode, and for how many cars it would be a reset."""
    document, later = _request(chance, cars)
    payload, act = json.dumps(document).encode(), chance.random()
    if act < 0.35:
        return payload, TEXT, later
    if act < 0.75:
        return mutated_json(document, chance), TEXT, later
    if act < 0.85:
        return mutated_bytes(payload, chance), chance.choice([TEXT, BINARY]), later
    numbers = [value for _ in range(max(cars, 1)) for value in action_of(chance)]
    numbers += [value for _ in range(chance.choice([0, 0, 1, 2])) for value in (chance.randrange(4), 1, 10, 0, 0, 5)]
    step = struct.pack(f"<{len(numbers)}d", *numbers)
    return (step if chance.random() < 0.5 else mutated_bytes(step, chance)), BINARY, later


def _messages(arena: Arena, chance: random.Random) -> str | None:
    """Send right and wrong messages by turns."""
    with RawClient(port_of(arena.fuzzed)) as fuzzed, RawClient(port_of(arena.quiet)) as mirror:
        cars = 0
        for _ in range(ROUNDS):
            payload, opcode, later = _message(chance, cars)
            try:
                answer = fuzzed.ask(payload, opcode)
            except GoneError as gone:
                return _close_fault(gone.code, payload, opcode)
            if (refusal := _refusal_of(answer)) is not None:
                if (fault := _refusal_fault(refusal)) is not None:
                    return f"{fault} as the answer to {payload[:100]!r}"
                continue
            if answer != mirror.ask(payload, opcode):
                return f"an answer that depends on what was refused before, to {payload[:200]!r}"
            if b'"reset_result"' in answer[1][:30]:
                cars = later
            if b'"close_result"' in answer[1][:30]:
                break
    return None


def _refusal_of(answer: tuple[int, bytes]) -> dict[str, Any] | None:
    if answer[0] != TEXT:
        return None
    document = json.loads(answer[1])
    return document if document["type"] == "error" else None


def _refusal_fault(refusal: dict[str, Any]) -> str | None:
    message = refusal.get("message")
    if set(refusal) != {"type", "message"} or not isinstance(message, str):
        return f"an odd refusal, {str(refusal)[:200]}"
    if len(message) > MAX_MESSAGE or not message.isprintable():
        return f"a refusal that is no line for people, {message[:200]!r}"
    return f"a refusal that tells of an {message[:200]}" if message.startswith("internal error") else None


def _close_fault(code: int | None, payload: bytes, opcode: int) -> str | None:
    """Return what is wrong with a connection that was closed after a message."""
    with suppress(UnicodeDecodeError):
        payload.decode()
        is_text = True
        if len(payload) > MAX_REQUEST:
            return None if code == TOO_LONG else f"close {code} after a message that is too long"
        return f"close {code} after {payload[:200]!r}" if is_text and code != DONE else None
    expected = TOO_LONG if len(payload) > MAX_REQUEST else NOT_UTF8
    return None if code == expected else f"close {code} after bytes that are no text, opcode {opcode}"


# --- Frames, handshakes, floods ---


def _frame(chance: random.Random) -> bytes:
    """Return a frame that WebSocket may forbid."""
    payload = chance.choice(
        [b"", b'{"type":"hello"}', chance.randbytes(30), chance.randbytes(125), bytes(70_000), b"\xff"]
    )
    opcode = chance.choice([0, TEXT, BINARY, CLOSE, PING, PONG, *range(3, 8), 11, 15])
    told = chance.choice([None, None, None, len(payload) + 5, 2**31, 2**63, 2**64 - 1, 0])
    if told is not None and told > 65_535:
        payload = payload[:100]
    first = chance.choice([0x80, 0x80, 0x00, 0xC0, 0xA0, 0xF0])
    return client_frame(payload, opcode, first=first, masked=chance.random() < 0.85, told=told)


def _in_pieces(payload: bytes, chance: random.Random) -> bytes:
    """Return a message in several frames, with pings between them."""
    cuts = sorted(chance.randrange(len(payload)) for _ in range(chance.choice([0, 1, 3])))
    ends = [*cuts, len(payload)]
    frames = []
    for index, (begin, end) in enumerate(zip([0, *cuts], ends, strict=True)):
        first = 0x80 if index == len(ends) - 1 else 0x00
        frames += [client_frame(payload[begin:end], 0 if index else TEXT, first=first)]
        frames += [client_frame(b"beat", PING)] * (index < len(ends) - 1)
    return b"".join(frames)


def _frames(arena: Arena, chance: random.Random) -> str | None:
    """Send a message in pieces, then frames that may be forbidden."""
    with RawClient(port_of(arena.fuzzed)) as client:
        client.send(_in_pieces(b'{"type":"hello"}', chance))
        answer = client.read()
        while answer[0] == PONG:
            answer = client.read()
        if b'"hello_result"' not in answer[1]:
            return f"a message in pieces was answered with {answer[1][:100]!r}"
        for _ in range(chance.randrange(1, 8)):
            client.send(_frame(chance))
        client.send(client_frame(b"", CLOSE))
        client.shut()
        try:
            while True:
                client.read()
        except GoneError as gone:
            return None if gone.code in CLOSE_CODES else f"close {gone.code} after forbidden frames"


_HANDSHAKES: tuple[bytes, ...] = (
    *(b"", b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/1.1\r\n\r\n", b"GET"),
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: http://evil\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\nabc",
    b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n",
    *(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5000 + b"\r\n", b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n"),
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "
    b"AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 99\r\n\r\n",
)


def _handshake(arena: Arena, chance: random.Random) -> str | None:
    """Open connections that are none, and leave some of them open for a moment."""
    clients = []
    for _ in range(chance.choice([1, 5, 40])):
        handshake = chance.choice(_HANDSHAKES)
        clients.append(
            RawClient(port_of(arena.fuzzed), mutated_bytes(handshake, chance) if chance.random() < 0.5 else handshake)
        )
    fault = arena.fault(chance)
    for client in clients:
        client.__exit__()
    return fault


def _flood(arena: Arena, chance: random.Random) -> str | None:
    """Send far more than is read, and look how the twin fares meanwhile."""
    cars = chance.choice([1, 64, 256])
    reset = client_frame(json.dumps({"type": "reset", "numEnvs": cars}).encode())
    step = client_frame(struct.pack(f"<{3 * cars}d", *action_of(chance) * cars), BINARY)
    kinds = [(client_frame(b"x" * 125, PING), 20_000), (reset, 300), (step, 1000), (client_frame(b"", TEXT), 20_000)]
    message, count = chance.choice(kinds)
    with RawClient(port_of(arena.fuzzed)) as client:
        client.send(reset)
        client.send_in_time(message * count, FAIR_S)
        return arena.fault(chance)
