"""Rewards of the user's own: what they are given, what they may return, and that they change a driver."""

import gc
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecEnv

from racer_env.contract import OBSERVED_CENTRE_DISTANCE, OBSERVED_SPEED, REWARD_COMPONENTS
from racer_env.errors import RacerError
from racer_env.project import PROJECT_ROOT
from racer_env.vec_env import RacerVecEnv
from tests.helpers import with_limits
from tests.runs import folders, load, ppo, sac
from training import train_ppo
from training.runs.brought import bring
from training.runs.own_reward import OwnReward

pytestmark = pytest.mark.timeout(60)
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def page() -> str:
    """Return the Python of the page on rewards, in one file as the page says."""
    return "\n".join(FENCE.findall((PROJECT_ROOT / "docs" / "rewards.md").read_text(encoding="utf-8")))


def paying(folder: Path, name: str, text: str, cars: VecEnv | None = None) -> OwnReward:
    """Return cars that a function in a file with this text pays."""
    (folder / "rewards.py").write_text(text, encoding="utf-8")
    reward = bring("reward", f"{folder / 'rewards.py'}:{name}")
    return OwnReward(cars or RacerVecEnv("track-01", 3, bridge_url="embedded"), reward)


def test_the_page_s_rewards_pay_what_it_says(tmp_path: Path) -> None:
    """Each in its own units, beside the game's own on cars that drive alike."""
    plain = RacerVecEnv("track-01", 3, bridge_url="embedded")
    names = ("limited", "smooth", "Centred", "middle")
    envs = {name: paying(tmp_path, name, page()) for name in names}
    before = np.zeros(3, np.float32)
    total = np.zeros(3)
    for env in (plain, *envs.values()):
        env.reset()
    for step in range(1, 130):
        actions = np.tile(np.array([[0.01 * (step % 7), 1.0, 0.0]], np.float32), (3, 1))
        observations, rewards, _, _ = plain.step(actions)
        paid = {name: env.step(actions)[1] for name, env in envs.items()}
        middle = np.asarray(observations)[:, OBSERVED_CENTRE_DISTANCE]
        total += middle
        too_fast = np.maximum(np.asarray(observations)[:, OBSERVED_SPEED] * 160 - 60, 0)
        assert paid["limited"] == pytest.approx(rewards - 0.0005 * too_fast, abs=1e-6)
        assert paid["smooth"] == pytest.approx(rewards - 0.02 * np.square(actions[:, 0] - before), abs=1e-6)
        assert paid["Centred"] == pytest.approx(rewards - 0.002 * total / step, abs=1e-6)
        assert paid["middle"] == pytest.approx(rewards - 0.002 * middle, abs=1e-6)
        before = actions[:, 0]
    assert too_fast.max() > 0


KEEPING = """
kept = []
def keep(observations, infos, actions, rewards, before):
    kept.append((observations, infos, actions, rewards, before))
    return infos["stepCount"]
"""


@pytest.mark.parametrize("action_repeat", [1, 4])
def test_what_a_reward_is_given(tmp_path: Path, engine_url: str, action_repeat: int) -> None:
    """Over both engines: the last observation of an episode that ends, sums over ticks, and what was before."""
    cars = RacerVecEnv("track-01", 2, with_limits(8), bridge_url=engine_url, action_repeat=action_repeat)
    env = paying(tmp_path, "keep", KEEPING, cars)
    first = np.array(env.reset())
    steps = [env.step(np.full((2, 3), 0.1 * step, np.float32)) for step in range(10)]
    kept = env._reward.value.__globals__["kept"]
    env.close()
    length = 8 // action_repeat
    for number, ((seen, _, dones, infos), (reached, records, actions, rewards, before)) in enumerate(
        zip(steps, kept, strict=True)
    ):
        assert dones.all() == (number % length == length - 1)
        ends = [info.get("terminal_observation", seen[car]) for car, info in enumerate(infos)]
        assert np.array_equal(reached, ends)
        assert records["stepCount"].tolist() == [info["stepCount"] for info in infos]
        assert rewards == pytest.approx(sum(records[name] for name in REWARD_COMPONENTS), abs=1e-6)
        assert actions[0, 0] == pytest.approx(0.1 * number)
        begins = number % length == 0
        assert before.begins.tolist() == [begins, begins]
        assert before.actions[0, 0] == pytest.approx(0.0 if begins else 0.1 * (number - 1))
        assert np.array_equal(before.observations, first if number == 0 else steps[number - 1][0])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return rewards[:, None]", r"for each car, of shape \(3,\), got float32 of shape \(3, 1\)"),
        ("return 1.0", r"got float64 of shape \(\)"),
        ("return None", "got NoneType"),
        ("return ['a', 'b', 'c']", "got <U1 of shape"),
        ("return [[1], [1, 2], 3]", "got list"),
        ("return rewards * 1j", "got complex"),
        ("return rewards * float('nan')", "must return finite numbers, got nan for car 0"),
        ("return [0, 0, 1e300]", r"must return finite numbers, got 1e\+300 for car 2"),
        ("rewards -= 1", r"ValueError: output array is read-only .*rewards.py, line 2\); its arrays are not to be"),
        ("observations[0] = 1", r"read-only .*line 2\); its arrays are not to be changed, make new ones"),
        ("infos['lap'][0] = 1", r"read-only .*line 2\)"),
        ("return infos['sped']", r"ValueError: no field of name sped .*rewards.py, line 2\)$"),
        ("raise SystemError", r"raised SystemError \(.*line 2\)"),
        ("raise SystemExit", r"rewards.py:own raised SystemExit \(.*line 2\)"),
        ("from racer_env.errors import RacerError; raise RacerError('mine')", r"raised RacerError: mine \(.*line 2\)"),
    ],
)
def test_wrong_results_are_one_line(tmp_path: Path, body: str, message: str) -> None:
    """It names the reward, and the line where there is one."""
    env = paying(tmp_path, "own", f"def own(observations, infos, actions, rewards):\n    {body}\n")
    env.reset()
    with pytest.raises(RacerError, match=message) as refused:
        env.step(np.zeros((3, 3)))
    assert "rewards.py:own" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_coroutine_is_one_line(tmp_path: Path) -> None:
    """Without Python's warning that nobody waited for it."""
    env = paying(tmp_path, "own", "async def own(observations, infos, actions, rewards):\n    return rewards\n")
    env.reset()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(RacerError, match="got coroutine"):
            env.step(np.zeros((3, 3)))
        gc.collect(0)
    assert not told


ODD = """class Odd:
    def __call__(self, observations, infos, actions, rewards): return rewards
    def __getattr__(self, name): raise RuntimeError('hm')
own = Odd()
"""


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("own", "own = 3", "has own in it is of the type int; expected a function"),
        ("own", "", "has no own; expected a function"),
        ("own", "def own(rewards):\n    return rewards", r"must take observations, .* it takes \(rewards\)"),
        ("own", "x = 1\n1 / 0", r"importing it raised ZeroDivisionError: division by zero .*rewards.py, line 2\)"),
        ("own", "def own(:", r"importing it raised SyntaxError: .*rewards.py, line 1\)"),
        ("own", "import sys\nsys.exit(3)", "importing it raised SystemExit"),
        ("Own", "class Own:\n    def __init__(self, size): pass", "making it raised TypeError"),
        ("Own", "class Own:\n    def __init__(self): raise SystemExit", "making it raised SystemExit .*, line 2"),
        ("own", "def __getattr__(name): raise ValueError('boom')", "importing it raised ValueError: boom .*, line 1"),
        ("own", ODD, "asking for its arguments raised RuntimeError: hm .*, line 3"),
    ],
)
def test_what_is_no_reward_is_refused(
    tmp_path: Path, name: str, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the run takes its name: one line, exit code 2."""
    (tmp_path / "rewards.py").write_text(text, encoding="utf-8")
    assert ppo(tmp_path, "--reward", f"{tmp_path / 'rewards.py'}:{name}", "--run-name", "own") == 2
    error = capsys.readouterr().err
    assert re.search(message, error)
    assert error.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"rewards.py"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rewards.py", "--reward must be MODULE_OR_FILE:FUNCTION, such as rewards.py:smooth, got 'rewards.py'"),
        ("missing.py:own", "there is no file .*missing.py"),
        ("missing_module:own", "there is no Python module 'missing_module'; the name of a file ends in .py"),
        ("math:sqrt", "the module 'math' has no Python file, of which the run would keep a digest; call what is in it"),
        ("a b:own", "there is no Python module 'a b'"),
    ],
)
def test_a_name_of_nothing_is_refused(name: str, message: str) -> None:
    """With what it should be."""
    with pytest.raises(RacerError, match=message):
        bring("reward", name)


LEFT = """
calls = []
def left(observations, infos, actions, rewards):
    calls.append(len(rewards))
    return -actions[:, 0]
def later(observations, infos, actions, rewards):
    calls.append(len(rewards))
    return rewards if len(calls) < 70 else rewards / 0
"""


def steering(path: Path) -> float:
    """Return how far a model steers where nothing else is to be seen."""
    actions, _ = load(path).predict(np.zeros((1, 14), np.float32), deterministic=True)
    return float(actions[0, 0])


def test_a_driver_learns_what_it_is_paid_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To steer left, in the place of what the game pays, which the monitor file goes on with."""
    (tmp_path / "rewards.py").write_text(LEFT, encoding="utf-8")
    reward = ["--reward", f"{tmp_path / 'rewards.py'}:left"]
    fast = ["--timesteps", "8192", "--set", "learning_rate=0.01"]
    assert ppo(tmp_path, "--run-name", "left", *fast, *reward) == 0
    output = capsys.readouterr().out
    assert "rewards.py:left\n" in output
    assert ppo(tmp_path, "--run-name", "plain", *fast) == 0
    left, plain = (steering(tmp_path / "models" / f"{name}_final.zip") for name in ("left", "plain"))
    assert left < plain - 0.03
    monitored = (tmp_path / "logs" / "left" / "monitor.csv").read_text(encoding="utf-8").splitlines()[2:]
    assert all(abs(float(line.split(",")[0])) < 3 for line in monitored)  # what left pays is up to 1 a tick


def test_other_algorithms_have_it_too(tmp_path: Path) -> None:
    """Called once a step, for all cars."""
    (tmp_path / "rewards.py").write_text(LEFT, encoding="utf-8")
    reward = ["--reward", f"{tmp_path / 'rewards.py'}:left"]
    assert sac(tmp_path, "--timesteps", "40", "--num-envs", "4", "--eval-freq", "0", "--run-name", "s", *reward) == 0
    import sys

    calls: Any = sys.modules["brought_rewards"]
    assert calls.calls == [4] * 10


def test_a_reward_that_fails_at_once_leaves_the_name_free(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that fails later leaves what was trained."""
    file = tmp_path / "rewards.py"
    file.write_text("def own(observations, infos, actions, rewards):\n    raise SystemExit\n", encoding="utf-8")
    arguments = ["--timesteps", "8192", "--run-name", "own", "--eval-freq", "0", *folders(tmp_path), "--reward"]
    assert train_ppo.main([*arguments, f"{file}:own"]) == 2
    assert capsys.readouterr().err.endswith(f"raised SystemExit ({file}, line 2)\n")
    assert not (tmp_path / "logs" / "own").exists()
    file.write_text(LEFT, encoding="utf-8")
    assert train_ppo.main([*arguments, f"{file}:later"]) == 2
    assert "must return finite numbers, got" in capsys.readouterr().err
    assert (tmp_path / "models" / "own_interrupted.zip").is_file()
