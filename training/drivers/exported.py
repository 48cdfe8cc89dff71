"""Exported drivers: ONNX files that drive without PyTorch, stable-baselines3 or pickles."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from racer_env.config import AiConfig, parse_config
from racer_env.contract import MAX_ACTION_REPEAT
from racer_env.errors import ModelError
from racer_env.json_files import Checker, read_json
from racer_env.physics import Physics
from training.checkpoints.attributes import is_track_ids
from training.checkpoints.data import check_physics
from training.checkpoints.files import STATISTICS_NAME
from training.checkpoints.statistics import Normalisation, parse_normalisation
from training.drivers.driver import Driver
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


def read_card(path: Path) -> Card:
    """Read what an exported driver says about itself.

    Raises:
        ModelError: The file is missing, damaged, or not a driver.
    """
    return _card(Network(path))


def _card(network: Network) -> Card:
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


def statistics_digest(document: dict[str, Any]) -> str:
    """Return a digest of the content of ``vecnorm_stats.json`` that does not depend on its layout."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def read_normalisation(path: Path, digest: str | None = None) -> Normalisation:
    """Read ``vecnorm_stats.json``.

    Args:
        path: Path of the file.
        digest: Digest that the content must have; None accepts any.

    Raises:
        ModelError: The file is missing or not JSON, its content is wrong, or it belongs to another driver.
    """
    check = Checker(ModelError, str(path))
    if not path.is_file():
        raise ModelError(f"{path} is missing: copy it there with the model, or use driver.onnx, which needs none")
    document = read_json(path, ModelError, "statistics")
    keys = ("obs_mean", "obs_var", "clip_obs", "epsilon")
    values = check.mapping(document, "the statistics", (*keys, "action_repeat"), required=keys)
    normalisation = parse_normalisation(values, check)
    if digest not in (None, statistics_digest(document)):
        raise check.fail("these are not the statistics that the model beside was exported with")
    return normalisation


def load_onnx_driver(path: Path, physics: Physics | None) -> Driver:
    """Load an exported driver: ``driver.onnx``, or ``model.onnx`` with ``vecnorm_stats.json`` beside it.

    Args:
        path: Path of the ONNX file.
        physics: Physics that it is going to drive on; None skips the check.

    Raises:
        ModelError: The file is missing, damaged, not a driver, or of other physics.
    """
    network = Network(path)
    card = _card(network)
    check_physics(path, card.physics_fingerprint, physics)
    normalise: Any = lambda observations: observations  # noqa: E731
    if not card.normalises:
        normalise = read_normalisation(path.with_name(STATISTICS_NAME), card.statistics)
    return Driver(
        path.as_posix(),
        lambda observations: network(normalise(observations)),
        card.action_repeat,
        card.track_ids,
        card.track_fingerprints,
        card.config,
    )
