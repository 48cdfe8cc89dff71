"""The data that the page's own tests run on say what the toolkit says, so that those tests hold the two together."""

import json
from pathlib import Path
from typing import Any

import onnx
import pytest

from racer_env.config import AiConfig
from racer_env.physics import load_physics
from racer_env.project import PRETRAINED_DRIVER, PROJECT_ROOT
from racer_env.tracks import Track, load_track, parse_track
from tests.helpers import TRACK_IDS
from training.drivers.exported import load_onnx_driver
from training.evaluation.course import Course, evaluate

DATA = PROJECT_ROOT / "page" / "test" / "data"
PAGE = json.loads((DATA / "page.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tracks() -> list[Track]:
    """The tracks of the page's tests: those that are shipped, and a generated one."""
    generated = json.loads((DATA / "generated.json").read_text(encoding="utf-8"))
    return [*(load_track(track_id) for track_id in TRACK_IDS), parse_track(generated, "generated.json", load_physics())]


def held(path: Path, ticks: int) -> Path:
    """Write the bundled driver as one whose actions are held for some ticks, and return its path."""
    model = onnx.load(PRETRAINED_DRIVER)
    (entry,) = (entry for entry in model.metadata_props if entry.key == "racer_driver")
    entry.value = json.dumps({**json.loads(entry.value), "action_repeat": ticks})
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("entry", PAGE["drivers"], ids=lambda entry: entry["name"])
def test_laps_are_those_that_evaluate_drives(entry: dict[str, Any], tracks: list[Track], tmp_path: Path) -> None:
    """Three laps from a standing start on each track, to the tick."""
    driver = load_onnx_driver(held(tmp_path / "driver.onnx", entry["actionRepeat"]), load_physics())
    episodes = evaluate(driver, Course(tracks, AiConfig(), 3)).from_line
    laps = {track: {"ticks": episode.lap_ticks, "clean": episode.is_clean} for track, (episode,) in episodes.items()}
    assert laps == entry["laps"]


def test_fingerprints_are_those_of_the_toolkit(tracks: list[Track]) -> None:
    """Recordings name them."""
    assert PAGE["physicsFingerprint"] == load_physics().fingerprint
    assert [entry["fingerprint"] for entry in PAGE["tracks"]] == [track.fingerprint for track in tracks]
    assert [entry["length"] for entry in PAGE["tracks"]] == [round(track.length, 1) for track in tracks]
