"""Train many runs side by side and find the best settings: ``python -m training.sweep``."""

import sys
from collections.abc import Sequence

from training.console.parser import leave, run_script
from training.runs.script import NEEDS
from training.sweeps.options import SweepOptions, parse


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    options = parse(sys.argv[1:] if argv is None else argv)
    return run_script(_sweep, options, needs=(*NEEDS, "optuna", *(["ray"] if options.ray is not None else [])))


def _sweep(options: SweepOptions) -> int:
    from training.sweeps.session import carry_out  # Optuna takes 0.5 s to load

    return carry_out(options)


if __name__ == "__main__":
    leave(main())
