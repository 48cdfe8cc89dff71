"""The benchmark's figures, verdict and exit codes."""

import json

import numpy as np
import pytest

from racer_env.tracks import load_track
from training.benchmark import main, make_actions, run_benchmark

FIGURES = {
    "steps",
    "warmup",
    "elapsed_sec",
    "steps_per_sec",
    "mean_ms",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "processor_ms",
    "target",
    "passed",
}


@pytest.mark.parametrize("options", [{}, {"num_envs": 8}, {"num_envs": 8, "engine": True, "actions": "driver"}])
def test_returns_all_figures(options: dict[str, object]) -> None:
    """Every agreed key is there, and the figures fit together."""
    result = run_benchmark(steps=50, target=1, warmup=5, **options)  # type: ignore[arg-type]
    assert set(result) >= FIGURES
    assert result["passed"]
    cars = result["num_envs"]
    assert result["steps_per_sec"] == pytest.approx(50 * cars / result["elapsed_sec"])
    assert 0 < result["p50_ms"] <= result["p95_ms"] <= result["p99_ms"]


def test_exit_code_1_below_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    """A target out of reach is a FAIL."""
    assert main(["--steps", "20", "--warmup", "0", "--target", "1e12"]) == 1
    assert "FAIL" in capsys.readouterr().out


def test_exit_code_0_at_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    """A low target is a PASS, on every track named."""
    assert main(["--steps", "20", "--target", "1", "--track-id", "all"]) == 0
    assert capsys.readouterr().out.count("PASS") == 3


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints nothing but JSON."""
    assert main(["--steps", "20", "--target", "1", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) >= FIGURES


def test_driver_actions_drive() -> None:
    """The scripted driver's actions move the cars, each a little differently."""
    actions = make_actions("driver", load_track("track-01"), 3, 40, seed=1)
    assert len(actions) == 40
    assert not np.array_equal(actions[-1][0], actions[-1][1])
    assert np.mean([action[:, 1] for action in actions]) > 0.5
