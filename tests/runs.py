"""Training runs for tests: short ones, in a folder of their own."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stable_baselines3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.physics import load_physics
from racer_env.tracks import Track
from racer_env.vec_env import RacerVecEnv
from training import train_ppo, train_sac, train_td3
from training.algorithms.members.ppo import ALGORITHM
from training.checkpoints.data import ModelData, read_model_data
from training.checkpoints.files import STATISTICS, statistics_path
from training.checkpoints.loading import load_model
from training.checkpoints.saving import remember, save_unit
from training.checkpoints.writing import digest_of
from training.drivers.driver import Driver
from training.evaluation.course import Course, evaluate
from training.evaluation.driving import Policy
from training.evaluation.episode import Episode
from training.evaluation.stress import NO_STRESS, Stress
from training.runs.environment import make_training_env
from training.runs.options import make_options, make_parser
from training.runs.plan import make_plan

# SAC at its smallest: four updates a step of four cars, and no evaluation.
SMALL_SAC = ("--num-envs", "4", "--eval-freq", "0", "--set", "gradient_steps=1", "--set", "learning_starts=40")


def folders(folder: Path) -> list[str]:
    """Return the arguments that keep a run's files in a folder."""
    return ["--models-dir", str(folder / "models"), "--logs-dir", str(folder / "logs")]


def ppo(folder: Path, *arguments: str) -> int:
    """Train with PPO, with files in ``folder``; in rollouts of 4,096 steps, and without evaluations unless asked."""
    quiet = [] if "--eval-freq" in arguments or "--stop-when-competent" in arguments else ["--eval-freq", "0"]
    return train_ppo.main(["--set", "steps_per_car=64", *arguments, *quiet, *folders(folder)])


def sac(folder: Path, *arguments: str) -> int:
    """Train with SAC, with files in ``folder``."""
    return train_sac.main([*arguments, *folders(folder)])


def td3(folder: Path, *arguments: str) -> int:
    """Train with TD3, with files in ``folder``."""
    return train_td3.main([*arguments, *folders(folder)])


def load(path: Path) -> BaseAlgorithm:
    """Load a model to look at it."""
    return load_model(read_model_data(path), None, "cpu")


def data_of(folder: Path, name: str) -> ModelData:
    """Return what a run's model says about itself, by its name without ``.zip``."""
    return read_model_data(folder / "models" / f"{name}.zip")


def weights(path: Path) -> list[np.ndarray]:
    """Return a model's weights."""
    return [parameter.detach().numpy() for parameter in load(path).policy.parameters()]


def make_fresh(folder: Path, name: str = "fresh_final", **attributes: Any) -> Path:
    """Save an untrained PPO model with its statistics."""
    arguments = ["--num-envs", "4", "--timesteps", "1", *folders(folder)]
    options = make_options(ALGORITHM, make_parser(ALGORITHM).parse_args(arguments))
    run = dataclasses.replace(make_plan(ALGORITHM, options, None).run, name="fresh", logs_dir=folder)
    env = make_training_env(run)
    model = ALGORITHM.make_model(env, run.settings, ALGORITHM.arguments(run.settings, 4, 1), 0, "cpu")
    env.reset()
    env.step(np.zeros((4, 3)))
    known = {"physics_fingerprint": load_physics().fingerprint, "track_ids": ["track-01"], "action_repeat": 1}
    remember(model, **{**known, **attributes})
    save_unit(model, env, folder / f"{name}.zip")
    env.close()
    return folder / f"{name}.zip"


def save_guest(folder: Path, name: str, **arguments: Any) -> Any:
    """Save an untrained model of another algorithm with its statistics, and return it."""
    package = stable_baselines3 if hasattr(stable_baselines3, name) else pytest.importorskip("sb3_contrib")
    policy = "MlpLstmPolicy" if name == "RecurrentPPO" else "MlpPolicy"
    env = VecNormalize(RacerVecEnv("track-01", 2))
    model = getattr(package, name)(policy, env, device="cpu", seed=0, **arguments)
    (folder / "models").mkdir()
    model.save(folder / "models" / "guest.zip")
    env.save(str(folder / "models" / "guest_vecnormalize.pkl"))
    return model


def classes_of_ours(path: Path) -> list[str]:
    """Return the attributes of a model whose pickles name a module of this project."""
    import base64

    attributes = read_model_data(path).attributes
    pickles = {name: base64.b64decode(attributes[name][":serialized:"]) for name in read_model_data(path).pickled}
    return [name for name, content in pickles.items() if b"training." in content or b"racer_env" in content]


def rewritten(path: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Write a copy of a model whose JSON is changed."""
    import json
    import zipfile

    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            content = source.read(name)
            if name == "data":
                document = json.loads(content)
                change(document)
                content = json.dumps(document).encode()
            copy.writestr(name, content)
    return target


def as_before(path: Path) -> Path:
    """Rewrite a model as it was before models held their statistics: it knows the digest of its file of them."""
    digest = digest_of(statistics_path(path))

    def change(data: dict[str, Any]) -> None:
        del data[STATISTICS], data["saves"]
        data.update(statistics_digest=digest, saved_at=1.0)

    return rewritten(path, path.with_suffix(".new"), change).replace(path)


def drive(
    policy: Policy, tracks: Sequence[Track], *, action_repeat: int = 1, stress: Stress = NO_STRESS, **course: Any
) -> list[Episode]:
    """Return the episodes of a policy on a course, of three laps where nothing else is said."""
    driver = Driver("test", policy, action_repeat)
    return evaluate(driver, Course(tracks, **{"laps": 3, **course}), stress).episodes
