"""Gymnasium's specification of an environment, in a form that can be written as JSON and made again from it."""

import dataclasses
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec

from racer_env.bridge.bridge import Bridge
from racer_env.config import AiConfig
from racer_env.physics import load_physics
from racer_env.tracks import Track, UnseenTrack


class Documented:
    """An environment whose ``spec`` holds its arguments in plain values, whatever they were given as.

    ``gymnasium.make`` sets ``spec`` with the arguments as they were passed. Then ``spec.to_json()`` would refuse a
    path, and write other objects in a form from which no environment can be made.
    """

    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """How Gymnasium made this environment; None if it did not."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:
            kwargs = {name: plain(value) for name, value in spec.kwargs.items()}
            if "track_id" in kwargs and not isinstance(kwargs["track_id"], str | dict):
                kwargs["track_id"] = plain(self._named_tracks())  # what was iterated over may be used up
            spec = dataclasses.replace(spec, kwargs=kwargs)
        self._spec = spec

    def _named_tracks(self) -> list[Any]:
        """Return the tracks as they were named."""
        raise NotImplementedError


def plain(value: Any) -> Any:
    """Return an argument of an environment as JSON has it, such that it means the same; itself if there is no such."""
    if isinstance(value, Track) and value.physics.fingerprint != load_physics().fingerprint:
        return value  # its file would not tell its physics, so JSON has to refuse it
    if isinstance(value, AiConfig | Track):
        return value.to_json()
    if isinstance(value, UnseenTrack):
        return value.id
    if isinstance(value, Bridge):
        return list(value.names)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.generic):
        return value.item()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
