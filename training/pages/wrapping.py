"""Any ONNX driver in the form that a page runs: raw observations in single precision in, actions within bounds out."""

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx

from racer_env.contract import ACTION_SIZE, OBSERVATION_SIZE
from racer_env.spaces import make_action_space
from training.drivers.card import CARD_KEY
from training.drivers.exported import Exported
from training.drivers.onnx_files import read_onnx
from training.drivers.signature import CARS
from training.exports.files import INPUT, OUTPUT

_PREFIX = "driver/"  # of the names in the driver's own graph


def wrapped(exported: Exported) -> bytes:
    """Return the bytes of an ONNX file that drives as an ONNX driver does, whatever it takes and however it says it.

    A file that is in this form already stays as it is.
    """
    model, content = read_onnx(exported.network.path)
    signature = exported.network.signature
    is_fit = signature.kind is np.float32 and signature.one is None and signature.outputs == (OUTPUT,)
    if is_fit and exported.normalise is None and CARD_KEY in exported.network.metadata:
        return content
    model = onnx.compose.add_prefix(model, _PREFIX)
    around = _Around(model)
    value = INPUT
    if exported.normalise is not None:
        mean, deviation, bound = exported.normalise.scaling
        rest = mean - mean.astype(np.float32)  # as in an exported driver, so that no digit is lost
        value = around.add("Sub", value, mean)
        value = around.add("Sub", value, rest)
        value = around.add("Div", value, deviation)
        value = around.add("Min", around.add("Max", value, np.array(-bound)), np.array(bound))
    if signature.kind is not np.float32:
        value = around.add("Cast", value, to=onnx.helper.np_dtype_to_tensor_dtype(np.dtype(signature.kind)))
    if signature.one is not None:
        value = around.add("Reshape", value, np.array(signature.one))
    around.lead(value, _PREFIX + signature.observations)
    value = _PREFIX + signature.actions
    if signature.kind is not np.float32:
        value = around.add("Cast", value, to=onnx.TensorProto.FLOAT)
    if signature.one is not None:
        value = around.add("Reshape", value, np.array([1, ACTION_SIZE]))
    space = make_action_space()
    value = around.add("Min", around.add("Max", value, space.low), space.high)
    around.end(value, cars=1 if signature.one is not None else CARS)
    onnx.helper.set_model_props(model, {CARD_KEY: _card_of(exported)})
    result: bytes = model.SerializeToString()
    return result


def _card_of(exported: Exported) -> str:
    """Return what the wrapped driver says about itself: as before, but that it takes raw observations."""
    told = json.loads(exported.network.metadata.get(CARD_KEY, "{}"))
    card = exported.card
    known = {"normalises": True, "action_repeat": card.action_repeat, "track_ids": list(card.track_ids)}
    return json.dumps({"physics_fingerprint": None, **told, **known})


class _Around:
    """Operators before and after those of a graph."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._graph = model.graph
        self._own = list(model.graph.node)
        model.ir_version = max(model.ir_version, 4)  # before, weights had to be declared as inputs
        del self._graph.input[:], self._graph.value_info[:], self._graph.node[:]

    def add(self, kind: str, value: str, *constants: npt.NDArray[Any], **attributes: Any) -> str:
        """Add an operator on a value and constants, and return the name of what it gives."""
        name = f"page/{len(self._graph.node)}_{kind}"
        names = [f"{name}_{index}" for index in range(len(constants))]
        for constant, its_name in zip(constants, names, strict=True):
            kept = constant if constant.dtype.kind == "i" else constant.astype(np.float32)
            self._graph.initializer.append(onnx.numpy_helper.from_array(kept, its_name))
        self._graph.node.append(onnx.helper.make_node(kind, [value, *names], [name], name, **attributes))
        return name

    def lead(self, value: str, to: str) -> None:
        """Let a value be what the graph itself takes, and go on behind it."""
        for node in self._own:
            node.input[:] = [value if name == to else name for name in node.input]
        self._graph.node.extend(self._own)

    def end(self, value: str, cars: int | str) -> None:
        """Let a value be the only output, and the observations the only input."""
        self._graph.node.append(onnx.helper.make_node("Identity", [value], [OUTPUT], OUTPUT))
        del self._graph.output[:]
        values = ((self._graph.input, INPUT, OBSERVATION_SIZE), (self._graph.output, OUTPUT, ACTION_SIZE))
        for declared, name, size in values:
            declared.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (cars, size)))
