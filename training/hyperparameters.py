"""Hyper-parameters as checked dataclasses: defaults, then a file, then single values of the command line."""

import dataclasses
import json
import types
import typing
from collections.abc import Sequence
from typing import Any, TypeVar

from racer_env.errors import ConfigError
from racer_env.json_files import Checker

Settings = TypeVar("Settings")  # a dataclass whose fields are made by ``setting``


def setting(default: Any, low: float, high: float, meaning: str) -> Any:
    """Return a field of a dataclass of hyper-parameters.

    Args:
        default: Its value; the annotation is ``int``, ``float``, or a tuple of floats of fixed length.
        low, high: The range of it, or of each of its items, ends included.
        meaning: For the help.
    """
    return dataclasses.field(default=default, metadata={"low": low, "high": high, "meaning": meaning})


def override(settings: Settings, document: Any, where: str) -> Settings:
    """Return settings with the values of a parsed JSON document, checked by name, type and range.

    Args:
        settings: What is not named stays.
        document: An object of names and values.
        where: Its name in error messages.

    Raises:
        ConfigError: A name is unknown, or a value of the wrong type or out of range.
    """
    fields = {field.name: field for field in dataclasses.fields(settings)}  # type: ignore[arg-type]
    check = Checker(ConfigError, where)
    values = check.mapping(document, "the hyper-parameters", fields)
    kinds = typing.get_type_hints(type(settings))
    checked = {name: _checked(check, fields[name], kinds[name], value) for name, value in values.items()}
    return dataclasses.replace(settings, **checked)  # type: ignore[type-var]


def _checked(check: Checker, field: "dataclasses.Field[Any]", kind: Any, value: Any) -> Any:
    low, high = field.metadata["low"], field.metadata["high"]

    def number(item: Any, name: str) -> float:
        result = check.number(item, name)
        if not low <= result <= high:
            raise check.fail(f"{name} must be within [{low:g}, {high:g}], got {result:g}")
        return result

    if isinstance(kind, types.GenericAlias):
        count = len(typing.get_args(kind))
        if not isinstance(value, list | tuple) or len(value) != count:
            raise check.fail(f"{field.name} must be a list of {count} numbers, got {value!r}")
        return tuple(number(item, f"{field.name}[{index}]") for index, item in enumerate(value))
    result = number(value, field.name)
    if kind is int:
        if result != int(result):
            raise check.fail(f"{field.name} must be a whole number, got {value!r}")
        return int(result)
    return result


def overridden(settings: Settings, documents: Sequence[Any], assignments: Sequence[str]) -> Settings:
    """Return settings with what parsed files and then each ``--set name=value`` say.

    Raises:
        ConfigError: A name is unknown, a value of the wrong type or out of range.
    """
    for document in documents:
        settings = override(settings, document, "--hyperparams")
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigError(f"--set must be name=value, got {assignment!r}")
        settings = override(settings, {name.strip(): _parsed(text.strip())}, f"--set {assignment}")
    return settings


def _parsed(text: str) -> Any:
    try:
        return json.loads(text if "," not in text or text.startswith("[") else f"[{text}]")
    except (ValueError, RecursionError):
        return text  # no number, as the check will say


def as_document(settings: Any) -> dict[str, Any]:
    """Return settings for JSON."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(settings).items()}


def described(settings: type) -> str:
    """Return a line of text for each hyper-parameter: name, default, meaning."""
    lines = []
    for field in dataclasses.fields(settings):
        default = ",".join(f"{item:g}" for item in field.default) if isinstance(field.default, tuple) else field.default
        lines.append(f"  {field.name}={default}: {field.metadata['meaning']}")
    return "\n".join(lines)
