"""The scripts at the door: their list, how they are started, and their help."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from racer_env.project import PROJECT_ROOT
from training.__main__ import NOT_SCRIPTS, main

SCRIPTS = sorted(path.stem for path in (PROJECT_ROOT / "training").glob("*.py") if path.stem not in NOT_SCRIPTS)


def run(*arguments: str, folder: Path = PROJECT_ROOT) -> "subprocess.CompletedProcess[str]":
    """Run Python in a folder."""
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=30)


def test_the_list_has_a_line_for_every_script(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with what it does."""
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[2] for line in lines] == [f"training.{name}" for name in SCRIPTS]
    assert all(len(line.split()) > 5 for line in lines)


def test_there_are_the_ones_that_users_know() -> None:
    """None has been lost."""
    named = {"train_ppo", "train_sac", "train_td3", "evaluate", "benchmark", "parity", "export_onnx", "watch", "report"}
    assert named <= set(SCRIPTS)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_is_started_by_its_path_says_how_to_start_it(name: str) -> None:
    """In one line, from any folder."""
    result = run(str(Path("training") / f"{name}.py"))
    assert result.returncode == 2
    assert result.stderr == (f"error: start it as a module, from the project's folder: python -m training.{name}\n")


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_help_begins_with_two_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands that can be typed as they stand."""
    with pytest.raises(SystemExit):
        importlib.import_module(f"training.{name}").main(["--help"])
    title, first, second, empty, *_ = capsys.readouterr().out.splitlines()
    assert title == "examples:"
    assert first.startswith(f"  python -m training.{name}")
    assert second.startswith(f"  python -m training.{name} ")
    assert not empty


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_help_waits_for_nothing_heavy(name: str) -> None:
    """Neither PyTorch nor Numba."""
    script = (
        f"import contextlib, io, sys; from training import {name}\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        f"    {name}.main(['--help'])\n"
        "print([module for module in ('torch', 'numba', 'matplotlib', 'pygame') if module in sys.modules])"
    )
    result = run("-c", script)
    assert result.stdout.strip() == "[]", result.stderr


def test_a_start_in_the_wrong_folder_says_so_too() -> None:
    """Where the package's own folder is the current one."""
    result = run("-m", "training.train_ppo", folder=PROJECT_ROOT / "training")
    assert result.returncode == 2
    assert result.stderr.startswith("error: start it as a module, from the project's folder: python -m training.train_")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("encoding", "script"),
    [
        ("ascii", "train_ppo --timesteps 4096 --num-envs 8 --eval-freq 0 --run-name ыы --models-dir й --logs-dir й"),
        ("cp1252", "evaluate --model scripted --laps 1 --record й/lap.npz"),
    ],
)
def test_a_name_that_cannot_be_printed_ends_nothing(encoding: str, script: str, tmp_path: Path) -> None:
    """It is shown as an escape sequence; work that is done is saved."""
    (tmp_path / "й").mkdir()
    result = subprocess.run(
        [sys.executable, "-m", *f"training.{script}".split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": str(PROJECT_ROOT)},
        capture_output=True,
        encoding=encoding,
        timeout=50,
    )
    assert result.returncode == 0, result.stderr
    assert "saved \\u0439" in result.stdout
    assert list((tmp_path / "й").glob("*.zip")) or list((tmp_path / "й").glob("*.npz"))
