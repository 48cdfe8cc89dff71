"""Watch drivers drive, or drive against them: ``python -m training.watch --model PATH``."""

from collections.abc import Sequence

from training.console.messages import note, say
from training.console.parser import ANSWER_IS_NO, DONE, leave, run_script
from training.drives.options import WatchOptions, parse_options
from training.evaluation.options import check_record


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_watch, parse_options(argv), needs=("pygame",))


def _watch(options: WatchOptions) -> int:
    from training.drives import entrants, person, race_window, recording  # Numba and pygame take 1 s to load

    if options.record is not None:
        check_record(options.record)
    who, tracks = entrants.gather(options)
    best_drives = person.BestDrives()
    try:
        result = race_window.show_race(
            who, tracks, options.camera, options.laps if options.drive else None, best_drives, options.colours
        )
    finally:  # also after Ctrl-C: a lap is not driven twice
        if options.record is not None:
            recording.save_recordings(best_drives.recordings, options.record, say)
    if result:
        say(result.replace("\n", ", "))
    if options.record is not None and not best_drives.recordings:
        note(f"you have completed no lap, so {options.record} was not written")
        return ANSWER_IS_NO
    return DONE


if __name__ == "__main__":
    leave(main())
