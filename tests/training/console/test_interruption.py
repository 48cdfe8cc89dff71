"""Signals: one exception, held back while something is written; a second signal ends at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from racer_env.project import PROJECT_ROOT
from training.console.interruption import Interrupted, Interruption

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send itself these signals")


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Whatever a test does, the handlers are as they were."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_raises(name: str, code: int) -> None:
    """With the exit code that shells know."""
    with pytest.raises(Interrupted) as interrupted, Interruption():
        signal.raise_signal(getattr(signal, name))
    assert interrupted.value.exit_code == code
    assert isinstance(interrupted.value, KeyboardInterrupt)


def test_handlers_are_put_back() -> None:
    """Afterwards everything is as before."""
    before = signal.getsignal(signal.SIGTERM)
    with Interruption():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def test_while_something_is_written_a_signal_waits() -> None:
    """It raises when the shield ends, also when shields are nested."""
    written = []
    with pytest.raises(Interrupted), Interruption(), Interruption.shield():
        with Interruption.shield():
            signal.raise_signal(signal.SIGINT)
            written.append("inner")
        written.append("outer")
    assert written == ["inner", "outer"]


def test_ignored_signals_stay_ignored() -> None:
    """As under nohup, or in the background of a shell."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Interruption():
        signal.raise_signal(signal.SIGHUP)


def test_without_interruption_a_shield_does_nothing() -> None:
    """Saving works in anybody's program."""
    with pytest.raises(KeyboardInterrupt), Interruption.shield():
        raise KeyboardInterrupt


def test_a_second_signal_ends_at_once() -> None:
    """Even while something is written; the exit code is that of the signal. One that comes twice at once is one."""
    script = """
import signal, time
from training.console.interruption import Interruption
with Interruption(), Interruption.shield():
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGTERM)
    time.sleep(0.4)
    print("saving", flush=True)
    signal.raise_signal(signal.SIGINT)
    print("still there", flush=True)
"""
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT_ROOT, capture_output=True, text=True, env={**os.environ}, timeout=9
    )
    assert result.returncode == 130
    assert result.stdout == "saving\n"
    assert "ended at once" in result.stderr
