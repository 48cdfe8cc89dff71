"""The attributes in a model file that mean something here: one table of what each of them may be."""

import itertools
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from racer_env.contract import ACTION, ACTION_SIZE, MAX_ACTION_REPEAT, MAX_CARS, OBSERVATION_SIZE
from racer_env.json_files import shown
from training.algorithms.layers import described_network
from training.checkpoints.plain import is_pickled
from training.console.parser import MAX_SEED

MAX_COUNT = 2**53  # JSON's largest exact integer


class Kind(NamedTuple):
    """What an attribute may be.

    Attributes:
        words: Description for messages.
        holds: Returns whether a value is of this kind.
    """

    words: str
    holds: Callable[[Any], bool]


def _is_number(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    return type(value) in (int, float) and low <= value <= high and abs(value) != math.inf


def _whole(low: int, high: int) -> Kind:
    return Kind(f"a whole number from {low} to {high}", lambda value: type(value) is int and low <= value <= high)


def _or_none(kind: Kind) -> Kind:
    return Kind(f"{kind.words} or null", lambda value: value is None or kind.holds(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_layers(value: Any) -> bool:
    """Return whether a value is sizes of layers, for one network or for each of several."""
    if isinstance(value, dict):
        return all(isinstance(layers, list) and _is_layers(layers) for layers in value.values())
    return isinstance(value, list) and all(
        (type(size) is int and size > 0) or (isinstance(size, dict) and _is_layers(size)) for size in value
    )


# What multiplies the weights of a network, and the most of it.
_MOST = {"n_critics": 10, "n_quantiles": 1000, "lstm_hidden_size": 2048, "n_lstm_layers": 10}


def _is_network(value: Any) -> bool:
    is_plain = isinstance(value, dict) and _is_layers(value.get("net_arch") or [])
    return is_plain and all(_whole(1, most).holds(value.get(name, 1)) for name, most in _MOST.items())


def is_track_ids(value: Any) -> bool:
    """Return whether a value is names of tracks, no more than a run can have."""
    return isinstance(value, list) and len(value) <= MAX_CARS and all(map(_is_text, value))


_COUNT = _whole(0, MAX_COUNT)
_FLAG = Kind("true or false", lambda value: isinstance(value, bool))
_NUMBER = Kind("a finite number", _is_number)
_TEXT = Kind("a text that can be printed", lambda value: _is_text(value) and value.isprintable())
_CODE = Kind(
    "an object of texts name, file and digest",
    lambda value: (
        isinstance(value, dict)
        and {*value} == {"name", "file", "digest"}
        and all(_TEXT.holds(part) for part in value.values())
    ),
)
_OBJECT = Kind("an object", lambda value: isinstance(value, dict))

# What stable-baselines3 is given of a file. It makes all other attributes anew, as their defaults or as the settings of
# training say, so that nothing in a file takes the place of a method, an environment or a logger.
TAKEN = {
    "num_timesteps": _COUNT,
    "_n_updates": _COUNT,
    "_episode_num": _COUNT,
    "policy_kwargs": Kind("an object in which net_arch is sizes of layers", _is_network),
    "use_sde": _FLAG,
    "sde_sample_freq": _whole(-1, MAX_COUNT),
    "use_sde_at_warmup": _FLAG,
    "n_steps": _whole(1, 1_000_000),
    "normalize_advantage": _FLAG,
    "target_kl": _or_none(_NUMBER),
    "target_update_interval": _whole(1, MAX_COUNT),
    "target_entropy": _NUMBER,
    "ent_coef": Kind(
        "a number or auto",
        lambda value: _is_number(value, 0) or bool(re.fullmatch(r"(auto(_[0-9.e+-]+)?|[0-9.e+-]+)", str(value))),
    ),
}
# What the project reads of a file, most of which training has added.
READ = {
    "policy_class": _OBJECT,
    "observation_space": _OBJECT,
    "n_envs": _whole(1, MAX_CARS),
    "buffer_size": _whole(1, MAX_COUNT),
    "algorithm": _TEXT,
    "hyperparameters": _OBJECT,
    "action_repeat": _whole(1, MAX_ACTION_REPEAT),
    "run_seed": _whole(0, MAX_SEED),
    "seed": _or_none(_whole(0, MAX_SEED)),
    "run_name": _TEXT,
    "monitored_episodes": _COUNT,
    "physics_fingerprint": _TEXT,
    "track_ids": Kind(f"a list of at most {MAX_CARS:,} texts", lambda value: is_track_ids(value)),
    "track_fingerprints": Kind(
        "an object of texts", lambda value: isinstance(value, dict) and all(map(_is_text, filter(None, value.values())))
    ),
    "ai_config": _OBJECT,
    "reward": _or_none(_CODE),
    "wrapper": _or_none(_CODE),
    "statistics_digest": _TEXT,
    "buffer_digest": _TEXT,
    "saves": _COUNT,
    "score": Kind(
        "a list of 3 finite numbers", lambda value: isinstance(value, list) and [*map(_is_number, value)] == [True] * 3
    ),
    "score_in_words": _TEXT,
    "score_course": _TEXT,
}
# Without these no model can be loaded.
REQUIRED = ("num_timesteps", "policy_class", "observation_space", "policy_kwargs")


def fault_of_actions(attributes: Mapping[str, Any]) -> str | None:
    """Return in what the actions of a model are not those of the game; None if it does not say so."""
    space = attributes.get("action_space")
    if not isinstance(space, dict):
        return None
    kind = re.sub(r"^<class '(?:.*\.)?(\w+)'>$", r"\1", str(space.get(":type:")))
    if kind == "Box" and space.get("_shape") in (None, [ACTION_SIZE]):
        for name in ("low", "high"):
            own = re.findall(r"-?(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|inf)", str(space.get(name)))
            bound = [getattr(value, name) for value in ACTION]
            if len(own) == ACTION_SIZE and [*map(float, own)] != bound:
                return f"whose {name} is {shown(space[name])}, not {bound}"
        return None
    if kind == "Box":
        return f"of shape {shown(space['_shape'])}"
    return f"of the kind {kind[:40]}" if kind.isidentifier() else None


def fault_of(attributes: Mapping[str, Any], policy_size: int) -> str | None:
    """Return what is wrong with the attributes in a model file; None if nothing is.

    Args:
        attributes: Values by name.
        policy_size: Bytes of the file's weights.
    """
    for name, kind in {**TAKEN, **READ}.items():
        value = attributes.get(name)
        if name in attributes and not is_pickled(value) and not kind.holds(value):
            return f"its {name} must be {kind.words}, got {shown(value)}"
    network = described_network(attributes.get("policy_kwargs", {}))
    if not _is_network(network):
        return f"its policy_kwargs must be {TAKEN['policy_kwargs'].words}, got {shown(network)}"
    if 4 * _weights(network.get("net_arch") or []) > policy_size:
        return f"its net_arch {shown(network['net_arch'])} takes more weights than it holds"
    return None


def _weights(layers: Any) -> int:
    """Return the least number of weights that networks with layers of these sizes have."""
    if isinstance(layers, dict):
        return sum(_weights(sizes) for sizes in layers.values())
    sizes = [size for size in layers if isinstance(size, int)]
    inner = sum(_weights(part) for part in layers if isinstance(part, dict))
    return inner + sum(one * two for one, two in itertools.pairwise([OBSERVATION_SIZE, *sizes]))
