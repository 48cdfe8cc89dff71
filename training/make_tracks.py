"""Write generated tracks as files, with a picture: ``python -m training.make_tracks --track-id procedural:12``."""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from racer_env.errors import ConfigError
from training.cli import DONE, Parser, add_track_arguments, count_of, leave, note, run_script, say

if TYPE_CHECKING:
    from racer_env.tracks import Track

DEFAULT_SET = "procedural:12"
PICTURE_NAME = "tracks.png"
TILE = 240  # pixels
MAX_COLUMNS = 8


def make_parser() -> Parser:
    """Return the command line."""
    parser = Parser(
        prog="python -m training.make_tracks",
        description="Write tracks as files that the game and --tracks-dir take, and a picture of all of them.",
    )
    add_track_arguments(parser, DEFAULT_SET, has_config=False)
    parser.set_defaults(track_id=[DEFAULT_SET])
    parser.add_argument(
        "--output-dir", type=Path, default=Path("generated"), metavar="DIR", help="where they go (default: generated/)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files of the same name")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_make, make_parser().parse_args(argv))


def _make(arguments: argparse.Namespace) -> int:
    from racer_env.tracks import available_tracks, load_tracks

    tracks = load_tracks(arguments.track_id, arguments.tracks_dir)
    folder: Path = arguments.output_dir
    if folder == Path():
        raise ConfigError("--output-dir is empty; name a folder, as the files would lie among those of the project")
    paths, picture = [folder / f"{track.id}.json" for track in tracks], folder / PICTURE_NAME
    folders = [path for path in (*paths, picture) if path.is_dir()]
    if folders:
        raise ConfigError(f"{folders[0]} is a folder, where a file would be written; name another --output-dir")
    there = next((path for path in (*paths, picture) if path.exists()), None)
    if there is not None and not arguments.overwrite:
        raise ConfigError(f"{there} exists; name another --output-dir, or replace it with --overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    for track, path in zip(tracks, paths, strict=True):
        path.write_text(json.dumps(track.to_json(), indent=1) + "\n", encoding="utf-8")
    draw_tracks(tracks, picture)
    say(f"saved {count_of(len(tracks), 'track')} and {PICTURE_NAME} to {folder}")
    others = len(available_tracks(folder)) - len(tracks)
    if others:
        note(f"{folder} also holds {count_of(others, 'other track')}")
    say(f"train on them with: python -m training.train_ppo --tracks-dir {folder} --track-id all")
    return DONE


def draw_tracks(tracks: "Sequence[Track]", path: Path) -> None:
    """Write a picture of tracks, side by side with their names."""
    import pygame

    from racer_env.rendering import style
    from racer_env.rendering.painter import Painter
    from racer_env.rendering.readout import draw_text

    columns = min(MAX_COLUMNS, math.ceil(math.sqrt(len(tracks))))
    sheet = pygame.Surface((columns * TILE, math.ceil(len(tracks) / columns) * TILE))
    sheet.fill(style.OUTSIDE)
    for index, track in enumerate(tracks):
        left, top = index % columns * TILE, index // columns * TILE
        tile = Painter(track, (TILE, TILE - 28), readout=False).draw([])
        sheet.blit(tile, (left, top + 24))
        draw_text(sheet, track.id, (left + TILE / 2, top + 6), 20, style.TEXT, "midtop", TILE - 8)
    pygame.image.save(sheet, path)


if __name__ == "__main__":
    leave(main())
