"""Hyper-parameters as checked dataclasses: defaults, then files, then single values from the command line."""

import dataclasses
import json
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from racer_env.contract import MAX_ACTION_REPEAT
from racer_env.errors import ConfigError
from racer_env.json_files import Checker, shown
from training.algorithms.layers import ACTIVATIONS, MAX_LAYERS, MAX_UNITS, MAX_WEIGHTS, connections

S = TypeVar("S", bound="Settings")


def setting(default: Any, low: float, high: float, meaning: str) -> Any:
    """Return a dataclass field that holds a hyper-parameter.

    Args:
        default: Default value; the annotation is ``int``, ``float``, a tuple of floats of fixed length, or
            ``tuple[int, ...]`` for the sizes of layers.
        low, high: Range of the value, or of each item, both ends included.
        meaning: Description for the help text.
    """
    return dataclasses.field(default=default, metadata={"low": low, "high": high, "meaning": meaning})


def default_of(settings: "type[Settings]", name: str, default: Any) -> Any:
    """Return the field of a base class with another default, for a subclass."""
    return dataclasses.field(default=default, metadata=settings.__dataclass_fields__[name].metadata)


def choice(default: str, choices: Iterable[str], meaning: str) -> Any:
    """Return a dataclass field, annotated as ``str``, that holds one of several names."""
    names = tuple(choices)
    return dataclasses.field(default=default, metadata={"choices": names, "meaning": f"{meaning}: {', '.join(names)}"})


@dataclass(frozen=True)
class Settings:
    """Hyper-parameters that every algorithm has. A subclass adds its own and may change the defaults of these."""

    # What a network is built with or trained for: a model that is resumed, or begins another run, keeps it.
    MADE_WITH: ClassVar[tuple[str, ...]] = ("hidden", "activation", "action_repeat", "progress_withheld")

    learning_rate: float = setting(1e-3, 0, 1, "step size of the optimiser")
    gamma: float = setting(0.99, 0, 1, "discount factor of future rewards")
    hidden: tuple[int, ...] = setting(
        (64, 64),
        1,
        MAX_UNITS,
        f"units of each of 1 to {MAX_LAYERS} hidden layers; 64 alone is 64,64, and [64] is one layer",
    )
    activation: str = choice("tanh", ACTIVATIONS, "what follows each hidden layer")
    random_start_share: float = setting(0.7, 0, 1, "share of the episodes that start anywhere, on the move")
    standing_share: float = setting(0.0, 0, 1, "share of the random starts that start at rest")
    episode_ticks: int = setting(1_000_000, 60, 1_000_000, "most ticks of an episode in training, within maxSteps")
    steer_change_penalty: float = setting(0.0, 0, 1000, "weight of a penalty on the square of steering changes")
    off_track_cost: float = setting(
        0.0,
        0,
        1000,
        "added cost of a tick off the road, in training and where offTrackPenalty is below 0; 1 is what a tick at 100 "
        "units/s earns",
    )
    extra_off_track_penalty: float = setting(0.0, -1, 0, "added to offTrackPenalty, in training only")
    reversal_cost: float = setting(
        0.005, 0, 1, "share of the pace that a steering reversal per second costs in choosing the best model"
    )
    progress_withheld: int = setting(0, 0, 1, "1 hides the lap's progress, so that a driver learns no single track")
    action_repeat: int = setting(1, 1, MAX_ACTION_REPEAT, "ticks that each action is held; the model remembers it")
    plain_policy: int = setting(
        0, 0, 1, "1 computes with stable-baselines3's own policy and update, which learn the same in more time"
    )

    @property
    def exploration_schedule(self) -> tuple[tuple[float, ...], float] | None:
        """Initial logarithms of the exploration noise, and the final one that bounds it; None without such a bound."""
        return None

    @property
    def penalty_schedules(self) -> dict[str, tuple[float, float]]:
        """Initial and final weights of the penalties that grow, by name."""
        return {}


def override(settings: S, document: Any, where: str) -> S:
    """Return settings with the values of a parsed JSON document, checked by name, type and range.

    Args:
        settings: Settings to start from; values that are not named stay.
        document: A JSON object of values by name.
        where: Name of the document in error messages.

    Raises:
        ConfigError: A name is unknown, or a value is of the wrong type or out of range.
    """
    fields = {field.name: field for field in dataclasses.fields(settings)}
    check = Checker(ConfigError, where)
    values = check.mapping(document, "the hyper-parameters", fields)
    kinds = typing.get_type_hints(type(settings))
    checked = {name: _checked(check, fields[name], kinds[name], value) for name, value in values.items()}
    return dataclasses.replace(settings, **checked)


def _checked(check: Checker, field: "dataclasses.Field[Any]", kind: Any, value: Any) -> Any:
    if kind is str:
        names = field.metadata["choices"]
        if not isinstance(value, str) or value.lower() not in names:
            raise check.fail(f"{field.name} must be one of {', '.join(names)}, got {shown(value)}")
        return value.lower()
    low, high = field.metadata["low"], field.metadata["high"]

    def number(item: Any, name: str) -> float:
        result = check.number(item, name)
        if not low <= result <= high:
            raise check.fail(f"{name} must be within [{low:g}, {high:g}], got {result:g}")
        return result

    def whole(item: Any, name: str) -> int:
        result = number(item, name)
        if result != int(result):
            raise check.fail(f"{name} must be a whole number, got {item!r}")
        return int(result)

    if kind == tuple[int, ...]:
        sizes = value if isinstance(value, list | tuple) else [value, value]
        if not 1 <= len(sizes) <= MAX_LAYERS:
            raise check.fail(f"{field.name} must be the sizes of 1 to {MAX_LAYERS} layers, got {shown(value)}")
        layers = tuple(whole(size, field.name) for size in sizes)
        weights = connections(layers)
        if weights > MAX_WEIGHTS:
            raise check.fail(f"{field.name} must have at most {MAX_WEIGHTS:,} weights between layers, got {weights:,}")
        return layers
    if isinstance(kind, types.GenericAlias):
        count = len(typing.get_args(kind))
        if not isinstance(value, list | tuple) or len(value) != count:
            raise check.fail(f"{field.name} must be a list of {count} numbers, got {value!r}")
        return tuple(number(item, f"{field.name}[{index}]") for index, item in enumerate(value))
    return whole(value, field.name) if kind is int else number(value, field.name)


def overridden(settings: S, documents: Sequence[Any], assignments: Sequence[str]) -> S:
    """Return settings with the values of parsed files and then of each ``--set name=value``.

    Raises:
        ConfigError: A name is unknown, or a value is of the wrong type or out of range.
    """
    for document in documents:
        settings = override(settings, document, "--hyperparams")
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigError(f"--set must be name=value, got {assignment!r}")
        settings = override(settings, {name.strip(): _parsed(text.strip())}, f"--set {assignment}")
    return settings


def named_settings(documents: Sequence[Any], assignments: Sequence[str]) -> set[str]:
    """Return the names of the hyper-parameters that parsed files and each ``--set name=value`` give a value."""
    return {
        *(name for document in documents for name in document),
        *(text.partition("=")[0].strip() for text in assignments),
    }


def _parsed(text: str) -> Any:
    try:
        return json.loads(text if "," not in text or text.startswith("[") else f"[{text}]")
    except (ValueError, RecursionError):
        return text  # not a number, which the check reports


def as_document(settings: Settings) -> dict[str, Any]:
    """Return settings as a JSON object."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(settings).items()}


def described(settings: type[Settings]) -> str:
    """Return one line of help per hyper-parameter: name, default, meaning."""
    lines = []
    for field in dataclasses.fields(settings):
        default = ",".join(f"{item:g}" for item in field.default) if isinstance(field.default, tuple) else field.default
        lines.append(f"  {field.name}={default}: {field.metadata['meaning']}")
    return "\n".join(lines)


def within_range(settings: type[Settings], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by name, in which numbers that a hyper-parameter cannot have give way to the nearest that it can.

    Args:
        settings: The hyper-parameters.
        values: Numbers, tuples of numbers, or anything else, which stays.
    """
    limits = {field.name: field.metadata for field in dataclasses.fields(settings)}

    def nearest(value: Any, name: str) -> Any:
        if isinstance(value, tuple):
            return tuple(nearest(item, name) for item in value)
        if type(value) not in (int, float) or "low" not in limits.get(name, {}):
            return value
        return min(max(value, limits[name]["low"]), limits[name]["high"])

    return {name: nearest(value, name) for name, value in values.items()}
