"""What an evaluation leaves to look at: of which episode, and under which names."""

from pathlib import Path

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.tracks import Track
from tests.runs import drive
from training import evaluate
from training.drivers.scripted import scripted_driver
from training.drives.output import _rank, driven_by, episode_of
from training.drives.recording import load_recording
from training.evaluation.episode import Episode

pytestmark = pytest.mark.timeout(30)


def episode(laps: list[int], clean: list[bool]) -> Episode:
    """Return an episode with laps of some ticks."""
    return Episode("t", 3, lap_ticks=laps, clean=clean)


def test_the_episode_with_the_best_clean_lap_is_shown() -> None:
    """A clean lap before any other, then the faster one, then more of them; one without a lap comes last."""
    ordered = [
        episode([600, 450], [True, True]),
        episode([600, 500, 500], [True, True, True]),
        episode([600, 500], [True, True]),
        episode([700, 300], [True, False]),
        episode([300, 280], [False, False]),
        episode([300], [False]),
        episode([], []),
    ]
    assert sorted([*ordered[3:], *ordered[:3]], key=_rank) == ordered


def test_a_drive_as_an_episode_is_what_was_driven(track: Track) -> None:
    """Laps, contacts, shares and reward are those of the evaluation."""
    (driven,) = drive(scripted_driver, [track], config=AiConfig(), laps=1, keeps_actions=True)
    seen = driven_by("scripted", [track], {"track-01": [driven]})
    replayed = episode_of(seen.recordings["track-01"].drive)
    assert replayed.lap_ticks == driven.lap_ticks
    assert replayed.clean == driven.clean
    assert replayed.off_track_ticks == driven.off_track_ticks
    assert replayed.reward == pytest.approx(driven.reward)


def test_a_drive_that_never_moves_has_stalled(track: Track) -> None:
    """As its evaluation says, although it ends before a place is three seconds old."""
    (driven,) = drive(lambda seen: np.zeros((len(seen), 3)), [track], config=AiConfig(), laps=1, keeps_actions=True)
    seen = driven_by("parked", [track], {"track-01": [driven]})
    assert episode_of(seen.recordings["track-01"].drive).stalls == driven.stalls == 1


def test_several_tracks_are_recorded_under_their_ids(tmp_path: Path, short_config: str) -> None:
    """One file each; a single track has the name as it is."""
    short = ["--model", "scripted", "--laps", "1", "--config", short_config]
    assert evaluate.main([*short, "--track-id", "all", "--record", str(tmp_path / "a.npz")]) == 0
    assert evaluate.main([*short, "--track-id", "track-02", "--record", str(tmp_path / "b.npz")]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a_track-01.npz", "a_track-02.npz", "a_track-03.npz", "b.npz"}
    assert load_recording(tmp_path / "a_track-03.npz").track.id == "track-03"
    assert np.array_equal(
        load_recording(tmp_path / "a_track-02.npz").actions, load_recording(tmp_path / "b.npz").actions
    )
