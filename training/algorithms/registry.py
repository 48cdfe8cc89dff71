"""All available algorithms: every module of ``training.algorithms.members`` defines one, beside the guests."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from racer_env.errors import ConfigError
from training.algorithms import members
from training.algorithms.algorithm import Algorithm
from training.algorithms.guests import GUESTS
from training.algorithms.settings import as_document


@functools.cache
def all_algorithms() -> dict[str, Algorithm]:
    """Return the algorithms that train by name, in the order of their modules' names."""
    names = sorted(module.name for module in pkgutil.iter_modules(members.__path__))
    modules = [importlib.import_module(f"{members.__name__}.{name}") for name in names]
    return {module.ALGORITHM.name: module.ALGORITHM for module in modules}


def algorithm_named(name: str) -> Algorithm:
    """Return the algorithm of that name.

    Raises:
        ConfigError: There is no algorithm of that name.
    """
    if name not in all_algorithms():
        raise ConfigError(f"no algorithm {name!r}; there are: {', '.join(all_algorithms())}")
    return all_algorithms()[name]


def all_settings() -> dict[str, Any]:
    """Return every hyper-parameter of any algorithm by name, with the default of one that has it."""
    return {
        name: value
        for algorithm in all_algorithms().values()
        for name, value in as_document(algorithm.settings()).items()
    }


def algorithm_of(attributes: Mapping[str, Any]) -> Algorithm | None:
    """Return a model's algorithm, by its name in the file or by what only its models have; else None.

    Args:
        attributes: The attributes stored in the model's file.
    """
    named = all_algorithms().get(str(attributes.get("algorithm")))
    if named is not None:
        return named
    guest = next((guest for guest in GUESTS if guest.is_of(attributes)), None)
    if guest is not None:
        return guest
    known = (algorithm for algorithm in all_algorithms().values() if algorithm.attributes <= attributes.keys())
    return next(known, None)
