"""The client's name of before; it lives in ``racer_env.bridge.client``."""

from racer_env.bridge.client import BridgeClient

__all__ = ["BridgeClient"]
