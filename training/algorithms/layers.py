"""Layers and activation of a network, as hyper-parameters and as stable-baselines3 stores them in a model."""

import importlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

MAX_LAYERS, MAX_UNITS = 8, 4096
MAX_WEIGHTS = MAX_UNITS**2  # between hidden layers: models and exports of more are larger than what is read here

# The activations by name, with their classes in torch.nn.
ACTIVATIONS = {
    "tanh": "Tanh",
    "relu": "ReLU",
    "elu": "ELU",
    "leaky_relu": "LeakyReLU",
    "selu": "SELU",
    "gelu": "GELU",
    "silu": "SiLU",
    "mish": "Mish",
    "softplus": "Softplus",
    "sigmoid": "Sigmoid",
}
OPTIMISER = "optimizer_class"
_OPTIMISERS = {"adam": "Adam", "adamw": "AdamW", "rmsprop": "RMSprop", "sgd": "SGD"}
# The classes that a network may be made with, as stable-baselines3 describes them beside the pickle that holds them.
_CLASSES = {
    **{f"<class 'torch.nn.modules.activation.{kind}'>": ("torch.nn", kind) for kind in ACTIVATIONS.values()},
    **{f"<class 'torch.optim.{place}.{kind}'>": ("torch.optim", kind) for place, kind in _OPTIMISERS.items()},
}
# What can be told of the classes that are known, by the argument that names one.
_KNOWN = {
    "activation_fn": f"these activations are loaded: {', '.join(ACTIVATIONS)}",
    OPTIMISER: f"it drives and exports, and learns on with one of these: {', '.join(_OPTIMISERS.values())}",
}
_USUAL_OPTIMISER, _PLAIN_OPTIMISER = (f"<class 'torch.optim.{name}'>" for name in ("adam.Adam", "sgd.SGD"))
_PICKLE, _TYPE = ":serialized:", ":type:"


def make_network(hidden: Sequence[int], activation: str, usual: str) -> dict[str, Any]:
    """Return the arguments of a policy with these hidden layers.

    Args:
        hidden: Units of each hidden layer.
        activation: Name of the activation, one of ACTIVATIONS.
        usual: That of the algorithm in stable-baselines3, which is left out, so that the model's file stays plain.
    """
    layers = {"net_arch": [*hidden]}
    if activation == usual:
        return layers
    return {**layers, "activation_fn": getattr(importlib.import_module("torch.nn"), ACTIVATIONS[activation])}


def described_network(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a policy as a model's file stores them, with classes by their description.

    stable-baselines3 pickles the arguments if a class is among them, and writes beside the pickle what is in it.
    """
    return {name: value for name, value in stored.items() if name not in (_PICKLE, _TYPE)}


def network_of(stored: Mapping[str, Any], *, learns: bool = True) -> dict[str, Any]:
    """Return the arguments of a policy that a model's file stores, without opening a pickle; imports PyTorch.

    Args:
        stored: Arguments of the policy, as a model's file stores them.
        learns: Whether the policy learns on; otherwise any optimiser will do.

    Raises:
        ValueError: A class is not known here; the message names it, and those that are.
    """
    described = described_network(stored)
    if _PICKLE not in stored:
        return described
    if not learns and described.get(OPTIMISER, _USUAL_OPTIMISER) not in _CLASSES:
        # Plain SGD takes over the state of any optimiser, as it looks at none of it.
        described = {**described, OPTIMISER: _PLAIN_OPTIMISER, "optimizer_kwargs": {}}
    if not described:
        raise ValueError("nothing says what they are")
    found: dict[str, Any] = {}
    for name, value in described.items():
        is_plain = not isinstance(value, str)
        if not is_plain and value not in _CLASSES:
            raise ValueError(f"{name} is {value[:80]}; {_KNOWN.get(name, 'only plain layers are loaded')}")
        module, kind = ("", "") if is_plain else _CLASSES[value]
        found[name] = value if is_plain else getattr(importlib.import_module(module), kind)
    return found


def settings_of(stored: Mapping[str, Any], usual_layers: Sequence[int], usual_activation: str) -> dict[str, Any]:
    """Return ``hidden`` and ``activation`` of a policy as hyper-parameters, as far as these can express it.

    Args:
        stored: Arguments of the policy, as a model's file stores them.
        usual_layers, usual_activation: Those of the algorithm in stable-baselines3, if the file names none.
    """
    described = described_network(stored)
    layers = _layers_of_policy(described.get("net_arch"), usual_layers)
    _, kind = _CLASSES.get(str(described.get("activation_fn")), ("torch.nn", ACTIVATIONS[usual_activation]))
    own = {"activation": next((name for name, known in ACTIVATIONS.items() if known == kind), usual_activation)}
    fits = 1 <= len(layers) <= MAX_LAYERS and 0 < min(layers) <= max(layers) <= MAX_UNITS
    return {**own, "hidden": [*layers]} if fits and connections(layers) <= MAX_WEIGHTS else own


def connections(layers: Sequence[int]) -> int:
    """Return the number of weights between hidden layers."""
    return sum(one * two for one, two in itertools.pairwise(layers))


def _layers_of_policy(layers: Any, usual: Sequence[int]) -> Sequence[int]:
    """Return the layers of the part that drives: nets of before may list the parts, and critics may have others."""
    parts = [part for part in layers if isinstance(part, dict)] if isinstance(layers, list) else [layers]
    if parts and isinstance(parts[0], dict):
        layers = parts[0].get("pi", [])
    return [units for units in layers if isinstance(units, int)] if isinstance(layers, list) else usual
