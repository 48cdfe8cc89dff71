"""Measure how fast the environment steps: ``python -m training.benchmark --target 2000``."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.config import AiConfig, load_config
from racer_env.errors import ConfigError
from racer_env.tracks import Track, load_tracks
from training.cli import (
    ANSWER_IS_NO,
    DONE,
    MAX_CARS,
    MAX_SEED,
    add_track_arguments,
    positive_number,
    run_script,
    say,
    whole_number,
)
from training.loading import Preparation
from training.model_files import load_tracks_for

HOLD_TICKS = 15  # ticks that a random action is held
RANDOM, DRIVER = "random", "driver"

Actions = npt.NDArray[np.float32]


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m training.benchmark",
        description="Measure steps per second and the time of a step call. Exit code 0: at or above the target, "
        "1: below, 2: could not run.",
    )
    parser.add_argument("--target", type=positive_number, default=2000.0, help="steps/s to reach (default: 2000)")
    parser.add_argument(
        "--steps", type=whole_number(1, 10_000_000), default=5000, help="timed step calls (default: 5000)"
    )
    parser.add_argument(
        "--warmup", type=whole_number(0, 10_000_000), default=200, help="calls before them (default: 200)"
    )
    parser.add_argument(
        "--num-envs",
        type=whole_number(1, MAX_CARS),
        default=1,
        help="cars: 1 measures RacerEnv, more RacerVecEnv (default: 1)",
    )
    add_track_arguments(parser, "all of --tracks-dir, or track-01")
    parser.add_argument(
        "--actions",
        choices=(RANDOM, DRIVER),
        default=RANDOM,
        help=f"random ones, held for {HOLD_TICKS} ticks, or those of a scripted driver (default: random)",
    )
    parser.add_argument(
        "--engine", action="store_true", help="measure the simulator alone, without environment and infos"
    )
    parser.add_argument("--seed", type=whole_number(0, MAX_SEED), default=0, help="of the actions (default: 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_benchmark, make_parser().parse_args(argv))


def _benchmark(arguments: argparse.Namespace) -> int:
    tracks = load_tracks_for(None, arguments.track_id, arguments.tracks_dir)
    with Preparation(tracks[0], quiet=arguments.json):
        pass
    results = [
        run_benchmark(
            steps=arguments.steps,
            target=arguments.target,
            warmup=arguments.warmup,
            num_envs=arguments.num_envs,
            track_id=track,
            config_path=arguments.config,
            actions=arguments.actions,
            engine=arguments.engine,
            seed=arguments.seed,
        )
        for track in tracks
    ]
    if arguments.json:
        print(json.dumps(results[0] if len(results) == 1 else results, indent=2))
    else:
        for result in results:
            say(format_result(result))
    return DONE if all(result["passed"] for result in results) else ANSWER_IS_NO


def run_benchmark(
    steps: int = 5000,
    target: float = 2000,
    warmup: int = 200,
    *,
    num_envs: int = 1,
    track_id: str | Track = "track-01",
    config_path: str | Path | None = None,
    actions: str = RANDOM,
    engine: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Time step calls.

    Args:
        steps: Timed calls.
        target: Environment steps per second to reach.
        warmup: Calls before them.
        num_envs: Cars; 1 measures ``RacerEnv``, more ``RacerVecEnv``.
        track_id: The track, or its name.
        config_path: Reward weights and episode limits; None is the project's.
        actions: ``"random"``, held for HOLD_TICKS, or ``"driver"``, those of the scripted driver.
        engine: Measure the simulator alone, with the resets of finished cars.
        seed: Of the actions.

    Returns:
        ``steps``, ``warmup``, ``elapsed_sec``, ``steps_per_sec`` (calls times cars), ``mean_ms``, ``p50_ms``,
        ``p95_ms`` and ``p99_ms`` of a call, ``target``, ``passed``; and what was measured: ``track_id``,
        ``num_envs``, ``actions``, ``engine``.

    Raises:
        ConfigError: An argument is out of range.
        TrackError: There is no such track.
    """
    if actions not in (RANDOM, DRIVER):
        raise ConfigError(f"actions must be {RANDOM!r} or {DRIVER!r}, got {actions!r}")
    if steps < 1 or warmup < 0 or num_envs < 1:
        raise ConfigError(f"steps and num_envs must be at least 1, got {steps} and {num_envs}; warmup 0, got {warmup}")
    track = track_id if isinstance(track_id, Track) else load_tracks([track_id])[0]
    config = load_config(config_path)
    sequence = make_actions(actions, track, num_envs, warmup + steps, seed)
    step = _make_step(track, num_envs, config, engine)
    for action in sequence[:warmup]:
        step(action)
    durations = np.empty(steps)
    began = time.perf_counter()
    for index, action in enumerate(sequence[warmup:]):
        before = time.perf_counter()
        step(action)
        durations[index] = time.perf_counter() - before
    elapsed = time.perf_counter() - began
    rate = steps * num_envs / elapsed
    return {
        "steps": steps,
        "warmup": warmup,
        "elapsed_sec": elapsed,
        "steps_per_sec": rate,
        "mean_ms": float(durations.mean()) * 1e3,
        **{f"p{share}_ms": float(np.percentile(durations, share)) * 1e3 for share in (50, 95, 99)},
        "target": target,
        "passed": rate >= target,
        "track_id": track.id,
        "num_envs": num_envs,
        "actions": actions,
        "engine": engine,
    }


def make_actions(kind: str, track: Track, num_envs: int, steps: int, seed: int) -> list[Actions]:
    """Return the actions of a benchmark, made before the clock runs: ``steps`` arrays (num_envs, 3)."""
    random = np.random.default_rng(seed)
    if kind == RANDOM:
        held = random.uniform((-1, 0, 0), (1, 1, 1), (steps // HOLD_TICKS + 1, num_envs, 3)).astype(np.float32)
        return [held[step // HOLD_TICKS] for step in range(steps)]
    from racer_env.simulator.simulator import Simulator
    from racer_env.simulator.starts import standing_start
    from training.driver import scripted_driver

    simulator = Simulator([track], num_envs)
    recorded = []
    for _ in range(steps):
        noise = random.normal(0.0, 0.1, (num_envs, 3))  # or all cars would drive as one
        recorded.append((scripted_driver(simulator.observations) + noise).astype(np.float32))
        simulator.step(recorded[-1])
        done = np.flatnonzero(simulator.terminated | simulator.truncated)
        simulator.place(done.tolist(), [standing_start(track.geometry)] * len(done))
    return recorded


def _make_step(track: Track, num_envs: int, config: AiConfig, engine: bool) -> Callable[[Actions], None]:
    """Return a function that steps what is measured and resets what has finished."""
    if engine:
        return _engine_step(track, num_envs, config)
    if num_envs > 1:
        from racer_env.vec_env import RacerVecEnv

        vec_env = RacerVecEnv([track], num_envs, config)
        vec_env.reset()
        return lambda actions: vec_env.step(actions) and None
    from racer_env.env import RacerEnv

    env = RacerEnv(track_id=track, config=config)
    env.reset()

    def step(actions: Actions) -> None:
        _, _, terminated, truncated, _ = env.step(actions[0])
        if terminated or truncated:
            env.reset()

    return step


def _engine_step(track: Track, num_envs: int, config: AiConfig) -> Callable[[Actions], None]:
    from racer_env.simulator.simulator import Simulator
    from racer_env.simulator.starts import standing_start

    simulator = Simulator([track], num_envs, config)
    start = standing_start(track.geometry)

    def step(actions: Actions) -> None:
        simulator.step(actions)
        done = simulator.terminated | simulator.truncated
        if done.any():
            indices = np.flatnonzero(done).tolist()
            simulator.place(indices, [start] * len(indices))

    return step


def format_result(result: dict[str, Any]) -> str:
    """Return a result as one line of text."""
    what = "simulator" if result["engine"] else "RacerVecEnv" if result["num_envs"] > 1 else "RacerEnv"
    return (
        f"{'PASS' if result['passed'] else 'FAIL'}  {result['steps_per_sec']:>9,.0f} steps/s (target "
        f"{result['target']:,.0f})  {what} on {result['track_id']}, {result['num_envs']} "
        f"{'car' if result['num_envs'] == 1 else 'cars'}, {result['actions']} actions; per call: "
        f"mean {result['mean_ms']:.4f} ms, p50 {result['p50_ms']:.4f}, p95 {result['p95_ms']:.4f}, "
        f"p99 {result['p99_ms']:.4f}"
    )


if __name__ == "__main__":
    sys.exit(main())
