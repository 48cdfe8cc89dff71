"""Loading models of stable-baselines3 without running what a pickle in them may contain."""

from typing import Any

import torch
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecNormalize
from stable_baselines3.sac.policies import SACPolicy

from racer_env.errors import ModelError
from racer_env.physics import Physics
from racer_env.spaces import make_action_space, make_observation_space
from training.cli import first_line
from training.model_data import ModelData

UNKNOWN_PHYSICS = "unknown"  # instead of the fingerprint, where a bridge did not tell

CLASSES: dict[str, type[BaseAlgorithm]] = {"PPO": PPO, "SAC": SAC}
_POLICIES = {"PPO": ActorCriticPolicy, "SAC": SACPolicy}

# What a model that only drives needs in the place of a pickle.
_TO_DRIVE = {
    "PPO": {"learning_rate": 0.0, "clip_range": 0.2},
    "SAC": {"learning_rate": 0.0, "train_freq": 1, "buffer_size": 1},
}


def prepare(seed: int, device: str) -> None:
    """Seed everything and give PyTorch the one thread that is fastest for networks this small.

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

    Of the file, only JSON and tensors are read. What stable-baselines3 has pickled is left closed: classes and spaces
    are known, hyper-parameters come with ``settings``, and the rest begins anew with training.

    Args:
        data: Of the model's file.
        env: To train on; None is enough to drive.
        device: Of PyTorch.
        settings: Arguments of the algorithm, instead of those in the file.

    Raises:
        ModelError: It is damaged, or of another algorithm, policy or observation.
    """
    observation_space, action_space = make_observation_space(), make_action_space()
    assert observation_space.shape is not None
    data.check(observation_space.shape)
    known: dict[str, Any] = {
        **dict.fromkeys(data.pickled),
        **_TO_DRIVE[data.algorithm],
        "policy_class": _POLICIES[data.algorithm],
        "observation_space": observation_space,
        "action_space": action_space,
    }
    if "policy_kwargs" in data.pickled:
        raise ModelError(f"{data.path} has a network of its own classes; only plain layer sizes are loaded")
    try:
        return CLASSES[data.algorithm].load(data.path, env=env, device=device, custom_objects=known, **settings)
    except Exception as error:  # a damaged file raises anything
        raise ModelError(f"cannot load {data.path} as a {data.algorithm} model: {first_line(error)}") from error


def check_physics(data: ModelData, physics: Physics | None) -> None:
    """Refuse a model of other physics; where they are not known, anything goes.

    Raises:
        ModelError: Its fingerprint is another one.
    """
    trained_on = data.get("physics_fingerprint", str, None)
    if physics is None:
        return
    if trained_on == UNKNOWN_PHYSICS:
        raise ModelError(
            f"{data.path} was trained over a bridge that does not tell its physics; go on over that bridge, with "
            "--bridge-url (training.parity compares it with the simulator; training.evaluate takes --any-physics)"
        )
    if trained_on != physics.fingerprint:
        raise ModelError(
            f"{data.path} was trained on other physics: {str(trained_on)[:12]} against {physics.fingerprint[:12]} now; "
            "go back to the physics.json that it was trained on"
        )
