"""Wrappers of the user's own: where they are, and what they may change."""

import re
from pathlib import Path

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import TrainingError
from racer_env.vec_env import RacerVecEnv
from tests.runs import load, ppo
from tests.training.runs.test_own_reward import page
from training.runs.brought import bring
from training.runs.own_wrapper import wrapped

HEAD = """
import numpy as np
from stable_baselines3.common.vec_env import VecEnvWrapper, VecFrameStack
class Own(VecEnvWrapper):
    def reset(self):
        return self.venv.reset()
    def step_wait(self):
        observations, rewards, dones, infos = self.venv.step_wait()
"""


@pytest.mark.timeout(60)
def test_the_page_s_wrapper_is_below_the_normalisation(tmp_path: Path) -> None:
    """A driver trains with it; the file opens and drives without it."""
    (tmp_path / "wrappers.py").write_text(page(), encoding="utf-8")
    wrapper = ["--wrapper", f"{tmp_path / 'wrappers.py'}:NoisyRays", "--reward", f"{tmp_path / 'wrappers.py'}:middle"]
    assert ppo(tmp_path, "--timesteps", "4096", "--run-name", "own", *wrapper, "--eval-freq", "4096") == 0
    assert load(tmp_path / "models" / "own_final.zip").observation_space.shape == (14,)
    cars = RacerVecEnv("track-01", 3)
    env = VecNormalize(wrapped(cars, bring("wrapper", wrapper[1])))
    env.reset()
    seen = env.get_original_obs()
    assert isinstance(seen, np.ndarray)
    assert 0 < np.ptp(seen[:, 4]) < 0.1  # cars on one line, with noise
    assert np.ptp(seen[:, 13]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}        return observations, rewards[:1], dones, infos", r"must return rewards, .*\(3,\), got \(1,\)"),
        (f"{HEAD}        return observations * np.nan, rewards, dones, infos", "observations, finite numbers, got nan"),
        (f"{HEAD}        return observations, rewards, dones, []", "must return infos, 3 of them, got 0"),
        (f"{HEAD}        1 / 0", r"raised ZeroDivisionError: division by zero .*wrappers.py, line 9\)"),
        (f"{HEAD}        return None", "raised TypeError: cannot unpack"),
        ("def Own(venv): return 3", "must be a VecEnvWrapper, got int"),
        (
            f"{HEAD}        return None\ndef Own(venv): return VecFrameStack(venv, 2)",
            r"changes observation_space from .*\(14,\).* to .*\(28,\).*; a driver is evaluated and exported without it",
        ),
        ("class Own: pass", r"raised TypeError: Own\(\) takes no arguments"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    """When it is made, or in the first step."""
    (tmp_path / "wrappers.py").write_text(text, encoding="utf-8")
    cars = RacerVecEnv("track-01", 3)
    with pytest.raises(TrainingError, match=message) as refused:
        env = wrapped(cars, bring("wrapper", f"{tmp_path / 'wrappers.py'}:Own"))
        env.reset()
        env.step(np.zeros((3, 3)))
    assert re.search("wrappers.py:Own", str(refused.value))
    assert "\n" not in str(refused.value)
