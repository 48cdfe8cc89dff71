"""A page served to this machine alone, until Ctrl-C."""

import contextlib
import functools
import http.server
import os
import threading
import webbrowser
from pathlib import Path
from typing import Any

from racer_env.errors import PageError
from training.console.messages import note, say

HOST = "127.0.0.1"
DEFAULT_PORT = 9877  # fixed, as browsers keep the best laps of each address apart; the bridge's has the one before
# The page asks no other server for anything, and runs WebAssembly; index.html says the same, for other servers.
POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'; object-src 'none'"
)
# Python takes kinds of files from the system, where anything may have changed them.
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".onnx": "application/octet-stream",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers with the files of a folder, and with no list of them."""

    protocol_version = "HTTP/1.1"

    def end_headers(self) -> None:
        """Add what every answer has."""
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")  # a page may be made anew at any time
        super().end_headers()

    def guess_type(self, path: Any) -> str:
        """Return the kind of a file by its ending alone."""
        return KINDS.get(Path(path).suffix.lower(), "application/octet-stream")

    def list_directory(self, path: Any) -> None:
        """Answer that there is nothing."""
        self.send_error(404)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


def make_server(folder: Path, port: int) -> http.server.ThreadingHTTPServer:
    """Return a server of a folder, which listens already.

    Args:
        folder: The folder.
        port: Port on the loopback; 0 is a free one.

    Raises:
        PageError: The port is taken or not allowed.
    """
    try:
        return _Server((HOST, port), functools.partial(Handler, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise PageError(f"cannot listen on port {port}: {error}; --port 0 takes a free one") from error


def make_default_server(folder: Path) -> http.server.ThreadingHTTPServer:
    """Return a server of a folder on the default port, or on a free one where that is taken, which is said."""
    try:
        return make_server(folder, DEFAULT_PORT)
    except PageError:
        note(
            f"port {DEFAULT_PORT} is taken, so the page gets another; best laps that your browser keeps for "
            f"{_url_of(DEFAULT_PORT)} belong to that address and are not seen at this one"
        )
        return make_server(folder, 0)


def check_port(port: int) -> None:
    """Make sure that a port can be listened on, before a page is made for it.

    Raises:
        PageError: The port is taken or not allowed.
    """
    make_server(Path(), port).server_close()


class _Server(http.server.ThreadingHTTPServer):
    """A server that ends with its process, and shares its port with no other one."""

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # on Windows that would be to share it
    allow_reuse_port = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that hangs up."""


def serve(folder: Path, port: int | None, opens_browser: bool) -> None:
    """Serve a page until Ctrl-C.

    Args:
        folder: Folder of the page.
        port: Port on the loopback; 0 is a free one, None the default one if it is free.
        opens_browser: Whether the system's browser is asked to open the page.

    Raises:
        PageError: The port is taken or not allowed.
    """
    made = make_default_server(folder) if port is None else make_server(folder, port)
    with contextlib.suppress(KeyboardInterrupt), made as server:
        url = _url_of(server.server_address[1])
        say(f"serving {folder} to this machine at {url}; Ctrl-C ends it")
        if opens_browser:
            threading.Thread(target=_open, args=(url,), daemon=True).start()
        server.serve_forever()
    say("ended")


def _url_of(port: int) -> str:
    return f"http://{HOST}:{port}/"


def _open(url: str) -> None:
    """Open a browser; where there is none, the address has been printed."""
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(url)
