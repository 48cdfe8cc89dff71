"""ONNX graphs of plain layers, such as those of exported drivers, as numbers."""

import re
from typing import Any

import numpy as np
import onnx

from racer_env.contract import ACTION_SIZE, OBSERVATION_SIZE
from racer_env.spaces import make_action_space
from training.algorithms.plain import RELU, TANH, UNSCALED, Layer, PlainNetwork

# The operators in their order: observations are scaled, layers follow, and actions are spread and cut to their bounds.
_OPERATORS = re.compile("(Sub )*(Div )?(Clip )?(Gemm (Tanh |Relu )?)+((Add|Mul) )*(Max Min )?")
_ACTIVATIONS = {"Tanh": TANH, "Relu": RELU}
_EITHER_WAY = ("Add", "Mul", "Max", "Min")  # operators that take their two values in any order
_PLAIN_GEMM = {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0}


def plain_network_of(model: onnx.ModelProto) -> PlainNetwork | None:
    """Return the numbers of a graph that takes (N, 14); None if it is anything but plain layers in a row."""
    graph = model.graph
    if not _OPERATORS.fullmatch("".join(f"{node.op_type} " for node in graph.node)):
        return None
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    space, layers = make_action_space(), list[Layer]()
    scaling = UNSCALED
    offset, factor = np.zeros(ACTION_SIZE), np.ones(ACTION_SIZE)
    value = graph.input[0].name
    for node in graph.node:
        kind = node.op_type
        others: list[Any] = [stored.get(name) for name in node.input if name != value]
        if len(others) != len(node.input) - 1 or any(other is None for other in others):
            return None
        if node.input[0] != value and kind not in _EITHER_WAY:
            return None
        value = node.output[0]
        match kind, others:
            case "Sub", [other]:
                scaling = scaling._replace(mean=scaling.mean + other)
            case "Div", [other]:
                scaling = scaling._replace(deviation=scaling.deviation * other)
            case "Clip", [low, high] if low.shape == high.shape == () and low == -high:
                scaling = scaling._replace(bound=float(high))
            case "Gemm", [weights, biases] if biases.ndim == 1:
                options = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
                if {**_PLAIN_GEMM, **options, "transB": 0} != _PLAIN_GEMM:
                    return None
                layers.append(Layer(weights if options.get("transB") else weights.T, biases))
            case (("Tanh" | "Relu"), []):
                layers[-1] = layers[-1]._replace(activation=_ACTIVATIONS[kind])
            case "Add", [other]:
                offset = offset + other
            case "Mul", [other]:
                offset, factor = offset * other, factor * other
            case "Max", [low] if np.array_equal(low, space.low):
                pass
            case "Min", [high] if np.array_equal(high, space.high):
                pass
            case _:
                return None
    is_for_cars = scaling.mean.shape == scaling.deviation.shape == (OBSERVATION_SIZE,)
    is_for_cars &= offset.shape == factor.shape == (ACTION_SIZE,)
    return PlainNetwork(layers, scaling, offset, factor) if is_for_cars else None
