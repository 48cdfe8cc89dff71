"""Reward weights and episode limits: ``ai-config.json`` as checked dataclasses."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from racer_env.errors import ConfigError
from racer_env.json_files import Checker, read_json

PROJECT_ROOT = Path(__file__).resolve().parent.parent
DEFAULT_CONFIG_PATH = PROJECT_ROOT / "ai-config.json"

MAX_WEIGHT = 1e6  # so that no sum of rewards leaves the range of floating-point numbers

_WEIGHT_KEYS = {
    "progress": "progress",
    "speedBonus": "speed_bonus",
    "wallPenalty": "wall_penalty",
    "offTrackPenalty": "off_track_penalty",
    "backwardPenalty": "backward_penalty",
    "stillnessPenalty": "stillness_penalty",
    "stillnessSpeedThreshold": "stillness_speed_threshold",
}
_EPISODE_KEYS = {"maxSteps": "max_steps", "stillnessTimeoutTicks": "stillness_timeout_ticks"}


@dataclass(frozen=True)
class RewardWeights:
    """Weights of the reward's components; penalties are negative.

    Attributes:
        progress: For one whole lap of progress along the centre line.
        speed_bonus: Per tick at top speed, in proportion to speed.
        wall_penalty: Per tick in contact with a wall.
        off_track_penalty: Per tick off the road.
        backward_penalty: Per tick of negative progress.
        stillness_penalty: Per tick below the threshold.
        stillness_speed_threshold: Speed below which a car counts as still, in units/s.
    """

    progress: float = 1.0
    speed_bonus: float = 0.0
    wall_penalty: float = -0.002
    off_track_penalty: float = -0.001
    backward_penalty: float = 0.0
    stillness_penalty: float = -0.001
    stillness_speed_threshold: float = 2.0


@dataclass(frozen=True)
class EpisodeLimits:
    """When an episode ends.

    Attributes:
        max_steps: Truncated at this many steps.
        stillness_timeout_ticks: Terminated after this many still ticks in a row.
    """

    max_steps: int = 3000
    stillness_timeout_ticks: int = 180


@dataclass(frozen=True)
class AiConfig:
    """The content of ``ai-config.json``."""

    weights: RewardWeights = field(default_factory=RewardWeights)
    episode: EpisodeLimits = field(default_factory=EpisodeLimits)

    def to_json(self) -> dict[str, dict[str, float]]:
        """Return the configuration under the keys of the JSON file."""
        return {
            "weights": {key: getattr(self.weights, name) for key, name in _WEIGHT_KEYS.items()},
            "episode": {key: getattr(self.episode, name) for key, name in _EPISODE_KEYS.items()},
        }


def parse_config(document: Any, where: str = "config") -> AiConfig:
    """Check a parsed configuration; keys that are absent keep their default.

    Args:
        document: The parsed JSON document.
        where: Its name in error messages, a path for example.

    Raises:
        ConfigError: An unknown key, a wrong type, a number that is not finite or too large, or a limit below 1.
    """
    check = Checker(ConfigError, where)
    sections = check.mapping(document, "the configuration", ("weights", "episode"))
    weights = check.mapping(sections.get("weights", {}), "weights", _WEIGHT_KEYS)
    episode = check.mapping(sections.get("episode", {}), "episode", _EPISODE_KEYS)
    return AiConfig(
        weights=RewardWeights(
            **{_WEIGHT_KEYS[key]: _weight(check, value, f"weights.{key}") for key, value in weights.items()}
        ),
        episode=EpisodeLimits(
            **{_EPISODE_KEYS[key]: check.integer(value, f"episode.{key}", 1) for key, value in episode.items()}
        ),
    )


def _weight(check: Checker, value: Any, key: str) -> float:
    number = check.number(value, key)
    if abs(number) > MAX_WEIGHT:
        raise check.fail(f"{key} must be within {MAX_WEIGHT:,.0f} of 0, got {number:g}")
    return number


def load_config(path: str | Path | None = None) -> AiConfig:
    """Load a configuration file.

    Args:
        path: The file; None is the project's ``ai-config.json``.

    Raises:
        ConfigError: The file is missing, no JSON, or its content is wrong.
    """
    path = DEFAULT_CONFIG_PATH if path is None else Path(path)
    return parse_config(read_json(path, ConfigError, "configuration"), str(path))
