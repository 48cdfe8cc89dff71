"""Compiled kernels on disk: kept by Numba, checked before they run, and never a reason not to start.

Numba keeps them in ``NUMBA_CACHE_DIR`` if that is set, else in ``__pycache__`` beside the source, else in the user's
cache folder, whichever can be written first. It trusts what it finds there. Here, damaged files are compiled anew, and
where nothing can be written, every process compiles for itself. Both are said, each once per process.
"""

import contextlib
import hashlib
import io
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numba import njit, typeof
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

from racer_env.printable import printable
from racer_env.simulator import compiling

UNREADABLE = "the compiled simulator cannot be used (%s); it is compiled anew, which takes some ten seconds"
UNWRITABLE = (
    "the compiled simulator cannot be kept (%s), so the next start compiles it anew, which takes some ten seconds; "
    "make room in %s, or set NUMBA_CACHE_DIR to another folder"
)
NO_FOLDER = (
    "the compiled simulator cannot be kept, as neither its own folder nor the user's cache folder can be written, so "
    "every start compiles it anew, which takes some ten seconds; set NUMBA_CACHE_DIR to a folder that can be written"
)
DIGEST_SIZE = hashlib.sha256().digest_size  # bytes

_log = logging.getLogger(__name__)
_said: set[str] = set()


def cached_njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator like ``numba.njit(cache=True, **options)``, whose cache tolerates what can go wrong."""

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = njit(**options)(function)
        try:
            kernel._cache = _KernelCache(function)
        except RuntimeError:  # Numba's own, if it finds no folder to write to
            kernel._cache = _NoCache()
        return kernel

    return decorate


def entry_point(kernel: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """Compile a kernel for these arguments' types, or load it from the cache, and return its entry point.

    Numba's dispatcher inspects the type of every argument on every call, which took 7 of 12 microseconds of a
    single car's step. The types of a simulator's arrays never change, so one inspection is enough.
    """
    types = tuple(typeof(argument) for argument in arguments)
    kernel.compile(types)
    found: Callable[..., Any] = kernel.overloads[types].entry_point
    return found


class _DamagedError(Exception):
    """A file does not hold what was written."""


class _CheckedFiles(IndexDataCacheFile):
    """Files that end with a digest, as damaged machine code would crash the process or compute something else.

    Unpickling ignores what follows the content.
    """

    def _load_index(self) -> Any:
        self._check(self._index_path)
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        self._check(self._data_path(name))
        return super()._load_data(name)

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        with super()._open_for_write(filepath) as file:
            content = io.BytesIO()
            yield content
            file.write(content.getvalue() + self._digest(filepath, content.getvalue()))

    def _check(self, filepath: str) -> None:
        try:
            content = Path(filepath).read_bytes()
        except FileNotFoundError:
            return  # nothing is kept
        if content[-DIGEST_SIZE:] != self._digest(filepath, content[:-DIGEST_SIZE]):
            raise _DamagedError(f"{filepath} is damaged")

    def _digest(self, filepath: str, content: bytes) -> bytes:
        # Numba writes the index before the code. If it ends in between, the new index names code of an older source.
        source = b"" if filepath == self._index_path else repr(self._source_stamp).encode()
        return hashlib.sha256(source + content).digest()


class _KernelCache(FunctionCache):
    """The compiled code of one kernel, kept as far as that is possible."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Under names of their own, because files that Numba wrote without a digest are not damaged.
        name = f"{self._impl.filename_base}.checked"
        self._cache_file = _CheckedFiles(self.cache_path, name, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None if there is none, or none that can be used."""
        found = None
        try:
            found = super().load_overload(sig, target_context)
        except Exception as error:  # Unpickling can raise anything.
            _say_once(UNREADABLE, _in_one_line(error))
            with contextlib.suppress(OSError):
                Path(self._cache_file._index_path).unlink(missing_ok=True)
        if found is None:
            compiling.HAS_BEGUN.set()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code if that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # The code has been compiled and runs, whatever its file is like.
            _say_once(UNWRITABLE, _in_one_line(error), self.cache_path)


class _NoCache(NullCache):
    """Keeps nothing, and says so when there is something to keep."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Return that there is none."""
        compiling.HAS_BEGUN.set()

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Say that compiled code is not kept."""
        _say_once(NO_FOLDER)


def _in_one_line(error: Exception) -> str:
    return printable(str(error)) or type(error).__name__


def _say_once(message: str, *details: str) -> None:
    if message not in _said:
        _said.add(message)
        _log.warning(message, *details)
