"""A model's normalisation statistics: VecNormalize files, read without running any other pickle content."""

import io
import json
import pickle
from pathlib import Path
from typing import Any

from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from racer_env.errors import ModelError
from racer_env.files import read_file
from racer_env.spaces import make_observation_space
from training.console.messages import first_line

MAX_STATISTICS = 16_000_000  # bytes; with 16,384 cars they have two million
# Everything that a saved VecNormalize consists of; each builds only what its name says. Includes NumPy 1's names.
_ALLOWED = {
    *("stable_baselines3.common.vec_env.vec_normalize.VecNormalize",),
    *("stable_baselines3.common.running_mean_std.RunningMeanStd", "gymnasium.spaces.box.Box", "builtins.set"),
    *("numpy.dtype", "numpy.ndarray", "numpy.core.multiarray._reconstruct", "numpy.core.multiarray.scalar"),
    *("numpy._core.multiarray._reconstruct", "numpy._core.multiarray.scalar", "numpy._core.numeric._frombuffer"),
    *("numpy.random._pcg64.PCG64", "numpy.random._pickle.__bit_generator_ctor"),
    *("numpy.random._pickle.__generator_ctor", "numpy.random.bit_generator.SeedSequence"),
    *("numpy.random.bit_generator.__pyx_unpickle_SeedSequence",),
}


class _SafeUnpickler(pickle.Unpickler):
    """Refuses everything that does not belong in statistics.

    Source: "Restricting Globals" in the documentation of Python's pickle.
    """

    def find_class(self, module_name: str, global_name: str) -> Any:
        if f"{module_name}.{global_name}" not in _ALLOWED:
            raise pickle.UnpicklingError(f"it contains {module_name}.{global_name}, which is no part of statistics")
        return super().find_class(module_name, global_name)


def load_statistics(path: Path, env: VecEnv | None = None) -> VecNormalize:
    """Load normalisation statistics, for an environment or just to normalise observations.

    The file is a pickle; only what statistics consist of is loaded from it.

    Raises:
        ModelError: They are damaged, contain something else, or belong to another observation.
    """
    try:
        statistics = _SafeUnpickler(io.BytesIO(read_file(path, MAX_STATISTICS))).load()
    except Exception as error:  # a damaged pickle may raise anything
        raise ModelError(f"cannot load statistics {path}: {first_line(error)}") from error
    shape = make_observation_space().shape
    if not isinstance(statistics, VecNormalize) or statistics.observation_space.shape != shape:
        raise ModelError(f"{path} holds no statistics of observations of shape {shape}")
    if env is not None:
        statistics.set_venv(env)
    return statistics


def observation_moments(statistics: VecNormalize) -> RunningMeanStd:
    """Return the mean and variance of the observations, which are a single array here, not a dictionary."""
    moments: Any = statistics.obs_rms
    result: RunningMeanStd = moments
    return result


def statistics_document(statistics: VecNormalize) -> dict[str, Any]:
    """Return statistics for JSON: mean and variance of observations (14 each) and returns, counts and limits."""
    observations, returns = observation_moments(statistics), statistics.ret_rms
    return {
        "obs_mean": observations.mean.tolist(),
        "obs_var": observations.var.tolist(),
        "obs_count": float(observations.count),
        "return_mean": float(returns.mean),
        "return_var": float(returns.var),
        "return_count": float(returns.count),
        "clip_obs": float(statistics.clip_obs),
        "clip_reward": float(statistics.clip_reward),
        "epsilon": float(statistics.epsilon),
        "gamma": float(statistics.gamma),
    }


def write_document(statistics: VecNormalize, path: str) -> None:
    """Write statistics as JSON, for people and for other languages."""
    Path(path).write_text(json.dumps(statistics_document(statistics), indent=2) + "\n", encoding="utf-8")
