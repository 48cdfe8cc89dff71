"""The bridge is about as fast as the way to it allows: ratios within one run, no absolute times."""

import pytest

from tests.training.test_benchmark import FIGURES
from training.benchmark import run_benchmark


@pytest.mark.parametrize("num_envs", [1, 16])
def test_benchmark_over_a_bridge(bridge_server: str, num_envs: int) -> None:
    """Every figure is there, also those of the bare round trip and of the embedded simulator."""
    result = run_benchmark(steps=60, target=1, warmup=5, num_envs=num_envs, bridge_url=bridge_server, compare=True)
    assert set(result) >= FIGURES | {"round_trip_ms", "embedded", "embedded_ratio"}
    assert result["passed"]
    assert result["bridge_url"] == [bridge_server]
    assert result["steps_per_sec"] == pytest.approx(60 * num_envs / result["elapsed_sec"])
    assert set(result["embedded"]) == {
        *("elapsed_sec", "steps_per_sec", "mean_ms", "p50_ms", "p95_ms", "p99_ms", "processor_ms")
    }
    assert result["embedded_ratio"] == pytest.approx(result["elapsed_sec"] / result["embedded"]["elapsed_sec"])


def test_a_step_costs_little_more_than_the_way(bridge_server: str) -> None:
    """One car's step takes less than four bare round trips, measured in turns."""
    result = run_benchmark(steps=2000, target=1, warmup=500, bridge_url=bridge_server)
    assert result["mean_ms"] < 4 * result["round_trip_ms"]


def test_many_cars_share_a_round_trip(bridge_server: str) -> None:
    """A step of 64 cars takes much less than 64 steps of one."""
    one = run_benchmark(steps=500, target=1, warmup=500, bridge_url=bridge_server)
    many = run_benchmark(steps=300, target=1, warmup=100, num_envs=64, bridge_url=bridge_server)
    assert many["steps_per_sec"] > 3 * one["steps_per_sec"]
