"""Packages that only some jobs need."""

import sys

import pygame
import pytest

from racer_env.env import RacerEnv
from racer_env.errors import PackageError
from racer_env.packages import import_failure, need, need_ffmpeg


def test_missing_package_is_named_as_pip_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there is not mentioned."""
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)  # type: ignore[arg-type]
    need("a video", "PIL")
    with pytest.raises(PackageError, match="^a video needs the package imageio-ffmpeg; .*pip install imageio-ffmpeg"):
        need("a video", "PIL", "imageio_ffmpeg")


def test_pygame_in_the_place_of_pygame_ce_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are the module pygame, and whichever is installed last is found; an environment says so when it is made."""
    monkeypatch.delattr(pygame, "IS_CE")
    with pytest.raises(PackageError, match=r"pip uninstall -y pygame pygame-ce.*pip install pygame-ce"):
        RacerEnv(render_mode="rgb_array")


def test_ffmpeg_that_cannot_be_run_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before there is a video to write."""
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "no-such-ffmpeg")
    with pytest.raises(PackageError, match="a video needs ffmpeg, which cannot be run: .*no-such-ffmpeg"):
        need_ffmpeg("a video")


def test_failed_import_in_words() -> None:
    """Of another project's package; a mistake in this one keeps its traceback."""
    missing = import_failure(ModuleNotFoundError("No module named 'PIL.Image'", name="PIL.Image"))
    assert str(missing) == "the package pillow is missing; `python -m pip install pillow`"
    broken = import_failure(ImportError("libz.so: not found", name="matplotlib"))
    assert str(broken).startswith("the package matplotlib cannot be loaded: libz.so: not found; try `python -m pip")
    assert import_failure(ImportError("cannot import name 'x'", name="training.runs")) is None
