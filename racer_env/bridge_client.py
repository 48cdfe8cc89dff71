"""Former import path of the client, which lives in ``racer_env.bridge.client``."""

from racer_env.bridge.client import BridgeClient

__all__ = ["BridgeClient"]
