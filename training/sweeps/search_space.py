"""Search spaces: files that say which values of hyper-parameters and reward weights a sweep may try."""

import itertools
import json
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optuna.trial import Trial

from racer_env.config import AiConfig, parse_config
from racer_env.errors import ConfigError
from racer_env.json_files import Checker, read_json, shown
from training.algorithms.algorithm import Algorithm
from training.algorithms.settings import Settings, as_document, override

SPACES_FOLDER = Path(__file__).resolve().parents[1] / "search_spaces"
MAX_GRID = 10_000  # settings


@dataclass(frozen=True)
class Dimension:
    """What one hyper-parameter or reward weight may be.

    Attributes:
        values: The values; empty is a range.
        low, high: Range, both ends included.
        is_log: Whether the range is searched by orders of magnitude.
        is_whole: Whether it holds whole numbers.
    """

    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    is_log: bool = False
    is_whole: bool = False

    def suggest(self, trial: Trial, name: str) -> Any:
        """Have Optuna choose a value."""
        if self.values:
            return _value(trial.suggest_categorical(name, [*map(_choice, self.values)]))
        if self.is_whole:
            return trial.suggest_int(name, int(self.low), int(self.high), log=self.is_log)
        return trial.suggest_float(name, self.low, self.high, log=self.is_log)

    def holds(self, value: Any) -> bool:
        """Return whether a value can be chosen."""
        if self.values:
            return value in self.values
        return type(value) in (int, float) and self.low <= value <= self.high


def _choice(value: Any) -> Any:
    """Return what Optuna calls a value: it knows numbers and texts, so a list is its JSON."""
    return json.dumps(value) if isinstance(value, list) else value


def _value(choice: Any) -> Any:
    return json.loads(choice) if isinstance(choice, str) and choice.startswith("[") else choice


@dataclass(frozen=True)
class SearchSpace:
    """What a sweep may try.

    Attributes:
        hyperparameters, weights: By name, as in --set and as in ``ai-config.json``.
        document: The file's content.
    """

    hyperparameters: dict[str, Dimension] = field(default_factory=dict)
    weights: dict[str, Dimension] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)

    @property
    def dimensions(self) -> dict[str, Dimension]:
        """All of it by name; hyper-parameters and weights are written differently, so that no name is in both."""
        return {**self.hyperparameters, **self.weights}

    def grid(self, prefix: str) -> list[dict[str, Any]]:
        """Return every combination, by Optuna's names.

        Raises:
            ConfigError: There are ranges, or too many combinations.
        """
        ranges = [name for name, dimension in self.dimensions.items() if not dimension.values]
        if ranges:
            raise ConfigError(f"--sampler grid takes values, and {', '.join(ranges)} is searched in a range; list some")
        names = [prefix + name for name in self.dimensions]
        combinations = itertools.product(*(map(_choice, each.values) for each in self.dimensions.values()))
        found = [dict(zip(names, values, strict=True)) for values in itertools.islice(combinations, MAX_GRID + 1)]
        if len(found) > MAX_GRID:
            raise ConfigError(f"--sampler grid takes up to {MAX_GRID:,} settings, and the search space has more")
        return found

    def place_of(self, settings: Settings, config: AiConfig, prefix: str) -> dict[str, Any] | None:
        """Return where settings are in the space, by Optuna's names; None if they are outside."""
        known = {**as_document(settings), **config.to_json()["weights"]}
        if not all(dimension.holds(known[name]) for name, dimension in self.dimensions.items()):
            return None
        return {prefix + name: _choice(known[name]) for name in self.dimensions}


def shipped_space(algorithm: Algorithm) -> Path:
    """Return the file of the search space that comes with the project."""
    return SPACES_FOLDER / f"{algorithm.name.lower()}.json"


def read_space(path: Path) -> dict[str, Any]:
    """Read the file of a search space, without looking at the names in it.

    Raises:
        ConfigError: It is missing or no JSON, or no search space.
    """
    document = read_json(path, ConfigError, "search space")
    check = Checker(ConfigError, str(path))
    check.mapping(document, "the search space", ("about", "algorithm", "hyperparameters", "weights"))
    if not {"hyperparameters", "weights"} & document.keys():
        raise check.fail('a search space names what is searched, as in {"hyperparameters": {"gamma": [0.98, 0.99]}}')
    return dict(document)


def parse_space(document: Mapping[str, Any], settings: Settings, where: str) -> SearchSpace:
    """Check a search space against what an algorithm has.

    Args:
        document: Content of a file.
        settings: Hyper-parameters of the algorithm.
        where: Name of the document in error messages.

    Raises:
        ConfigError: A name is unknown, or values or a range are none that it can have.
    """
    check = Checker(ConfigError, where)
    kinds = typing.get_type_hints(type(settings))

    def as_setting(name: str, value: Any) -> Any:
        return as_document(override(settings, {name: value}, where))[name]

    def as_weight(name: str, value: Any) -> Any:
        return parse_config({"weights": {name: value}}, where).to_json()["weights"][name]

    names = check.mapping(document.get("hyperparameters", {}), "hyperparameters", as_document(settings))
    weights = check.mapping(document.get("weights", {}), "weights", AiConfig().to_json()["weights"])
    return SearchSpace(
        {name: _dimension(check, name, given, as_setting, kinds[name]) for name, given in names.items()},
        {name: _dimension(check, name, given, as_weight, float) for name, given in weights.items()},
        dict(document),
    )


def _dimension(
    check: Checker, name: str, given: Any, checked: typing.Callable[[str, Any], Any], kind: Any
) -> Dimension:
    """Return what a file says of a name.

    Args:
        check: Words the errors.
        name: The name.
        given: A list of values, or an object with ``values``, or with ``low`` and ``high``.
        checked: Returns a value in the form of documents, or raises ConfigError.
        kind: The type of a value.
    """
    if isinstance(given, list):
        given = {"values": given}
    content = check.mapping(given, name, ("values", "low", "high", "log"))
    if "values" in content:
        return _listed(check, name, content, checked)
    content = check.mapping(given, name, ("low", "high", "log"), required=("low", "high"))
    if kind not in (int, float):
        raise check.fail(f"{name} is not one number, so it has no range; give it values")
    is_log = content.get("log", False)
    if not isinstance(is_log, bool):
        raise check.fail(f"{name}.log must be true or false, got {shown(is_log)}")
    low, high = (checked(name, content[end]) for end in ("low", "high"))
    if low > high:
        raise check.fail(f"{name} must have its low end first, got low {low:g} and high {high:g}")
    if is_log and low <= 0:
        raise check.fail(f"{name} must have a low end above 0, as log is true, got {low:g}")
    return Dimension((), low, high, is_log, kind is int)


def _listed(check: Checker, name: str, content: dict[str, Any], checked: typing.Callable[[str, Any], Any]) -> Dimension:
    if len(content) > 1:
        raise check.fail(f"{name} must have values or a range, got {', '.join(content)}")
    values = content["values"]
    if not isinstance(values, list) or not values:
        raise check.fail(f"{name}.values must be a list of values, got {shown(values)}")
    found = [checked(name, value) for value in values]
    twice = [value for index, value in enumerate(found) if value in found[:index]]
    if twice:
        raise check.fail(f"{name}.values has {shown(twice[0])} twice")
    return Dimension(tuple(found))
