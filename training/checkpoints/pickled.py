"""The numbers in a file of VecNormalize, taken out of its pickle without running anything in it."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from racer_env.errors import ModelError
from racer_env.files import read_file
from training.checkpoints.inert import StandIn, read_inert
from training.checkpoints.statistics import NONE, Statistics, parse_statistics
from training.console.messages import first_line

MAX_STATISTICS = 16_000_000  # bytes; with 16,384 cars they have two million
_VEC_NORMALIZE = "stable_baselines3.common.vec_env.vec_normalize.VecNormalize"
_MOMENTS = "stable_baselines3.common.running_mean_std.RunningMeanStd"
# What NumPy 1 and 2 make arrays and numbers with.
_ARRAY = re.compile(r"numpy\._?core\.(multiarray\.(_reconstruct|scalar)|numeric\._frombuffer)")
_KINDS = ("f8", "f4", "i8", "i4")
_NAMES_OF_MOMENTS = ("mean", "var", "count")


def read_pickled(path: Path) -> Statistics:
    """Return the statistics in a file that VecNormalize has written, with any protocol from 2 to 5.

    Raises:
        ModelError: It is damaged, holds something else, or numbers that cannot be used.
    """
    try:
        saved = _attributes(read_inert(read_file(path, MAX_STATISTICS)), _VEC_NORMALIZE)
        flags = {name: saved.get(name, True) for name in ("norm_obs", "norm_reward")}
        moments = {"return": _attributes(saved["ret_rms"], _MOMENTS)}
        if flags["norm_obs"] is not False:
            moments["obs"] = _attributes(saved["obs_rms"], _MOMENTS)
        document = {
            f"{what}_{name}": _numbers(values[name]) for what, values in moments.items() for name in _NAMES_OF_MOMENTS
        }
        document |= {name: _numbers(saved[name]) for name in ("clip_obs", "clip_reward", "epsilon", "gamma")}
    except KeyError as missing:
        raise ModelError(f"cannot load statistics {path}: they lack {str(missing)[:40]}") from missing
    except (OSError, ValueError, TypeError, LookupError, OverflowError) as error:
        raise ModelError(f"cannot load statistics {path}: {first_line(error)[:120]}") from error
    return parse_statistics({**NONE.document(), **document, **flags}, f"statistics {path}")


def _attributes(made: Any, name: str) -> dict[str, Any]:
    """Return the attributes of an object that a pickle would make, if it is of that class."""
    if not isinstance(made, StandIn) or made.name != name or not isinstance(made.state, dict):
        raise ValueError(f"expected a saved {name.rpartition('.')[2]}, and it holds something else")
    return made.state


def _numbers(value: Any) -> Any:
    """Return a number, or a list of numbers, that a pickle holds as such or as an array of NumPy."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, StandIn) or not _ARRAY.fullmatch(value.name):
        raise ValueError("it holds something else in the place of a number")
    shape: Any
    if value.name.endswith("scalar"):
        (dtype, raw), shape = value.arguments, ()
    elif value.name.endswith("_frombuffer"):
        raw, dtype, shape, _ = value.arguments
    else:
        _, shape, dtype, _, raw = value.state
    raw, dtype = _raw_bytes(raw), _dtype(dtype)
    if not isinstance(shape, tuple) or len(shape) > 1 or not all(isinstance(size, int) for size in shape):
        raise ValueError("it holds an array of another shape")
    if len(raw) != dtype.itemsize * (shape[0] if shape else 1):
        raise ValueError("it holds an array that is cut off")
    return np.frombuffer(raw, dtype).reshape(shape).tolist()


def _raw_bytes(raw: Any) -> bytes:
    """Return an array's bytes, which protocol 2 writes as text."""
    if isinstance(raw, StandIn) and raw.name == "_codecs.encode":
        text, encoding = raw.arguments
        if isinstance(text, str) and encoding == "latin1":
            return text.encode("latin-1")
    if not isinstance(raw, bytes | bytearray):
        raise ValueError("it holds an array without bytes")
    return bytes(raw)


def _dtype(made: Any) -> np.dtype[np.generic]:
    """Return the type of an array of plain numbers."""
    if isinstance(made, StandIn) and made.name == "numpy.dtype":
        (kind, *_), (_, order, *_) = made.arguments, made.state
        if kind in _KINDS and order in ("<", ">"):
            dtype: np.dtype[np.generic] = np.dtype(order + kind)
            return dtype
    raise ValueError("it holds an array of something else than plain numbers")
