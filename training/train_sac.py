"""Train a driver with SAC: ``python -m training.train_sac``."""

from collections.abc import Sequence

from training.console.parser import leave
from training.runs.script import run_training


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_training("SAC", argv)


if __name__ == "__main__":
    leave(main())
