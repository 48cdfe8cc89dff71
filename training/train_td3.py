"""Train a driver with TD3: ``python -m training.train_td3``."""

from collections.abc import Sequence

from training.console.parser import leave
from training.runs.script import run_training


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_training("TD3", argv)


if __name__ == "__main__":
    leave(main())
