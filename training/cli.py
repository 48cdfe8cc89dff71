"""What every script's command line shares: arguments, number checks, and how errors become exit codes."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from racer_env.project import PROJECT_ROOT
from racer_env.errors import RacerError, TrackError
from racer_env.tracks.names import expand_names


def _from_here(path: Path) -> Path:
    """Return a path as a user in the project's folder would write it; from elsewhere as it is."""
    try:
        return path.relative_to(Path.cwd())
    except (ValueError, OSError):
        return path


MODELS_DIR = _from_here(PROJECT_ROOT / "models")
LOGS_DIR = _from_here(PROJECT_ROOT / "logs")

MAX_SEED = 2**32 - 1  # of NumPy
MAX_CARS = 16_384
MAX_NAMES = 4  # in a sentence
MAX_TRACKS_APART = 8  # that have figures of their own in TensorBoard

DONE, ANSWER_IS_NO, COULD_NOT_RUN, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """A command line whose errors are one line, and whose arguments are written out."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse, and write generated tracks out by name."""
        arguments, rest = super().parse_known_args(args, namespace)
        self._has_sets = False
        if getattr(arguments, "track_id", None):
            try:
                names = expand_names(arguments.track_id, arguments.track_seed)
            except TrackError as error:
                self.error(str(error))
            self._has_sets = names != arguments.track_id
            arguments.track_id = names
        return arguments, rest

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse a --track-seed that nothing is made of."""
        arguments = super().parse_args(args, namespace)
        if getattr(arguments, "track_seed", None) != self.get_default("track_seed"):
            others = getattr(arguments, "eval_track_id", None)
            if others is not None and others is not self.get_default("eval_track_id"):
                self._has_sets |= expand_names(others, arguments.track_seed) != others
            if not self._has_sets:
                self.error("--track-seed is of sets of generated tracks; name one too, such as --track-id procedural:8")
        return arguments

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and end with exit code 2."""
        self.exit(COULD_NOT_RUN, f"error: {message} (--help explains all arguments)\n")


def run_script(body: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    """Run a script's body; an error that a user can cause becomes one line on stderr and exit code 2."""
    try:
        return body(arguments)
    except RacerError as error:
        print(f"error: {error}", file=sys.stderr)
    except BrokenPipeError:  # whoever read the output has gone
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 (for the interpreter's last flush)
    except (FileExistsError, NotADirectoryError) as error:
        print(f"error: expected a folder, and {error.filename} is a file or in one; name another", file=sys.stderr)
    except OSError as error:
        print(f"error: cannot use {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt as interruption:
        print("interrupted", file=sys.stderr)
        return getattr(interruption, "exit_code", INTERRUPTED)
    return COULD_NOT_RUN


def leave(code: int) -> NoReturn:
    """End the process; after an interruption, another Ctrl-C no longer disturbs the interpreter in doing so."""
    if code > 128:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def whole_number(at_least: int, at_most: int = 2**31 - 1) -> Callable[[str], int]:
    """Return an argparse type for whole numbers in a range; 2_000_000 and 2e6 are accepted."""

    def parse(text: str) -> int:
        try:
            number = float(text.replace(",", ""))
        except ValueError:
            number = float("nan")
        if number != number or number in (float("inf"), float("-inf")) or number != int(number):
            raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}")
        if number < at_least:
            raise argparse.ArgumentTypeError(f"expected at least {at_least}, got {text}")
        if number > at_most:
            raise argparse.ArgumentTypeError(f"expected at most {at_most}, got {text}")
        return int(number)

    return parse


def positive_number(text: str) -> float:
    """Parse a finite number above 0, as an argparse type."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return number


def add_track_arguments(parser: argparse._ActionsContainer, default: str, has_config: bool = True) -> None:
    """Add --track-id, --tracks-dir and --config; ``default`` words what no --track-id means."""
    parser.add_argument(
        "--track-id",
        nargs="+",
        default=[],
        metavar="ID",
        help="one or more tracks: ids, paths that end in .json, 'all', or 'procedural:64', 'procedural-hard:8' and "
        f"'procedural-oval:8' for so many generated ones (default: {default})",
    )
    parser.add_argument(
        "--track-seed", type=whole_number(0), default=0, metavar="S", help="of the generated tracks (default: 0)"
    )
    parser.add_argument(
        "--tracks-dir", type=Path, metavar="DIR", help="folder with track files of your own (default: tracks/)"
    )
    if has_config:
        parser.add_argument(
            "--config",
            type=Path,
            metavar="FILE",
            help="reward weights and episode limits (default: ai-config.json)",
        )


def track_flags(arguments: argparse.Namespace) -> list[str]:
    """Return how to find the tracks of ``add_track_arguments`` again, where their ids are not enough."""
    flags = ["--tracks-dir", str(arguments.tracks_dir)] if arguments.tracks_dir is not None else []
    if any(name.endswith(".json") for name in arguments.track_id):
        flags += ["--track-id", *arguments.track_id]
    return flags


def add_driver_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --deterministic, --seed and --models-dir: how a driver is found and drives."""
    parser.add_argument(
        "--deterministic",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="drive without exploration noise (default: yes)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0, MAX_SEED), default=0, help="of the exploration noise (default: 0)"
    )
    parser.add_argument(
        "--models-dir", type=Path, default=MODELS_DIR, help="where runs are looked for (default: models/)"
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message, or its name where it has none."""
    return str(error).splitlines()[0] if str(error).strip() else type(error).__name__


def command_line(parts: Sequence[str]) -> str:
    """Return a command as the system's own shell takes it."""
    return subprocess.list2cmdline(parts) if sys.platform == "win32" else shlex.join(parts)


def count_of(number: int, what: str) -> str:
    """Return a number with what is counted, in the plural where that is right."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def in_short(names: Sequence[str]) -> str:
    """Return names for people, of many the first and how many more there are."""
    if len(names) <= MAX_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[: MAX_NAMES - 1])} and {len(names) - MAX_NAMES + 1:,} more"


def note(text: str) -> None:
    """Say something beside the output proper, on stderr, so that what is read by programs stays clean."""
    print(f"note: {text}", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Print a line at once, also into a pipe; a progress bar that is shown moves down for it."""
    if "tqdm" not in sys.modules:  # no bar yet, and no reason to load it
        print(text, flush=True)
        return
    from tqdm import tqdm

    tqdm.write(text)
    sys.stdout.flush()
