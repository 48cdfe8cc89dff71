"""The command line of ``training.evaluate``."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.errors import ConfigError
from racer_env.json_files import read_json
from racer_env.packages import need, need_ffmpeg
from racer_env.rendering import CAMERAS, COLOURS, DARK, WHOLE
from training.checkpoints.files import PRETRAINED
from training.console.arguments import add_driver_arguments, add_statistics_arguments, add_track_arguments
from training.console.bridges import add_bridge_argument
from training.console.parser import Parser, whole_number
from training.drivers.loading import SCRIPTED
from training.evaluation.par_times import holds_par_times

DEFAULT_LAPS = 3
MP4, GIF = ".mp4", ".gif"
# Options that one driver alone takes, with what they need of it.
_OF_ONE_DRIVER = ("compare", "vecnorm", "no_vecnorm", "stress", "par_times", "record", "plot")
_ABOUT_VIDEOS = ("fps", "camera", "colours")
# Options that say how to drive; they do not apply to a replay.
_ABOUT_DRIVING = (
    *("compare", "vecnorm", "no_vecnorm", "track_id", "laps", "episodes", "deterministic", "bridge_url"),
    *("random_starts", "stress", "par_times", "seed", "device", "any_physics", "tracks_dir", "models_dir"),
)


@dataclass(frozen=True)
class EvaluationOptions:
    """The options of ``training.evaluate``; ``make_parser`` says what each one means."""

    model: list[str] | None
    replay: Path | None
    compare: str | None
    vecnorm: Path | None
    no_vecnorm: bool
    bridge_url: list[str] | None
    track_id: list[str]
    track_seed: int
    tracks_dir: Path | None
    config: Path | None
    laps: int
    episodes: int
    deterministic: bool
    seed: int
    models_dir: Path
    device: str
    any_physics: bool
    random_starts: int
    stress: bool
    par_times: Path | None
    json: bool
    record: Path | None
    video: Path | None
    fps: int | None
    camera: str
    colours: str
    plot: Path | None

    @property
    def keeps_drives(self) -> bool:
        """Whether a recording, a video or plots are asked for."""
        return any(path is not None for path in (self.record, self.video, self.plot))

    @property
    def compared(self) -> str | None:
        """The second driver to drive: the one to compare with, or the scripted one if there are plots."""
        is_plotted = self.plot is not None and self.model != [SCRIPTED]
        return self.compare or (SCRIPTED if is_plotted else None)

    @property
    def has_several(self) -> bool:
        """Whether several drivers are named, for one table of them all."""
        return self.model is not None and len(self.model) > 1


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.evaluate",
        description="Let a driver drive from the standing start, and measure it lap by lap.",
        examples=(
            "python -m training.evaluate --model ppo_run_1_best sac_run_1_best pretrained --track-id all",
            "python -m training.evaluate --model pretrained --track-id all --random-starts 32 --stress",
        ),
        epilog="Model files contain pickles. They are left closed: only JSON, tensors and checked statistics are read; "
        "an .onnx file contains none.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--model",
        nargs="+",
        metavar="MODEL",
        help="one driver, or several for one table of them: a model's path, with or without .zip; a run's name, for "
        "its newest model, not its best, and SWEEP/RUN for one of a sweep; a driver as .onnx, with vecnorm_stats.json "
        f"beside it if it takes normalised observations; '{PRETRAINED}', the driver that comes with the project; "
        f"'{SCRIPTED}', a simple driver by rule",
    )
    what.add_argument(
        "--replay",
        type=Path,
        metavar="FILE",
        help="instead of a model, a drive saved by --record, or in a browser (.json)",
    )
    _add_driving_arguments(parser)
    _add_measuring_arguments(parser)
    _add_drive_arguments(parser)
    _add_loading_arguments(parser)
    return parser


def _add_driving_arguments(parser: argparse.ArgumentParser) -> None:
    add_track_arguments(
        parser,
        "those that the model was trained on, or all of --tracks-dir, or track-01",
        config="those of the model, or ai-config.json",
    )
    parser.add_argument(
        "--laps",
        type=whole_number(1, 1000),
        default=DEFAULT_LAPS,
        help=f"laps per episode (default: {DEFAULT_LAPS})",
    )
    parser.add_argument(
        "--episodes",
        type=whole_number(1, 1000),
        default=1,
        help="episodes per track; a deterministic driver repeats itself, so one tells all (default: 1)",
    )
    parser.add_argument(
        "--compare",
        metavar="MODEL",
        help="another driver on the same tracks, with tables of its own, and the plots beside this one",
    )


def _add_measuring_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--random-starts",
        type=whole_number(0, 1000),
        default=0,
        metavar="N",
        help="drive also from N places on each track on the move, and from as many at rest (default: 0)",
    )
    parser.add_argument(
        "--stress",
        action="store_true",
        help="drive also with noise on the actions, with noise on the observations, with actions a tick late, and with "
        "all of these",
    )
    parser.add_argument(
        "--par-times",
        nargs="?",
        type=Path,
        const=Path(),
        metavar="FILE.json",
        help="print lap times for gold, silver and bronze on each track, and write them to FILE.json if one is named",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _add_drive_arguments(parser: argparse.ArgumentParser) -> None:
    look = parser.add_argument_group("to look at (with several tracks, each has its id in the file's name)")
    look.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="save the drive with the best lap, for --replay, as .npz or as .json, which a browser reads too",
    )
    look.add_argument(
        "--video",
        type=Path,
        metavar="FILE",
        help="write the best lap as a video, .mp4 or .gif; of several drivers that of the first, and theirs as ghosts",
    )
    look.add_argument("--fps", type=int, choices=(60, 30), help="frames a second (default: 60, of a .gif 30)")
    look.add_argument(
        "--camera", choices=CAMERAS, default=WHOLE, help=f"camera of the video, as of training.watch (default: {WHOLE})"
    )
    look.add_argument("--colours", choices=COLOURS, default=DARK, help=f"colours of the video (default: {DARK})")
    look.add_argument(
        "--plot",
        type=Path,
        metavar="DIR",
        help="draw racing line, telemetry and lap times, and the gap to --compare, or to the scripted driver",
    )


def _add_loading_arguments(parser: argparse.ArgumentParser) -> None:
    loading = parser.add_argument_group("how the driver is loaded, and where the game is")
    add_statistics_arguments(loading)
    add_driver_arguments(loading)
    loading.add_argument("--device", default="cpu", help="device of PyTorch: cpu, cuda or auto (default: cpu)")
    loading.add_argument(
        "--any-physics", action="store_true", help="load a model even if it was trained on other physics"
    )
    add_bridge_argument(loading)


def parse_options(argv: Sequence[str] | None) -> EvaluationOptions:
    """Return the options on a command line; None is the process's own."""
    return EvaluationOptions(**vars(make_parser().parse_args(argv)))


def check_options(options: EvaluationOptions) -> None:
    """Refuse what cannot be done, before anything is driven, and make the folders that are named.

    Raises:
        ConfigError: Options do not go together, or a path is a file instead of a folder, or the other way round.
        OSError: A folder cannot be made.
        PackageError: A package that they need is missing.
    """
    twice = [name for name, count in Counter(options.model or []).items() if count > 1]
    if twice:
        raise ConfigError(f"--model names {twice[0]} twice, whose figures would be the same; name each driver once")
    if options.has_several:
        named = _named(options, _OF_ONE_DRIVER)
        if named:
            raise ConfigError(f"--{named[0]} goes with one driver; name one with --model, or leave out --{named[0]}")
    if options.video is not None:
        check_video(options.video, options.fps)
    elif _named(options, _ABOUT_VIDEOS):
        raise ConfigError(
            "--fps, --camera and --colours are about a video; name its file with --video, or leave them out"
        )
    _check_targets(options)
    if options.keeps_drives or options.replay is not None:
        need("showing a drive", "pygame", "matplotlib", "PIL", "imageio_ffmpeg")
    if options.video is not None and options.video.suffix.lower() == MP4:
        need_ffmpeg("a video")
    if options.replay is not None:
        named = _named(options, _ABOUT_DRIVING)
        if named:
            raise ConfigError(f"--replay drives what was recorded; leave out --{named[0]}")


def _named(options: EvaluationOptions, names: Sequence[str]) -> list[str]:
    """Return which of some options the user named, as on a command line without the dashes before."""
    parser = make_parser()
    return [name.replace("_", "-") for name in names if getattr(options, name) != parser.get_default(name)]


def _check_targets(options: EvaluationOptions) -> None:
    if options.plot is not None:
        if options.plot.exists() and not options.plot.is_dir():
            raise ConfigError(f"--plot takes a folder, and {options.plot} is a file")
        options.plot.mkdir(parents=True, exist_ok=True)
    if options.record is not None:
        check_record(options.record)
    if options.par_times not in (None, Path()) and options.par_times.suffix != ".json":
        raise ConfigError(f"--par-times takes a file that ends in .json, got {options.par_times}")
    if options.par_times is not None and options.par_times.is_file() and not holds_par_times(options.par_times):
        raise ConfigError(f"--par-times: {options.par_times} exists and holds no par times; name another file")
    for flag, path in (("--video", options.video), ("--par-times", options.par_times)):
        if path is not None and path != Path():
            _make_room_for(flag, path)


def check_record(path: Path) -> None:
    """Check that a recording can be written to a path, before anything is driven for it, and make its folder.

    Raises:
        ConfigError: It has another ending than .npz or .json, is a folder, or a file that is no recording.
    """
    if path.suffix not in (".npz", ".json"):
        raise ConfigError(f"--record takes a file that ends in .npz or .json, got {path}")
    if path.suffix == ".json" and path.is_file() and not _is_recording(path):
        raise ConfigError(f"--record: {path} exists and is no recording; name another file")
    _make_room_for("--record", path)


def _make_room_for(flag: str, path: Path) -> None:
    if path.is_dir():
        raise ConfigError(f"{flag} takes a file, and {path} is a folder")
    path.parent.mkdir(parents=True, exist_ok=True)


def _is_recording(path: Path) -> bool:
    try:
        return "actions" in read_json(path, ConfigError, "recording")
    except (ConfigError, TypeError):
        return False


def check_video(path: Path, fps: int | None) -> int:
    """Return the frames per second of a video, before anything is driven for it.

    Raises:
        ConfigError: The path is neither an MP4 nor a GIF, or that format cannot have that rate.
    """
    if path.suffix.lower() not in (MP4, GIF):
        raise ConfigError(f"a video's name must end in {MP4} or {GIF}, got {path}")
    if path.suffix.lower() == GIF:
        if fps not in (None, 30):
            raise ConfigError(f"a GIF has 30 frames a second, got {fps}")
        return 30
    return 60 if fps is None else fps
