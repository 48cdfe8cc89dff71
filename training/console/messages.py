"""What scripts print for people: lines, notes, and the wording of numbers, names and commands."""

import contextlib
import logging
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence

from tqdm import tqdm

from racer_env.printable import MAX_LINE, MAX_NAME, printable

MAX_NAMES = 4  # most names in a sentence


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message, or the exception's name if it has none, or none to be read."""
    try:
        text = str(error).strip()
    except (Exception, SystemExit):  # code of the user's may define how it is written
        text = ""
    return text.splitlines()[0] if text else type(error).__name__


def command_line(parts: Sequence[str]) -> str:
    """Return a command in the syntax of the system's own shell."""
    return subprocess.list2cmdline(parts) if sys.platform == "win32" else shlex.join(parts)


def count_of(number: int, what: str) -> str:
    """Return a number with what is counted, in the plural if needed."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def in_short(names: Sequence[str]) -> str:
    """Return names for people; if there are many, the first ones and how many more there are."""
    names = [printable(name, MAX_NAME) for name in names]
    if len(names) <= MAX_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[: MAX_NAMES - 1])} and {len(names) - MAX_NAMES + 1:,} more"


def note(text: str) -> None:
    """Print a note on stderr, so that output read by programs stays clean."""
    print(f"note: {printable(text)}", file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """Print on stderr why a script cannot run."""
    print(f"error: {printable(text)}", file=sys.stderr, flush=True)


def say(text: str, limit: int | None = MAX_LINE) -> None:
    """Print a line at once, also into a pipe; a visible progress bar moves down for it.

    Args:
        text: The line.
        limit: Most characters of it that are shown; None, as for a command that is to be typed, is no limit.
    """
    tqdm.write(printable(text, limit))
    sys.stdout.flush()


@contextlib.contextmanager
def without_warnings_of(logger_name: str) -> Iterator[None]:
    """Hide Python's warnings, and what a logger of another project says below an error."""
    logger = logging.getLogger(logger_name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
