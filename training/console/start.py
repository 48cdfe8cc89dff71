"""What a script says if it ends before its first modules are loaded: one line, as later."""

import sys
from types import TracebackType


def tell_in_one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say in one line that a Ctrl-C or a missing package ended a script; anything else is passed on."""
    failure = _in_words(error) if isinstance(error, ImportError) else None
    if isinstance(error, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)  # Python ends the process as the signal would
    elif failure is None:
        sys.__excepthook__(kind, error, trace)
    else:
        print(f"error: {failure}", file=sys.stderr)
        raise SystemExit(2)


def _in_words(error: ImportError) -> str | None:
    """Return a failed import of another project's package in words; None if it is this project's own."""
    try:
        from racer_env.packages import import_failure  # needs Gymnasium, which may be what is missing
    except ImportError as without:
        return (
            f"the package {without.name} is missing; `python -m pip install {without.name}`" if without.name else None
        )
    failure = import_failure(error)
    return str(failure) if failure else None
