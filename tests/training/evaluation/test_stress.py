"""Noise and delay between a driver and its car."""

import numpy as np
import pytest

from training.evaluation.stress import NO_STRESS, STRESSES, Stress, Stressed

ACTIONS = np.arange(12.0).reshape(4, 3)
OBSERVATIONS = np.zeros((4, 14), np.float32)


def test_without_stress_nothing_changes() -> None:
    """Not a bit."""
    stressed = Stressed(NO_STRESS, 0, 4)
    assert stressed.seen(OBSERVATIONS) is OBSERVATIONS
    assert np.array_equal(stressed.done(ACTIONS), ACTIONS)


def test_late_actions_come_in_order() -> None:
    """After two ticks of coasting."""
    stressed = Stressed(Stress("late", delay=2), 0, 4)
    done = [stressed.done(ACTIONS + tick)[0, 0] for tick in range(1, 6)]
    assert done == [0.0, 0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(("size", "what"), [(0.1, "action_noise"), (0.02, "observation_noise")])
def test_noise_is_of_its_size_and_of_its_seed(size: float, what: str) -> None:
    """The same seed makes the same noise; each value gets noise of its own."""

    def noise(seed: int) -> np.ndarray:
        stressed = Stressed(Stress("noise", **{what: size}), seed, 1000)
        zeros = np.zeros((1000, 14), np.float32)
        return stressed.seen(zeros) if what == "observation_noise" else stressed.done(zeros[:, :3])

    assert noise(1).std() == pytest.approx(size, rel=0.05)
    assert noise(1).mean() == pytest.approx(0.0, abs=size / 10)
    assert noise(1).dtype == np.float32
    assert np.array_equal(noise(1), noise(1))
    assert not np.array_equal(noise(1), noise(2))


def test_the_kinds_of_stress() -> None:
    """Each alone, and all of them."""
    assert [stress.name for stress in STRESSES] == [
        *("action noise", "observation noise", "a tick of delay", "all of these")
    ]
    last = STRESSES[-1]
    assert (last.action_noise, last.observation_noise, last.delay) == (0.1, 0.02, 1)
