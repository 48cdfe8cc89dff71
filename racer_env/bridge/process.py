"""The bundled bridge as a child process that ends with its parent."""

import contextlib
import json
import logging
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from racer_env.errors import BridgeError, BridgeLostError
from racer_env.node_project import NodeProject, is_newer
from racer_env.printable import printable
from racer_env.project import PROJECT_ROOT
from racer_env.tracks import Track, available_tracks, load_track

BRIDGE_DIR = PROJECT_ROOT / "bridge"
READY = "listening on "
OWN_ERROR = "error: "  # begins a line in which the bridge says why it does not start
INCOMPLETE = ("Cannot find", "SyntaxError")  # in Node.js's words when files of the bridge are missing or cut off
MAX_LAST_WORDS = 5  # lines of its output that an error quotes
MAX_HEARD = 50  # lines of its output that are kept until it listens
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 2.0
MAX_RESTARTS = 3  # within RESTART_WINDOW_S
RESTART_WINDOW_S = 600.0
RESTART_PAUSE_S = 0.5  # before the second start within the window; doubled for each further one

_log = logging.getLogger(__name__)


class BridgeProcess:
    """A bridge on a free port. It ends on ``stop``, and when this process ends for whatever reason."""

    def __init__(self, say: Callable[[str], None] = lambda text: None, tracks: Sequence[Track] = ()) -> None:
        """Start the bridge and wait until it listens.

        Args:
            say: Called with a message before the installation, which takes some seconds and happens once.
            tracks: Tracks besides the shipped ones; a track replaces a shipped one with the same id.

        Raises:
            BridgeLostError: Node is missing, or the bridge cannot be installed or started.
        """
        self._say = say
        self._restarts: deque[float] = deque()
        self._process: subprocess.Popen[str] | None = None
        self._tracks_dir = _gather_tracks(tracks) if tracks else None
        self.url = ""
        install_bridge(say)
        self._start()

    def __enter__(self) -> "BridgeProcess":
        return self

    def __exit__(self, *details: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Process id of the bridge."""
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        """Stop the bridge; safe to call twice."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()  # asks it to end
        for end in (process.terminate, process.kill):
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                end()
        process.wait()

    @property
    def is_running(self) -> bool:
        """Whether the process is still running."""
        return self._process is not None and self._process.poll() is None

    def restart(self, error: BridgeError) -> None:
        """Clean up what is left of the bridge and start it again, on another port.

        Raises:
            BridgeLostError: It was restarted MAX_RESTARTS times within RESTART_WINDOW_S already, or does not start.
        """
        now = time.monotonic()
        while self._restarts and now - self._restarts[0] > RESTART_WINDOW_S:
            self._restarts.popleft()
        if len(self._restarts) >= MAX_RESTARTS:
            raise BridgeLostError(
                f"{error}; it has been restarted {MAX_RESTARTS} times within {RESTART_WINDOW_S / 60:g} minutes already"
            ) from error
        self.stop()
        if self._restarts:
            time.sleep(RESTART_PAUSE_S * 2 ** (len(self._restarts) - 1))
        self._restarts.append(now)
        self._start()

    def _track_arguments(self) -> list[str]:
        return ["--tracks-dir", self._tracks_dir.name] if self._tracks_dir is not None else []

    def _start(self) -> None:
        # A process group of its own: Ctrl-C then reaches the script only, which still has a bridge to say goodbye to.
        options = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
            if sys.platform == "win32"
            else {"start_new_session": True}
        )
        self._process = subprocess.Popen(
            [
                _project().tool("node"),
                str(_entry_point()),
                "--port",
                "0",
                "--until-stdin-closes",
                *self._track_arguments(),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            **options,
        )
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_read_lines, args=(self._process, lines), daemon=True).start()
        try:
            line = lines.get(timeout=START_TIMEOUT_S)
        except queue.Empty:
            line = f"no sign of life within {START_TIMEOUT_S:g} s"
        if not line.startswith(READY):
            self.stop()
            if any(word in line for word in INCOMPLETE):
                _project().installed_mark.unlink(missing_ok=True)
                line += "; the next start installs it anew"
            raise BridgeLostError(f"the bundled bridge does not start: {line}")
        self.url = line.removeprefix(READY)


def _gather_tracks(tracks: Sequence[Track]) -> "tempfile.TemporaryDirectory[str]":
    """Return a folder with the shipped tracks and these; it is deleted when nothing refers to it any more."""
    folder = tempfile.TemporaryDirectory(prefix="racer-tracks-")
    gathered = {track_id: load_track(track_id) for track_id in available_tracks()}
    for number, track in enumerate({**gathered, **{track.id: track for track in tracks}}.values()):
        # Named by number, because an id may hold characters that a file name must not.
        Path(folder.name, f"{number:04}.json").write_text(json.dumps(track.to_json()), encoding="utf-8")
    return folder


def install_bridge(say: Callable[[str], None] = lambda text: None) -> None:
    """Install and compile the bundled bridge unless that is already done.

    Raises:
        BridgeLostError: The bridge or Node is missing, or the installation fails.
    """
    if not BRIDGE_DIR.is_dir():
        raise BridgeLostError(
            "the bundled bridge comes with a clone of the project, not with pip install; start the scripts in a clone, "
            "or name the URL of a bridge that runs"
        )
    project = _project()
    project.check_node()
    if project.is_installed and _is_compiled():
        return
    with project.lock():
        project.install(say)
        if not _is_compiled():
            project.build()
            _entry_point().touch()


def _project() -> NodeProject:
    return NodeProject("the bundled bridge", BRIDGE_DIR, BridgeLostError)


def _is_compiled() -> bool:
    sources = [*BRIDGE_DIR.glob("src/**/*.ts"), BRIDGE_DIR / "tsconfig.json", _project().installed_mark]
    return is_newer(_entry_point(), sources)


def _entry_point() -> Path:
    return BRIDGE_DIR / "dist" / "src" / "main.js"


def _read_lines(process: "subprocess.Popen[str]", lines: "queue.Queue[str]") -> None:
    """Pass on the line with the bridge's URL, or its last words if it ended; log all other output."""
    assert process.stdout is not None
    is_ready = False
    said: deque[str] = deque(maxlen=MAX_HEARD)
    for line in map(str.strip, process.stdout):
        if not is_ready and line.startswith(READY):
            is_ready = True
            lines.put(line)
        elif is_ready:
            _log.warning("bridge: %s", printable(line))
        elif line:
            said.append(line)
    if not is_ready:
        # Prefer the line that says what is wrong, if there is one: the bridge's own, or that of Node.js.
        words = [line for line in said if line.startswith(OWN_ERROR)] or [line for line in said if "Error" in line][:1]
        words = words or list(said)[-MAX_LAST_WORDS:]
        lines.put(" | ".join(words) or f"it ended with exit code {process.wait()}")
