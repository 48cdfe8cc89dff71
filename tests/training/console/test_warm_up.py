"""The simulator, prepared while PyTorch is imported."""

import contextlib
import gc
import sys
import threading
import time
import types

import pytest

from racer_env.simulator import compiling
from training.console import warm_up
from training.console.warm_up import COMPILING, WarmUp

LOADING = ["loading ...", "still loading ..."]


def test_what_fails_is_left_to_the_main_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing Numba, for one: the import that follows says it in one line, and nothing is said before."""
    told: list[object] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    monkeypatch.setitem(sys.modules, "racer_env.simulator.simulator", None)  # type: ignore[arg-type]
    with WarmUp(None, quiet=True):
        pass
    assert not told


def test_no_garbage_is_looked_for_in_what_is_imported() -> None:
    """Neither meanwhile nor later; what comes after it is collected, whatever the import did."""
    gc.unfreeze()
    with contextlib.suppress(ImportError), WarmUp(None, quiet=True):
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
    gc.unfreeze()


@pytest.mark.parametrize(
    ("compiles_after_s", "said"),
    [(None, LOADING), (0.0, ["loading ...", COMPILING]), (0.15, [*LOADING, COMPILING])],
)
def test_only_what_is_compiled_is_said_to_be(
    compiles_after_s: float | None,
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What takes long on a busy machine is loading, unless a kernel was not found; that may be late."""
    monkeypatch.setattr(compiling, "HAS_BEGUN", threading.Event())

    def prepare(track: object, modules: object) -> None:
        if compiles_after_s is not None:
            time.sleep(compiles_after_s)
            compiling.HAS_BEGUN.set()
        time.sleep(0.15)

    monkeypatch.setattr(warm_up, "_compile", prepare)
    monkeypatch.setattr(WarmUp, "PATIENCE_S", 0.05)
    monkeypatch.setattr(WarmUp, "POLL_S", 0.01)
    with WarmUp(None):
        pass
    assert capsys.readouterr().out.splitlines() == said


def test_other_kernels_follow_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for them, and what fails is left to who needs it."""
    may_go_on, compiled, threads = threading.Event(), list[str](), set(threading.enumerate())

    def fail() -> None:
        may_go_on.wait(10.0)
        raise OSError

    monkeypatch.setitem(sys.modules, "first", types.SimpleNamespace(compile_kernels=fail))
    monkeypatch.setitem(sys.modules, "second", types.SimpleNamespace(compile_kernels=lambda: compiled.append("second")))
    with WarmUp(None, quiet=True, later=("first", "second")):
        pass
    assert not compiled
    may_go_on.set()
    for thread in set(threading.enumerate()) - threads:
        thread.join(10.0)
    assert compiled == ["second"]


def test_kernels_needed_at_once_are_ready_when_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are compiled with the simulator's, so whoever waits has been told."""
    compiled = list[str]()
    monkeypatch.setitem(sys.modules, "first", types.SimpleNamespace(compile_kernels=lambda: compiled.append("first")))
    with WarmUp(None, quiet=True, now=("first",)):
        pass
    assert compiled == ["first"]
