"""The scripts over a bridge: they reach it first, lose nothing when it dies, and end what they have started."""

import argparse
import dataclasses
import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stable_baselines3 import PPO

from racer_env.bridge.process import BridgeProcess
from racer_env.physics import load_physics
from racer_env.tracks import Track
from tests import runs
from tests.fake_peer import FakePeer, version_1_game
from tests.helpers import ring_document
from tests.lying_peers import LIES, lying
from training import benchmark, evaluate, parity, train_ppo
from training.console.bridges import open_bridge, physics_behind

pytestmark = pytest.mark.timeout(60)

NOBODY = "ws://127.0.0.1:1"
STEPS = 1_000_000  # more than any test waits for


def train(folder: Path, *arguments: str) -> int:
    """Train with files in ``folder``; without evaluations unless they are asked for."""
    return runs.ppo(folder, *arguments)


def steps_of(path: Path) -> int:
    """Return a model's step counter."""
    return PPO.load(path, device="cpu").num_timesteps


def once_there(folder: Path, pattern: str, act: Callable[[], Any]) -> threading.Thread:
    """Do something as soon as a file is there."""

    def wait() -> None:
        while not list(folder.glob(pattern)):
            time.sleep(0.01)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def kill(process: BridgeProcess) -> None:
    """End a bridge without a warning."""
    os.kill(process.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)


def arguments(*urls: str) -> argparse.Namespace:
    """Return a command line with some URLs."""
    return argparse.Namespace(bridge_url=list(urls) or None, track_id=[], tracks_dir=None)


# --- Reaching a bridge ---


@pytest.mark.parametrize(
    "call",
    [
        lambda: train_ppo.main(["--bridge-url", NOBODY]),
        lambda: benchmark.main(["--bridge-url", NOBODY]),
        lambda: parity.main(["--bridge-url", NOBODY]),
    ],
)
def test_unreachable_bridge_is_one_line(call: Callable[[], int], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 and how to start a bridge, before anything is loaded or built."""
    assert call() == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert f"no bridge at {NOBODY}" in captured.err
    assert "npm start" in captured.err
    assert "loading" not in captured.out


@pytest.mark.parametrize(
    ("urls", "match"),
    [(["nonsense"], "no bridge's URL"), (["embedded", "auto"], "not both"), (["ws://10.0.0.1:1"], "another machine")],
)
def test_wrong_urls_are_one_line(urls: list[str], match: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be a bridge is an argument error in words."""
    assert train_ppo.main(["--bridge-url", *urls]) == 2
    assert match in capsys.readouterr().err


def test_no_url_is_the_embedded_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without argument and variable there is no bridge; the word asks for that in spite of the variable."""
    with open_bridge(arguments()) as bridge:
        assert bridge is None
    monkeypatch.setenv("RACER_BRIDGE_URL", NOBODY)
    with open_bridge(arguments("embedded")) as bridge:
        assert bridge is None


def test_a_bridge_that_nobody_named_is_pointed_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where it usually is; a script that names its engine says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr("racer_env.bridge.url.DEFAULT_URL", f"ws://127.0.0.1:{server.getsockname()[1]}")
        with open_bridge(arguments("embedded")):
            assert capsys.readouterr().err == ""
        with open_bridge(arguments()):
            assert "the embedded simulator is used; to use the bridge, name it" in capsys.readouterr().err


def test_environment_variable_holds_for_scripts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The variable is the default of --bridge-url."""
    monkeypatch.setenv("RACER_BRIDGE_URL", NOBODY)
    assert benchmark.main([]) == 2
    assert f"no bridge at {NOBODY}" in capsys.readouterr().err


def test_auto_ends_with_the_script(node_bridge: None, capsys: pytest.CaptureFixture[str]) -> None:
    """The bundled bridge runs as long as it is used; several are several."""
    with open_bridge(arguments("auto", "auto")) as bridge:
        assert bridge is not None
        urls = bridge.urls
        assert len(set(urls)) == 2
    assert f"reaching {urls[0]} and {urls[1]} ..." in capsys.readouterr().out
    for url in urls:
        assert benchmark.main(["--bridge-url", url]) == 2


# --- Training and evaluating ---


def test_train_and_evaluate_over_a_bridge(
    bridge_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A driver trained over a bridge knows its physics, and drives the same on either engine."""
    arguments = ["--timesteps", "8192", "--run-name", "remote", "--track-id", "track-01", "track-02"]
    assert train(tmp_path, *arguments, "--bridge-url", bridge_server) == 0
    model = tmp_path / "models" / "remote_final"
    assert PPO.load(model, device="cpu").physics_fingerprint == load_physics().fingerprint  # type: ignore[attr-defined]
    capsys.readouterr()
    tables = []
    for url in (bridge_server, "embedded"):
        assert evaluate.main(["--model", str(model), "--laps", "1", "--track-id", "track-01", "--bridge-url", url]) == 0
        lines = capsys.readouterr().out.splitlines()
        tables.append([line for line in lines if line.startswith(("track-", "lap times"))])
    assert len(tables[0]) == 3  # laps, steering, lap times
    assert tables[0] == tables[1]


def test_training_over_a_bridge_learns_what_the_simulator_teaches(bridge_server: str, tmp_path: Path) -> None:
    """Same seed, same first rollout: the weights after an update agree closely."""
    for name, url in (("bridge", bridge_server), ("simulator", "embedded")):
        assert train(tmp_path, "--timesteps", "4096", "--run-name", name, "--bridge-url", url, "--seed", "5") == 0
    one, other = (
        [p.detach().numpy() for p in PPO.load(tmp_path / "models" / f"{name}_final", device="cpu").policy.parameters()]
        for name in ("bridge", "simulator")
    )
    for a, b in zip(one, other, strict=True):
        assert a == pytest.approx(b, abs=1e-3)


def test_version_1_game_is_enough(
    tracks: list[Track], tmp_path: Path, short_config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A game that speaks version 1 trains and evaluates; what it cannot do is said, and that its road is another."""
    other_road = "the game's track-01 is another road than its file here"
    with FakePeer(version_1_game([dataclasses.replace(tracks[0], half_widths=tracks[0].half_widths / 2)])) as peer:
        arguments = ["--timesteps", "1024", "--num-envs", "4", "--run-name", "plain", "--track-id", "track-01"]
        assert train(tmp_path, *arguments, "--bridge-url", peer.url) == 0
        output, notes = capsys.readouterr()
        assert notes.count(other_road) == 1
        assert "version 1 of the protocol: a connection for each car, every episode starts on the line" in output
        assert f"plain_final.zip --bridge-url {peer.url}" in output
        model = str(tmp_path / "models" / "plain_final")
        assert evaluate.main(["--model", model, "--config", short_config, "--bridge-url", peer.url]) == 0
        assert capsys.readouterr().err.count(other_road) == 1
        resume = ["--timesteps", "1024", "--resume", model, "--run-name", "plain"]
        assert train(tmp_path, *resume, "--bridge-url", peer.url) == 0
    capsys.readouterr()
    assert evaluate.main(["--model", model, "--config", short_config]) == 0
    assert "does not say on which physics it was trained" in capsys.readouterr().err


def test_a_game_that_was_found_equal_has_these_physics(
    tracks: list[Track], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until it is found to differ."""
    with FakePeer(version_1_game(tracks)) as peer:
        compared = ["--bridge-url", peer.url, "--track-id", "track-01", "--episodes", "1"]
        assert parity.main(compared) == 0
        assert "drivers trained there count as of these physics, as" in capsys.readouterr().out
        with open_bridge(arguments(peer.url)) as bridge:
            assert physics_behind(bridge) == load_physics()
        monkeypatch.setattr("training.engines.parity.has_same_physics", lambda bridge: False)
        assert parity.main(compared) == 1
        with open_bridge(arguments(peer.url)) as bridge:
            assert physics_behind(bridge) is None


def test_bundled_bridge_has_ones_own_tracks(
    node_bridge: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder and a file of one's own work as without a bridge, beside the shipped tracks."""
    (tmp_path / "mine.json").write_text(json.dumps({**ring_document(), "id": "mine"}))
    common = ["--bridge-url", "auto", "--steps", "5", "--warmup", "0", "--target", "1"]
    for where in (["mine", "track-01", "--tracks-dir", str(tmp_path)], [str(tmp_path / "mine.json"), "track-01"]):
        assert benchmark.main([*common, "--track-id", *where]) == 0
        assert "on mine, 1 car" in capsys.readouterr().out
    assert parity.main(["--bridge-url", "auto", "--episodes", "1", "--track-id", str(tmp_path / "mine.json")]) == 0


def test_unknown_track_of_the_bridge_is_one_line(
    bridge_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tracks are looked up at the bridge, before anything is loaded."""
    assert train(tmp_path, "--track-id", "moon", "--bridge-url", bridge_server) == 2
    assert "has no track 'moon'" in capsys.readouterr().err


# --- Dying bridges ---


def test_killed_bridge_loses_nothing(node_bridge: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was trained is saved, the way to go on is printed, the exit code is 2; and going on works."""
    models = tmp_path / "models"
    with BridgeProcess() as process:
        killer = once_there(models, "cut_*_steps.zip", lambda: kill(process))
        arguments = ["--run-name", "cut", "--checkpoint-freq", "4096", "--track-id", "track-01"]
        assert train(tmp_path, *arguments, "--timesteps", str(STEPS), "--bridge-url", process.url) == 2
        killer.join()
    captured = capsys.readouterr()
    assert "lost the bridge" in captured.err
    assert captured.err.count("\n") == 1
    assert "go on with: python -m training.train_ppo" in captured.out
    assert f"--bridge-url {process.url}" in captured.out
    assert (models / "cut_interrupted_vecnormalize.pkl").is_file()
    done = steps_of(models / "cut_interrupted.zip")
    assert done >= 4096
    resume = ["--resume", str(models / "cut_interrupted"), "--run-name", "cut", "--timesteps", "4096"]
    assert train(tmp_path, *resume, "--bridge-url", "auto") == 0
    assert steps_of(models / "cut_final.zip") == done + 4096


@pytest.mark.parametrize("name", ["says nothing", "repeats a reply", "gives NaN"])
def test_silent_or_lying_bridge_loses_nothing(
    tracks: list[Track],
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The same holds for a bridge that hangs past the deadline or lies in the middle of training."""
    from racer_env.bridge.client import BridgeClient

    monkeypatch.setitem(BridgeClient.__init__.__kwdefaults__, "reply_timeout_s", 1.0)

    lie = next(lie for lie in LIES if lie.name == name)
    with FakePeer(lying(lie, version_1_game(tracks), honest_steps=300)) as peer:
        arguments = ["--num-envs", "2", "--run-name", "odd", "--timesteps", str(STEPS), "--track-id", "track-01"]
        assert train(tmp_path, *arguments, "--bridge-url", peer.url) == 2
    assert steps_of(tmp_path / "models" / "odd_interrupted.zip") > 0
    assert re.fullmatch(f".*{lie.match}.*\n", capsys.readouterr().err)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BridgeProcess]]:
    """The bridges that scripts start, as they start them."""
    processes: list[BridgeProcess] = []

    class Noted(BridgeProcess):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr("racer_env.bridge.bridge.BridgeProcess", Noted)
    yield processes


def test_auto_bridge_is_restarted(
    node_bridge: None, started: list[BridgeProcess], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A bundled bridge that dies in the middle is started again, and the run ends as if nothing had been."""
    models = tmp_path / "models"
    killer = once_there(models, "on_*_steps.zip", lambda: kill(started[0]))
    arguments = ["--run-name", "on", "--checkpoint-freq", "4096", "--timesteps", "40960", "--track-id", "track-01"]
    assert train(tmp_path, *arguments, "--bridge-url", "auto") == 0
    killer.join()
    assert caplog.text.count("restarted the bridge, running episodes are truncated") == 1
    assert steps_of(models / "on_final.zip") == 40960


def test_evaluation_does_not_go_on_over_a_restarted_bridge(
    node_bridge: None, started: list[BridgeProcess], capsys: pytest.CaptureFixture[str]
) -> None:
    """Laps that were cut would be timed wrongly: it ends with one line and exit code 2."""

    def kill_in_the_middle() -> None:
        while not started:
            time.sleep(0.01)
        time.sleep(2.0)  # of some twenty
        kill(started[0])

    threading.Thread(target=kill_in_the_middle, daemon=True).start()
    laps = ["--track-id", "track-01", "--laps", "400"]
    assert evaluate.main(["--model", "pretrained", *laps, "--bridge-url", "auto"]) == 2
    assert "lost the bridge" in capsys.readouterr().err


def test_evaluations_over_a_bridge_do_not_end_with_it(
    node_bridge: None, started: list[BridgeProcess], tmp_path: Path, short_config: str
) -> None:
    """A bundled bridge that dies while the best model is looked for is started again by training, which goes on."""
    models = tmp_path / "models"
    killer = once_there(models, "e_*_steps.zip", lambda: kill(started[0]))
    arguments = ["--run-name", "e", "--checkpoint-freq", "4096", "--timesteps", "24576", "--config", short_config]
    assert train(tmp_path, *arguments, "--eval-freq", "8192", "--bridge-url", "auto") == 0
    killer.join()
    assert steps_of(models / "e_final.zip") == 24576
    assert (models / "e_best.zip").is_file()
