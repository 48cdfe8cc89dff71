"""What ``python training/train_ppo.py`` finds instead of the package: how to start a script.

Python looks for modules beside a script started by its path, so there the name ``training`` means this file.
"""

import sys
from pathlib import Path

name = Path(sys.argv[0]).stem if sys.argv[0].endswith(".py") else "train_ppo"
print(f"error: start it as a module, from the project's folder: python -m training.{name}", file=sys.stderr)
sys.exit(2)
