"""Tracks that no run of a comparison knows."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.training.comparisons.logs import evaluation, write_run
from training.comparisons.finding import find_runs
from training.comparisons.options import FIRST_SEED, parse_options
from training.comparisons.unseen import unseen_tracks


@pytest.mark.parametrize(
    ("record", "seed"),
    [
        ({}, FIRST_SEED),
        ({"track_fingerprints": {f"procedural-hard-{FIRST_SEED}-3": "f"}}, FIRST_SEED + 1),
        ({"arguments": {"eval_track_id": [f"procedural-{FIRST_SEED}-0"]}}, FIRST_SEED + 1),
    ],
)
def test_the_seed_is_one_that_no_run_has_driven_on(tmp_path: Path, record: dict[str, Any], seed: int) -> None:
    """Neither in training nor to choose the best model."""
    write_run(tmp_path, "a", 0, [evaluation(1000, 1.0)], **record)
    options = parse_options(["a"])
    tracks = unseen_tracks(options, find_runs(["a"], tmp_path))
    assert [track.id for track in tracks] == [f"procedural-{seed}-{number}" for number in range(4)]
    chosen = dataclasses.replace(options, track_id=["procedural-oval:1"], track_seed=5)
    assert [track.id for track in unseen_tracks(chosen, [])] == ["procedural-oval-5-0"]
