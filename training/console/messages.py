"""What scripts say to people: lines, notes, and how numbers, names and commands are worded."""

import shlex
import subprocess
import sys
from collections.abc import Sequence

from tqdm import tqdm

MAX_NAMES = 4  # in a sentence


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
    tqdm.write(text)
    sys.stdout.flush()
