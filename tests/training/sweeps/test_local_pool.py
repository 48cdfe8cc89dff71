"""Processes of this machine; most of their runs here are refused before anything heavy is loaded."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from training.sweeps.local_pool import LocalPool
from training.sweeps.pool import Began, Ended, Evaluated, Event, RunOrder
from training.sweeps.worker import ONE_THREAD

pytestmark = pytest.mark.timeout(60)
REFUSED = ("--num-envs", "0")
QUICK = ("--eval-freq", "2048", "--num-envs", "16", "--set", "steps_per_car=64")  # evaluations
SLOW = ("--timesteps", "100000000")


def order(folder: Path, run: str, *options: str) -> RunOrder:
    """Return the order for a run in a folder."""
    return RunOrder(run, "PPO", options, folder / "models", folder / "logs")


def events(pool: LocalPool, count: int) -> list[Event]:
    """Wait for some events."""
    found: list[Event] = []
    end = time.monotonic() + 50
    while len(found) < count and time.monotonic() < end:
        found += pool.events(1.0)
    return found


def children() -> list[BaseProcess]:
    """Return the processes of all pools."""
    return multiprocessing.active_children()


@pytest.fixture
def pool() -> Iterator[LocalPool]:
    """A pool of one process."""
    with LocalPool(1) as pool:
        yield pool
    assert not children()


def test_a_process_trains_one_run_after_the_other(pool: LocalPool, tmp_path: Path) -> None:
    """It stays warm; each run ends with its reason, and what it printed is kept."""
    for run in "ab":
        pool.submit(order(tmp_path, run, *REFUSED))
    (process,) = children()
    found = events(pool, 4)
    why = "argument --num-envs: expected at least 1, got 0 (--help explains all arguments)"
    assert found == [Began("a"), Ended("a", why), Began("b"), Ended("b", why)]
    assert children() == [process]
    assert (tmp_path / "logs" / "a.txt").read_text() == f"error: {why}\n"


def test_there_are_no_more_processes_than_runs(tmp_path: Path) -> None:
    """Nor than workers."""
    with LocalPool(2) as pool:
        assert not children()
        for run in "abc":
            pool.submit(order(tmp_path, run, *REFUSED))
        assert len(children()) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to kill with")
def test_a_process_that_is_killed_is_told_and_replaced(pool: LocalPool, tmp_path: Path) -> None:
    """The run is lost, and the next one is trained."""
    pool.submit(order(tmp_path, "a", *SLOW))
    assert events(pool, 1) == [Began("a")]
    (process,) = children()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    pool.submit(order(tmp_path, "b", *REFUSED))
    lost, *others = events(pool, 3)
    assert lost == Ended("a", "its process was ended by SIGKILL, as for want of memory", is_lost=True)
    assert [event.run for event in others] == ["b", "b"]


def test_closing_ends_processes_at_once_while_they_load(tmp_path: Path) -> None:
    """Or compile, or train."""
    with LocalPool(1) as pool:
        pool.submit(order(tmp_path, "a", *SLOW))
        assert events(pool, 1) == [Began("a")]
    assert not children()
    pool.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to kill with")
def test_ctrl_c_in_a_terminal_is_left_to_the_sweep(pool: LocalPool, tmp_path: Path) -> None:
    """It reaches every process there."""
    pool.submit(order(tmp_path, "a", *REFUSED))
    events(pool, 2)
    (process,) = children()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    pool.submit(order(tmp_path, "b", *REFUSED))
    assert [event.run for event in events(pool, 2)] == ["b", "b"]


def test_the_environment_of_the_sweep_itself_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its processes are told to have one thread."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    with LocalPool(1) as pool:
        pool.submit(order(tmp_path, "a", *REFUSED))
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "NUMBA_NUM_THREADS" not in os.environ
    assert {*ONE_THREAD.values()} == {"1"}


@pytest.fixture(scope="module")
def warm() -> Iterator[LocalPool]:
    """A pool for the tests below, whose process loads PyTorch once."""
    with LocalPool(1) as pool:
        yield pool


def test_a_run_is_ended_early_as_a_trained_one(warm: LocalPool, tmp_path: Path) -> None:
    """With its files, and the reason in what it prints."""
    warm.submit(order(tmp_path, "a", *SLOW, *QUICK))
    found = events(warm, 2)
    warm.end_early("b", "it is another one")
    warm.end_early("a", "the others are better")
    while found[-1] != Ended("a"):
        found += events(warm, 1)
    assert (tmp_path / "models" / "a_final.zip").is_file()
    assert "ended early: the others are better\n" in (tmp_path / "logs" / "a.txt").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to end with")
def test_a_run_that_a_signal_interrupts_is_lost(warm: LocalPool, tmp_path: Path) -> None:
    """It did not fail by itself."""
    warm.submit(order(tmp_path, "a", *SLOW, *QUICK))
    assert isinstance(events(warm, 2)[1], Evaluated)
    (process,) = children()
    process.terminate()
    while not isinstance(last := events(warm, 1)[-1], Ended):
        continue
    assert last.is_lost
