"""Fixtures that several test files share."""

import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from racer_env.bridge.process import BridgeProcess, install_bridge
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track, load_track
from tests import runs
from tests.helpers import TRACK_IDS, ring_track
from training.console import equal_bridges

BRIDGE_FIXTURES = {"bridge_server", "node_bridge"}
TRAINING_FIXTURES = {"trained", "trained_sac", "trained_td3"}
HAS_NODE = shutil.which("node") is not None and shutil.which("npm") is not None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels, half a minute when Numba's cache is empty, before the first test's time runs.

    A shell that runs the tests in the background ignores Ctrl-C for them and for all that they start, and nohup the
    end of its terminal; some test it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not session.config.option.collectonly:
        Simulator([ring_track()], 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use the real bridge, and skip them where it cannot run; give those that train time for it.

    Files with slow tests come first, so that no worker ends up alone with one of them.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    no_node = pytest.mark.skip(reason="the bridge needs Node.js 20 or later with npm, which is not on the PATH")
    for item in items:
        if TRAINING_FIXTURES & set(getattr(item, "fixturenames", ())) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(60))
        if BRIDGE_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.integration)
        if item.get_closest_marker("integration") and not HAS_NODE:
            item.add_marker(no_node)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Install and compile the bridge before the first test's time runs, if any test is going to use it."""
    needs_bridge = any(item.get_closest_marker("integration") for item in session.items)
    if needs_bridge and HAS_NODE and not session.config.option.collectonly:
        install_bridge()


@pytest.fixture(scope="session")
def bridge_server(node_bridge: None) -> Iterator[str]:
    """The URL of the real bridge, which runs for the whole session."""
    with BridgeProcess() as process:
        yield process.url


@pytest.fixture(scope="session")
def node_bridge() -> None:
    """For tests that start a bridge themselves: it is installed."""


@pytest.fixture(params=["embedded", pytest.param("bridge", marks=pytest.mark.integration)])
def engine_url(request: pytest.FixtureRequest) -> str:
    """Both engines, as an environment's bridge_url."""
    if request.param == "embedded":
        return "embedded"
    url: str = request.getfixturevalue("bridge_server")
    return url


@pytest.fixture(autouse=True)
def no_bridge(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the user's default engine out of the tests, and theirs out of what the user's parity has found."""
    monkeypatch.delenv("RACER_BRIDGE_URL", raising=False)
    monkeypatch.setattr(equal_bridges, "RECORD", tmp_path_factory.getbasetemp() / "parity.json")


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open windows without a display; SDL then draws into memory."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture(scope="session")
def tracks() -> list[Track]:
    """The shipped tracks, in order."""
    return [load_track(track_id) for track_id in TRACK_IDS]


@pytest.fixture(scope="session")
def track(tracks: list[Track]) -> Track:
    """The first shipped track."""
    return tracks[0]


@pytest.fixture(scope="session")
def ring() -> Track:
    """A round track of radius 200, counter-clockwise, its start at the right."""
    return ring_track()


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a PPO run ``lap`` of a few seconds, to be read only; copy what is to be changed."""
    folder = tmp_path_factory.mktemp("trained")
    arguments = ["--timesteps", "80000", "--run-name", "lap", "--checkpoint-freq", "30000", "--eval-freq", "20000"]
    assert runs.ppo(folder, *arguments) == 0
    return folder


def until_competent(train: Callable[..., int], folder: Path) -> Path:
    """Train a run ``lap`` into a folder with the defaults, until it is competent, and return the folder."""
    arguments = ["--run-name", "lap", "--stop-when-competent", "--eval-freq", "1500", "--timesteps", "20000"]
    assert train(folder, *arguments) == 0
    return folder


@pytest.fixture(scope="session")
def trained_sac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a SAC run ``lap`` with the defaults, until it is competent; to be read only."""
    return until_competent(runs.sac, tmp_path_factory.mktemp("trained_sac"))


@pytest.fixture(scope="session")
def trained_td3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a TD3 run ``lap`` with the defaults, until it is competent; to be read only."""
    return until_competent(runs.td3, tmp_path_factory.mktemp("trained_td3"))


@pytest.fixture(scope="session")
def short_config(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A configuration with which every episode ends after a second: whatever a car does counts as standing still."""
    path = tmp_path_factory.mktemp("config") / "short.json"
    path.write_text('{"weights": {"stillnessSpeedThreshold": 1000}, "episode": {"stillnessTimeoutTicks": 60}}')
    return str(path)


@pytest.fixture(scope="session")
def fresh_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model with its statistics; to be read only."""
    return runs.make_fresh(tmp_path_factory.mktemp("fresh"))
