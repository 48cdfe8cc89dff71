"""ONNX files that drive without PyTorch, stable-baselines3 or pickles: exported ones, and those of other programs."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from racer_env.config import AiConfig, parse_config
from racer_env.contract import ACTION_NAMES, MAX_ACTION_REPEAT
from racer_env.errors import ModelError
from racer_env.physics import Physics
from racer_env.spaces import make_action_space
from training.checkpoints.attributes import is_track_ids
from training.checkpoints.data import check_physics
from training.checkpoints.files import STATISTICS_NAME
from training.checkpoints.statistics import Normalisation
from training.console.messages import count_of, in_short, note
from training.drivers.beside import read_beside, statistics_beside
from training.drivers.driver import Actions, Driver, Observations
from training.drivers.network import Network

CARD_KEY = "racer_driver"


@dataclass(frozen=True)
class Card:
    """What an exported driver says about itself, stored in its metadata.

    Attributes:
        normalises: Whether it takes raw observations and normalises them; otherwise it takes normalised ones.
        action_repeat: Ticks that each action is held.
        track_ids: Ids of the tracks that it was trained on.
        physics_fingerprint: Fingerprint of the physics that it was trained on; None if it does not say.
        track_fingerprints: Fingerprints of these tracks at training time, by id.
        statistics: Digest of the statistics that belong to it; None if it does not say.
        config: Reward weights and episode limits that it was trained with; None if it does not say.
    """

    normalises: bool
    action_repeat: int
    track_ids: tuple[str, ...]
    physics_fingerprint: str | None
    track_fingerprints: dict[str, Any] = field(default_factory=dict)
    statistics: str | None = None
    config: AiConfig | None = None


def read_card(path: Path) -> Card | None:
    """Return what a driver says about itself; None if it is of another program, which says nothing.

    Raises:
        ModelError: The file is missing, damaged, or not a driver, or says odd things.
    """
    return _card(Network(path))


def _card(network: Network) -> Card | None:
    if CARD_KEY not in network.metadata:
        return None
    path = network.path
    try:
        told = json.loads(network.metadata[CARD_KEY])
        card = Card(
            normalises=told["normalises"],
            action_repeat=told["action_repeat"],
            track_ids=tuple(dict.fromkeys(told["track_ids"])),
            physics_fingerprint=told["physics_fingerprint"],
            track_fingerprints=told.get("track_fingerprints", {}),
            statistics=told.get("statistics"),
            config=parse_config(told["ai_config"], str(path)) if told.get("ai_config") is not None else None,
        )
        is_sound = (
            isinstance(card.normalises, bool)
            and type(card.action_repeat) is int
            and 1 <= card.action_repeat <= MAX_ACTION_REPEAT
            and is_track_ids(told["track_ids"])
            and isinstance(card.physics_fingerprint, str | None)
            and isinstance(card.track_fingerprints, dict)
            and isinstance(card.statistics, str | None)
        )
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(
            f"{path} does not say what it was trained on; expected a file of python -m training.export_onnx"
        ) from error
    if not is_sound:
        raise ModelError(f"{path} says odd things about itself: {told}"[:300])
    return card


def load_onnx_driver(
    path: Path, physics: Physics | None, *, statistics: Path | None = None, normalises: bool = True
) -> Driver:
    """Load an ONNX file: ``driver.onnx``, or ``model.onnx`` with ``vecnorm_stats.json`` beside it, or any other driver.

    Args:
        path: Path of the ONNX file.
        physics: Physics that it is going to drive on; None skips the check.
        statistics: Its statistics, if it is of another program and they are not beside it.
        normalises: Whether one of another program was trained on normalised observations.

    Raises:
        ModelError: The file is missing, damaged, not a driver, or of other physics, or its statistics are wrong.
    """
    network = Network(path)
    card = _card(network)
    if card is None:
        card, normalise = _assumed(network, statistics, normalises)
    elif statistics is not None or not normalises:
        raise ModelError(f"{path} says itself which observations it takes; leave out --vecnorm and --no-vecnorm")
    else:
        normalise = None if card.normalises else _own_statistics(path, card)
    check_physics(path, card.physics_fingerprint, physics)
    space = make_action_space()

    def act(observations: Observations) -> Actions:
        actions = network(observations if normalise is None else normalise(observations))
        if not np.isfinite(actions).all():
            car, item = np.argwhere(~np.isfinite(actions))[0]
            raise ModelError(
                f"{path} cannot drive: expected finite numbers, and its {ACTION_NAMES[item]} is {actions[car, item]}"
            )
        within: Actions = np.clip(actions, space.low, space.high)
        return within

    return Driver(path.as_posix(), act, card.action_repeat, card.track_ids, card.track_fingerprints, card.config)


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
