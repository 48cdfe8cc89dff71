"""Drivers saved by training: a model with its normalisation statistics."""

from typing import Any

import numpy as np

from racer_env.config import parse_config
from training.algorithms.inference import make_inference
from training.algorithms.plain import UNSCALED
from training.checkpoints.checkpoint import Checkpoint
from training.checkpoints.loading import load_model, prepare
from training.drivers.driver import Actions, Driver, Observations


def load_trained_driver(checkpoint: Checkpoint, *, deterministic: bool, seed: int, device: str) -> Driver:
    """Load a model as a driver.

    Args:
        checkpoint: The model with its statistics.
        deterministic: Whether it drives without exploration noise.
        seed: Seed of the exploration noise.
        device: PyTorch device, such as ``"cpu"``.

    Raises:
        ConfigError: The model's own weights or limits are no such.
        ModelError: Model or statistics are unreadable, or made for something else.
    """
    data = checkpoint.data
    prepare(seed, device)
    model = load_model(data, None, device, learns=False)
    model.set_random_seed(seed)  # loading has set the seed of training
    is_reflex = deterministic and not data.algorithm.is_recurrent
    scaling = UNSCALED if checkpoint.statistics is None else checkpoint.statistics.scaling
    infer = make_inference(data.algorithm, model, scaling) if is_reflex else None
    memory: Any = None  # of a recurrent policy, for all cars; None is that of cars that start

    def act(observations: Observations) -> Actions:
        nonlocal memory
        if infer is not None:
            return infer(observations)
        begins = np.full(len(observations), memory is None)
        actions, memory = model.predict(
            scaling(observations), memory, episode_start=begins, deterministic=deterministic
        )
        return actions

    def begin() -> None:
        nonlocal memory
        memory = None

    tracks = data.get("track_fingerprints", dict, {})
    own = data.get("ai_config", dict, None)
    config = None if own is None else parse_config(own, str(data.path))
    names = tuple(data.track_ids)
    return Driver(data.path.as_posix(), act, data.action_repeat, names, tracks, config, begin, is_reflex)
