"""Tells Gymnasium about TopDownRacer-v0 as soon as it is imported, in every process of an environment with the project.

Gymnasium 1 has no entry points for environments: it knows an environment once the package that registers it has been
imported, which a spawned worker that imports Gymnasium alone never does. ``pip install`` puts this file and
``top_down_racer_hook.pth`` beside the packages; Python reads the latter when it starts, and so loads this.
"""

import sys
from typing import Any


class AfterGymnasium:
    """Finds ``gymnasium.envs`` once, as Python would without it, and lets the registration follow its loading."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:
        """Return where ``gymnasium.envs`` is; None for all other modules, which are not its business."""
        if name != "gymnasium.envs":
            return None
        sys.meta_path.remove(cls)  # type: ignore[arg-type]
        import importlib.util  # not at every start of Python

        spec: Any = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def load_and_register(module: Any) -> None:
            load(module)
            importlib.import_module("racer_env")  # which registers it

        spec.loader.exec_module = load_and_register
        return spec


sys.meta_path.insert(0, AfterGymnasium)  # type: ignore[arg-type]
