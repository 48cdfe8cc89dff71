"""A script's command line: its parser, number checks, and how errors become exit codes."""

import argparse
import difflib
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from racer_env.errors import ConfigError, RacerError, TrackError
from racer_env.packages import import_failure, need
from racer_env.tracks.names import expand_names
from training.console.interruption import interruption_behind
from training.console.messages import complain
from training.console.streams import prepare_streams

MAX_SEED = 2**32 - 1  # NumPy's largest seed

DONE, ANSWER_IS_NO, COULD_NOT_RUN, INTERRUPTED = 0, 1, 2, 130

Options = TypeVar("Options")


class Parser(argparse.ArgumentParser):
    """A command line with one-line errors, help that begins with examples, and sets of tracks expanded."""

    def __init__(self, *, examples: Sequence[str] = (), defers_tracks: bool = False, **settings: Any) -> None:
        """Make the parser.

        Args:
            examples: Commands shown at the top of the help.
            defers_tracks: Whether sets of tracks stay unexpanded, because not only the command line names them.
            settings: Further arguments of ``argparse.ArgumentParser``.
        """
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)
        self._examples = examples
        self._defers_tracks = defers_tracks

    def format_help(self) -> str:
        """Return the help: examples first, then usage, description and arguments."""
        lines = "".join(f"  {example}\n" for example in self._examples)
        return (f"examples:\n{lines}\n" if lines else "") + super().format_help()

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, expand sets of generated tracks into names, and refuse a --track-seed that has no effect."""
        prepare_streams()
        arguments = super().parse_args(args, namespace)
        if getattr(arguments, "track_id", None) is not None and not self._defers_tracks:
            try:
                names = expand_names(arguments.track_id, arguments.track_seed)
                check_track_seed(arguments.track_seed, self.get_default("track_seed"), arguments.track_id)
            except (ConfigError, TrackError) as error:
                self.error(str(error))
            arguments.track_id = names
        return arguments

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, with the option that was perhaps meant, and exit with code 2."""
        complain(f"{message}{self._meant(message)} (--help explains all arguments)")
        self.exit(COULD_NOT_RUN)

    def _meant(self, message: str) -> str:
        """Return a question after the option that is most like the first one that argparse does not know."""
        _, is_unknown, given = message.partition("unrecognized arguments: ")
        option = next((word.partition("=")[0] for word in given.split() if word.startswith("-")), "")
        near = difflib.get_close_matches(option, self._option_string_actions, n=1) if is_unknown else []
        return f"; did you mean {near[0]}?" if near else ""


def check_track_seed(track_seed: int, default: int, *named: Sequence[str]) -> None:
    """Refuse a seed of generated tracks if no set of them is named.

    Args:
        track_seed: The seed that was given.
        default: Seed used if the user gives none.
        named: Lists of track names.

    Raises:
        ConfigError: The seed has no effect.
    """
    has_sets = any(expand_names(names, track_seed) != list(names) for names in named)
    if track_seed != default and not has_sets:
        raise ConfigError("--track-seed is of sets of generated tracks; name one too, such as --track-id procedural:8")


def run_script(body: Callable[[Options], int], options: Options, needs: Sequence[str] = ()) -> int:
    """Run a script's body; an error that a user can cause becomes one line on stderr and exit code 2.

    Args:
        body: The script, which returns its exit code.
        options: What the body is called with.
        needs: Modules of other projects that the body imports late; it does not begin without them.
    """
    try:
        need("this", *needs)
        return body(options)
    except RacerError as error:
        complain(str(error))
    except ImportError as error:
        failure = import_failure(error)
        if failure is None:
            raise
        complain(str(failure))
    except MemoryError:
        complain("there is not enough memory for this; close other programs, or do with fewer cars")
    except (FileExistsError, NotADirectoryError) as error:
        complain(f"expected a folder, and {error.filename} is a file or in one; name another")
    except OSError as error:
        complain(f"cannot use {error.filename or 'a file'}: {error.strerror or error}")
    except (KeyboardInterrupt, SystemError) as error:
        interruption = interruption_behind(error)
        if interruption is None:
            raise
        print("interrupted", file=sys.stderr)
        return getattr(interruption, "exit_code", INTERRUPTED)
    return COULD_NOT_RUN


def leave(code: int) -> NoReturn:
    """End the process; after an interruption, another Ctrl-C no longer disturbs the interpreter's exit."""
    if code > 128:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def whole_number(at_least: int, at_most: int = 2**31 - 1) -> Callable[[str], int]:
    """Return an argparse type for whole numbers within a range; 2_000_000 and 2e6 are accepted."""

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
    """Parse a finite number above 0; an argparse type."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return number
