"""The contract: what both languages call things, and what it costs to read it."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racer_env import contract
from racer_env.config import AiConfig
from racer_env.project import DEFAULT_CONFIG_PATH, PROJECT_ROOT
from racer_env.simulator.kernels import RULES_DTYPE
from racer_env.spaces import make_action_space, make_observation_space

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "contract.json").read_text(encoding="utf-8"))
TYPES = {float: "float", int: "integer", bool: "boolean"}


def values_of(values: tuple[contract.Value, ...]) -> list[dict[str, Any]]:
    """Return values as the golden file has them."""
    return [value._asdict() for value in values]


def fields_of(fields: tuple[contract.InfoField, ...]) -> list[dict[str, str]]:
    """Return fields of an info as the golden file has them."""
    return [{"name": field.name, "type": TYPES[field.type]} for field in fields]


def test_it_is_the_golden_one() -> None:
    """Which the TypeScript side is held to as well."""
    placement = [{"name": name, "low": low, "high": high} for name, (low, high) in contract.PLACEMENT_BOUNDS.items()]
    assert {
        "ticksPerSecond": contract.TICKS_PER_SECOND,
        "actions": values_of(contract.ACTION),
        "observation": values_of(contract.OBSERVATION),
        "components": list(contract.REWARD_COMPONENTS),
        "stepInfo": fields_of(contract.STEP_INFO),
        "resetInfo": fields_of(contract.RESET_INFO),
        "placement": placement,
        **AiConfig().to_json(),
    } == GOLDEN


def test_the_shipped_configuration_is_the_default() -> None:
    """A user who copies ai-config.json copies the defaults, every one of them."""
    assert json.loads(DEFAULT_CONFIG_PATH.read_text(encoding="utf-8")) == AiConfig().to_json()


def test_placements_are_bounded_by_name() -> None:
    """Every value of a placement has bounds."""
    assert contract.Placement._fields == tuple(contract.PLACEMENT_BOUNDS)


def test_spaces_and_records_follow_it() -> None:
    """Bounds, order and types are taken from there."""
    assert make_observation_space().low.tolist() == [value.low for value in contract.OBSERVATION]
    assert make_action_space().high.tolist() == [value.high for value in contract.ACTION]
    assert contract.INFO_DTYPE.names == contract.STEP_INFO_KEYS
    weights = [field.name for field in dataclasses.fields(contract.RewardWeights)]
    assert set(RULES_DTYPE.names or ()) >= set(weights) - {"progress"}


def test_indices_are_those_of_the_names() -> None:
    """The rays come first."""
    names = np.array(contract.OBSERVATION_NAMES)
    assert names[contract.RAYS].tolist() == [f"ray_{ray}" for ray in range(contract.RAY_COUNT)]
    assert names[contract.RAY_AHEAD] == "ray_4"
    assert names[contract.OBSERVED_SPEED] == "speed"
    assert names[contract.OBSERVED_CENTRE_DISTANCE] == "centre_distance"


@pytest.mark.parametrize("module", ["racer_env", "racer_env.contract", "racer_env.spaces", "racer_env.config"])
def test_reading_it_loads_nothing_heavy(module: str) -> None:
    """Neither the compiled engine nor PyTorch."""
    script = f"import {module}, sys; print([name for name in ('numba', 'torch', 'websocket') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], cwd=PROJECT_ROOT, capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr
