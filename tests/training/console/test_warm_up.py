"""The simulator, prepared while PyTorch is imported."""

import sys
import threading

import pytest

from training.console.warm_up import WarmUp


def test_what_fails_is_left_to_the_main_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing Numba, for one: the import that follows says it in one line, and nothing is said before."""
    told: list[object] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    monkeypatch.setitem(sys.modules, "racer_env.simulator.simulator", None)  # type: ignore[arg-type]
    with WarmUp(None, quiet=True):
        pass
    assert not told
