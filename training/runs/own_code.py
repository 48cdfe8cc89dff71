"""What code of the user's raises, in one line: whatever it is, but an interruption."""

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path

from racer_env.errors import OwnCodeError, RacerError
from training.console.interruption import interruption_behind
from training.console.messages import first_line


@contextlib.contextmanager
def named(
    what: str,
    file: Path,
    refusal: type[RacerError] = OwnCodeError,
    passing: tuple[type[BaseException], ...] = (),
) -> Iterator[None]:
    """Make one line of what code of the user's raises, also of ``sys.exit()``, which would end the script as done.

    Args:
        what: The begin of the line, as in ``the reward rewards.py:smooth``; "raised" follows.
        file: The file that the code is in.
        refusal: The exception with that line.
        passing: Exceptions that are not the code's, or say themselves what they are.

    Raises:
        refusal: The code raised something.
        KeyboardInterrupt: It was interrupted.
    """
    try:
        yield
    except passing:
        raise
    except BaseException as error:  # whatever is in it
        if interruption_behind(error) is not None:
            raise
        raise refusal(f"{what} raised {_in_words(error, file)}") from error


def _in_words(error: BaseException, file: Path) -> str:
    """Return an exception's name, its message, and the line of the file that it comes from."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == str(file)]
    if isinstance(error, SyntaxError) and error.lineno is not None:
        lines.append(error.lineno)
    name, message = type(error).__name__, first_line(error)
    return (name if message == name else f"{name}: {message}") + (f" ({file}, line {lines[-1]})" if lines else "")
