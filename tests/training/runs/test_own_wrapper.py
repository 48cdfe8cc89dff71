"""Wrappers of the user's own: where they are, and what they may change."""

import re
from pathlib import Path

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import ClosedError, TrainingError
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
LOST = "from racer_env.errors import BridgeLostError"
ENDS = "{'terminal_observation': 3}"
ACTS = """        return observations, rewards, dones, infos
    def step_async(self, actions):
        self.venv.step_async("""


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
        (
            f"{HEAD}        return observations, rewards[:1], dones, infos",
            r"must return rewards, .*\(3,\), got float32 of shape \(1,\)",
        ),
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
        (f"{HEAD}        raise SystemExit(0)", r"raised SystemExit: 0 \(.*, line 9\)"),
        (
            f"{HEAD}        return observations, rewards, dones, [None] * 3",
            "must return infos, a dict for each car, got",
        ),
        (
            f"{HEAD}        return observations, rewards, dones * 1.0, infos",
            "must return dones, .* truth values .*float64",
        ),
        (
            f"{HEAD}        return observations.astype(int), rewards, dones, infos",
            "observations, .* floats .*got int64",
        ),
        (
            f"{HEAD}        return observations, rewards, dones == 0, [{ENDS}] * 3",
            r"terminal observations, .*\(14,\), got 3",
        ),
        (f"{HEAD}{ACTS}np.nan * actions)", r"raised ActionError: .* steer of car 0 is nan \(.*, line 8\)"),
        (f"{HEAD}{ACTS}actions[:1])", r"raised ActionError: .*; got \(1, 3\) \(.*, line 8\)"),
        (
            f"{HEAD}        pass\n    def __init__(self, venv): self.venv = venv",
            r"must call super\(\).__init__\(venv\)",
        ),
        (f"{HEAD}        pass\n    def seed(self, seed): raise ValueError", r"raised ValueError \(.*, line 10\)"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    """When it is made, or in the first step."""
    (tmp_path / "wrappers.py").write_text(text, encoding="utf-8")
    cars = RacerVecEnv("track-01", 3)
    with pytest.raises(TrainingError, match=message) as refused:
        env = wrapped(cars, bring("wrapper", f"{tmp_path / 'wrappers.py'}:Own"))
        env.seed(0)
        env.reset()
        env.step(np.zeros((3, 3)))
    assert re.search("wrappers.py:Own", str(refused.value))
    assert "\n" not in str(refused.value)


def test_closing_never_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was trained is saved by then; the cars below are closed, and what the wrapper raises is told."""
    file = tmp_path / "wrappers.py"
    file.write_text(f"{HEAD}        pass\n    def close(self): raise ValueError('no')\n", encoding="utf-8")
    cars = RacerVecEnv("track-01", 3)
    wrapped(cars, bring("wrapper", f"{file}:Own")).close()
    told = capsys.readouterr().out
    assert told == (
        f"warning: closing the wrapper {file}:Own raised ValueError: no ({file}, line 10); what was trained is not "
        "affected\n"
    )
    with pytest.raises(ClosedError):
        cars.reset()


def test_whatever_ends_a_run_at_once_leaves_its_name_free(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bridge, too, which is not the wrapper's fault."""
    file = tmp_path / "wrappers.py"
    file.write_text(f"{LOST}{HEAD}        raise BridgeLostError('it is gone')\n", encoding="utf-8")
    assert ppo(tmp_path, "--run-name", "own", "--wrapper", f"{file}:Own") == 2
    assert capsys.readouterr().err.endswith("error: it is gone\n")
    assert not (tmp_path / "logs" / "own").exists()
