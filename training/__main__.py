"""The list of the scripts: ``python -m training``."""

import argparse
import ast
from collections.abc import Sequence
from pathlib import Path

from training.console.parser import DONE, Parser, leave, run_script

NOT_SCRIPTS = ("__init__", "__main__", "callbacks", "training")


def main(argv: Sequence[str] | None = None) -> int:
    """Print every script with the first sentence about it, and return the exit code."""
    parser = Parser(prog="python -m training", description="List the scripts, with a line about each.")
    return run_script(_list_scripts, parser.parse_args(argv))


def _list_scripts(arguments: argparse.Namespace) -> int:
    scripts = sorted(path for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_SCRIPTS)
    width = max(len(path.stem) for path in scripts)
    print("scripts, each with --help:")
    for path in scripts:
        about = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition(": ``")[0]
        print(f"  python -m training.{path.stem:<{width}}  {about}")
    return DONE


if __name__ == "__main__":
    leave(main())
