"""The simulator, prepared while PyTorch is imported."""

import contextlib
import gc
import sys
import threading
import time

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


def test_garbage_is_collected_again_whatever_the_import_does() -> None:
    """Only while modules are imported, there is none to speak of."""
    with contextlib.suppress(ImportError), WarmUp(None, quiet=True):
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()


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

    def prepare(track: object) -> None:
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
