"""The list of the scripts: ``python -m training``."""

import ast
from pathlib import Path

NOT_SCRIPTS = ("__init__", "__main__", "callbacks", "training")


def main() -> int:
    """Print every script with the first sentence about it."""
    scripts = sorted(path for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_SCRIPTS)
    width = max(len(path.stem) for path in scripts)
    print("scripts, each with --help:")
    for path in scripts:
        about = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition(": ``")[0]
        print(f"  python -m training.{path.stem:<{width}}  {about}")
    return 0


if __name__ == "__main__":
    main()
