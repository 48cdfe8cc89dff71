"""The page to race on: its data, from drivers of any kind, in a folder of its own."""

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racer_env.errors import PageError
from racer_env.physics import load_physics
from racer_env.project import DEFAULT_PHYSICS_PATH, PRETRAINED_DRIVER
from racer_env.tracks import load_track
from tests.browser import BROWSER, BROWSER_FLAGS
from tests.runs import make_fresh, save_guest
from tests.training.drivers.test_exported import STATS, made, with_statistics
from tests.training.pages.built import make_built
from training import evaluate, race_page
from training.algorithms.networks import DeterministicPolicy
from training.drivers.exported import load_onnx_driver, open_onnx
from training.drivers.loading import load_driver
from training.pages import building, serving
from training.pages.serving import HOST, make_server
from training.pages.wrapping import wrapped

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]


@pytest.fixture(autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page that is built already, without Node.js."""
    folder = make_built(tmp_path_factory.mktemp("built") / "dist")
    monkeypatch.setattr(race_page, "built_page", lambda say: folder)
    return folder


def page_in(folder: Path) -> dict[str, Any]:
    """Return the data of a page."""
    document: dict[str, Any] = json.loads((folder / "page.json").read_text(encoding="utf-8"))
    return document


def names_in(folder: Path) -> list[str]:
    """Return the names of what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_a_newcomer_gets_the_bundled_driver_on_every_track(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder of its name; the data are those that the page reads, and every file that they name is there."""
    monkeypatch.chdir(tmp_path)
    assert race_page.main([]) == 0
    page = page_in(tmp_path / "page_of_pretrained")
    assert (page["version"], page["physics"]) == (1, "physics.json")
    assert page["physicsFingerprint"] == load_physics().fingerprint
    (driver,) = page["drivers"]
    laps = driver.pop("laps")
    assert driver == {
        "name": "pretrained",
        "label": "pretrained",
        "file": "drivers/pretrained.onnx",
        "actionRepeat": 1,
        "algorithm": "PPO",
    }
    assert {name: (len(lap["ticks"]), lap["clean"]) for name, lap in laps.items()} == dict.fromkeys(
        ("track-01", "track-02", "track-03"), (3, True)
    )
    for track in page["tracks"]:
        assert track["parTicks"]["gold"] < track["parTicks"]["silver"] < track["parTicks"]["bronze"]
        assert load_track(tmp_path / "page_of_pretrained" / track["file"]).fingerprint == track["fingerprint"]
    folder = tmp_path / "page_of_pretrained"
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*")) == page["holds"]
    assert (folder / "physics.json").read_bytes() == DEFAULT_PHYSICS_PATH.read_bytes()
    assert (folder / "drivers" / "pretrained.onnx").read_bytes() == PRETRAINED_DRIVER.read_bytes()
    assert (folder / "assets" / "a.wasm").is_file()
    out = capsys.readouterr().out
    assert "pretrained drives three laps of 3 tracks ..." in out
    assert "saved page_of_pretrained (" in out
    assert "see it, as with --serve: python -m http.server 9877 --bind 127.0.0.1 --directory page_of_pretrained" in out


def test_drivers_of_any_kind(tmp_path: Path, trained_sac: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that holds its actions, one by rule, one of another program; each laps in the page as it does elsewhere."""
    foreign = with_statistics(made(tmp_path / "theirs.onnx"), {**STATS, "action_repeat": 2})
    model = str(trained_sac / "models" / "lap_final.zip")
    names = [model, "scripted", str(foreign), "scripted"]
    where = ["--track-id", "track-01", "procedural:1", "--track-seed", "5"]
    assert race_page.main(["--model", *names, *where, "--output-dir", str(tmp_path / "page")]) == 0
    page = page_in(tmp_path / "page")
    told = [(each["name"], each["actionRepeat"], each["algorithm"]) for each in page["drivers"]]
    assert [each["label"] for each in page["drivers"]] == ["lap_final", "scripted", told_label(foreign), "scripted (2)"]
    assert told[:2] == [("lap_final", 4, "SAC"), ("scripted", 1, None)]
    assert [repeat for _, repeat, _ in told[2:]] == [2, 1]
    capsys.readouterr()
    for name, driver in zip(names, page["drivers"], strict=True):
        assert evaluate.main(["--model", name, *where, "--json"]) == 0
        seen = json.loads(capsys.readouterr().out)["tracks"]
        for track_id, laps in driver["laps"].items():
            assert [tick / 60 for tick in laps["ticks"]] == pytest.approx(seen[track_id]["lap_times_sec"][0], abs=1e-3)


def told_label(path: Path) -> str:
    """Return what a driver of another program is called."""
    return f"{path.parent.name}/{path.name}"


def test_a_page_s_driver_is_a_driver(tmp_path: Path) -> None:
    """It drives from raw observations as the model does, and whatever takes a driver takes it."""
    save_guest(tmp_path, "TD3", buffer_size=100)
    models = ["--models-dir", str(tmp_path / "models")]
    assert (
        race_page.main(["--model", "guest", "--track-id", "track-01", "--output-dir", str(tmp_path / "p"), *models])
        == 0
    )
    (driver,) = page_in(tmp_path / "p")["drivers"]
    seen = np.random.default_rng(0).random((9, 14), dtype=np.float32)
    expected = load_driver("guest", load_physics(), models_dir=tmp_path / "models")(seen)
    assert load_onnx_driver(tmp_path / "p" / driver["file"], load_physics())(seen) == pytest.approx(expected, abs=1e-5)


def test_a_driver_that_fails_is_in_the_page_all_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It may be funny to watch; that it does not lap is said."""
    path = made(tmp_path / "theirs.onnx", weights=np.zeros((14, 3)))
    assert race_page.main(["--model", str(path), "--track-id", "track-01", "--output-dir", str(tmp_path / "page")]) == 0
    assert "theirs.onnx does not lap track-01 cleanly" in capsys.readouterr().err
    (driver,) = page_in(tmp_path / "page")["drivers"]
    assert driver["laps"] == {"track-01": {"ticks": [], "clean": False}}


def test_a_driver_that_laps_otherwise_in_the_page_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page has the laps that are driven there."""
    still = load_onnx_driver(made(tmp_path / "still.onnx", weights=np.zeros((14, 3))), None)
    monkeypatch.setattr("training.pages.drivers.scripted_driver", still.act)
    where = ["--track-id", "track-01", "--output-dir", str(tmp_path / "page")]
    assert race_page.main(["--model", "scripted", *where]) == 0
    (driver,) = page_in(tmp_path / "page")["drivers"]
    ticks = driver["laps"]["track-01"]["ticks"]
    expected = f"scripted laps track-01 in {ticks} ticks in the page, and in [] where it comes from"
    assert expected in capsys.readouterr().err


def test_tracks_of_one_s_own(tmp_path: Path) -> None:
    """All of the folder; files are named so that any web server has them."""
    tracks = tmp_path / "tracks"
    tracks.mkdir()
    document = load_track("track-01").to_json()
    (tracks / "Größe (1).json").write_text(json.dumps({**document, "id": "Größe (1)"}), encoding="utf-8")
    assert race_page.main(["--tracks-dir", str(tracks), "--output-dir", str(tmp_path / "page")]) == 0
    (track,) = page_in(tmp_path / "page")["tracks"]
    assert (track["id"], track["file"]) == ("Größe (1)", "tracks/gr-e-1.json")
    assert (tmp_path / "page" / track["file"]).is_file()


def test_a_page_is_made_anew(tmp_path: Path) -> None:
    """In its place."""
    arguments = ["--track-id", "track-01", "--output-dir", str(tmp_path / "page"), "--model"]
    assert race_page.main([*arguments, "pretrained"]) == race_page.main([*arguments, "scripted"]) == 0
    assert names_in(tmp_path / "page" / "drivers") == ["scripted.onnx"]
    assert names_in(tmp_path) == ["page"]


@pytest.mark.parametrize(("more", "address"), [([], "default"), (["--port", "0"], "chosen 0")])
def test_it_is_served(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    address: str,
) -> None:
    """Always on one port, or on one of the user's choice, which may be any free one."""

    def default(folder: Path) -> None:
        raise PageError("default")

    def chosen(folder: Path, port: int) -> None:
        raise PageError(f"chosen {port}")

    monkeypatch.setattr(serving, "make_default_server", default)
    monkeypatch.setattr(serving, "make_server", chosen)
    monkeypatch.setattr(race_page, "check_port", lambda port: None)
    where = ["--track-id", "track-01", "--output-dir", str(tmp_path / "page"), "--serve"]
    assert race_page.main(["--model", "scripted", *where, *more]) == 2
    assert capsys.readouterr().err.endswith(f"error: {address}\n")


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium or Chrome")
@pytest.mark.skipif(not building.SOURCES.is_dir(), reason="needs the page's sources")
@pytest.mark.timeout(300)
def test_a_browser_shows_it(node_bridge: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As --serve serves it: its scripts run under the policy, and find drivers and tracks."""
    monkeypatch.setattr(race_page, "built_page", building.built_page)
    where = ["--track-id", "track-02", "procedural-3-1", "--output-dir", str(tmp_path / "page")]
    assert race_page.main(["--model", "pretrained", "scripted", *where]) == 0
    with make_server(tmp_path / "page", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://{HOST}:{server.server_address[1]}/"
        command = [str(BROWSER), *BROWSER_FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", address]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=100).stdout
        server.shutdown()
    page = page_in(tmp_path / "page")
    for entry in page["drivers"]:
        assert f'value="{entry["name"]}"' in shown
    for entry in page["tracks"]:
        assert f'value="{entry["id"]}"' in shown
        assert entry["name"] in shown


# --- What is refused ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "missing"], "no model or run missing"),
        (["--track-id", "track-99"], "track-99"),
        (["--port", "8000"], "--port and --no-browser are about --serve"),
        (["--port", "0"], "--port and --no-browser are about --serve"),
        (["--no-browser"], "--port and --no-browser are about --serve"),
        (["--model", "scripted", "--no-vecnorm", "--output-dir", "page.json"], "--output-dir takes a folder"),
        (["--output-dir", "."], "--output-dir . is or holds the working directory"),
    ],
)
def test_what_cannot_be(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    """One line and exit code 2; nothing is left."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.json").write_text("")
    assert race_page.main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert names_in(tmp_path) == ["page.json"]


def test_a_folder_of_something_else_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named, or by the name that a page would have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page_of_pretrained").mkdir()
    (tmp_path / "page_of_pretrained" / "thesis.txt").write_text("")
    for more in ([], ["--output-dir", "page_of_pretrained"]):
        assert race_page.main(["--track-id", "track-01", *more]) == 2
        assert "page_of_pretrained exists and is no page of this script" in capsys.readouterr().err
    assert names_in(tmp_path / "page_of_pretrained") == ["thesis.txt"]


def test_a_memory_fits_into_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such a driver can be watched in a window."""
    save_guest(tmp_path, "RecurrentPPO")
    models = ["--models-dir", str(tmp_path / "models")]
    assert race_page.main(["--model", "guest", "--output-dir", str(tmp_path / "page"), *models]) == 2
    assert "guest.zip is a model of RecurrentPPO, whose memory these files cannot hold" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


def test_an_export_that_acts_differently_is_in_no_page(
    tmp_path: Path, fresh_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By how much is said."""
    real = DeterministicPolicy.forward
    monkeypatch.setattr(DeterministicPolicy, "forward", lambda self, obs: real(self, obs) + 2e-5)
    where = ["--track-id", "track-01", "--output-dir", str(tmp_path / "page")]
    assert race_page.main(["--model", str(fresh_model), *where]) == 2
    assert "its export differs from the model by up to 2e-05, more than 1e-05" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("in_page", "message"),
    [(False, " cannot drive: expected finite numbers"), (True, ", as the page runs it, cannot drive: expected finite")],
)
def test_a_driver_that_answers_with_no_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], in_page: bool, message: str
) -> None:
    """It is named as the user did, and not as the file of a page that is never there, even if it fails there alone."""
    broken = made(tmp_path / "broken.onnx", weights=np.full((14, 3), np.nan))
    path = made(tmp_path / "theirs.onnx") if in_page else broken
    if in_page:
        content = wrapped(open_onnx(broken, None))
        monkeypatch.setattr("training.pages.drivers.wrapped", lambda exported: content)
    where = ["--track-id", "track-01", "--output-dir", str(tmp_path / "page")]
    assert race_page.main(["--model", str(path), *where]) == 2
    assert f"error: {path}{message}" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


def test_other_physics_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless they are asked for."""
    path = make_fresh(tmp_path, physics_fingerprint="f" * 64)
    arguments = ["--model", str(path), "--track-id", "track-01", "--output-dir", str(tmp_path / "page")]
    assert race_page.main(arguments) == 2
    assert "was trained on other physics: ffffffffffff against" in capsys.readouterr().err
    assert race_page.main([*arguments, "--any-physics"]) == 0


def test_a_port_that_is_taken_is_noticed_before_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before any driver is loaded; one line and exit code 2, and no page."""
    with make_server(tmp_path, 0) as server:
        port = str(server.server_address[1])
        where = ["--output-dir", str(tmp_path / "page"), "--serve", "--port", port]
        assert race_page.main(["--model", "missing", *where]) == 2
    out, error = capsys.readouterr()
    assert error.startswith(f"error: cannot listen on port {port}: ")
    assert (out, error.count("\n"), names_in(tmp_path)) == ("", 1, [])


def test_a_page_that_cannot_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any driver is loaded; one line and exit code 2."""

    def fail(say: object) -> Path:
        raise PageError("the page needs node")

    monkeypatch.setattr(race_page, "built_page", fail)
    assert race_page.main(["--model", "missing", "--output-dir", str(tmp_path / "page")]) == 2
    assert capsys.readouterr().err == "error: the page needs node\n"
