"""What the soak finds: the rule of how a process may end, and kills at every system call."""

import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("needs Linux: ptrace and /proc", allow_module_level=True)

from tests.soak.cases import Budget, Case, Failure, chance_of, grouped, run_cases
from tests.soak.kills import NEVER, traced
from tests.soak.mutators import ODD_VALUES, dumped, mutated_bytes, mutated_json
from tests.soak.processes import Ended, fault_of, lost, ran

TRACEBACK = 'Traceback (most recent call last):\n  File "/x/training/a.py", line 3, in f\nValueError: no\n'


@pytest.mark.parametrize(
    ("ended", "fault"),
    [
        (Ended(0, "fine\n", "note: odd\n"), None),
        (Ended(2, "", "note: odd\nerror: no model a\n"), None),
        (Ended(2, "", "note: odd\n"), "without an error"),
        (Ended(1, "", TRACEBACK), "traceback: ValueError: no at training/a.py:3"),
        (Ended(-11, "", ""), "SIGSEGV"),
        (Ended(3, "", ""), "exit code 3"),
        (Ended(2, "", f"error: {'x' * 5000}\n"), "an error of 5007 characters"),
        (Ended(0, "\x1b[2J", ""), "control character"),
        (Ended(-9, "", "", "still running after 30 s"), "still running"),
    ],
)
def test_how_a_process_may_end(ended: Ended, fault: str | None) -> None:
    """In time, with an exit code that has a meaning, and one line of error."""
    found = fault_of(ended)
    assert found is None if fault is None else fault in str(found)


def test_limits(tmp_path: Path) -> None:
    """Too long, and too much memory."""
    sleeping = ran([sys.executable, "-c", "import time; time.sleep(30)"], folder=tmp_path, limit_s=0.2)
    assert fault_of(sleeping) == "still running after 0.2 s"
    large = ran([sys.executable, "-c", "x = b'1' * 10**9; input()"], folder=tmp_path, memory=2**28)
    assert "more than 0.25 GB" in str(fault_of(large))


def test_a_kill_before_every_system_call(tmp_path: Path) -> None:
    """Two files that are written one after the other are seen with none, with the first, and with both."""

    def write() -> None:
        for name in ("a", "b"):
            (tmp_path / name).write_text(name)

    calls, seen = traced(write, NEVER), set()
    for call in range(calls + 1):
        for path in tmp_path.iterdir():
            path.unlink()
        assert traced(write, call) == min(call + 1, calls)
        seen.add("".join(sorted(path.read_text() or "-" for path in tmp_path.iterdir())))
    assert seen == {"", "-", "a", "-a", "ab"}


def test_a_file_that_is_lost(tmp_path: Path) -> None:
    """Changed or gone."""
    (tmp_path / "a").write_text("now")
    assert lost({}, tmp_path) is None
    assert "a" in str(lost({"a": "digest of before"}, tmp_path))


def test_cases_come_back_by_their_number() -> None:
    """With the same seed, alone or among others; faults are grouped without their numbers."""

    def cases() -> list[Case]:
        return [Case("odd", lambda number=number: f"at {number}" if number % 2 else None) for number in range(9)]  # type: ignore[misc]

    outcome = run_cases("odd", 1, cases(), Budget())
    assert [failure.number for failure in outcome.failures] == [1, 3, 5, 7]
    assert run_cases("odd", 1, cases(), Budget(only=3)).failures == (Failure(3, "odd", "at 3"),)
    assert run_cases("odd", 1, cases(), Budget(stride=4, count=1)).failures == (Failure(1, "odd", "at 1"),)
    assert len(grouped(outcome.failures)) == 1
    assert mutated_json({"a": [1, 2]}, chance_of("odd", 1, 3)) == mutated_json({"a": [1, 2]}, chance_of("odd", 1, 3))


def test_damage_does_what_no_writer_would() -> None:
    """Every odd value becomes JSON, or what looks like it; bytes of any length can be damaged."""
    assert dumped({"a": "@token:1e400", "b": ["@token:NaN", '"']}) == b'{"a": 1e400, "b": [NaN, "\\""]}'
    for value in ODD_VALUES:
        assert dumped([value])
    for number in range(50):
        mutated_bytes(b"abc"[: number % 4], chance_of("bytes", 0, number))
