"""The simulator against recordings: the project's own, and the game's where its folder is beside the project."""

import json
from pathlib import Path

import numpy as np
import pytest

from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track, load_track, parse_track
from tests.helpers import (
    COLUMNS,
    DISCRETE_COLUMNS,
    RECORDING_CONFIG,
    RECORDINGS,
    SHARED_RECORDINGS,
    TRACK_IDS,
    FloatArray,
    replay,
)

pytestmark = pytest.mark.timeout(60)  # on a busy machine

TOLERANCE = 1e-9
SHARED_IDS = tuple(f"golden-{name}" for name in ("bean", "clover", "ellipse", "kinked", "narrow", "tight", "wide"))
needs_shared = pytest.mark.skipif(
    not SHARED_RECORDINGS.is_dir(), reason="the game's recordings (../shared/golden) are not beside the project"
)


def load_shared_track(track_id: str) -> Track:
    """Load a track of the game's recordings; one of them has a wall that crosses itself."""
    path = SHARED_RECORDINGS / f"{track_id}.json"
    return parse_track(json.loads(path.read_text(encoding="utf-8")), str(path), must_be_drivable=False)


def assert_same_ticks(actual: FloatArray, expected: FloatArray, what: str) -> None:
    """Compare ticks column by column, so that a failure names the first column and tick that differ."""
    assert actual.shape == expected.shape
    for column, name in enumerate(COLUMNS):
        tolerance = 0.0 if column in DISCRETE_COLUMNS else TOLERANCE
        # A NaN must count as a difference.
        wrong = ~(np.abs(actual[:, column] - expected[:, column]) <= tolerance)
        tick = int(np.argmax(wrong))
        assert not wrong.any(), (
            f"{what}: {name} differs on {wrong.sum()} ticks, first on tick {tick}: "
            f"{actual[tick, column]!r}, recorded {expected[tick, column]!r}"
        )


def assert_replays(track: Track, recording: Path, prefix: str = "") -> None:
    """Replay one episode of a recording and compare it."""
    with np.load(recording) as content:
        first_expected, expected = content[f"{prefix}first_observation"], content[f"{prefix}ticks"]
    first_observation, ticks = replay(Simulator([track], 1, RECORDING_CONFIG), expected[:, :3])
    np.testing.assert_allclose(first_observation, first_expected, rtol=0, atol=TOLERANCE)
    assert_same_ticks(ticks, expected, f"{recording.stem} {prefix}")


@pytest.mark.parametrize("track_id", TRACK_IDS)
def test_own_recording_is_of_the_shipped_track_and_physics(track_id: str) -> None:
    """The shipped track and the physics are those that the recording was made with."""
    track = load_track(track_id)
    with np.load(RECORDINGS / f"{track_id}.npz") as content:
        assert str(content["physics_fingerprint"]) == track.physics.fingerprint
        assert str(content["track_fingerprint"]) == track.fingerprint


@pytest.mark.parametrize("track_id", TRACK_IDS)
def test_own_recording_covers_the_rules(track_id: str) -> None:
    """A recording has every surface, wall contact, stillness, wrong-way driving and gates in it."""
    with np.load(RECORDINGS / f"{track_id}.npz") as content:
        ticks = {name: content["ticks"][:, column] for column, name in enumerate(COLUMNS)}
    assert set(ticks["surface"]) == {0.0, 1.0, 2.0}
    assert ticks["checkpoint"].max() >= 3
    for name in ("wallContact", "stillnessCounter"):
        assert np.count_nonzero(ticks[name]) >= 5, name
    assert np.count_nonzero(ticks["backward reward"]) >= 20


@pytest.mark.parametrize("track_id", TRACK_IDS)
def test_own_recording_replays(track_id: str) -> None:
    """The simulator drives the recorded actions to the recorded numbers."""
    assert_replays(load_track(track_id), RECORDINGS / f"{track_id}.npz")


def test_own_recordings_are_small() -> None:
    """The recordings stay below 300 KB in total."""
    sizes = [(RECORDINGS / f"{track_id}.npz").stat().st_size for track_id in TRACK_IDS]
    assert sum(sizes) < 300 * 1024


@needs_shared
@pytest.mark.parametrize("track_id", SHARED_IDS)
def test_shared_recording_replays(track_id: str) -> None:
    """The simulator drives every episode of the game's recordings to the game's numbers."""
    track, recording = load_shared_track(track_id), SHARED_RECORDINGS / f"{track_id}.npz"
    with np.load(recording) as content:
        prefixes = [name.removesuffix("ticks") for name in content.files if name.endswith("/ticks")]
    assert len(prefixes) >= 6
    for prefix in prefixes:
        assert_replays(track, recording, prefix)


@needs_shared
@pytest.mark.parametrize("track_id", SHARED_IDS)
def test_shared_geometry_is_the_same(track_id: str) -> None:
    """Length, start, walls, road edges and gates are the game's."""
    geometry = load_shared_track(track_id).geometry
    gates = geometry.gates
    actual = {
        "total_length": np.array(geometry.total_length),
        "start": np.array(geometry.start),
        "gates": np.hstack([gates.left, gates.right, gates.centre, gates.direction, gates.arc_length[:, None]]),
        **{name: getattr(geometry, name) for name in ("inner_wall", "outer_wall")},
        **{name: getattr(geometry, name) for name in ("inner_road_edge", "outer_road_edge")},
    }
    with np.load(SHARED_RECORDINGS / f"{track_id}.npz") as content:
        for name, values in actual.items():
            np.testing.assert_allclose(values, content[name], rtol=0, atol=TOLERANCE, err_msg=name)


@needs_shared
def test_every_shared_recording_is_replayed() -> None:
    """No recording of the game's is left out."""
    assert {path.stem for path in SHARED_RECORDINGS.glob("*.npz")} == set(SHARED_IDS)
