"""Arguments that several scripts share: tracks, and how a driver is found and drives."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from racer_env.project import IS_INSTALLED, PROJECT_ROOT
from training.console.parser import MAX_SEED, whole_number


def _from_here(path: Path) -> Path:
    """Return a path relative to the current folder if it lies inside it; otherwise unchanged."""
    try:
        return path.relative_to(Path.cwd())
    except (ValueError, OSError):
        return path


# When installed by pip there is no project folder, and files go to the current folder.
MODELS_DIR = Path("models") if IS_INSTALLED else _from_here(PROJECT_ROOT / "models")
LOGS_DIR = Path("logs") if IS_INSTALLED else _from_here(PROJECT_ROOT / "logs")


def add_track_arguments(
    parser: argparse._ActionsContainer, default: str, config: str | None = None, seed: str = "0"
) -> None:
    """Add --track-id, --track-seed, --tracks-dir and --config.

    Args:
        parser: Where they are added.
        default: What omitting --track-id means.
        config: What omitting --config means; None adds no --config.
        seed: What omitting --track-seed means.
    """
    parser.add_argument(
        "--track-id",
        nargs="+",
        default=[],
        metavar="ID",
        help="one or more tracks: ids, paths that end in .json, 'all', or 'procedural:64', 'procedural-hard:8' and "
        f"'procedural-oval:8' for so many generated ones (default: {default})",
    )
    parser.add_argument(
        "--track-seed",
        type=whole_number(0),
        default=0,
        metavar="S",
        help=f"seed of the generated tracks (default: {seed})",
    )
    parser.add_argument(
        "--tracks-dir", type=Path, metavar="DIR", help="folder with track files of your own (default: tracks/)"
    )
    if config is not None:
        parser.add_argument(
            "--config",
            type=Path,
            metavar="FILE",
            help=f"file of reward weights and episode limits (default: {config})",
        )


def track_flags(track_id: Sequence[str], tracks_dir: Path | None, is_own: bool = True) -> list[str]:
    """Return the flags that find the tracks of ``add_track_arguments`` again, if their ids are not enough.

    Args:
        track_id: Names of the tracks.
        tracks_dir: Folder of the user's own track files.
        is_own: Whether the driver has been trained on these tracks, and says so.
    """
    flags = ["--tracks-dir", str(tracks_dir)] if tracks_dir is not None else []
    is_named = track_id and (not is_own or any(name.endswith(".json") for name in track_id))
    return [*flags, "--track-id", *track_id] if is_named else flags


def add_statistics_arguments(parser: argparse._ActionsContainer) -> None:
    """Add --vecnorm and --no-vecnorm: where a model's normalisation statistics are, if anywhere."""
    statistics = parser.add_mutually_exclusive_group()
    statistics.add_argument(
        "--vecnorm",
        type=Path,
        metavar="FILE",
        help="the model's normalisation statistics (default: those in the model, or else beside it)",
    )
    statistics.add_argument(
        "--no-vecnorm", action="store_true", help="the model was trained without normalisation: it has no statistics"
    )


def add_driver_arguments(parser: argparse._ActionsContainer) -> None:
    """Add --deterministic, --seed and --models-dir: how a driver is found and drives."""
    parser.add_argument(
        "--deterministic",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="drive without exploration noise (default: yes)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0, MAX_SEED), default=0, help="seed of the exploration noise (default: 0)"
    )
    parser.add_argument(
        "--models-dir", type=Path, default=MODELS_DIR, help="folder in which runs are looked for (default: models/)"
    )
