"""A reward of the user's own as a function of five arguments, whatever it takes of them."""

import inspect
from collections.abc import Callable
from typing import Any

from racer_env.errors import ConfigError
from training.runs.brought import Brought
from training.runs.own_code import named


def reward_function(reward: Brought) -> Callable[..., Any]:
    """Return the function that pays; a class is made once, without arguments, and its objects are called.

    Raises:
        ConfigError: It cannot be made, or takes other arguments.
    """
    with named(f"--reward {reward.name}: making it", reward.file, ConfigError):
        made: Callable[..., Any] = reward.value() if isinstance(reward.value, type) else reward.value
    with named(f"--reward {reward.name}: asking for its arguments", reward.file, ConfigError, passing=(ConfigError,)):
        compares = _compares(made, reward)
    if compares:
        return lambda observations, infos, actions, rewards, before: made(
            observations, infos, actions, rewards, before=before
        )
    return lambda observations, infos, actions, rewards, before: made(observations, infos, actions, rewards)


def _compares(made: Callable[..., Any], reward: Brought) -> bool:
    """Return whether a function takes what was before a step, too.

    Raises:
        ConfigError: It takes other arguments.
    """
    try:
        signature = inspect.signature(made)
    except (TypeError, ValueError):  # what is not written in Python may not tell
        return False
    compares = "before" in signature.parameters
    try:
        signature.bind(*range(4), **({"before": None} if compares else {}))
    except TypeError as error:
        raise ConfigError(
            f"--reward {reward.name}: it must take observations, infos, actions and rewards, and it may take before; "
            f"it takes {signature}"
        ) from error
    return compares
