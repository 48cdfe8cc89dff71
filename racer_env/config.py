"""Reward weights and episode limits: ``ai-config.json`` as checked dataclasses."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from racer_env.contract import EpisodeLimits, RewardWeights
from racer_env.errors import ConfigError
from racer_env.json_files import Checker, read_json
from racer_env.project import DEFAULT_CONFIG_PATH

MAX_WEIGHT = 1e6  # keeps every sum of rewards finite


@dataclass(frozen=True)
class AiConfig:
    """The content of ``ai-config.json``.

    Raises:
        ConfigError: A number is not finite or out of range, as for a file.
    """

    weights: RewardWeights = field(default_factory=RewardWeights)
    episode: EpisodeLimits = field(default_factory=EpisodeLimits)

    def __post_init__(self) -> None:
        check = Checker(ConfigError, "AiConfig")
        for key, value in self.to_json()["weights"].items():
            _weight(check, value, f"weights.{key}")
        for key, value in self.to_json()["episode"].items():
            check.integer(value, f"episode.{key}", 1)

    def to_json(self) -> dict[str, dict[str, float]]:
        """Return the configuration under the keys of the JSON file."""
        return {
            section: {key: getattr(values, name) for key, name in _keys(type(values)).items()}
            for section, values in (("weights", self.weights), ("episode", self.episode))
        }


def parse_config(document: Any, where: str = "config") -> AiConfig:
    """Check a parsed configuration; absent keys keep their default.

    Args:
        document: The parsed JSON document.
        where: Name of the document in error messages, such as a path.

    Raises:
        ConfigError: A key is unknown, a type is wrong, a number is not finite or too large, or a limit is below 1.
    """
    check = Checker(ConfigError, where)
    sections = check.mapping(document, "the configuration", ("weights", "episode"))
    return AiConfig(
        weights=RewardWeights(
            **_section(check, sections, "weights", RewardWeights, lambda value, key: _weight(check, value, key))
        ),
        episode=EpisodeLimits(
            **_section(check, sections, "episode", EpisodeLimits, lambda value, key: check.integer(value, key, 1))
        ),
    )


def _section(
    check: Checker, sections: dict[str, Any], section: str, kind: type, checked: Callable[[Any, str], Any]
) -> dict[str, Any]:
    """Return the checked values of a section, by the field names of its dataclass."""
    keys = _keys(kind)
    values = check.mapping(sections.get(section, {}), section, keys)
    return {keys[key]: checked(value, f"{section}.{key}") for key, value in values.items()}


def _weight(check: Checker, value: Any, key: str) -> float:
    number = check.number(value, key)
    if abs(number) > MAX_WEIGHT:
        raise check.fail(f"{key} must be within {MAX_WEIGHT:,.0f} of 0, got {number:g}")
    return number


def _keys(kind: type) -> dict[str, str]:
    """Return the field names of a dataclass by their JSON keys, which are in camelCase."""
    names = [field.name for field in dataclasses.fields(kind)]
    return {first + "".join(map(str.capitalize, rest)): name for name in names for first, *rest in [name.split("_")]}


def resolve_config(config: AiConfig | dict[str, Any] | None, path: str | Path | None = None) -> AiConfig:
    """Return the configuration that an environment was given: an object, the content of a file, or a file.

    Args:
        config: A configuration, or a dict with the content of an ``ai-config.json``; None reads ``path``.
        path: As in ``load_config``.

    Raises:
        ConfigError: The configuration is wrong, or the file.
    """
    if isinstance(config, AiConfig):
        return config
    return load_config(path) if config is None else parse_config(config, "config")


def load_config(path: str | Path | None = None) -> AiConfig:
    """Load a configuration file.

    Args:
        path: Path of the file; None is the project's ``ai-config.json``.

    Raises:
        ConfigError: The file is missing or not JSON, or its content is wrong.
    """
    path = DEFAULT_CONFIG_PATH if path is None else Path(path)
    return parse_config(read_json(path, ConfigError, "configuration"), str(path))
