"""Loading models of stable-baselines3 without running any pickle in them."""

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import ModelError
from racer_env.spaces import make_action_space, make_observation_space
from training.algorithms.layers import network_of
from training.algorithms.uncompiled import spare_compiler
from training.checkpoints.archives import open_archive
from training.checkpoints.attributes import TAKEN
from training.checkpoints.data import ModelData, open_model
from training.checkpoints.plain import is_pickled
from training.console.messages import first_line

POLICY = "policy.pth"  # the weights that drive, in a file of stable-baselines3


def prepare(seed: int, device: str) -> None:
    """Seed all random generators, and let PyTorch do without its compiler and with one thread: networks are small.

    Raises:
        ModelError: There is no such device.
    """
    try:
        torch.empty(1, device="cpu" if device == "auto" else device).item()
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        raise ModelError(f"--device {device!r} cannot be used: {first_line(error)}; cpu always works") from error
    spare_compiler()
    torch.set_num_threads(1)
    set_random_seed(seed)


def load_model(
    data: ModelData,
    env: VecNormalize | None,
    device: str,
    training_class: type[BaseAlgorithm] | None = None,
    *,
    learns: bool = True,
    **settings: Any,
) -> BaseAlgorithm:
    """Load a model.

    Only JSON and tensors are read from the file, and of the JSON only what training goes on with. Pickles of
    stable-baselines3 stay closed: classes and spaces are known, hyper-parameters come with ``settings``, and the rest
    is made anew by training.

    Args:
        data: Content of the model's file.
        env: Environment to train on; None is enough to drive.
        device: PyTorch device, such as ``"cpu"``.
        training_class: Class that trains it, see ``Algorithm.training_class``; None is that of stable-baselines3.
        learns: Whether it learns on, or begins a run; what only drives needs no optimiser that is known here.
        settings: Arguments of the algorithm that replace those in the file.

    Raises:
        ModelError: The model is damaged, or of another algorithm, policy or observation.
    """
    algorithm = data.algorithm
    observation_space, action_space = make_observation_space(), make_action_space()
    assert observation_space.shape is not None
    data.check(observation_space.shape)
    model_class = training_class or algorithm.model_class
    known: dict[str, Any] = {
        **algorithm.to_drive,
        "policy_class": model_class.policy_aliases[algorithm.policy],
        "observation_space": observation_space,
        "action_space": action_space,
        "n_envs": 1,
        "verbose": 0,
        "policy_kwargs": _network_of(data, learns),
    }
    try:
        content = _harmless(data, known)
        return model_class.load(content, env=env, device=device, custom_objects=known, **settings)
    except ModelError:
        raise
    except Exception as error:  # a damaged file may raise anything
        raise ModelError(f"cannot load {data.path} as a {algorithm.name} model: {first_line(error)}") from error


def _network_of(data: ModelData, learns: bool) -> dict[str, Any]:
    try:
        return network_of(data.attributes["policy_kwargs"], learns=learns)
    except ValueError as error:
        raise ModelError(f"{data.path} has a network of its own classes, {error}") from error


def _harmless(data: ModelData, known: Iterable[str]) -> io.BytesIO:
    """Return a model file with the weights of another, and of its attributes only those that are taken."""
    taken = {name: value for name, value in data.attributes.items() if name in TAKEN and not is_pickled(value)}
    content = io.BytesIO()
    with open_model(data.path, data.content) as archive, zipfile.ZipFile(content, "w") as harmless:
        harmless.writestr("data", json.dumps({**taken, **dict.fromkeys(known)}))
        for name in archive.namelist():
            if name.endswith(".pth"):
                weights = archive.read(name)
                _check_weights(data.path, name, weights)
                harmless.writestr(name, weights)
    content.seek(0)
    return content


def _check_weights(path: Path, name: str, content: bytes) -> None:
    """Refuse weights that are no numbers, or unpack to more than they are, as archives or by tensors that repeat."""

    def refuse(why: str) -> ModelError:
        return ModelError(f"cannot load {path}: {name[:40]}: {why}")

    with open_archive(content, refuse, len(content)):
        tensors = [torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)]
    while tensors:
        value = tensors.pop()
        if isinstance(value, dict | list | tuple):
            tensors.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, torch.Tensor) and value.nbytes > value.untyped_storage().nbytes():
            raise refuse(f"a tensor of {value.nbytes:,} bytes is stored in {value.untyped_storage().nbytes():,}")
        elif isinstance(value, torch.Tensor) and name == POLICY and not torch.isfinite(value).all():
            raise refuse("it has weights that are NaN or infinite, so it cannot drive; take an earlier checkpoint")
