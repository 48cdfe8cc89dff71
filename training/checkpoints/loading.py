"""Loading models of stable-baselines3 without running any pickle in them."""

from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import ModelError
from racer_env.spaces import make_action_space, make_observation_space
from training.checkpoints.data import ModelData
from training.console.messages import first_line


def prepare(seed: int, device: str) -> None:
    """Seed all random generators, and limit PyTorch to one thread, the fastest for networks this small.

    Raises:
        ModelError: There is no such device.
    """
    try:
        torch.empty(1, device="cpu" if device == "auto" else device).item()
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        raise ModelError(f"--device {device!r} cannot be used: {first_line(error)}; cpu always works") from error
    torch.set_num_threads(1)
    set_random_seed(seed)


def load_model(data: ModelData, env: VecNormalize | None, device: str, **settings: Any) -> BaseAlgorithm:
    """Load a model.

    Only JSON and tensors are read from the file. Pickles of stable-baselines3 stay closed: classes and spaces are
    known, hyper-parameters come with ``settings``, and the rest is made anew by training.

    Args:
        data: Content of the model's file.
        env: Environment to train on; None is enough to drive.
        device: PyTorch device, such as ``"cpu"``.
        settings: Arguments of the algorithm that replace those in the file.

    Raises:
        ModelError: The model is damaged, or of another algorithm, policy or observation.
    """
    algorithm = data.algorithm
    observation_space, action_space = make_observation_space(), make_action_space()
    assert observation_space.shape is not None
    data.check(observation_space.shape)
    known: dict[str, Any] = {
        **dict.fromkeys(data.pickled),
        **algorithm.to_drive,
        "policy_class": algorithm.policy_class,
        "observation_space": observation_space,
        "action_space": action_space,
    }
    if "policy_kwargs" in data.pickled:
        raise ModelError(f"{data.path} has a network of its own classes; only plain layer sizes are loaded")
    try:
        return algorithm.model_class.load(data.path, env=env, device=device, custom_objects=known, **settings)
    except Exception as error:  # a damaged file may raise anything
        raise ModelError(f"cannot load {data.path} as a {algorithm.name} model: {first_line(error)}") from error
