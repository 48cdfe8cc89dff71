"""The command line of ``training.race_page``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.errors import ConfigError
from training.checkpoints.files import PRETRAINED
from training.console.arguments import MODELS_DIR, add_statistics_arguments, add_track_arguments
from training.console.parser import Parser, whole_number
from training.pages.folder import check_target
from training.pages.serving import DEFAULT_PORT


@dataclass(frozen=True)
class PageOptions:
    """The options of ``training.race_page``; ``make_parser`` says what each one means."""

    model: list[str]
    track_id: list[str]
    track_seed: int
    tracks_dir: Path | None
    output_dir: Path | None
    serve: bool
    port: int | None
    browser: bool
    vecnorm: Path | None
    no_vecnorm: bool
    any_physics: bool
    models_dir: Path


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.race_page",
        description="Make a page on which people watch drivers and race them in a browser: a folder that works from "
        "any web server, under any path, and asks no other server for anything.",
        examples=(
            "python -m training.race_page --serve",
            "python -m training.race_page --model ppo_run_1_best pretrained --track-id all procedural:3",
        ),
        epilog="Node.js builds the page's scripts once. Model files contain pickles. They are left closed: only JSON, "
        "tensors and checked statistics are read.",
    )
    parser.add_argument(
        "--model",
        nargs="+",
        default=[PRETRAINED],
        metavar="MODEL",
        help=f"one or more drivers, as training.evaluate takes them (default: {PRETRAINED})",
    )
    add_track_arguments(parser, "all that are shipped, or all of --tracks-dir")
    parser.add_argument(
        "--output-dir",
        type=Path,
        metavar="DIR",
        help="folder of the page; an earlier page there is replaced (default: page_of_MODEL)",
    )
    serve = parser.add_argument_group("to open it")
    serve.add_argument("--serve", action="store_true", help="serve the page to this machine, and open it, until Ctrl-C")
    serve.add_argument(
        "--port",
        type=whole_number(0, 65535),
        help="port of --serve; browsers keep the best laps of each port apart, and 0 is a free one, another each time "
        f"(default: {DEFAULT_PORT}, or a free one if that is taken)",
    )
    serve.add_argument(
        "--no-browser", dest="browser", action="store_false", help="print the address only, and open no browser"
    )
    add_statistics_arguments(parser.add_argument_group("about the first model"))
    parser.add_argument("--any-physics", action="store_true", help="take drivers even if trained on other physics")
    parser.add_argument(
        "--models-dir", type=Path, default=MODELS_DIR, help="folder in which runs are looked for (default: models/)"
    )
    return parser


def parse_options(argv: Sequence[str] | None) -> PageOptions:
    """Return the options on a command line; None is the process's own."""
    return PageOptions(**vars(make_parser().parse_args(argv)))


def check_options(options: PageOptions) -> None:
    """Refuse what has no effect or cannot be done, before anything is loaded.

    Raises:
        ConfigError: Options do not go together, or the folder is something else than a page.
    """
    if not options.serve and (options.port is not None or not options.browser):
        raise ConfigError("--port and --no-browser are about --serve; add it, or leave them out")
    if options.output_dir is not None:
        check_target(options.output_dir)
