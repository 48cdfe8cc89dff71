"""Locations of the project's data: beside the packages in a clone, inside ``racer_env`` when installed by pip."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED_DATA = _PACKAGE / "data"  # pyproject.toml puts it there

IS_INSTALLED = _INSTALLED_DATA.is_dir()
PROJECT_ROOT = _PACKAGE.parent  # only meaningful in a clone

_DATA = _INSTALLED_DATA if IS_INSTALLED else PROJECT_ROOT
DEFAULT_CONFIG_PATH = _DATA / "ai-config.json"
DEFAULT_PHYSICS_PATH = _DATA / "physics.json"
DEFAULT_TRACKS_DIR = _DATA / "tracks"
PRETRAINED_DRIVER = _DATA / "models" / "pretrained" / "driver.onnx"
PRETRAINED_MODEL = PRETRAINED_DRIVER.with_suffix(".zip")  # the same driver, to begin a run with
