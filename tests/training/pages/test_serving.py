"""A page is served to this machine alone, with the kinds of its files, until Ctrl-C."""

import http.client
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from racer_env.errors import PageError
from racer_env.project import PROJECT_ROOT
from tests.training.pages.built import make_built
from training.pages import serving
from training.pages.serving import HOST, POLICY, make_default_server, make_server

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The port of a server of a built page, with a driver."""
    page = make_built(tmp_path / "a page")
    (page / "drivers").mkdir()
    (page / "drivers" / "x.onnx").write_bytes(b"onnx")
    (tmp_path / "secret.txt").write_text("secret")
    with make_server(page, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def get(port: int, path: str) -> tuple[http.client.HTTPResponse, bytes]:
    """Return the answer to a request, and its body."""
    connection = http.client.HTTPConnection(HOST, port, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html?track=1", "text/html; charset=utf-8"),
        ("/assets/a.js", "text/javascript; charset=utf-8"),
        ("/assets/a.wasm", "application/wasm"),
        ("/drivers/x.onnx", "application/octet-stream"),
    ],
)
def test_each_file_has_its_kind(port: int, path: str, kind: str) -> None:
    """Without it, a browser neither runs scripts nor compiles WebAssembly while it loads."""
    answer, body = get(port, path)
    assert (answer.status, answer.getheader("Content-Type")) == (200, kind)
    assert len(body) == int(answer.getheader("Content-Length") or 0) > 0


def test_every_answer_says_what_the_page_may_do(port: int) -> None:
    """Nothing but its own files, and WebAssembly."""
    for path in ("/", "/missing"):
        answer, _ = get(port, path)
        assert answer.getheader("Content-Security-Policy") == POLICY
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
    assert POLICY.startswith("default-src 'self'; script-src 'self' 'wasm-unsafe-eval'")


@pytest.mark.parametrize("path", ["/missing", "/assets/", "/drivers", "/../secret.txt", "/%2e%2e/secret.txt"])
def test_nothing_else_is_shown(port: int, path: str) -> None:
    """Neither lists of files nor what lies beside the page."""
    answer, body = get(port, path)
    answer, body = get(port, "/drivers/") if answer.status == 301 else (answer, body)
    assert answer.status == 404
    assert b"secret" not in body
    assert b"x.onnx" not in body


def test_it_listens_on_the_loopback_alone(tmp_path: Path) -> None:
    """On a port that is free."""
    with make_server(tmp_path, 0) as one, make_server(tmp_path, 0) as other:
        assert one.server_address[0] == other.server_address[0] == "127.0.0.1"
        assert one.server_address[1] != other.server_address[1]


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """One line, with what to do."""
    with make_server(tmp_path, 0) as server:
        taken = server.server_address[1]
        with pytest.raises(PageError, match=f"cannot listen on port {taken}: .*; --port 0 takes a free one"):
            make_server(tmp_path, taken)


@pytest.fixture
def free_port(tmp_path: Path) -> int:
    """A port that nothing listens on."""
    with make_server(tmp_path, 0) as server:
        port: int = server.server_address[1]
    return port


def test_the_default_port_is_always_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], free_port: int
) -> None:
    """So that the best laps that a browser keeps for it are there the next time."""
    monkeypatch.setattr(serving, "DEFAULT_PORT", free_port)
    for _ in range(2):
        with make_default_server(tmp_path) as server:
            assert server.server_address[1] == free_port
    assert capsys.readouterr().err == ""


def test_the_default_port_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another one is as good, but for the best laps; one line says so."""
    with make_server(tmp_path, 0) as other:
        taken = other.server_address[1]
        monkeypatch.setattr(serving, "DEFAULT_PORT", taken)
        with make_default_server(tmp_path) as server:
            assert server.server_address[1] != taken
    error = capsys.readouterr().err
    assert f"note: port {taken} is taken, so the page gets another; best laps" in error
    assert f"keeps for http://127.0.0.1:{taken}/ belong to that address" in error
    assert error.count("\n") == 1


def started(page: Path, browser: str, opens_browser: bool) -> "subprocess.Popen[str]":
    """Serve a page in a process of its own, where the system's browser is a program of ours."""
    script = "from pathlib import Path; from training.pages.serving import serve; "
    return subprocess.Popen(
        [sys.executable, "-c", f"{script}serve(Path({str(page)!r}), 0, {opens_browser})"],
        cwd=PROJECT_ROOT,
        env={**os.environ, "BROWSER": browser},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def browser(tmp_path: Path) -> str:
    """A browser that gets what it is sent to, says so, and presses Ctrl-C."""
    path = tmp_path / "browser"
    path.write_text(
        f"#!{sys.executable}\nimport os, signal, sys, urllib.request\n"
        "print(sys.argv[1], urllib.request.urlopen(sys.argv[1]).status, flush=True)\n"
        "os.kill(os.getppid(), signal.SIGINT)\n"
    )
    path.chmod(0o755)
    return str(path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs scripts that are programs")
def test_the_system_s_browser_opens_it(tmp_path: Path, browser: str) -> None:
    """At the address that is printed, and when the page answers."""
    process = started(make_built(tmp_path / "page"), browser, True)
    try:
        out, error = process.communicate(timeout=30)
    finally:
        process.kill()
    url = out.split(" at ")[1].split(";")[0]
    assert (out.splitlines()[1:], error) == ([f"{url} 200", "ended"], "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a signal that is Ctrl-C")
def test_ctrl_c_is_its_end(tmp_path: Path) -> None:
    """An orderly one: exit code 0, nothing on stderr."""
    process = started(tmp_path, "", False)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert " to this machine at http://127.0.0.1:" in line
    assert "Ctrl-C ends it" in line
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=20)
    assert (out, error, process.returncode) == ("ended\n", "", 0)
