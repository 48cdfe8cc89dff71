"""The driver that comes with the project: it drives before any training, as its card says."""

import json
from pathlib import Path

import numpy as np
import pytest

from racer_env.physics import load_physics
from racer_env.tracks import load_tracks
from racer_env.tracks.generator import generate_track
from racer_env.tracks.names import HARD
from training import evaluate
from training.console.arguments import MODELS_DIR
from training.drivers.card import read_card
from training.drivers.exported import load_onnx_driver

pytestmark = pytest.mark.timeout(60)

FOLDER = MODELS_DIR / "pretrained"
DRIVER = FOLDER / "driver.onnx"


def test_it_laps_every_shipped_track(capsys: pytest.CaptureFixture[str]) -> None:
    """Cleanly, on the road, without a stall, and smoothly; the lap times are those of the card."""
    assert evaluate.main(["--model", str(DRIVER), "--track-id", "all", "--laps", "2", "--json"]) == 0
    tracks = json.loads(capsys.readouterr().out)["tracks"]
    card = json.loads((FOLDER / "card.json").read_text(encoding="utf-8"))
    assert set(tracks) == set(card["tracks"]) == {"track-01", "track-02", "track-03"}
    for track_id, figures in tracks.items():
        assert figures["clean_laps"] == 2
        assert figures["stalls"] == 0
        assert figures["off_track_share"] < 0.05
        assert figures["steer_sign_changes_per_sec"] < 2
        assert figures["best_lap_time_sec"] == pytest.approx(card["tracks"][track_id]["best_lap_time_sec"], abs=0.05)


def test_it_laps_tracks_that_it_has_never_seen(capsys: pytest.CaptureFixture[str]) -> None:
    """Normal and hard ones."""
    names = ["procedural:4", "procedural-hard:4"]
    arguments = ["--model", str(DRIVER), "--track-seed", "123", "--laps", "1", "--json", "--track-id", *names]
    assert evaluate.main(arguments) == 0
    tracks = json.loads(capsys.readouterr().out)["tracks"]
    assert sum(figures["clean_laps"] for figures in tracks.values()) == 8
    assert generate_track(123, 0, HARD).id in tracks


def test_its_card_says_what_it_is() -> None:
    """The command that made it, the physics that it is for; small enough to be in the project."""
    card = json.loads((FOLDER / "card.json").read_text(encoding="utf-8"))
    assert card["physics_fingerprint"] == load_physics().fingerprint == read_card(DRIVER).physics_fingerprint
    assert "--preset general" in card["command"]
    assert DRIVER.stat().st_size < 150 * 1024
    assert {path.name for path in FOLDER.iterdir()} == {"driver.onnx", "driver.zip", "card.json"}


def test_it_does_not_look_at_the_laps_progress() -> None:
    """So it knows no single track."""
    driver = load_onnx_driver(Path(DRIVER), load_physics())
    observations = np.random.default_rng(0).random((20, 14), dtype=np.float32)
    expected = driver(observations)
    observations[:, 12] = np.linspace(0, 1, 20)
    assert np.array_equal(driver(observations), expected)
    assert len(load_tracks(list(driver.track_ids[:1]))) == 1
