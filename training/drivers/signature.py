"""What goes into a network and what comes out: read from its graph, before it is run, with the sizes of all values."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx

from racer_env.contract import ACTION_NAMES, ACTION_SIZE, OBSERVATION_SIZE
from racer_env.errors import ModelError
from training.drivers.onnx_files import stored_tensors

MAX_NODES = 200  # an exported driver has about 20
MAX_VALUES = 50_000_000  # numbers that all of a network's values hold for one car, without its stored weights
CARS = "cars"  # the size of a value that is the number of cars
KINDS: dict[int, type[np.floating[Any]]] = {
    onnx.TensorProto.FLOAT: np.float32,
    onnx.TensorProto.DOUBLE: np.float64,
    onnx.TensorProto.FLOAT16: np.float16,
}


class Signature(NamedTuple):
    """How a network is run.

    Attributes:
        observations: Name of its input.
        actions: Name of the output that is the actions.
        outputs: Names of all outputs.
        kind: Type of the observations that it takes.
        one: Shape of a car's observation, if it takes one car at a time; None if it takes (N, 14).
    """

    observations: str
    actions: str
    outputs: tuple[str, ...]
    kind: type[np.floating[Any]]
    one: tuple[int, ...] | None


class _Value(NamedTuple):
    """A value of a graph: its name, its type, and its shape, in which a size that is not fixed is its name."""

    name: str
    kind: int
    shape: list[int | str] | None

    def __str__(self) -> str:
        sizes = "of unknown shape" if self.shape is None else f"({', '.join(str(size or '?') for size in self.shape)})"
        return f"{self.name[:40]!r} {onnx.TensorProto.DataType.Name(self.kind).lower()} {sizes}"


def signature_of(model: onnx.ModelProto, path: Path) -> Signature:
    """Return how a network is run as a driver; ``model`` is changed, and no longer what was read.

    A network of another shape than (N, 14), or of which only the sizes for one car are known, takes one car at a time.

    Args:
        model: The network.
        path: Path of its file, for the message.

    Raises:
        ModelError: It is no driver, or may take any amount of memory.
    """
    fault = _fault_of(model)
    if fault is not None:
        raise ModelError(f"{path} is no driver: {fault}")
    weights = {tensor.name for tensor in model.graph.initializer}
    given = [value for value in model.graph.input if value.name not in weights]
    inputs = [_value_of(value) for value in given]
    shape = inputs[0].shape if len(inputs) == 1 and inputs[0].kind in KINDS else None
    if shape is None or not _takes_observations(shape):
        raise ModelError(
            f"{path} is no driver: expected one input of {OBSERVATION_SIZE} numbers a car, for any number of cars or "
            f"one at a time, got {_in_words(inputs)}"
        )
    del model.graph.input[:]
    model.graph.input.extend(given)  # weights are what they are, not what the file declares as their shape
    model.ir_version = max(model.ir_version, 4)  # before, weights had to be declared
    takes_many = len(shape) == 2 and isinstance(shape[0], str)
    for cars in (CARS, 1) if takes_many else (1,):
        sizes = model.graph.input[0].type.tensor_type.shape.dim
        sizes[-1].dim_value = OBSERVATION_SIZE
        if len(shape) == 2:
            setattr(sizes[0], "dim_param" if cars == CARS else "dim_value", cars)
        outputs = _outputs_of(model)
        if isinstance(outputs, str):
            fault = outputs
            continue
        actions = _actions_among(outputs, cars)
        if actions is not None:
            one = None if cars == CARS else (1, OBSERVATION_SIZE)[-len(shape) :]
            names = tuple(value.name for value in outputs)
            return Signature(inputs[0].name, actions, names, KINDS[inputs[0].kind], one)
        fault = f"expected an output of {ACTION_SIZE} numbers a car ({', '.join(ACTION_NAMES)}), the only one or named "
        fault += f"'actions', got {_in_words(outputs)}"
    raise ModelError(f"{path} is no driver: {fault}")


def _fault_of(model: onnx.ModelProto) -> str | None:
    """Return which of a network's parts no driver has; None if there is none."""
    graph = model.graph
    if len(graph.node) > MAX_NODES:
        return f"expected at most {MAX_NODES} operators, got {len(graph.node):,}"
    attributes = [attribute for node in graph.node for attribute in node.attribute]
    if model.functions or any(attribute.HasField("g") or attribute.graphs for attribute in attributes):
        return "expected layers, got loops, branches or functions of its own"
    return "expected plain weights, got sparse ones" if graph.sparse_initializer else None


def _takes_observations(shape: list[int | str]) -> bool:
    """Return whether a shape is (14), (1, 14) or (N, 14); a size that is not fixed may be any."""
    is_known = [isinstance(size, int) for size in shape]
    fits = len(shape) in (1, 2) and (not is_known[-1] or shape[-1] == OBSERVATION_SIZE)
    return fits and (len(shape) == 1 or not is_known[0] or shape[0] == 1)


def _outputs_of(model: onnx.ModelProto) -> list[_Value] | str:
    """Return a network's outputs as they follow from its operators, or what is wrong with the sizes of its values."""
    del model.graph.value_info[:]  # the file may say anything
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True).graph
    values = {value.name: _value_of(value) for value in (*inferred.value_info, *inferred.output)}
    total = 0
    for name in (name for node in model.graph.node for name in node.output if name):
        shape = values[name].shape if name in values else None
        sizes = [""] if shape is None else [1 if size == CARS else size for size in shape[:1]] + shape[1:]
        known = [size for size in sizes if isinstance(size, int) and size >= 0]
        if len(known) < len(sizes):
            return f"the size of its value {name[:40]!r} is not known: {shape}"[:200]
        total += math.prod(known)
    if total > MAX_VALUES:
        return f"its values hold {total:,} numbers a car, more than {MAX_VALUES:,}"
    return [_value_of(value) for value in inferred.output]


def _actions_among(outputs: list[_Value], cars: str | int) -> str | None:
    """Return the name of the output that is the actions of so many cars; None if none is, or it is not clear which."""
    fitting = []
    for value in outputs:
        shape = value.shape or []
        is_row = shape[-1:] == [ACTION_SIZE] and all(size == 1 for size in shape[:-1])
        if value.kind in KINDS and (is_row if cars == 1 else shape == [cars, ACTION_SIZE]):
            fitting.append(value.name)
    exact = [name for name in fitting if name.lower() in ("action", "actions")]
    similar = [name for name in fitting if "action" in name.lower()]
    return next((names[0] for names in (fitting, exact, similar) if len(names) == 1), None)


def _value_of(value: onnx.ValueInfoProto) -> _Value:
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
        return _Value(value.name, kind.elem_type, None)
    sizes = [size.dim_value if size.HasField("dim_value") else size.dim_param for size in kind.shape.dim]
    return _Value(value.name, kind.elem_type, sizes)


def _in_words(values: Iterable[_Value]) -> str:
    return (", ".join(map(str, values)) or "none")[:300]


def stored_rows(model: onnx.ModelProto) -> list[np.ndarray]:
    """Return the stored tensors of as many floating-point numbers as an observation has."""
    tensors = [tensor for tensor in stored_tensors(model.graph) if tensor.data_type in KINDS]
    return [
        onnx.numpy_helper.to_array(tensor).ravel() for tensor in tensors if math.prod(tensor.dims) == OBSERVATION_SIZE
    ]
