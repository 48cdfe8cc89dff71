"""ONNX files that drive without PyTorch, stable-baselines3 or pickles: exported ones, and those of other programs."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from racer_env.contract import ACTION_NAMES
from racer_env.errors import ModelError
from racer_env.physics import Physics
from racer_env.spaces import make_action_space
from training.algorithms.forward import ForwardPass, agree
from training.algorithms.plain import UNSCALED
from training.checkpoints.data import check_physics
from training.checkpoints.files import STATISTICS_NAME
from training.checkpoints.statistics import Normalisation
from training.console.messages import count_of, in_short, note
from training.drivers.beside import read_beside, statistics_beside
from training.drivers.card import Card, card_of
from training.drivers.driver import Actions, Driver, Observations
from training.drivers.network import Network

Act = Callable[[Observations], Actions]


class Exported(NamedTuple):
    """An ONNX file, and how it is driven.

    Attributes:
        network: The network.
        card: What it says about itself, or what is assumed of it.
        normalise: How observations are normalised before it sees them; None if it takes raw ones.
    """

    network: Network
    card: Card
    normalise: Normalisation | None


def load_onnx_driver(
    path: Path, physics: Physics | None, *, statistics: Path | None = None, normalises: bool = True
) -> Driver:
    """Load an ONNX file as a driver; see ``open_onnx``."""
    return as_driver(open_onnx(path, physics, statistics=statistics, normalises=normalises))


def open_onnx(
    path: Path, physics: Physics | None, *, statistics: Path | None = None, normalises: bool = True
) -> Exported:
    """Open an ONNX file: ``driver.onnx``, or ``model.onnx`` with ``vecnorm_stats.json`` beside it, or any other driver.

    Args:
        path: Path of the ONNX file.
        physics: Physics that it is going to drive on; None skips the check.
        statistics: Its statistics, if it is of another program and they are not beside it.
        normalises: Whether one of another program was trained on normalised observations.

    Raises:
        ModelError: The file is missing, damaged, not a driver, or of other physics, or its statistics are wrong.
    """
    network = Network(path)
    card = card_of(network)
    if card is None:
        card, normalise = _assumed(network, statistics, normalises)
    elif statistics is not None or not normalises:
        raise ModelError(f"{path} says itself which observations it takes; leave out --vecnorm and --no-vecnorm")
    else:
        normalise = None if card.normalises else _own_statistics(path, card)
    check_physics(path, card.physics_fingerprint, physics)
    return Exported(network, card, normalise)


def as_driver(exported: Exported, called: str = "") -> Driver:
    """Return an ONNX file as a driver, whose errors call it by its path or as ``called`` says."""
    network, card, normalise = exported
    path = network.path
    space = make_action_space()

    def act(observations: Observations) -> Actions:
        actions = network(observations if normalise is None else normalise(observations))
        if not np.isfinite(actions).all():
            car, item = np.argwhere(~np.isfinite(actions))[0]
            raise ModelError(
                f"{called or path} cannot drive: expected finite numbers, and its {ACTION_NAMES[item]} is "
                f"{actions[car, item]}"
            )
        within: Actions = np.clip(actions, space.low, space.high)
        return within

    fastest = _faster(act, network, normalise)
    return Driver(path.as_posix(), fastest, card.action_repeat, card.track_ids, card.track_fingerprints, card.config)


def _faster(act: Act, network: Network, normalise: Normalisation | None) -> Act:
    """Return what does the same as a network of plain layers without onnxruntime, if that agrees; else ``act``."""
    plain = network.plain
    if plain is not None and normalise is not None:
        plain = plain._replace(scaling=normalise.scaling) if plain.scaling is UNSCALED else None
    if plain is None:
        return act
    infer = ForwardPass(plain)
    return infer if agree(infer, act, plain.scaling) else act


def _own_statistics(path: Path, card: Card) -> Normalisation:
    beside = statistics_beside(path)
    if not beside.is_file():
        raise ModelError(f"{beside} is missing: copy it there with the model, or use driver.onnx, which needs none")
    return read_beside(beside, card.statistics).normalise


def _assumed(network: Network, statistics: Path | None, normalises: bool) -> tuple[Card, Normalisation | None]:
    """Return what is assumed of a driver that says nothing about itself, and say it."""
    path, signature = network.path, network.signature
    file = statistics or statistics_beside(path)
    beside = read_beside(file) if normalises and (statistics is not None or os.path.lexists(file)) else None
    repeat = 1 if beside is None or beside.action_repeat is None else beside.action_repeat
    normalise, takes = None, f"raw observations, as there is no {STATISTICS_NAME} beside it"
    if not normalises:
        takes = "raw observations, as --no-vecnorm says"
    elif beside is not None and statistics is None and network.stores(beside.normalise.obs_mean):
        takes = f"raw observations, as the mean in {file} is part of it"
    elif beside is not None:
        normalise, takes = beside.normalise, f"observations normalised with {file}"
        takes += " (--no-vecnorm, if it normalises them itself)" if statistics is None else ""
    among = f" of {in_short(signature.outputs)}" if len(signature.outputs) > 1 else ""
    note(
        f"{path} says nothing about itself, so this is assumed: it takes {takes}; its output "
        f"'{in_short([signature.actions])}'{among} is {', '.join(ACTION_NAMES)}, which are clipped to their ranges "
        f"outside it only; each action is held for {count_of(repeat, 'tick')}; its tracks and reward weights are "
        "unknown"
    )
    return Card(normalise is None, repeat, (), None), normalise
