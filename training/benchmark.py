"""Measure how fast the environment steps: ``python -m training.benchmark --target 2000``."""

import importlib
import json
from collections.abc import Sequence
from typing import Any

from training.console.bridges import open_bridge
from training.console.messages import say
from training.console.parser import ANSWER_IS_NO, DONE, leave, run_script
from training.console.tracks import known_tracks, load_tracks_for
from training.console.warm_up import WarmUp
from training.engines.speed_options import DRIVER, BenchmarkOptions, check_options, parse_options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_benchmark, parse_options(argv))


def _benchmark(options: BenchmarkOptions) -> int:
    check_options(options)
    return _long(options) if options.training or options.evaluation else _steps(options)


def _long(options: BenchmarkOptions) -> int:
    """Measure trainings and evaluations."""
    tracks = known_tracks(load_tracks_for([], options.track_id, options.tracks_dir))
    with WarmUp(tracks[0], quiet=options.json):
        speed = importlib.import_module("training.runs.training_speed")  # loads PyTorch while the warm-up compiles
    config, name, results = options.weights, options.algorithm or "PPO", []
    for track in tracks:
        training = speed.measure_training(track, config, name=name) if options.training else None
        evaluation = speed.measure_evaluation(track, config) if options.evaluation else None
        results.append({"track_id": track.id, "training": training, "evaluation": evaluation})
        lines = speed.in_lines(f"{name} on {track.id}", training) if training else []
        lines += speed.in_lines(f"evaluation on {track.id}", evaluation) if evaluation else []
        lines += [speed.price_in_words(training, evaluation)] if training and evaluation else []
        for line in lines if not options.json else ():
            say(line)
    if options.json:
        print(json.dumps(results[0] if len(results) == 1 else results, indent=2))
    return DONE


def _steps(options: BenchmarkOptions) -> int:
    """Measure steps."""
    with open_bridge(options, quiet=options.json) as bridge:
        tracks = load_tracks_for([], options.track_id, options.tracks_dir, bridge)
        needs_simulator = bridge is None or options.compare or options.actions == DRIVER
        with WarmUp(tracks[0] if needs_simulator else None, quiet=options.json):
            from training.engines.speed import (  # loads PyTorch while the warm-up compiles
                format_result,
                measure,
            )
        results = [measure(options, track, bridge) for track in tracks]
    if options.json:
        print(json.dumps(results[0] if len(results) == 1 else results, indent=2))
    else:
        for result in results:
            say(format_result(result))
    return DONE if all(result["passed"] for result in results) else ANSWER_IS_NO


def __getattr__(name: str) -> Any:
    if name not in ("run_benchmark", "make_actions"):
        raise AttributeError(f"module 'training.benchmark' has no attribute {name!r}")
    return getattr(importlib.import_module("training.engines.speed"), name)  # the command line needs no PyTorch


if __name__ == "__main__":
    leave(main())
