"""Names of tracks: ``all``, and names that say how a track is generated.

``procedural-7-12`` is track 12 of seed 7, ``procedural-hard-7-12`` a hard one, ``procedural-oval-7-12`` an oval.
``procedural:64`` stands for 64 tracks of a seed given elsewhere.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from racer_env.errors import TrackError

ALL_TRACKS = "all"
NORMAL, HARD, OVAL = "procedural", "procedural-hard", "procedural-oval"
KIND_NAMES = (NORMAL, HARD, OVAL)  # the order affects the random numbers
MAX_TRACKS = 4_096  # tracks in one set
VALIDATION_SEED = 1_000_000  # added to the seed, for tracks that are neither trained on nor reported
_NAME = re.compile(rf"(?P<kind>{HARD}|{OVAL}|{NORMAL})-(?P<seed>[0-9]{{1,10}})-(?P<number>[0-9]{{1,7}})")


# Valid as a file name on any system: no separators, no line ends, not hidden, nothing that is cut off.
_ID = re.compile(r"\w(?:[\w .()+-]*[\w()+-])?")
MAX_ID = 100  # bytes


def is_track_id(name: str) -> bool:
    """Return whether a name can be a track's id; files are named by it."""
    return _ID.fullmatch(name) is not None and len(name.encode()) <= MAX_ID


def other_meaning(name: str) -> str | None:
    """Return what a name stands for where tracks are named, other than a track of that id; None if for nothing else."""
    if name == ALL_TRACKS:
        return "all tracks of a folder"
    if name.endswith(".json"):
        return "the path of a file"
    if name.partition(":")[0] in KIND_NAMES and ":" in name:
        return "a set of generated tracks"
    return "a generated track" if is_generated(name) else None


class GeneratedName(NamedTuple):
    """What the name of a generated track stands for.

    Attributes:
        kind: Kind of track, one of KIND_NAMES.
        seed: Seed of the track's set.
        number: Number of the track in the set, from 0.
    """

    kind: str
    seed: int
    number: int


def parse_generated(name: str) -> GeneratedName | None:
    """Return how the track of a name is generated; None for any other name."""
    match = _NAME.fullmatch(name)
    return None if match is None else GeneratedName(match["kind"], int(match["seed"]), int(match["number"]))


def is_generated(name: str) -> bool:
    """Return whether a name is that of a generated track."""
    return kind_of(name) is not None


def kind_of(name: str) -> str | None:
    """Return the kind of a generated track's name; None for any other name."""
    generated = parse_generated(name)
    return None if generated is None else generated.kind


def expand_names(names: Sequence[str], seed: int) -> list[str]:
    """Return names of tracks, with ``procedural:64`` and ``procedural-hard:8`` expanded to that many of a seed.

    Raises:
        TrackError: The number of tracks is missing or too large.
    """
    expanded = []
    for name in names:
        kind, colon, count = name.partition(":")
        if kind not in KIND_NAMES or not colon:
            expanded.append(name)
            continue
        if not re.fullmatch("[0-9]{1,7}", count) or not 1 <= int(count) <= MAX_TRACKS:
            raise TrackError(f"expected {kind}:N with N from 1 to {MAX_TRACKS:,}, got {name!r}")
        expanded.extend(f"{kind}-{seed}-{number}" for number in range(int(count)))
    return expanded
