"""The project as pip installs it: packages with their data, from any folder, without the clone."""

import os
import subprocess
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

from racer_env.project import PROJECT_ROOT

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]

SPAWNED = """
import multiprocessing


def drive(queue):
    import gymnasium

    env = gymnasium.make("TopDownRacer-v0", track_id="all")
    env.reset(seed=0)
    queue.put(env.step(env.action_space.sample())[0].shape)


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=drive, args=(queue,))
    process.start()
    print(queue.get(timeout=60))
    process.join()
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the installed project; the first to drive there compiles.

    All other packages are those of the environment of the tests.
    """
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False)
    python = next(path for path in (folder / "bin" / "python", folder / "Scripts" / "python.exe") if path.exists())
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip())
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", str(PROJECT_ROOT)], check=True, capture_output=True)
    return Path(python)


def run(python: Path, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run Python in a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


def test_scripts_run_from_any_folder(python: Path, tmp_path: Path) -> None:
    """Presets and configuration come along; models and logs go under the current folder."""
    arguments = ["--preset", "quick", "--timesteps", "4096", "--num-envs", "64", "--eval-freq", "0", "--run-name", "a"]
    result = run(python, tmp_path, "-m", "training.train_ppo", *arguments)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "models" / "a_final.zip").is_file()
    assert (tmp_path / "logs" / "a" / "config.json").is_file()


def test_gymnasium_knows_the_environment_in_spawned_processes(python: Path, tmp_path: Path) -> None:
    """Where only Gymnasium was imported; all shipped tracks are there."""
    (tmp_path / "spawned.py").write_text(SPAWNED)
    result = run(python, tmp_path, "spawned.py")
    assert result.stdout.strip() == "(14,)", result.stderr


def test_the_pretrained_driver_comes_along(python: Path, tmp_path: Path) -> None:
    """By its name."""
    result = run(
        python, tmp_path, "-m", "training.evaluate", "--model", "pretrained", "--track-id", "track-01", "--laps", "1"
    )
    assert result.returncode == 0, result.stderr
    assert "track-01        1/1" in result.stdout


def test_the_bundled_bridge_needs_a_clone(python: Path, tmp_path: Path) -> None:
    """Which is said in one line."""
    result = run(python, tmp_path, "-m", "training.benchmark", "--bridge-url", "auto")
    assert result.returncode == 2
    assert result.stderr.startswith("error: the bundled bridge comes with a clone of the project")
    assert result.stderr.count("\n") == 1


def test_a_page_needs_a_clone(python: Path, tmp_path: Path) -> None:
    """Which is said in one line, before anything is driven."""
    result = run(python, tmp_path, "-m", "training.race_page", "--output-dir", "page")
    assert result.returncode == 2
    assert result.stderr.startswith("error: the page is built from page/ in a clone of the project")
    assert (result.stdout, result.stderr.count("\n"), list(tmp_path.iterdir())) == ("", 1, [])


def test_what_is_imported_is_installed_in_the_ranges_of_the_requirements() -> None:
    """So that a range stands in both files alike."""
    project = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (PROJECT_ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    runtime = lines[: lines.index("# Tests and checks")]
    assert project["dependencies"] == [line for line in runtime if line and not line.startswith("#")]
    cluster = (PROJECT_ROOT / "requirements-cluster.txt").read_text(encoding="utf-8").splitlines()
    assert project["optional-dependencies"]["cluster"] == [line for line in cluster if not line.startswith("#")]
