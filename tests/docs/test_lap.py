"""The script that makes the README's picture: who is in it."""

from pathlib import Path

import pytest

from docs import lap
from training.algorithms.registry import all_algorithms
from training.evaluation.options import parse_options
from training.runs.options import make_options, make_parser

SIZE_LIMIT = 3_000_000  # bytes; the README loads it at once


def test_the_best_model_drives_before_the_earliest_of_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under names that say what they are; both commands are ones that the scripts take."""
    filmed = {}

    def run(script: str, *arguments: str) -> None:
        if script == "train_ppo":
            algorithm = all_algorithms()["PPO"]
            options = make_options(algorithm, make_parser(algorithm).parse_args(arguments))
            for tag in ("best", "100032_steps", "200000_steps"):
                path = options.models_dir / f"{options.run_name}_{tag}.zip"
                path.write_text(path.name)
        else:
            options = parse_options(arguments)
            filmed.update({name: (options.models_dir / f"{name}.zip").read_text() for name in options.model or []})
            assert options.video == lap.PICTURE

    monkeypatch.setattr(lap, "run", run)
    lap.main()
    assert list(filmed.items()) == [
        ("finished", "learner_best.zip"),
        ("half-trained", "learner_100032_steps.zip"),
        ("untrained", "beginner_100032_steps.zip"),
    ]


def test_the_picture_is_small() -> None:
    """Whoever opens the README loads all of it."""
    assert Path(lap.PICTURE).stat().st_size < SIZE_LIMIT
