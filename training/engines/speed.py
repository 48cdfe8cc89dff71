"""How fast an environment steps. Subjects are measured in turns, as a machine's speed changes by the second."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.bridge.bridge import Bridge, bridge_at, track_on
from racer_env.bridge.client import BridgeClient
from racer_env.bridge.url import EMBEDDED
from racer_env.config import AiConfig, load_config
from racer_env.env import RacerEnv
from racer_env.errors import ConfigError
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import AnyTrack, Track
from racer_env.tracks.starts import standing_start
from racer_env.vec_env import RacerVecEnv
from training.drivers.scripted import scripted_driver
from training.engines.speed_options import DRIVER, ENGINE_IS_EMBEDDED, HOLD_TICKS, RANDOM, BenchmarkOptions

ROUNDS = 20  # turns that the measurement is split into

Actions = npt.NDArray[np.float32]


def measure(options: BenchmarkOptions, track: AnyTrack, bridge: Bridge | None) -> dict[str, Any]:
    """Time step calls on one track as the options ask; see ``run_benchmark``."""
    return run_benchmark(
        steps=options.steps,
        target=options.target,
        warmup=options.warmup,
        num_envs=options.num_envs,
        track_id=track,
        config_path=options.config,
        actions=options.actions,
        engine=options.engine,
        seed=options.seed,
        bridge_url=bridge or EMBEDDED,
        compare=options.compare,
    )


def run_benchmark(
    steps: int = 5000,
    target: float = 2000,
    warmup: int = 200,
    *,
    num_envs: int = 1,
    track_id: str | AnyTrack = "track-01",
    config_path: str | Path | None = None,
    actions: str = RANDOM,
    engine: bool = False,
    seed: int = 0,
    bridge_url: str | Sequence[str] | Bridge | None = None,
    compare: bool = False,
) -> dict[str, Any]:
    """Time step calls of an environment or engine.

    Args:
        steps, warmup: Number of timed calls, and of calls before them.
        target: Environment steps per second to reach.
        num_envs: Number of cars; 1 measures ``RacerEnv``, more ``RacerVecEnv``.
        track_id: The track, or its name.
        config_path, bridge_url: Configuration and bridge, as in ``RacerEnv``.
        actions: ``"random"``, each held for HOLD_TICKS, or ``"driver"``, those of the scripted driver.
        engine: Measure the simulator alone, including resets of finished cars.
        seed: Seed of the actions.
        compare: Over a bridge, also measure the embedded simulator, in turns.

    Returns:
        ``steps``, ``warmup``, ``target``, ``passed``; the figures of ``_Subject.figures``; what was measured; the
        figures of ``_compared``.

    Raises:
        BridgeError: The bridge cannot be reached, or fails.
        ConfigError: An argument is out of range.
        TrackError: There is no such track.
    """
    _check(steps, warmup, num_envs, actions)
    config = load_config(config_path)
    with contextlib.ExitStack() as stack:
        bridge = bridge_at(stack, bridge_url, [track_id])
        _check_bridge(bridge, engine, compare)
        track = track_on(bridge, track_id)
        measured = _Subject(_make_step(stack, track, num_envs, config, bridge, engine))
        embedded = _Subject(_make_step(stack, track, num_envs, config, None, engine)) if compare else None
        bare = _Subject(_make_round_trip(stack, bridge)) if bridge is not None else None
        subjects = [subject for subject in (measured, embedded, bare) if subject is not None]
        _measure(subjects, make_actions(actions, track, num_envs, warmup + steps, seed), warmup)
    return {
        "steps": steps,
        "warmup": warmup,
        **measured.figures(num_envs),
        "target": target,
        "passed": steps * num_envs / measured.elapsed >= target,
        "track_id": track.id,
        "num_envs": num_envs,
        "actions": actions,
        "engine": engine,
        "bridge_url": bridge.urls if bridge is not None else None,
        **_compared(measured, embedded, bare, steps, num_envs),
    }


def _check(steps: int, warmup: int, num_envs: int, actions: str) -> None:
    if actions not in (RANDOM, DRIVER):
        raise ConfigError(f"actions must be {RANDOM!r} or {DRIVER!r}, got {actions!r}")
    if steps < 1 or warmup < 0 or num_envs < 1:
        raise ConfigError(f"steps and num_envs must be at least 1, got {steps} and {num_envs}; warmup 0, got {warmup}")


def _check_bridge(bridge: Bridge | None, engine: bool, compare: bool) -> None:
    if bridge is not None and engine:
        raise ConfigError(ENGINE_IS_EMBEDDED)
    if bridge is None and compare:
        raise ConfigError("compare needs a bridge to compare with, got no bridge_url")


def _compared(
    measured: "_Subject", embedded: "_Subject | None", bare: "_Subject | None", steps: int, num_envs: int
) -> dict[str, Any]:
    """Return the figures of what was measured alongside, in turns with the steps.

    Over a bridge, ``round_trip_ms`` is the mean time of a bare request and reply on one connection. With ``compare``,
    ``embedded`` holds the figures of the embedded simulator, and ``embedded_ratio`` how many times as fast it is.
    """
    figures: dict[str, Any] = {}
    if bare is not None:
        figures["round_trip_ms"] = bare.elapsed / steps * 1e3
    if embedded is not None:
        figures["embedded"] = embedded.figures(num_envs)
        figures["embedded_ratio"] = measured.elapsed / embedded.elapsed
    return figures


class _Subject:
    """Something whose calls are timed.

    Attributes:
        elapsed: Seconds spent in all timed calls, including the loop around them.
        processor: Seconds of processor time that this process took meanwhile, with all of its threads.
    """

    def __init__(self, call: Callable[[Actions], object]) -> None:
        self.call = call
        self.elapsed = 0.0
        self.processor = 0.0
        self._durations: list[float] = []

    def time_calls(self, sequence: Sequence[Actions]) -> None:
        """Time one call for each of the actions."""
        processor, began = time.process_time(), time.perf_counter()
        before = began
        for actions in sequence:
            self.call(actions)
            now = time.perf_counter()
            self._durations.append(now - before)
            before = now
        self.elapsed += before - began
        self.processor += time.process_time() - processor

    def figures(self, num_envs: int) -> dict[str, float]:
        """Return the figures of the timed calls.

        Args:
            num_envs: Number of cars.

        Returns:
            ``elapsed_sec``, ``steps_per_sec`` (calls times cars), ``mean_ms``, ``p50_ms``, ``p95_ms`` and ``p99_ms`` of
            a call, and ``processor_ms``, how long this process works in one.
        """
        durations = np.array(self._durations) * 1e3
        return {
            "elapsed_sec": self.elapsed,
            "steps_per_sec": len(durations) * num_envs / self.elapsed,
            "mean_ms": float(durations.mean()),
            "processor_ms": self.processor / len(durations) * 1e3,
            **{f"p{share}_ms": float(np.percentile(durations, share)) for share in (50, 95, 99)},
        }


def _measure(subjects: Sequence[_Subject], sequence: Sequence[Actions], warmup: int) -> None:
    """Time the subjects in turns; the first ``warmup`` calls are not timed."""
    for subject in subjects:
        for actions in sequence[:warmup]:
            subject.call(actions)
    turn = max(1, (len(sequence) - warmup) // ROUNDS) if len(subjects) > 1 else len(sequence)
    for first in range(warmup, len(sequence), turn):
        for subject in subjects:
            subject.time_calls(sequence[first : first + turn])


def make_actions(kind: str, track: AnyTrack, num_envs: int, steps: int, seed: int) -> list[Actions]:
    """Return a benchmark's actions, made before the clock starts: ``steps`` arrays (num_envs, 3)."""
    random = np.random.default_rng(seed)
    if kind == RANDOM:
        held = random.uniform((-1, 0, 0), (1, 1, 1), (steps // HOLD_TICKS + 1, num_envs, 3)).astype(np.float32)
        return [held[step // HOLD_TICKS] for step in range(steps)]
    if not isinstance(track, Track):
        raise ConfigError(
            f"the bridge does not describe {track.id}, so no driver can be scripted; use {RANDOM} actions"
        )
    simulator = Simulator([track], num_envs)
    recorded = []
    for _ in range(steps):
        noise = random.normal(0.0, 0.1, (num_envs, 3))  # without noise, all cars would drive alike
        recorded.append((scripted_driver(simulator.observations) + noise).astype(np.float32))
        simulator.step(recorded[-1])
        done = np.flatnonzero(simulator.terminated | simulator.truncated)
        simulator.place(done.tolist(), [standing_start(track.geometry)] * len(done))
    return recorded


def _make_step(
    stack: contextlib.ExitStack,
    track: AnyTrack,
    num_envs: int,
    config: AiConfig,
    bridge: Bridge | None,
    engine: bool,
) -> Callable[[Actions], object]:
    """Return a function that steps the subject and resets what has finished; the stack closes the subject."""
    if engine:
        assert isinstance(track, Track)
        return _engine_step(track, num_envs, config)
    if num_envs > 1:
        vec_env = RacerVecEnv([track], num_envs, config, bridge_url=bridge or EMBEDDED)
        stack.callback(vec_env.close)
        vec_env.reset()
        return vec_env.step
    track_id = track if isinstance(track, Track) else track.id
    env = RacerEnv(bridge or EMBEDDED, track_id=track_id, config=config)
    stack.callback(env.close)
    env.reset()

    def step(actions: Actions) -> None:
        _, _, terminated, truncated, _ = env.step(actions[0])
        if terminated or truncated:
            env.reset()

    return step


def _make_round_trip(stack: contextlib.ExitStack, bridge: Bridge) -> Callable[[Actions], object]:
    """Return a function that makes a round trip without a game: a hello, about as long as a step's message."""
    client = stack.enter_context(BridgeClient(bridge.urls[0]))
    return lambda actions: client.hello()


def _engine_step(track: Track, num_envs: int, config: AiConfig) -> Callable[[Actions], None]:
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
    what += f" over {' and '.join(result['bridge_url'])}" if result["bridge_url"] else ""
    return (
        f"{'PASS' if result['passed'] else 'FAIL'}  {result['steps_per_sec']:>9,.0f} steps/s (target "
        f"{result['target']:,.0f})  {what} on {result['track_id']}, {result['num_envs']} "
        f"{'car' if result['num_envs'] == 1 else 'cars'}, {result['actions']} actions; per call: "
        f"mean {result['mean_ms']:.4f} ms, p50 {result['p50_ms']:.4f}, p95 {result['p95_ms']:.4f}, "
        f"p99 {result['p99_ms']:.4f}{''.join(_comparisons(result))}"
    )


def _comparisons(result: dict[str, Any]) -> Iterator[str]:
    if "round_trip_ms" in result:
        yield f", processor {result['processor_ms']:.4f}; a bare round trip {result['round_trip_ms']:.4f} ms"
    if "embedded" in result:
        rate, ratio = result["embedded"]["steps_per_sec"], result["embedded_ratio"]
        yield f"; the embedded simulator in the same run: {rate:,.0f} steps/s, {ratio:,.1f} times as fast"
