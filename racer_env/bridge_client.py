"""The client that scripts of earlier versions import: a request returns its reply as a dictionary.

``racer_env.bridge.client`` has the one that this project uses; it returns arrays, and knows version 2 of the protocol.
"""

from typing import Any

import numpy.typing as npt

from racer_env.bridge import client
from racer_env.bridge.url import DEFAULT_URL
from racer_env.config import AiConfig, resolve_config


class BridgeClient:
    """A connection to a bridge on this machine, for one car.

    The replies have the keys that ``bridge/PROTOCOL.md`` names, ``type`` included, and are checked.

    Attributes:
        url: URL of the bridge, ``ws://HOST:PORT``.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        connect_timeout_s: float = client.CONNECT_TIMEOUT_S,
        reply_timeout_s: float = client.REPLY_TIMEOUT_S,
    ) -> None:
        """Connect to the bridge; arguments and errors are those of ``racer_env.bridge.client.BridgeClient``."""
        self.url = url
        self._client = client.BridgeClient(url, connect_timeout_s=connect_timeout_s, reply_timeout_s=reply_timeout_s)

    def __enter__(self) -> "BridgeClient":
        return self

    def __exit__(self, *details: object) -> None:
        self.send_close()

    def send_reset(
        self, config: AiConfig | dict[str, Any] | None = None, track_id: str | None = None
    ) -> dict[str, Any]:
        """Begin an episode.

        Args:
            config: Reward weights and episode limits, also as a dict with the content of an ``ai-config.json``; None
                is the bridge's default.
            track_id: Id of the track; None is the bridge's default.

        Returns:
            ``type``, ``observation`` (a list of 14 numbers) and ``info``.

        Raises:
            BridgeLostError: The bridge has gone; this is a ``ConnectionError`` too.
            BridgeRefusedError: The bridge refuses, because it has no such track for example.
            ConfigError: The configuration is wrong.
        """
        observation, info = self._client.reset(track_id, None if config is None else resolve_config(config))
        return {"type": "reset_result", "observation": observation.tolist(), "info": info}

    def send_step(self, action: npt.ArrayLike) -> dict[str, Any]:
        """Advance by one tick.

        Args:
            action: (3,) steer in [-1, 1], throttle and brake in [0, 1].

        Returns:
            ``type``, ``observation`` (a list of 14 numbers), ``reward``, ``terminated``, ``truncated`` and ``info``.

        Raises:
            ActionError: The action is not three finite numbers.
            BridgeLostError: The bridge has gone; this is a ``ConnectionError`` too.
        """
        result = self._client.step(action)
        return {
            "type": "step_result",
            "observation": result.observation.tolist(),
            "reward": result.reward,
            "terminated": result.terminated,
            "truncated": result.truncated,
            "info": result.info,
        }

    def send_close(self) -> None:
        """Say goodbye and disconnect; safe to call twice, or after the bridge has gone."""
        self._client.close()

    close = send_close
