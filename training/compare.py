"""Compare runs, or the settings of a sweep, in a table and on one page: ``python -m training.compare RUN_OR_SWEEP``."""

from collections.abc import Sequence

from training.comparisons.finding import find_runs
from training.comparisons.options import CompareOptions, check_options, parse_options
from training.comparisons.unseen import unseen_tracks
from training.console.parser import leave, run_script
from training.console.warm_up import WarmUp

NEEDS = ("matplotlib", "jinja2", "scipy", "optuna", "pygame")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_compare, parse_options(argv), needs=NEEDS)


def _compare(options: CompareOptions) -> int:
    check_options(options)
    runs = find_runs(options.runs, options.logs_dir, options.models_dir)
    tracks = unseen_tracks(options, runs) if options.drive else []
    with WarmUp(tracks[0] if tracks else None, quiet=options.json):
        from training.comparisons.session import carry_out  # SciPy, Optuna, Matplotlib and Numba take seconds to load
    return carry_out(options, runs, tracks)


if __name__ == "__main__":
    leave(main())
