"""Watch drivers drive, or drive against them: ``python -m training.watch --model PATH``."""

from collections.abc import Sequence

from training.console.messages import say
from training.console.parser import DONE, leave, run_script
from training.drives.options import WatchOptions, parse_options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_watch, parse_options(argv), needs=("pygame",))


def _watch(options: WatchOptions) -> int:
    from training.drives import entrants, race_window  # imported late: Numba and pygame take 1 s to load

    who, tracks = entrants.gather(options)
    result = race_window.show_race(who, tracks, options.camera, options.laps if options.drive else None)
    if result:
        say(result.replace("\n", ", "))
    return DONE


if __name__ == "__main__":
    leave(main())
