"""Which reader a file is for."""

import collections
from collections.abc import Callable
from pathlib import Path

from racer_env.errors import TrackError
from racer_env.tracks.readers.csv_lines import read_csv
from racer_env.tracks.readers.documents import read_game_json, read_game_source
from racer_env.tracks.readers.road import MAX_ROADS, Reading, SourceRoad
from racer_env.tracks.readers.svg import read_svg

Reader = Callable[[Path, Reading], list[SourceRoad]]
_READERS: dict[str, Reader] = {
    ".json": read_game_json,
    **dict.fromkeys((".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs", ".json5", ".jsonc"), read_game_source),
    **dict.fromkeys((".csv", ".tsv", ".txt"), read_csv),
    ".svg": read_svg,
}


def read_roads(path: Path, reading: Reading) -> list[SourceRoad]:
    """Read the roads of a file, each with an id of its own.

    Args:
        path: A file whose name ends as one of the readers expects.
        reading: What is not in the file.

    Raises:
        TrackError: The file cannot be read, or holds no road; the message says what is wrong and where.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise TrackError(f"{path}: expected a file that ends in {', '.join(_READERS)}; rename it if it is one of these")
    roads = reader(path, reading)
    if len(roads) > MAX_ROADS:
        raise TrackError(f"{path}: expected at most {MAX_ROADS} roads in a file, got {len(roads):,}; split it")
    names = collections.Counter(road.id or path.stem for road in roads)
    numbers: collections.Counter[str] = collections.Counter()
    for road in roads:
        name = road.id or path.stem
        numbers[name] += 1
        road.id = name if names[name] == 1 else f"{name}-{numbers[name]}"
    return roads
