"""Tracks to drive on that no run of a comparison knows."""

import itertools
from collections.abc import Iterator, Sequence

from racer_env.tracks import Track, load_tracks
from racer_env.tracks.names import expand_names, parse_generated
from training.comparisons.finding import FoundRun
from training.comparisons.options import FIRST_SEED, CompareOptions


def unseen_tracks(options: CompareOptions, runs: Sequence[FoundRun]) -> list[Track]:
    """Return the tracks that the options name; sets of generated ones are of a seed that no run has driven on.

    Raises:
        TrackError: A track does not exist or is wrong.
    """
    seed = unused_seed(runs) if options.track_seed is None else options.track_seed
    return [*load_tracks(expand_names(options.track_id, seed), options.tracks_dir)]


def unused_seed(runs: Sequence[FoundRun]) -> int:
    """Return a seed of generated tracks on which no run was trained, nor was its best model chosen."""
    used = {generated.seed for run in runs for name in _tracks_of(run) if (generated := parse_generated(name))}
    return next(seed for seed in itertools.count(FIRST_SEED) if seed not in used)


def _tracks_of(run: FoundRun) -> Iterator[str]:
    """Yield the tracks that a run was trained on, and those that its best model was chosen on, where they are named.

    A set such as ``procedural:8`` to choose on has a seed beyond VALIDATION_SEED, so it needs no name here.
    """
    for record in run.records:
        fingerprints, arguments = record.get("track_fingerprints"), record.get("arguments")
        yield from map(str, fingerprints if isinstance(fingerprints, dict) else ())
        named = arguments.get("eval_track_id") if isinstance(arguments, dict) else None
        yield from map(str, named if isinstance(named, list) else ())
