"""The benchmark's figures, verdict and exit codes."""

import functools
import json

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.tracks import Track, load_track
from training.benchmark import main, make_actions, run_benchmark
from training.runs import training_speed
from training.runs.training_speed import (
    NULL,
    PLAIN,
    PRODUCT,
    PYTORCH,
    in_lines,
    measure_evaluation,
    measure_training,
    price_in_words,
)

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


def test_training_is_measured_beside_plain_training(track: Track) -> None:
    """Collecting, learning and both of each, and how they compare."""
    figures = measure_training(track, AiConfig(), turns=1)
    for row in figures.values():
        assert 1 / row["both"] == pytest.approx(1 / row["collecting"] + 1 / row["learning"])  # of one turn
    header, *rows = in_lines("training", figures)
    assert "collecting, steps/s" in header
    assert [row[:30].strip() for row in rows] == [PRODUCT, NULL, PLAIN]
    assert "(1.00x)" in rows[0]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", ["sac", "td3"])
def test_other_algorithms_are_measured(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With their own cars and settings; both learn faster than stable-baselines3 does."""
    monkeypatch.setattr(training_speed, "measure_training", functools.partial(measure_training, turns=2))
    assert main(["--training", "--algorithm", name, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["training"]
    assert figures[PRODUCT]["learning"] > figures[PLAIN]["learning"]
    assert figures[PRODUCT]["collecting"] > figures[PRODUCT]["learning"]  # most of the time is that of updates


@pytest.mark.parametrize(
    ("options", "what_to_do"),
    [
        (["--algorithm", "sac"], "add --training"),
        (["--algorithm", "sac", "--training", "--evaluation"], "leave out --algorithm, or --evaluation"),
        (["--training", "--engine"], "leave out --engine"),
        (["--evaluation", "--num-envs", "2", "--target", "5"], "leave out --num-envs and --target"),
    ],
)
def test_options_that_do_not_go_together_say_what_to_do(
    options: list[str], what_to_do: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, before anything is measured."""
    assert main(options) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(what_to_do)


def test_evaluation_is_measured_beside_pytorch(track: Track) -> None:
    """And told in steps of training."""
    figures = measure_evaluation(track, AiConfig(), turns=1)
    assert figures[PRODUCT]["driving"] > figures[PYTORCH]["driving"]
    words = price_in_words({PRODUCT: {"both": 1000.0}}, {PRODUCT: {"seconds": 0.05}})
    assert words == "an evaluation of 3 laps takes 0.050 s, as long as 50 training steps"


def test_training_is_not_measured_over_a_bridge(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor what else is about steps alone."""
    assert main(["--training", "--engine"]) == 2
    assert "--training and --evaluation drive cars of their own" in capsys.readouterr().err
