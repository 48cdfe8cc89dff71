"""The copy of the project that machines are given."""

import subprocess
import sys
import tomllib
from pathlib import Path

from racer_env.project import PROJECT_ROOT
from training.sweeps.cluster.project_copy import DATA, copy_project


def test_a_copy_has_what_pip_installs() -> None:
    """The wheel has the same data, but for what Gymnasium looks for in it."""
    document = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text())
    wheel = document["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    data = {source: place for source, place in wheel.items() if place.startswith("racer_env/data/")}
    assert data == {name: f"racer_env/data/{name}" for name in DATA}


def test_a_copy_works_alone(tmp_path: Path) -> None:
    """From any folder; it finds its own data."""
    copy_project(tmp_path / "copy")
    code = "import training.runs.options; from racer_env.project import DEFAULT_TRACKS_DIR as d; print(d, d.is_dir())"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "copy", capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout == f"{tmp_path / 'copy' / 'racer_env' / 'data' / 'tracks'} True\n"
    assert not [*(tmp_path / "copy").rglob("*.nbi")]
