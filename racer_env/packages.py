"""Packages that only some jobs need: looked for before the job begins, with a line that says how to get them."""

import importlib
import importlib.util
import subprocess

import racer_env.rendering  # noqa: F401 (says how pygame is to be loaded)
from racer_env.errors import PackageError

# What pip calls a module's package, where it is not the module's own name.
_PIP_NAMES = {
    "PIL": "pillow",
    "fontTools": "fonttools",
    "imageio_ffmpeg": "imageio-ffmpeg",
    "pygame": "pygame-ce",
    "sb3_contrib": "sb3-contrib",
    "stable_baselines3": "stable-baselines3",
    "websocket": "websocket-client",
}


def need(what: str, *modules: str) -> None:
    """Make sure that packages are there before a job begins; all are among the requirements.

    Args:
        what: The job, which begins the message.
        modules: Names of the modules that it imports.

    Raises:
        PackageError: A package is missing, or pygame is there in the place of pygame-ce.
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise PackageError(f"{what} needs the package {_pip_name(module)}; {_how_to_install(module)}")
    if "pygame" in modules and not getattr(importlib.import_module("pygame"), "IS_CE", False):
        raise PackageError(
            f"{what} needs pygame-ce, and pygame is installed in its place; `python -m pip uninstall -y pygame "
            "pygame-ce`, then `python -m pip install pygame-ce`"
        )


def need_ffmpeg(what: str) -> None:
    """Make sure that ffmpeg can be run.

    Raises:
        PackageError: It cannot.
    """
    need(what, "imageio_ffmpeg")
    try:
        importlib.import_module("imageio_ffmpeg").get_ffmpeg_version()
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        raise PackageError(
            f"{what} needs ffmpeg, which cannot be run: {' '.join(str(error).split())}; "
            "`python -m pip install --force-reinstall imageio-ffmpeg` brings one, if IMAGEIO_FFMPEG_EXE is not set"
        ) from error


def import_failure(error: ImportError) -> PackageError | None:
    """Return a failed import of another project's package in words; None if it is this project's own."""
    module = (error.name or "").partition(".")[0]
    if not module or module in ("racer_env", "training"):
        return None
    if isinstance(error, ModuleNotFoundError):
        return PackageError(f"the package {_pip_name(module)} is missing; {_how_to_install(module)}")
    reinstall = f"`python -m pip install --force-reinstall {_pip_name(module)}`"
    return PackageError(f"the package {_pip_name(module)} cannot be loaded: {error}; try {reinstall}")


def _pip_name(module: str) -> str:
    return _PIP_NAMES.get(module, module)


def _how_to_install(module: str) -> str:
    return f"`python -m pip install {_pip_name(module)}`"
