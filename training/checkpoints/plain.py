"""What stable-baselines3 has pickled in a model file although it is a number or can be told in a line."""

import base64
import re
from typing import Any

from training.checkpoints.inert import StandIn, read_inert

MAX_TEXT = 200  # characters of a description; that of the longest noise has 120
_CONSTANT = re.compile(r"ConstantSchedule\(val=([0-9.e+-]+)\)")
_LINEAR = ("start", "end", "end_fraction")
_LIBRARY = "stable_baselines3.common."


def is_pickled(value: Any) -> bool:
    """Return whether stable-baselines3 has written an attribute as a pickle."""
    return isinstance(value, dict) and ":serialized:" in value


def plain(value: Any) -> Any:
    """Return the number that an attribute stands for, or a line that describes it; without one, the attribute itself.

    stable-baselines3 writes the plain attributes of what it pickles beside the pickle. A training frequency has none:
    it is read from the pickle, in which nothing is run.

    Args:
        value: A schedule, noise, a training frequency, or anything else, as the file has it.
    """
    if not is_pickled(value):
        return value
    kind = re.sub(r"^<class '(.*)'>$", r"\1", str(value.get(":type:")))
    try:
        told = _READERS[kind](value) if kind in _READERS else None
        constant = _CONSTANT.fullmatch(str(told))
        if constant is not None:
            return float(constant[1])
    except (ValueError, TypeError, LookupError, AttributeError):
        return value
    is_readable = isinstance(told, int) or (isinstance(told, str) and told.isprintable() and len(told) <= MAX_TEXT)
    return told if is_readable else value


def _schedule(value: dict[str, Any]) -> str | None:
    """Return the schedule that another one wraps; None if it is a function, whose name says nothing."""
    wrapped = str(value["value_schedule"])
    return wrapped if re.fullmatch(r"(Constant|Linear)Schedule\(.*\)", wrapped) else None


def _noise(value: dict[str, Any]) -> str:
    name = str(value[":type:"]).rpartition(".")[2].removesuffix("'>")
    return f"{name}(mu={value['_mu']}, sigma={value['_sigma']})"


def _frequency(value: dict[str, Any]) -> int | str:
    """Return a training frequency: a number of steps, or of episodes in words."""
    made = read_inert(base64.b64decode(value[":serialized:"]))
    if not isinstance(made, StandIn) or made.name != f"{_LIBRARY}type_aliases.TrainFreq":
        raise ValueError("it holds something else")
    count, unit = made.arguments
    if type(count) is not int or unit.arguments not in (("step",), ("episode",)):
        raise ValueError("it holds something else")
    return count if unit.arguments == ("step",) else f"{count} {'episode' if count == 1 else 'episodes'}"


# By the class that was pickled.
_READERS = {
    f"{_LIBRARY}utils.FloatSchedule": _schedule,
    f"{_LIBRARY}utils.ConstantSchedule": lambda value: f"ConstantSchedule(val={value['val']})",
    f"{_LIBRARY}utils.LinearSchedule": lambda value: (
        f"LinearSchedule({', '.join(f'{name}={value[name]}' for name in _LINEAR)})"
    ),
    f"{_LIBRARY}noise.NormalActionNoise": _noise,
    f"{_LIBRARY}noise.OrnsteinUhlenbeckActionNoise": _noise,
    f"{_LIBRARY}noise.VectorizedActionNoise": lambda value: str(value["_base_noise"]),
    f"{_LIBRARY}type_aliases.TrainFreq": _frequency,
}
