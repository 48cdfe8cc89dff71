"""Presets: files of hyper-parameters and the arguments that go with them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from racer_env.config import parse_config
from racer_env.errors import ConfigError
from racer_env.json_files import Checker, read_json

PRESETS_FOLDER = Path(__file__).resolve().parents[1] / "presets"

# The arguments that a preset may set: whole numbers, lists of names, and names.
_ARGUMENTS: dict[str, type] = {
    "timesteps": int,
    "num_envs": int,
    "track_id": list,
    "eval_track_id": list,
    "eval_freq": int,
    "eval_laps": int,
    "eval_random_starts": int,
    "checkpoint_freq": int,
    "initialize_from": str,
}


@dataclass(frozen=True)
class Preset:
    """The content of a preset file.

    Attributes:
        hyperparameters: Values by name, not yet checked.
        arguments: Defaults of the command line, by name.
        algorithm: Name of the algorithm it is for; None is any.
        about: Description shown to the user.
        ai_config: Reward weights and episode limits, as in ``ai-config.json``, checked; None is those without it.
    """

    hyperparameters: Any = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    algorithm: str | None = None
    about: str = ""
    ai_config: dict[str, Any] | None = None


def preset_names() -> list[str]:
    """Return the names of the presets that come with the project."""
    return sorted(path.stem for path in PRESETS_FOLDER.glob("*.json"))


def preset_path(name: str) -> Path:
    """Return the file of a preset: one that comes with the project, or a path that ends in ``.json``.

    Raises:
        ConfigError: There is no preset of that name.
    """
    if name.endswith(".json"):
        return Path(name)
    if name not in preset_names():
        there = ", ".join(preset_names())
        raise ConfigError(f"no preset {name!r}; there are: {there}; a file of your own ends in .json")
    return PRESETS_FOLDER / f"{name}.json"


def read_preset(path: Path) -> Preset:
    """Read a preset file: an object of hyper-parameters, or one with ``hyperparameters`` and ``arguments``.

    Raises:
        ConfigError: The file is missing or not JSON, or has content that a preset cannot have.
    """
    document = read_json(path, ConfigError, "hyper-parameter")
    if not isinstance(document, dict) or "hyperparameters" not in document:
        return Preset(document)
    check = Checker(ConfigError, str(path))
    keys = ("about", "figures", "algorithm", "arguments", "hyperparameters", "ai_config")
    content = check.mapping(document, "the preset", keys, required=("hyperparameters",))
    arguments = check.mapping(content.get("arguments", {}), "arguments", _ARGUMENTS)
    for name, value in arguments.items():
        if _ARGUMENTS[name] is str:
            if not isinstance(value, str):
                raise check.fail(f"arguments.{name} must be a name, got {value!r}")
        elif _ARGUMENTS[name] is list:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise check.fail(f"arguments.{name} must be a list of names, got {value!r}")
        else:
            check.integer(value, f"arguments.{name}", 0)
    config = content.get("ai_config")
    if config is not None:
        config = parse_config(config, f"{path}: ai_config").to_json()
    return Preset(
        content["hyperparameters"], arguments, content.get("algorithm"), str(content.get("about", "")), config
    )
