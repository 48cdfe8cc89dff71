"""The algorithms that there are: every module of ``training.algorithms.members`` has one."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from racer_env.errors import ConfigError
from training.algorithms import members
from training.algorithms.algorithm import Algorithm


@functools.cache
def all_algorithms() -> dict[str, Algorithm]:
    """Return the algorithms by name, in order of their modules' names."""
    names = sorted(module.name for module in pkgutil.iter_modules(members.__path__))
    modules = [importlib.import_module(f"{members.__name__}.{name}") for name in names]
    return {module.ALGORITHM.name: module.ALGORITHM for module in modules}


def algorithm_named(name: str) -> Algorithm:
    """Return an algorithm.

    Raises:
        ConfigError: There is none of that name.
    """
    if name not in all_algorithms():
        raise ConfigError(f"no algorithm {name!r}; there are: {', '.join(all_algorithms())}")
    return all_algorithms()[name]


def algorithm_of(attributes: Mapping[str, Any]) -> Algorithm | None:
    """Return the algorithm of a model, by the name in its file or by what only its models have; None for any other.

    Args:
        attributes: The attributes in the model's file.
    """
    named = all_algorithms().get(str(attributes.get("algorithm")))
    if named is not None:
        return named
    known = (algorithm for algorithm in all_algorithms().values() if algorithm.attributes <= attributes.keys())
    return next(known, None)
