"""Export a driver for the game: ``python -m training.export_onnx --model PATH``."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from training.checkpoints.checkpoint import find_checkpoint
from training.checkpoints.data import UNKNOWN_PHYSICS
from training.checkpoints.files import (
    DRIVER_NAME,
    MODEL_NAME,
    STATISTICS_NAME,
    check_export_folder,
)
from training.console.arguments import MODELS_DIR, add_statistics_arguments, add_track_arguments, track_flags
from training.console.bridges import physics_behind
from training.console.messages import command_line, say
from training.console.parser import ANSWER_IS_NO, DONE, MAX_SEED, Parser, leave, run_script, whole_number
from training.console.tracks import load_tracks_for, note_changed_tracks


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.export_onnx",
        description=f"Export a driver as ONNX: {MODEL_NAME} with {STATISTICS_NAME}, which the game loads, and "
        f"{DRIVER_NAME}, which takes the raw observation. All are checked against the model before they are written.",
        examples=(
            "python -m training.export_onnx --model ppo_run_1_best",
            "python -m training.export_onnx --model ppo_run_1_best --output-dir my_driver",
        ),
        epilog="Model files contain pickles. They are left closed: only JSON, tensors and checked statistics are read.",
    )
    parser.add_argument(
        "--model",
        required=True,
        metavar="MODEL",
        help="a model's path, or a run's name, for its newest model, not its best",
    )
    parser.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="folder of the three files (default: one named as the model)"
    )
    add_track_arguments(parser, "those that the model was trained on")
    add_statistics_arguments(parser)
    parser.add_argument(
        "--seed",
        type=whole_number(0, MAX_SEED),
        default=0,
        help="seed of the observations that the files are checked on (default: 0)",
    )
    parser.add_argument(
        "--models-dir", type=Path, default=MODELS_DIR, help="folder in which runs are looked for (default: models/)"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_export, make_parser().parse_args(argv), needs=("torch", "onnx", "onnxscript", "onnxruntime"))


def _export(arguments: argparse.Namespace) -> int:
    checkpoint = find_checkpoint(
        arguments.model, arguments.models_dir, statistics=arguments.vecnorm, normalises=not arguments.no_vecnorm
    )
    data = checkpoint.data
    tracks = load_tracks_for(data.track_ids, arguments.track_id, arguments.tracks_dir)
    note_changed_tracks(data.get("track_fingerprints", dict, {}), data.path.name, tracks)
    folder = arguments.output_dir or data.path.with_suffix("")
    check_export_folder(folder)
    say(f"exporting {data.path} ...")
    from training.exports.session import export  # PyTorch and ONNX take 3 s to load

    if not export(checkpoint, tracks, folder, arguments.seed):
        return ANSWER_IS_NO
    see = ["python", "-m", "training.evaluate", "--model", str(folder / DRIVER_NAME)]
    see += track_flags(arguments.track_id, arguments.tracks_dir, is_own=False)
    physics = physics_behind(None)
    if data.physics not in (None, UNKNOWN_PHYSICS, physics and physics.fingerprint):
        see.append("--any-physics")
    say(f"see it drive: {command_line(see)}", limit=None)
    return DONE


if __name__ == "__main__":
    leave(main())
