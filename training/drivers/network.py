"""ONNX files as networks, which are checked before they are run: what they compute, and how much memory that takes."""

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime

from racer_env.contract import ACTION_SIZE
from racer_env.errors import ModelError
from racer_env.files import read_file
from racer_env.spaces import make_observation_space
from training.console.messages import first_line

INPUT, OUTPUT = "obs", "actions"
MAX_ONNX = 300_000_000  # bytes; three layers of 4,096 units have 70 million
MAX_NODES = 200  # an exported driver has about 20
MAX_VALUES = 50_000_000  # numbers that all of a network's values hold for one car, without its stored weights


class Network:
    """A network that maps observations to actions.

    Attributes:
        path: Path of its file.
        metadata: What the file says about itself, texts by name.
    """

    def __init__(self, path: Path) -> None:
        """Load an ONNX file.

        Raises:
            ModelError: The file is missing, damaged, or something else.
        """
        self.path = path
        if not path.exists():
            raise ModelError(f"no exported driver {path}; python -m training.export_onnx makes one")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # a network this small is slower with more threads
        options.log_severity_level = 4
        try:
            content = read_file(path, MAX_ONNX)
            fault = _fault_of(content)
            if fault is None:
                self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
                self.metadata: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        except Exception as error:  # protobuf, checker and runtime raise a dozen kinds
            raise ModelError(f"cannot load {path} as an ONNX model: {first_line(error)}") from error
        if fault is not None:
            raise ModelError(f"{path} is no driver: {fault}")

    def __call__(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return actions (N, 3) for observations (N, 14).

        Raises:
            ModelError: The network cannot be run, or returns something else.
        """
        try:
            (actions,) = self._session.run([OUTPUT], {INPUT: observations})
        except Exception as error:  # the runtime raises a dozen kinds
            raise ModelError(f"cannot run {self.path}: {first_line(error)}") from error
        if actions.shape != (len(observations), ACTION_SIZE):
            raise ModelError(
                f"{self.path} is no driver: expected actions of shape ({len(observations)}, {ACTION_SIZE}), got "
                f"{actions.shape}"
            )
        result: npt.NDArray[np.float32] = actions
        return result


def _fault_of(content: bytes) -> str | None:
    """Return why an ONNX file is not run as a driver; None if it may be."""
    model = onnx.load_model_from_string(content)
    graph, attributes = model.graph, [attribute for node in model.graph.node for attribute in node.attribute]
    if len(graph.node) > MAX_NODES:
        return f"expected at most {MAX_NODES} operators, got {len(graph.node):,}"
    if model.functions or any(attribute.HasField("g") or attribute.graphs for attribute in attributes):
        return "expected layers, got loops, branches or functions of its own"
    stored = [*graph.initializer, *(tensor for attribute in attributes for tensor in (attribute.t, *attribute.tensors))]
    if graph.sparse_initializer or any(tensor.external_data for tensor in stored):
        return "expected its weights in it, and they are elsewhere"
    inputs, outputs = [(value.name, _shape_of(value)) for value in graph.input], [value.name for value in graph.output]
    size = make_observation_space().shape
    assert size is not None
    if [name for name, _ in inputs] != [INPUT] or outputs != [OUTPUT] or (inputs[0][1] or [])[1:] != [*size]:
        return f"expected one input {INPUT!r} of {size[0]} numbers a car and one output {OUTPUT!r}, got {inputs}"[:300]
    return _fault_of_values(model)


def _fault_of_values(model: onnx.ModelProto) -> str | None:
    """Return what is wrong with the sizes of the values that a network computes, as they follow from its operators."""
    del model.graph.value_info[:]  # the file may say anything
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True).graph
    shapes = {value.name: _shape_of(value) for value in (*inferred.value_info, *inferred.output)}
    cars = model.graph.input[0].type.tensor_type.shape.dim[0].dim_param or None  # the name of their number
    total = 0
    for name in (name for node in model.graph.node for name in node.output if name):
        shape = shapes.get(name)
        sizes = [""] if shape is None else [1 if size == cars else size for size in shape[:1]] + shape[1:]
        known = [size for size in sizes if isinstance(size, int) and size >= 0]
        if len(known) < len(sizes):
            return f"the size of its value {name[:40]!r} is not known: {shape}"[:200]
        total += math.prod(known)
    return f"its values hold {total:,} numbers a car, more than {MAX_VALUES:,}" if total > MAX_VALUES else None


def _shape_of(value: onnx.ValueInfoProto) -> list[int | str] | None:
    """Return a value's shape, in which a size that is not fixed is its name; None if it is not known, or no tensor."""
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
        return None
    return [size.dim_value if size.HasField("dim_value") else size.dim_param for size in kind.shape.dim]
