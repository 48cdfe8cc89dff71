"""A quick start: the simulator is compiled or loaded while PyTorch is imported."""

import contextlib
import gc
import importlib
import threading
from collections.abc import Sequence

from racer_env.simulator import compiling
from racer_env.tracks import AnyTrack, Track
from training.console.messages import say

COMPILING = "compiling the simulator, once after an installation or a change; this takes some ten seconds ..."


class WarmUp:
    """Prepares the simulator in a thread, from ``__enter__`` on; leaving waits, and says what for if that takes long.

    Numba compiles the kernels at the first start after an installation or a change. Most of that releases Python's
    global lock, as does importing PyTorch, so both together take less time than one after the other. Smaller kernels,
    which are not needed at once, follow in a thread that nobody waits for.
    """

    PATIENCE_S = 3.0  # seconds; loading from Numba's cache takes about one, and more on a busy machine
    POLL_S = 0.1  # seconds

    def __init__(
        self, track: AnyTrack | None, quiet: bool = False, now: Sequence[str] = (), later: Sequence[str] = ()
    ) -> None:
        """Prepare for a track.

        Args:
            track: The track; None if no simulator is needed.
            quiet: Whether to print no messages.
            now: Modules whose ``compile_kernels`` is called with the simulator's, in this order.
            later: Modules whose ``compile_kernels`` is called afterwards, in this order.
        """
        self._say = (lambda text: None) if quiet else say
        self._later = later
        # A daemon, so that Ctrl-C ends the script.
        self._thread = threading.Thread(target=_compile, args=(track, now), daemon=True)

    def __enter__(self) -> "WarmUp":
        self._say("loading ...")
        self._thread.start()
        gc.disable()  # looking for garbage in what is imported takes a tenth of the time
        return self

    def __exit__(self, exception: type[BaseException] | None, *details: object) -> None:
        gc.enable()
        gc.freeze()  # what is imported stays, and looking through it when the process ends would take most of a second
        if exception is not None:
            return
        self._thread.join(self.PATIENCE_S)
        if self._thread.is_alive() and not compiling.HAS_BEGUN.is_set():
            self._say("still loading ...")
        while self._thread.is_alive() and not compiling.HAS_BEGUN.is_set():
            self._thread.join(self.POLL_S)
        if self._thread.is_alive():
            self._say(COMPILING)
        self._thread.join()
        # No daemon: ending a process while LLVM works may crash it, and this takes two seconds at most.
        threading.Thread(target=_compile_kernels, args=(self._later,)).start()


def _compile(track: AnyTrack | None, modules: Sequence[str]) -> None:
    with contextlib.suppress(Exception):  # whatever fails here fails again in the main thread, which says so
        from racer_env.simulator.simulator import Simulator  # importing Numba and the kernels takes most of the time

        if isinstance(track, Track):
            Simulator([track])
    _compile_kernels(modules)


def _compile_kernels(modules: Sequence[str]) -> None:
    for name in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name).compile_kernels()
