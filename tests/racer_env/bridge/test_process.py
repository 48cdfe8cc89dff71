"""The bundled bridge as a child: it starts, says why it does not, and never outlives its parent."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from racer_env.bridge import process as bridge_process
from racer_env.bridge.client import BridgeClient
from racer_env.bridge.process import BridgeProcess, install_bridge
from racer_env.errors import BridgeError, BridgeLostError
from racer_env.project import PROJECT_ROOT

pytestmark = pytest.mark.timeout(60)  # on a busy machine

PARENT = """
import sys, time
from racer_env.bridge.process import BridgeProcess
process = BridgeProcess()
print(process.url, flush=True)
time.sleep(60)
"""


def is_listening(url: str) -> bool:
    """Return whether a bridge answers."""
    try:
        BridgeClient(url, connect_timeout_s=1).close()
    except BridgeError:
        return False
    return True


def assert_ends(url: str) -> None:
    """A bridge is gone within some seconds."""
    deadline = time.monotonic() + 5
    while is_listening(url):
        assert time.monotonic() < deadline, f"{url} still answers"
        time.sleep(0.05)


def test_starts_and_stops(node_bridge: None) -> None:
    """It listens on a port of its own until it is stopped; stopping twice is fine."""
    process = BridgeProcess()
    assert is_listening(process.url)
    process.stop()
    process.stop()
    assert not is_listening(process.url)


def test_two_at_once(node_bridge: None) -> None:
    """Each has a port of its own."""
    with BridgeProcess() as one, BridgeProcess() as other:
        assert one.url != other.url
        assert is_listening(one.url)
        assert is_listening(other.url)


@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_ends_when_its_parent_dies(node_bridge: None, end: str) -> None:
    """However a script ends, its bridge ends too."""
    if not hasattr(signal, end):
        pytest.skip(f"needs {end}")
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], cwd=PROJECT_ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert parent.stdout is not None
        url = parent.stdout.readline().strip()
        assert is_listening(url)
        parent.send_signal(getattr(signal, end))
        parent.wait(5)
        assert_ends(url)
    finally:
        parent.kill()
        parent.communicate()


def test_ctrl_c_in_the_terminal_does_not_reach_it(node_bridge: None) -> None:
    """It is in a process group of its own, so that the script can say goodbye first."""
    if not hasattr(os, "getpgid"):
        pytest.skip("needs process groups")
    with BridgeProcess() as process:
        assert os.getpgid(process.pid) != os.getpgid(0)


def test_hanging_bridge_is_ended(node_bridge: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not react is killed."""
    if not hasattr(signal, "SIGSTOP"):
        pytest.skip("needs SIGSTOP")
    monkeypatch.setattr(bridge_process, "STOP_TIMEOUT_S", 0.1)
    process = BridgeProcess()
    pid = process.pid
    os.kill(pid, signal.SIGSTOP)
    process.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_restarts_are_counted(node_bridge: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts again a few times within a window, with longer and longer pauses; later it may again."""
    pauses: list[float] = []
    monkeypatch.setattr(bridge_process.time, "sleep", pauses.append)
    monkeypatch.setattr(bridge_process, "RESTART_PAUSE_S", 0.5)
    with BridgeProcess() as process:
        for _ in range(3):
            process.restart(BridgeError("died"))
            assert is_listening(process.url)
        with pytest.raises(BridgeLostError, match="died; it has been restarted 3 times within 10 minutes already"):
            process.restart(BridgeError("died"))
        assert [pause for pause in pauses if pause >= 0.5] == [0.5, 1.0]  # waiting for a process sleeps too, shortly
        monkeypatch.setattr(bridge_process, "RESTART_WINDOW_S", 0.0)
        process.restart(BridgeError("died"))


def test_startup_error_is_passed_on(node_bridge: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the bridge says before it ends is in the error."""
    script = tmp_path / "main.js"
    script.write_text("console.error('error: no tracks in here'); process.exit(2);")
    monkeypatch.setattr(bridge_process, "_entry_point", lambda: script)
    monkeypatch.setattr(bridge_process, "install_bridge", lambda say: None)
    with pytest.raises(BridgeLostError, match="does not start: error: no tracks in here"):
        BridgeProcess()


def test_what_node_says_first_does_no_harm(node_bridge: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A warning before the bridge listens is no failure."""
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(tmp_path / "absent.pem"))
    with BridgeProcess() as process:
        assert is_listening(process.url)


def test_old_node_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version that is needed and the one that is there are in the error."""
    answer = subprocess.CompletedProcess([], 0, stdout="v18.19.0\n")
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: answer)
    monkeypatch.setattr(shutil, "which", lambda name: f"/tools/{name}")
    with pytest.raises(BridgeLostError, match=r"needs Node\.js 20 or later; /tools/node is v18\.19\.0"):
        install_bridge()


def test_silent_start_has_a_deadline(node_bridge: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A bridge that says nothing is given up and ended."""
    script = tmp_path / "main.js"
    script.write_text("process.stdin.on('end', () => process.exit(0)); process.stdin.resume();")
    monkeypatch.setattr(bridge_process, "_entry_point", lambda: script)
    monkeypatch.setattr(bridge_process, "install_bridge", lambda say: None)
    monkeypatch.setattr(bridge_process, "START_TIMEOUT_S", 0.2)
    with pytest.raises(BridgeLostError, match="no sign of life within"):
        BridgeProcess()


def test_missing_node_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Node there is one line with what to do."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BridgeLostError, match=r"needs node, which is not on the PATH; install Node\.js 20"):
        install_bridge()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bridge folder with a local dependency only, so that npm needs no network."""
    folder = tmp_path / "bridge"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.ts").write_text("")
    (folder / "tsconfig.json").write_text("{}")
    (folder / "build.mjs").write_text(
        "import fs from 'node:fs';\n"
        "fs.mkdirSync('dist/src', { recursive: true });\n"
        "fs.appendFileSync('dist/src/main.js', 'x');\n"
    )
    (folder / "dependency").mkdir()
    (folder / "dependency" / "package.json").write_text(json.dumps({"name": "dependency", "version": "1.0.0"}))
    package = {
        "name": "bridge",
        "version": "1.0.0",
        "engines": {"node": ">=20"},
        "scripts": {"build": "node build.mjs"},
        "dependencies": {"dependency": "file:dependency"},
    }
    (folder / "package.json").write_text(json.dumps(package))
    npm = shutil.which("npm")
    assert npm is not None
    subprocess.run([npm, "install", "--package-lock-only", "--offline"], cwd=folder, check=True, capture_output=True)
    monkeypatch.setattr(bridge_process, "BRIDGE_DIR", folder)
    return folder


def test_installs_once_and_compiles_after_changes(node_bridge: None, project: Path) -> None:
    """The first start installs and compiles, the next does nothing, a changed source compiles again."""
    said: list[str] = []
    compiled = project / "dist" / "src" / "main.js"
    install_bridge(said.append)
    install_bridge(said.append)
    assert compiled.read_text() == "x"
    assert said == ["installing the bundled bridge with npm, once; this takes some seconds ..."]
    later = time.time() + 10
    os.utime(project / "src" / "main.ts", (later, later))
    install_bridge(said.append)
    assert compiled.read_text() == "xx"
    assert len(said) == 1


def test_failed_installation_is_one_line(node_bridge: None, project: Path) -> None:
    """The end of npm's output is in the error."""
    (project / "package-lock.json").write_text("{}")
    with pytest.raises(BridgeLostError, match="`npm ci .*failed in") as caught:
        install_bridge()
    assert "\n" not in str(caught.value)


def test_broken_installation_is_made_anew(node_bridge: None, project: Path) -> None:
    """Where compiling fails, the next start installs again."""
    (project / "build.mjs").rename(project / "away.mjs")
    with pytest.raises(BridgeLostError, match="`npm run build` failed in .*Cannot find module"):
        install_bridge()
    (project / "away.mjs").rename(project / "build.mjs")
    said: list[str] = []
    install_bridge(said.append)
    assert len(said) == 1
    assert (project / "dist" / "src" / "main.js").is_file()


def test_two_processes_install_one_after_the_other(node_bridge: None, project: Path) -> None:
    """Whoever comes second waits, and then has nothing to do."""
    threads = [threading.Thread(target=install_bridge) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (project / "dist" / "src" / "main.js").read_text() == "x"


def test_installation_that_was_killed_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system releases its lock, though the file stays."""
    monkeypatch.setattr(bridge_process, "BRIDGE_DIR", tmp_path)
    (tmp_path / ".installing").touch()
    began = time.monotonic()
    with bridge_process._project().lock():
        assert time.monotonic() - began < 2


def test_what_compiles_is_installed_whatever_npm_leaves_out(
    node_bridge: None, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NODE_ENV=production is for what only runs; the bridge is compiled where it starts."""
    shutil.copy(PROJECT_ROOT / "bridge" / ".npmrc", project)
    package, lock = project / "package.json", project / "package-lock.json"
    package.write_text(package.read_text().replace('"dependencies"', '"devDependencies"'))
    lock.unlink()
    subprocess.run(["npm", "install", "--package-lock-only", "--offline"], cwd=project, check=True)
    monkeypatch.setenv("NODE_ENV", "production")
    install_bridge()
    assert (project / "node_modules" / "dependency").exists()


def test_bridge_that_node_cannot_start_is_installed_anew(
    node_bridge: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of it may be missing, as after a compilation that was killed."""
    monkeypatch.setattr(bridge_process, "BRIDGE_DIR", tmp_path)
    installed, compiled = tmp_path / "node_modules" / ".package-lock.json", tmp_path / "dist" / "src" / "main.js"
    for path in (tmp_path / "package-lock.json", tmp_path / "tsconfig.json", installed, compiled):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("require('./missing.js')")
    (tmp_path / "package.json").write_text('{"engines": {"node": ">=20"}}')
    with pytest.raises(BridgeLostError, match="start: Error: Cannot find module.*; the next start installs"):
        BridgeProcess()
    assert not installed.exists()
