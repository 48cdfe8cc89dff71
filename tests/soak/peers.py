"""Lying peers: whatever answers instead of a game, a script ends in time with an error of one line."""

import functools
import itertools
import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from racer_env.bridge.client import BridgeClient
from racer_env.bridge.process import BridgeProcess
from racer_env.physics import load_physics
from racer_env.tracks import load_track
from tests.fake_peer import Answer, Close, Drop, Endless, FakePeer, Raw, frame, version_1_game
from tests.soak.bridge_fuzz import port_of
from tests.soak.cases import Budget, Case, Outcome, chance_of, run_cases
from tests.soak.mutations import SHORT
from tests.soak.mutators import dumped, mutated_bytes, mutated_json, odd_value
from tests.soak.processes import fault_of, forked
from tests.soak.wire import BINARY, CLOSE, PING, TEXT, Lie, LyingProxy
from training import evaluate, parity, train_ppo

KIND = "lying peers"
REPLY_TIMEOUT_S = 1.0  # seconds that a script waits for a reply here, instead of half a minute
LIMIT_S = 30.0  # seconds for a case

# What to say instead of an honest answer.
Answers = Callable[[dict[str, Any]], Any]


# What a peer says instead of any answer.
LIES: dict[str, Answers] = {
    "silence": lambda honest: None,
    "hangs up": lambda honest: Drop(),
    "a byte now and then": lambda honest: Endless(b"\x81\x7e\xea\x60", b" ", 0.05),
    "says goodbye": lambda honest: Close(1000, "bye"),
    "a goodbye with control characters": lambda honest: Close(4000, "\x1b[2J\nerror: no"),
    "a goodbye without a code": lambda honest: Raw(frame(b"", CLOSE)),
    "a goodbye of one byte": lambda honest: Raw(frame(b"x", CLOSE)),
    "the answer twice": lambda honest: [honest, honest],
    "pings, then the answer": lambda honest: [Raw(frame(b"beat", PING) * 3), honest],
    "pings without end": lambda honest: Endless(b"", frame(b"x" * 125, PING)),
    "a ping that is too long": lambda honest: Raw(bytes([0x80 | PING, 126, 1, 0]) + b"x" * 256),
    "a message in pieces without end": lambda honest: Endless(b"\x01\x01{", b"\x00\x01 " * 1000),
    "empty pieces without end": lambda honest: Endless(b"\x01\x00", b"\x00\x00" * 1000),
    "a piece of nothing": lambda honest: Raw(b"\x80\x01 "),
    "reserved bits": lambda honest: Raw(b"\xf1\x02{}"),
    "an unknown opcode": lambda honest: Raw(b"\x83\x02{}"),
    "a masked frame": lambda honest: Raw(b"\x81\x82\x00\x00\x00\x00{}"),
    "a frame of 2^63 bytes": lambda honest: Raw(b"\x81\x7f" + b"\x80" + bytes(7)),
    "a frame of 4 GB": lambda honest: Raw(b"\x81\x7f\x00\x00\x00\x01" + bytes(4)),
    "20 MB": lambda honest: {**honest, "more": "x" * 20_000_000},
    "15 MB of numbers": lambda honest: {**honest, "observation": [0.5] * 3_000_000},
    "nested deeply": lambda honest: "[" * 1_000_000,
    "an error with control characters": lambda honest: {"type": "error", "message": "\x1b[2J\x07\nerror: \u202eno"},
    "an error of 10 MB": lambda honest: {"type": "error", "message": "x" * 10_000_000},
    "an error without a message": lambda honest: {"type": "error"},
    "an error whose message is none": lambda honest: {"type": "error", "message": [["x"]]},
    "bytes": lambda honest: b"\x00" * 8 * 33,
    "no UTF-8": lambda honest: Raw(frame(b'{"type":"\xff\xfe"}')),
    "not JSON": lambda honest: "{'type': 1}",
    "numbers too large": lambda honest: Raw(frame(json.dumps(honest).replace("0.0", "1e400").encode())),
    "NaN": lambda honest: Raw(frame(json.dumps(honest).replace("0.0", "NaN").encode())),
    "numbers with 5000 digits": lambda honest: Raw(frame(json.dumps(honest).replace("0.0", "9" * 5000).encode())),
    "nothing": lambda honest: "",
    "null": lambda honest: "null",
    "HTTP": lambda honest: Raw(b"HTTP/1.1 200 OK\r\n\r\n"),
}

HANDSHAKES: tuple[bytes, ...] = (
    b"HTTP/1.1 301 Moved\r\nLocation: ws://example.com:1/\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
    b"HTTP/1.1 500 \x1b[2J\x07\r\nX: \xff\r\n\r\n",
    b"HTTP/1.1 abc def\r\n\r\n",
    b"\x00" * 1000,
    b"a" * 3_000_000,
    b"HTTP/1.1 401 No\r\n" + b"Set-Cookie: a=b\r\n" * 100_000,
    b"HTTP/1.1 101 Switching Protocols\r\nno colon here\r\n\r\n",
    b"SSH-2.0-OpenSSH_9.6\r\n",
)


class Peers:
    """What the cases talk to: an honest game of version 1, and a real bridge; a context manager."""

    def __init__(self) -> None:
        self.game = version_1_game([load_track("track-01")])
        self.bridge = BridgeProcess()

    def __enter__(self) -> "Peers":
        return self

    def __exit__(self, *details: object) -> None:
        self.bridge.stop()


def cases(seed: int, peers: Peers, folder: Path) -> Iterator[Case]:
    """Yield the table, for every kind of request, then random lies without end."""
    (folder / "short.json").write_bytes(dumped(SHORT))
    numbers = itertools.count()
    for kind, (name, lie) in itertools.product(("hello", "reset", "step"), LIES.items()):
        yield _case(seed, next(numbers), f"{name}, instead of an answer to {kind}", _table(peers, kind, lie), folder)
    for handshake in HANDSHAKES:
        yield _case(seed, next(numbers), f"handshake {handshake[:30]!r}", _handshake(peers, handshake), folder)
    for number in numbers:
        make = (_random_answers, _random_hello, _random_frames)[number % 3]
        what = make.__name__.strip("_").replace("_", " ")
        yield _case(seed, number, what, functools.partial(make, peers), folder)


def run(seed: int, folder: Path, budget: Budget) -> Outcome:
    """Let scripts talk to liars, in a folder of the soak's."""
    place = folder / "peers"
    place.mkdir(parents=True, exist_ok=True)
    with Peers() as peers:
        return run_cases(KIND, seed, cases(seed, peers, place), budget)


# Opens a liar that lives as long as the stack, and returns its URL.
Open = Callable[[ExitStack, random.Random], str]


def _case(seed: int, number: int, what: str, opened: Open, folder: Path) -> Case:
    def act() -> str | None:
        chance = chance_of(KIND, seed, number)
        with ExitStack() as stack:
            script, arguments = _script(opened(stack, chance), chance, folder, number)
            ended = forked(_impatient, script, arguments, folder=folder, limit_s=LIMIT_S)
        return fault_of(ended, codes=(0, 1, 2))

    return Case(what, act)


def _script(url: str, chance: random.Random, folder: Path, number: int) -> tuple[Callable[[list[str]], int], list[str]]:
    bridge = ["--bridge-url", url]
    places = ["--models-dir", str(folder / "models"), "--logs-dir", str(folder / "logs"), "--run-name", f"r{number}"]
    brief = ["--timesteps", "64", "--num-envs", "2", "--eval-freq", "0", "--set", "steps_per_car=32"]
    drive = ["--model", "scripted", "--laps", "1", "--config", str(folder / "short.json")]
    scripts: list[tuple[Callable[[list[str]], int], list[str]]] = [
        (evaluate.main, [*drive, *bridge]),
        (evaluate.main, [*drive, *bridge]),
        (parity.main, [*bridge, "--episodes", "1", "--track-id", "track-01"]),
        (train_ppo.main, [*bridge, *brief, *places]),
    ]
    return chance.choice(scripts)


def _impatient(script: Callable[[list[str]], int], arguments: list[str]) -> int:
    defaults = BridgeClient.__init__.__kwdefaults__
    assert defaults is not None
    defaults.update(connect_timeout_s=REPLY_TIMEOUT_S, reply_timeout_s=REPLY_TIMEOUT_S)
    return script(arguments)


# --- Liars ---


def _fake(stack: ExitStack, make_answer: Callable[[], Answer], **options: Any) -> str:
    return stack.enter_context(FakePeer(make_answer, **options)).url


def _table(peers: Peers, kind: str, lie: Answers) -> Open:
    def make_answer() -> Answer:
        game = peers.game()
        return lambda message: lie(game(message)) if message["type"] == kind else game(message)

    return lambda stack, chance: _fake(stack, make_answer)


def _handshake(peers: Peers, handshake: bytes) -> Open:
    return lambda stack, chance: _fake(stack, peers.game, handshake=Raw(handshake))


def _random_answers(peers: Peers, stack: ExitStack, chance: random.Random) -> str:
    """A game of version 1, some of whose answers are changed."""
    share = chance.choice([0.02, 0.3])

    def make_answer() -> Answer:
        game = peers.game()

        def answer(message: dict[str, Any]) -> Any:
            honest = game(message)
            if chance.random() > share:
                return honest
            return Raw(frame(mutated_json(honest, chance)))

        return answer

    return _fake(stack, make_answer)


def _random_hello(peers: Peers, stack: ExitStack, chance: random.Random) -> str:
    """A game that claims version 2, and lies about what it has."""
    track = load_track("track-01")
    summary = {"id": track.id, "name": track.name, "length": track.length, "fingerprint": track.fingerprint}
    hello: dict[str, Any] = {"type": "hello_result", "protocol": 2, "physics": load_physics().fingerprint}
    hello |= {"maxEnvs": chance.choice([1, 256, 2**31]), "tracks": [summary] * chance.choice([1, 1, 2])}
    lied = mutated_json(hello, chance)
    track_reply = mutated_json({"type": "track_result", "track": track.to_json()}, chance)

    def make_answer() -> Answer:
        game = peers.game()
        replies = {"hello": Raw(frame(lied)), "track": Raw(frame(track_reply))}
        return lambda message: replies.get(message["type"]) or game(message)

    return _fake(stack, make_answer)


def _random_frames(peers: Peers, stack: ExitStack, chance: random.Random) -> str:
    """The real bridge, some of whose frames are changed on the way."""
    share = chance.choice([0.01, 0.1])

    def make_lie() -> Lie:
        def lie(number: int, opcode: int, payload: bytes) -> bytes | None:
            honest = frame(payload, opcode)
            return _lied(opcode, payload, honest, chance) if chance.random() < share else honest

        return lie

    return stack.enter_context(LyingProxy(port_of(peers.bridge), make_lie)).url


def _lied(opcode: int, payload: bytes, honest: bytes, chance: random.Random) -> bytes | None:
    act = chance.randrange(7)
    if act == 0 and opcode == TEXT:
        return frame(mutated_json(json.loads(payload), chance))
    if act <= 1 and opcode == BINARY:
        numbers = np.frombuffer(payload).copy()
        numbers[chance.randrange(len(numbers))] = chance.choice([np.nan, np.inf, -1.0, 0.5, 1e300, 7.0, 2.0**60])
        return frame(numbers.tobytes(), BINARY)
    if act == 2:
        return frame(mutated_bytes(payload, chance), opcode)
    if act == 3:
        return mutated_bytes(honest, chance)
    if act == 4:
        return honest + honest
    return frame(dumped(odd_value(chance))) if act == 5 else chance.choice([b"", None])
