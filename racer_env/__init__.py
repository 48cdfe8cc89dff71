"""A top-down racing game as a Gymnasium environment: ``gymnasium.make("TopDownRacer-v0")``, ``make_vec`` for many.

``RacerEnv``, ``RacerVecEnv`` (stable-baselines3) and ``RacerVectorEnv`` (Gymnasium) can be imported from here. They are
loaded on first use, so neither ``import racer_env`` nor, once this package is installed, ``import gymnasium`` loads the
compiled engine or PyTorch.
"""

import importlib
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import register, registry

if TYPE_CHECKING:
    from racer_env.env import RacerEnv
    from racer_env.gymnasium_vector import RacerVectorEnv
    from racer_env.vec_env import RacerVecEnv

__all__ = ["ENV_ID", "RacerEnv", "RacerVecEnv", "RacerVectorEnv"]

ENV_ID = "TopDownRacer-v0"
_LAZY = {
    "RacerEnv": "racer_env.env",
    "RacerVecEnv": "racer_env.vec_env",
    "RacerVectorEnv": "racer_env.gymnasium_vector",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'racer_env' has no attribute {name!r}")


if ENV_ID not in registry:
    register(
        id=ENV_ID,
        entry_point="racer_env.env:RacerEnv",
        vector_entry_point="racer_env.gymnasium_vector:RacerVectorEnv",
    )
