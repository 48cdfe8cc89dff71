"""A copy of the project as pip would install it, which Ray gives to every machine."""

import shutil
from pathlib import Path

import racer_env
from racer_env.project import IS_INSTALLED, PROJECT_ROOT

PACKAGES = tuple(Path(racer_env.__path__[0]).parent / name for name in ("racer_env", "training"))
# Where data of a clone lie inside the package, as pyproject.toml has it.
DATA = ("ai-config.json", "physics.json", "tracks", "models/pretrained")


def copy_project(folder: Path) -> None:
    """Copy the packages and their data.

    Args:
        folder: Where to; it is made.

    Raises:
        OSError: Something cannot be read or written.
    """
    without_cache = shutil.ignore_patterns("__pycache__")
    for package in PACKAGES:
        shutil.copytree(package, folder / package.name, ignore=without_cache)
    if IS_INSTALLED:
        return
    for name in DATA:
        source, copy = PROJECT_ROOT / name, folder / racer_env.__name__ / "data" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            shutil.copyfile(source, copy)
