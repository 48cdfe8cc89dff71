"""Starting a training script."""

import subprocess
import sys
from pathlib import Path

import pytest

from racer_env.project import PROJECT_ROOT
from tests.runs import folders

# Trains in a process that has compiled nothing else, and prints how many versions of its kernels were compiled before
# that, and how many after it.
TRAINS = """
import importlib, sys
from training.runs.script import KERNELS
is_kernel = lambda thing: hasattr(thing, "overloads")
modules = [importlib.import_module(name) for name in KERNELS]
for module in modules:
    module.compile_kernels()
compiled = lambda: [len(thing.overloads) for each in modules for thing in vars(each).values() if is_kernel(thing)]
before = compiled()
from training import train_ppo
train_ppo.main(sys.argv[1:])
print(before, compiled(), sep="\\n")
"""


@pytest.mark.timeout(60)
def test_what_is_compiled_ahead_is_what_is_used(tmp_path: Path) -> None:
    """Neither a step nor an evaluation compiles anything for other types."""
    options = ["--timesteps", "4096", "--set", "steps_per_car=64", *folders(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", TRAINS, *options], cwd=PROJECT_ROOT, capture_output=True, text=True, timeout=60
    )
    before, after = done.stdout.splitlines()[-2:]
    assert before == after, done.stdout + done.stderr
