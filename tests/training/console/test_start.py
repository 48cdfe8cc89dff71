"""What ends a script while its first modules load."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from racer_env.project import PROJECT_ROOT


@pytest.mark.parametrize(
    ("module", "raised", "codes", "line"),
    [
        ("gymnasium", "ModuleNotFoundError(name='gymnasium')", {2}, "error: the package gymnasium is missing; `"),
        (
            "websocket",
            "ModuleNotFoundError(name='websocket')",
            {2},
            "error: the package websocket-client is missing; `",
        ),
        ("tqdm", "KeyboardInterrupt", {130, -2, 0xC000013A}, "interrupted\n"),
    ],
)
def test_what_ends_it_is_one_line(module: str, raised: str, codes: set[int], line: str, tmp_path: Path) -> None:
    """A missing package and a Ctrl-C, before the script itself can catch anything."""
    (tmp_path / f"{module}.py").write_text(f"raise {raised}")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "training.evaluate"]
    done = subprocess.run(command, cwd=PROJECT_ROOT, env=environment, capture_output=True, text=True, timeout=20)
    assert done.returncode in codes
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1
