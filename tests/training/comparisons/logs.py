"""Logs of runs for tests of comparisons, written as training writes them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.comparisons.comparison import Comparison, compare
from training.comparisons.finding import find_runs


def evaluation(steps: int, pace: float | None, clean: int = 3, **figures: Any) -> dict[str, Any]:
    """Return a line of a run's evaluations: three laps at a pace, or none."""
    laps = {"laps": 3, "laps_asked": 3, "clean_laps": clean, "success": float(clean == 3), "episodes": 1}
    score = [float(clean), pace or 0.0, 1.0]
    best = {"best_lap_time_sec": None if pace is None else 1000 / pace, "pace_units_per_sec": pace, "mean_reward": 1.0}
    return {
        "steps": steps,
        "seconds": steps / 1000,
        **laps,
        **best,
        "off_track_share": 0.0,
        "steer_reversals_per_sec": 1.0,
        "score": score,
        **figures,
    }


def write_run(
    logs: Path, name: str, seed: int, evaluations: Sequence[dict[str, Any]], *, algorithm: str = "PPO", **record: Any
) -> Path:
    """Write the logs of a run, and return their folder.

    Args:
        logs: Folder of logs.
        name: Name of the run.
        seed: Its seed.
        evaluations: Its evaluations.
        algorithm: Its algorithm.
        record: Further parts of its record; ``hyperparameters`` and ``arguments`` are added to the usual ones.
    """
    folder = logs / name
    folder.mkdir(parents=True)
    parts = {"hyperparameters": {"learning_rate": 1e-3, "gamma": 0.99}, "arguments": {"run_name": name, "seed": seed}}
    document = {
        "run": name,
        "algorithm": algorithm,
        "seed": seed,
        "first_step": 0,
        "timesteps": 1000,
        "commit": "c",
        "started": name,
        "track_fingerprints": {"track-01": "f"},
        **record,
        **{part: {**usual, **record.get(part, {})} for part, usual in parts.items()},
    }
    (folder / "config.json").write_text(json.dumps(document))
    (folder / "evaluations.jsonl").write_text("".join(json.dumps(line) + "\n" for line in evaluations))
    return folder


def write_setting(logs: Path, name: str, paces: Sequence[float | None], **record: Any) -> None:
    """Write a run for each pace, of the seeds 0, 1 and so on; None never laps."""
    for seed, pace in enumerate(paces):
        last = evaluation(1000, pace, 0 if pace is None else 3)
        write_run(logs, f"{name}_seed_{seed}", seed, [evaluation(500, None, 0), last], **record)


def comparison_of(logs: Path, *names: str) -> Comparison:
    """Return the comparison of runs by their names."""
    return compare(find_runs(names or ["*"], logs))
