"""The scripts in examples/, and the Python of the page on the environment, as a user runs them."""

import re
import runpy
import sys
from pathlib import Path

import pytest
import torch

from racer_env.project import PROJECT_ROOT

pytestmark = pytest.mark.timeout(60)
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
VIDEO = "VecVideoRecorder"


@pytest.mark.parametrize("name", ["sb3_ppo", "cleanrl_ppo"])
def test_examples_run(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For a few thousand steps, with one thread."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, "4096"])
    runpy.run_path(str(PROJECT_ROOT / "examples" / f"{name}.py"), run_name="__main__")
    assert torch.get_num_threads() == 1
    assert "4096" in capsys.readouterr().out.replace(",", "")


@pytest.mark.parametrize("name", ["sb3_ppo", "cleanrl_ppo"])
@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("many", 2)])
def test_examples_say_how_they_are_started(
    name: str, argument: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On request, and to who starts them otherwise."""
    monkeypatch.setattr(sys, "argv", [name, argument])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(PROJECT_ROOT / "examples" / f"{name}.py"), run_name="__main__")
    assert left.value.code == code
    assert f"usage: python -m examples.{name} [-h] [steps]" in "".join(capsys.readouterr())


def test_the_python_of_the_environment_s_page_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From top to bottom, each piece after those before it; the one for videos is the next test's."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    pieces = FENCE.findall((PROJECT_ROOT / "docs" / "environment.md").read_text(encoding="utf-8"))
    assert len(pieces) > 5
    for piece in pieces:
        if VIDEO not in piece:
            exec(compile(piece, piece, "exec"), names)


def test_the_python_for_videos_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where MoviePy is, which it needs."""
    pytest.importorskip("moviepy")
    monkeypatch.chdir(tmp_path)
    pieces = FENCE.findall((PROJECT_ROOT / "docs" / "environment.md").read_text(encoding="utf-8"))
    (piece,) = (piece for piece in pieces if VIDEO in piece)
    exec(compile(piece, piece, "exec"), {})
