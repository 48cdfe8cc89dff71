"""Reward weights and episode limits from JSON."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from racer_env.config import AiConfig, load_config, parse_config, resolve_config
from racer_env.contract import EpisodeLimits, RewardWeights
from racer_env.errors import ConfigError


def test_empty_document_gives_the_defaults() -> None:
    """A configuration without a key is the default one."""
    assert parse_config({}) == AiConfig()


def test_shipped_file_holds_the_defaults() -> None:
    """The project's own file says what the code's defaults say."""
    assert load_config() == AiConfig()


def test_defaults_are_the_documented_ones() -> None:
    """The default weights and limits are the game's."""
    assert AiConfig().to_json() == {
        "weights": {
            "progress": 1.0,
            "speedBonus": 0.0,
            "wallPenalty": -0.002,
            "offTrackPenalty": -0.001,
            "backwardPenalty": 0.0,
            "stillnessPenalty": -0.001,
            "stillnessSpeedThreshold": 2.0,
        },
        "episode": {"maxSteps": 3000, "stillnessTimeoutTicks": 180},
    }


def test_absent_keys_keep_their_default() -> None:
    """A key in one section changes that value and no other."""
    config = parse_config({"weights": {"wallPenalty": -1}})
    expected = AiConfig().to_json()
    expected["weights"]["wallPenalty"] = -1.0
    assert config.to_json() == expected


def test_every_key_reaches_its_value() -> None:
    """Parsing what ``to_json`` wrote gives the same configuration, with distinct values under every key."""
    document: dict[str, dict[str, Any]] = AiConfig().to_json()
    for number, section in enumerate(document.values()):
        for place, key in enumerate(section):
            section[key] = 10 * number + place + 1
    assert parse_config(document).to_json() == document


def test_whole_float_is_an_integer() -> None:
    """A limit written as 50.0 is the integer 50."""
    max_steps = parse_config({"episode": {"maxSteps": 50.0}}).episode.max_steps
    assert max_steps == 50
    assert type(max_steps) is int


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "the configuration must be an object, got list"),
        ({"wieghts": {}}, r"unknown key 'wieghts' in the configuration; allowed: weights, episode"),
        ({"weights": {"speed": 1}}, r"unknown key 'speed' in weights; allowed: progress, speedBonus"),
        ({"episode": {"steps": 1}}, r"unknown key 'steps' in episode; allowed: maxSteps"),
        ({"weights": 3}, "weights must be an object, got int"),
        ({"weights": {"progress": "1"}}, r"weights\.progress must be a number, got '1'"),
        ({"weights": {"progress": True}}, r"weights\.progress must be a number, got True"),
        ({"weights": {"progress": None}}, r"weights\.progress must be a number, got None"),
        ({"weights": {"progress": float("nan")}}, r"weights\.progress must be a finite number, got nan"),
        ({"weights": {"progress": 10**400}}, r"weights\.progress must be a finite number"),
        ({"episode": {"maxSteps": 1.5}}, r"episode\.maxSteps must be a whole number, got 1\.5"),
        ({"episode": {"maxSteps": 0}}, r"episode\.maxSteps must be at least 1, got 0"),
        ({"episode": {"maxSteps": 1e300}}, r"episode\.maxSteps must be at most 2147483647, got 1e\+300"),
        ({"episode": {"stillnessTimeoutTicks": -3}}, r"episode\.stillnessTimeoutTicks must be at least 1, got -3"),
    ],
)
def test_wrong_content_is_refused(document: Any, message: str) -> None:
    """The error names the key, what was expected and what came."""
    with pytest.raises(ConfigError, match=f"^config: {message}"):
        parse_config(document)


def test_file_is_loaded(tmp_path: Path) -> None:
    """A path takes the place of the project's file."""
    path = tmp_path / "mine.json"
    path.write_text('{"episode": {"maxSteps": 7}}')
    assert load_config(path).episode.max_steps == 7
    assert load_config(str(path)).episode.max_steps == 7


def test_error_names_the_file(tmp_path: Path) -> None:
    """An error in a file begins with its path."""
    path = tmp_path / "mine.json"
    path.write_text('{"weights": {"progress": []}}')
    with pytest.raises(ConfigError, match=r"mine\.json: weights\.progress must be a number"):
        load_config(path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    """A file that does not exist is an error with its path."""
    with pytest.raises(ConfigError, match=r"configuration file not found: .*absent\.json"):
        load_config(tmp_path / "absent.json")


def test_broken_json_names_line_and_column(tmp_path: Path) -> None:
    """A file that is no JSON is an error that says where."""
    path = tmp_path / "broken.json"
    path.write_text('{\n  "weights": }')
    with pytest.raises(ConfigError, match=r"broken\.json is not valid JSON: .* at line 2, column 14"):
        load_config(path)


def test_folder_is_unreadable(tmp_path: Path) -> None:
    """A path that cannot be read is an error, not a crash."""
    with pytest.raises(ConfigError, match="cannot read configuration file"):
        load_config(tmp_path)


def test_binary_file_is_unreadable(tmp_path: Path) -> None:
    """A file that is not UTF-8 is an error, not a crash."""
    path = tmp_path / "binary.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot read configuration file"):
        load_config(path)


@pytest.mark.parametrize("value", [1.1e6, -1e300])
def test_too_large_weight_is_refused(value: float) -> None:
    """A weight that would overflow the reward is named."""
    with pytest.raises(ConfigError, match=r"weights\.progress must be within 1,000,000 of 0"):
        parse_config({"weights": {"progress": value}})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AiConfig(RewardWeights(progress=math.nan)), "weights.progress must be a finite number"),
        (lambda: AiConfig(RewardWeights(wall_penalty=-math.inf)), "weights.wallPenalty must be a finite number"),
        (lambda: AiConfig(RewardWeights(speed_bonus=1e7)), "weights.speedBonus must be within 1,000,000 of 0"),
        (lambda: AiConfig(episode=EpisodeLimits(max_steps=0)), "episode.maxSteps must be at least 1"),
        (lambda: AiConfig(episode=EpisodeLimits(max_steps=1.5)), "episode.maxSteps must be a whole number"),
    ],
)
def test_a_configuration_made_in_python_is_checked_like_a_file(make: Callable[[], AiConfig], message: str) -> None:
    """Under the names of the file."""
    with pytest.raises(ConfigError, match=message):
        make()


def test_an_environment_takes_a_configuration_as_an_object_a_dict_or_a_file(tmp_path: Path) -> None:
    """All three say the same; a dict is checked as a file is."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"weights": {"speedBonus": 0.5}}))
    from_file = resolve_config(None, path)
    assert resolve_config({"weights": {"speedBonus": 0.5}}) == from_file
    assert resolve_config(from_file) is from_file
    with pytest.raises(ConfigError, match="unknown key 'speedBonuss'"):
        resolve_config({"weights": {"speedBonuss": 0.5}})
    with pytest.raises(ConfigError, match="config"):
        resolve_config(3)  # type: ignore[arg-type]
