"""Training without PyTorch's compiler."""

import subprocess
import sys

import pytest

SCRIPT = """
import io, sys
from racer_env.vec_env import RacerVecEnv
from training.algorithms.registry import algorithm_named
from training.checkpoints.loading import prepare
prepare(0, "cpu")
ppo = algorithm_named("PPO")
arguments = ppo.arguments(ppo.settings(), 64, 8192)
model = ppo.make_model(RacerVecEnv(num_envs=64), ppo.settings(), arguments, 0, "cpu")
file = io.BytesIO()
model.learn(8192).save(file)
file.seek(0)
type(model).load(file, device="cpu")
print("torch" in sys.modules, "torch._dynamo" in sys.modules)
"""


@pytest.mark.timeout(120)
def test_ppo_trains_saves_and_loads_without_the_compiler() -> None:
    """Which would take longer to load than all else together takes to do."""
    script = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert script.stdout.split() == ["True", "False"]
