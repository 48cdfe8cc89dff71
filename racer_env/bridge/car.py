"""A bridge as the single car of an environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.bridge.bridge import Bridge, track_on
from racer_env.bridge.client import BridgeClient
from racer_env.config import AiConfig
from racer_env.contract import Placement
from racer_env.errors import BridgeLostError
from racer_env.tracks import AnyTrack


class BridgeCar:
    """One car on a connection of its own.

    Attributes:
        track: The track of the running episode.
        placement: Where on the track the episode began; None is the standing start.
    """

    def __init__(self, bridge: Bridge, track: AnyTrack, tracks_dir: str | Path | None, config: AiConfig) -> None:
        """Connect to the bridge."""
        self._bridge = bridge
        self._tracks_dir = tracks_dir
        self._config = config
        self.track = track
        self.placement: Placement | None = None
        self._client = bridge.connect()

    def begin(
        self, track_id: str | AnyTrack | None, start: str | Mapping[str, float], random: np.random.Generator
    ) -> tuple[npt.NDArray[np.float64], dict[str, Any]]:
        """Begin an episode; see ``RacerEnv.reset``.

        If the connection was lost, connect anew, and restart the bridge if it was started here.
        """
        track = self.track if track_id is None else track_on(self._bridge, track_id, self._tracks_dir)
        placement = self._bridge.placement(track, start, random)
        if self._client.is_lost:
            self._client = self._connect_anew()
        observation, info = self._client.reset(track.id, self._config, placement)
        self.track, self.placement = track, placement
        return observation, info

    def _connect_anew(self) -> BridgeClient:
        try:
            return self._bridge.connect()
        except BridgeLostError as error:
            self._bridge.restart(error)
            return self._bridge.connect()

    def step(
        self, action: npt.NDArray[np.floating]
    ) -> tuple[npt.NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Advance by one tick; see ``RacerEnv.step``."""
        result = self._client.step(action)
        return result.observation, result.reward, result.terminated, result.truncated, result.info

    def close(self) -> None:
        """Disconnect; safe to call twice."""
        self._client.close()
