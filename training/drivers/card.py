"""What an exported driver says about itself, in the metadata of its file."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from racer_env.config import AiConfig, parse_config
from racer_env.contract import MAX_ACTION_REPEAT
from racer_env.errors import ModelError
from training.checkpoints.attributes import is_track_ids
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
        algorithm: Name of the algorithm that trained it; None if it does not say.
    """

    normalises: bool
    action_repeat: int
    track_ids: tuple[str, ...]
    physics_fingerprint: str | None
    track_fingerprints: dict[str, Any] = field(default_factory=dict)
    statistics: str | None = None
    config: AiConfig | None = None
    algorithm: str | None = None


def read_card(path: Path) -> Card | None:
    """Return what a driver says about itself; None if it is of another program, which says nothing.

    Raises:
        ModelError: The file is missing, damaged, or not a driver, or says odd things.
    """
    return card_of(Network(path))


def card_of(network: Network) -> Card | None:
    """Return what a network says about itself; None if it says nothing.

    Raises:
        ModelError: It says odd things.
    """
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
            algorithm=told.get("algorithm"),
        )
        is_sound = (
            isinstance(card.normalises, bool)
            and type(card.action_repeat) is int
            and 1 <= card.action_repeat <= MAX_ACTION_REPEAT
            and is_track_ids(told["track_ids"])
            and isinstance(card.physics_fingerprint, str | None)
            and isinstance(card.track_fingerprints, dict)
            and isinstance(card.statistics, str | None)
            and isinstance(card.algorithm, str | None)
        )
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(
            f"{path} does not say what it was trained on; expected a file of python -m training.export_onnx"
        ) from error
    if not is_sound:
        raise ModelError(f"{path} says odd things about itself: {told}"[:300])
    return card
