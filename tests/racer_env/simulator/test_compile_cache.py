"""Compiled kernels on disk: damaged, stale, or nowhere to put them."""

import importlib.util
import logging
import random
import threading
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.dispatcher import Dispatcher

from racer_env.simulator import compile_cache, compiling, kernels, table_kernels

SOURCE = """
from racer_env.simulator.compile_cache import cached_njit

@cached_njit(error_model="numpy")
def scale(x):
    return {factor} * x
"""
DAMAGES = {
    "cut off": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: random.Random(1).randbytes(len(content)),
    "a bit of it": lambda content: content[:99] + bytes([content[99] ^ 1]) + content[100:],
}


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been said yet, and the folder is Numba's choice."""
    monkeypatch.setattr(compile_cache, "_said", set())
    monkeypatch.setattr(compiling, "HAS_BEGUN", threading.Event())
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")


def start(folder: Path, factor: float = 2.0) -> Any:
    """Return the kernel of a module, as in a process that has just started."""
    path = folder / "scaling.py"
    path.write_text(SOURCE.format(factor=factor))
    spec = importlib.util.spec_from_file_location("scaling", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scale


def files(folder: Path, ending: str) -> list[Path]:
    """Return what is kept of the kernel."""
    return list((folder / "__pycache__").glob(f"*.{ending}"))


def was_loaded(kernel: Any) -> bool:
    """Whether a kernel was called, and came from disk."""
    return bool(kernel.stats.cache_hits) and not kernel.stats.cache_misses


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_file_is_said_and_compiled_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, ending: str, damage: str
) -> None:
    """And the start after that loads it silently."""
    start(tmp_path)(1.0)
    (kept,) = files(tmp_path, ending)
    kept.write_bytes(DAMAGES[damage](kept.read_bytes()))
    assert start(tmp_path)(1.0) == 2.0
    assert [record.getMessage() for record in caplog.records] == [
        f"the compiled simulator cannot be used ({kept} is damaged); it is compiled anew, which takes some ten seconds"
    ]
    caplog.clear()
    kernel = start(tmp_path)
    assert kernel(1.0) == 2.0
    assert was_loaded(kernel)
    assert not caplog.records


def test_code_of_another_source_is_not_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Which a new index names if the disk was full, or the process ended, before the new code was written."""
    start(tmp_path)(1.0)
    (code,) = files(tmp_path, "nbc")
    old = code.read_bytes()
    start(tmp_path, factor=3.25)(1.0)
    code.write_bytes(old)
    assert start(tmp_path, factor=3.25)(1.0) == 3.25
    assert "cannot be used" in caplog.text


def test_code_that_cannot_be_written_is_run_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One line says so, and what to do."""
    start(tmp_path)(1.0)
    (code,) = files(tmp_path, "nbc")
    code.unlink()
    (code / "in the way").mkdir(parents=True)
    with caplog.at_level(logging.WARNING):
        assert start(tmp_path)(1.0) == 2.0
    assert sum("cannot be kept" in message and "NUMBA_CACHE_DIR" in message for message in caplog.messages) == 1


def test_without_a_folder_for_it_a_kernel_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is said once, not for every kernel."""
    (tmp_path / "__pycache__").write_text("a file, so no folder")
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [InTreeCacheLocator])  # no user's folder
    assert start(tmp_path)(1.0) == start(tmp_path)(1.0) == 2.0
    assert caplog.messages == [compile_cache.NO_FOLDER]


def test_whether_something_is_compiled_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the cache has is loaded; what it lacks, or cannot keep, is compiled."""

    def compiles() -> bool:
        compiling.HAS_BEGUN.clear()
        assert start(tmp_path)(1.0) == 2.0
        return compiling.HAS_BEGUN.is_set()

    assert [compiles(), compiles()] == [True, False]
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])  # no folder
    assert [compiles(), compiles()] == [True, True]


def test_every_kernel_that_is_kept_is_kept_this_way() -> None:
    """Numba's own cache ends the process with what it finds."""
    both = {**vars(kernels), **vars(table_kernels)}
    caches = {name: type(kernel._cache) for name, kernel in both.items() if isinstance(kernel, Dispatcher)}
    assert FunctionCache not in caches.values()
    assert "step_cars" in caches
