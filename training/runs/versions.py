"""The versions of what a run depends on; importing this needs nothing but Python, so any machine can be asked."""

import platform
from collections.abc import Sequence
from importlib import metadata

PACKAGES = ("stable-baselines3", "torch", "gymnasium", "numpy", "numba", "websocket-client", "tensorboard")


def python_version() -> str:
    """Return the version of Python."""
    return platform.python_version()


def package_versions(names: Sequence[str] = PACKAGES) -> dict[str, str | None]:
    """Return the versions of packages by name; None is missing."""
    return {name: _version(name) for name in names}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
