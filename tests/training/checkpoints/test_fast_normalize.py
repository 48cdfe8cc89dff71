"""VecNormalize in compiled code."""

from pathlib import Path

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.config import parse_config
from racer_env.vec_env import RacerVecEnv
from training.checkpoints.fast_normalize import FastNormalize


def test_it_normalises_as_the_original_does() -> None:
    """Observations, rewards, last observations of finished episodes, and statistics."""
    short = parse_config({"episode": {"maxSteps": 30}}, "a test")
    one, other = (kind(RacerVecEnv(num_envs=5, config=short), gamma=0.9) for kind in (FastNormalize, VecNormalize))
    assert np.array_equal(one.reset(), other.reset())
    random, ended = np.random.default_rng(0), 0
    for _ in range(100):
        actions = random.uniform((-1, 0, 0), (1, 1, 1), (5, 3)).astype(np.float32)
        mine, theirs = one.step(actions), other.step(actions)
        for part in range(3):
            assert mine[part] == pytest.approx(theirs[part], abs=1e-4)
        for info, original in zip(mine[3], theirs[3], strict=True):
            assert ("terminal_observation" in info) == ("terminal_observation" in original)
            if "terminal_observation" in info:
                ended += 1
                assert info["terminal_observation"] == pytest.approx(original["terminal_observation"], abs=1e-4)
    assert ended
    assert one.obs_rms.mean == pytest.approx(other.obs_rms.mean, abs=1e-6)
    assert one.ret_rms.var == pytest.approx(other.ret_rms.var, abs=1e-6)
    assert one.returns == pytest.approx(other.returns)


def test_its_file_is_a_plain_one(tmp_path: Path) -> None:
    """What is saved beside a model opens without this project."""
    FastNormalize(RacerVecEnv()).save(str(tmp_path / "statistics.pkl"))
    assert b"racer_env" not in (tmp_path / "statistics.pkl").read_bytes()
    assert type(VecNormalize.load(str(tmp_path / "statistics.pkl"), RacerVecEnv())) is VecNormalize
