"""Damage for pickles, arrays and networks: what is dangerous to open, and what lies about its size."""

import io
import json
import pickle
import random
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.soak.mutators import ODD_VALUES, mutated_bytes, mutated_json

CANARY = "canary"  # the file in the working directory that appears if something in a pickle is run
_HUGE = 10**10


class _Runs:
    """Pickles as a call of any function."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> tuple[Any, Any]:
        return self._call


def _by_name(module: str, name: str, *arguments: Any) -> bytes:
    """Return a pickle that calls a function by its name."""
    body = b"".join(pickle.dumps(value, 2)[2:-1] for value in arguments)
    return b"\x80\x02c" + f"{module}\n{name}\n".encode() + b"(" + body + b"tR."


def crafted_pickles() -> list[bytes]:
    """Return pickles that nobody should run, or that want more memory or depth than there is."""
    array, touch = np.zeros(3), f"open({CANARY!r}, 'w').close()"
    rebuild = array.__reduce__()[0]
    return [
        _by_name("builtins", "eval", touch),
        _by_name("builtins", "exec", touch),
        _by_name("os", "system", f"touch {CANARY}"),
        _by_name("numpy", "load", "/dev/zero"),
        _by_name("numpy", "ndarray", (_HUGE, 14)),
        _by_name("numpy", "dtype", "O"),
        _by_name("numpy", "dtype", "V2000000000"),
        _by_name("numpy.core.multiarray", "scalar", np.dtype("O"), b"12345678"),
        _by_name("numpy._core.numeric", "_frombuffer", b"", np.dtype("f8"), (_HUGE,), "C"),
        _by_name("gymnasium.spaces.box", "Box", 0.0, 1.0, (_HUGE,)),
        _by_name("stable_baselines3.common.running_mean_std", "RunningMeanStd", 1e-4, (_HUGE,)),
        _by_name("stable_baselines3.common.vec_env.vec_normalize", "VecNormalize", None),
        pickle.dumps(_Runs(rebuild, np.ndarray, (_HUGE,), b"b")),
        b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"x.",  # bytes of a length that is not there
        b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b"x.",  # a bytearray
        b"\x80\x02\x8b" + struct.pack("<l", 2**31 - 1) + b"x.",  # a whole number
        b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999 + b".",  # a list in a list in a list
        b"\x80\x02]" + b"2" * 2_000_000 + b".",  # doubled, and doubled
        b"\x80\x02K\x01" + b"r\xff\xff\xff\x7f" + b".",  # kept under a number that needs gigabytes
        b"\x80\x02(" + b"0" * 10 + b".",
        b"\x80\x02" + b"0" * 10 + b".",
        pickle.dumps({"obs_rms": 1}),
        pickle.dumps(None),
        b"",
    ]


def mutated_statistics(content: bytes, chance: random.Random) -> bytes:
    """Return normalisation statistics, damaged in their bytes, their values or altogether."""
    act = chance.random()
    if act < 0.35:
        return mutated_bytes(content, chance)
    if act < 0.6:
        return chance.choice(crafted_pickles())
    statistics = pickle.loads(content)
    moments = statistics.obs_rms
    for holder in chance.choices([statistics, moments], k=chance.choice([1, 1, 3])):
        setattr(holder, chance.choice(sorted(vars(holder))), _odd_number(chance))
    vars(statistics).update(dict.fromkeys(("venv", "class_attributes", "returns")))  # which its pickles leave out
    return pickle.dumps(statistics)


def _odd_number(chance: random.Random) -> Any:
    arrays = [np.full(14, np.nan), np.full(14, -1.0), np.zeros(3), np.zeros((14, 14)), np.array(["x"] * 14)]
    arrays += [np.full(14, 1e308), np.zeros(14, complex), np.zeros(0), np.array([None] * 14), np.float64("inf")]
    values = [value for value in ODD_VALUES if not isinstance(value, list)]
    return chance.choice([*arrays, *values])


def mutated_array(content: bytes, chance: random.Random) -> bytes:
    """Return a ``.npy`` file whose header lies, whose numbers are odd, or whose bytes are damaged."""
    act = chance.random()
    if act < 0.3:
        return mutated_bytes(content, chance)
    if act < 0.6:
        array = np.load(io.BytesIO(content), allow_pickle=False)
        return _saved(_odd_array(array, chance))
    shape = chance.choice(["(10000000000,)", "(10000000000, 3)", "(-1, 3)", "()", "(0, 3)", "(1e9,)", f"({'(' * 90}"])
    kind = chance.choice(["'<f8'", "'|O'", "'<U1000000000'", "'V4000000000'", "[('a','<f8')]", "'<c16'", "__import__"])
    header = f"{{'descr': {kind}, 'fortran_order': {chance.choice(['True', 'False', '7'])}, 'shape': {shape}, }}\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content[128:]


def _odd_array(array: Any, chance: random.Random) -> Any:
    if array.dtype.kind != "f":
        return chance.choice([array.reshape(-1)[:0], np.zeros(3), np.array("x"), array.repeat(3)])
    flat = array.copy().reshape(-1)
    if len(flat):
        flat[chance.randrange(len(flat))] = chance.choice([np.nan, np.inf, 1e308, -1e-320, 7.0])
    changed = flat.reshape(array.shape)
    return chance.choice(
        [changed, changed, changed[:-1], changed.astype("f4"), changed.T, np.concatenate([changed] * 9)]
    )


def _saved(array: Any) -> bytes:
    target = io.BytesIO()
    np.save(target, array)
    return target.getvalue()


# --- Networks ---


def mutated_network(content: bytes, chance: random.Random) -> bytes:
    """Return an ONNX file with damage in its bytes, its card, its numbers or its nodes."""
    act = chance.random()
    if act < 0.3:
        return mutated_bytes(content, chance)
    model = onnx.load_from_string(content)
    if act < 0.55:
        for entry in model.metadata_props:
            card = json.loads(entry.value)
            entry.value = mutated_json(card, chance).decode("utf-8", "replace")
    elif act < 0.7:
        chance.choice(_CHANGES)(model, chance)
    else:
        _put_before(model, *chance.choice(_crafted_nodes()))
    return model.SerializeToString()


def _change_weights(model: Any, chance: random.Random) -> None:
    tensor = chance.choice(model.graph.initializer)
    array = numpy_helper.to_array(tensor).copy()
    array.reshape(-1)[:] = chance.choice([np.nan, np.inf, 1e38, 0.0])
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def _change_shape(model: Any, chance: random.Random) -> None:
    tensor = chance.choice(model.graph.initializer)
    tensor.dims[:] = chance.choice([[0], [-1], [2**40], [2**31, 2**31], [14, 14, 14]])


def _point_outside(model: Any, chance: random.Random) -> None:
    tensor = chance.choice(model.graph.initializer)
    tensor.raw_data = b""
    place = chance.choice(["/etc/passwd", "../../../etc/passwd", "/dev/zero", "missing.bin", "model.onnx"])
    onnx.external_data_helper.set_external_data(tensor, location=place, offset=0, length=2**40)
    tensor.ClearField("raw_data")


def _change_node(model: Any, chance: random.Random) -> None:
    node = chance.choice(model.graph.node)
    act = chance.randrange(4)
    if act == 0:
        node.op_type = chance.choice(["Relu", "MatMul", "NoSuchThing", "If", "Loop", ""])
    elif act == 1:
        node.input[:] = list(node.input)[::-1]
    elif act == 2:
        node.domain = chance.choice(["ai.onnx.ml", "com.microsoft", "x"])
    else:
        model.opset_import[0].version = chance.choice([0, 1, 999, 2**31 - 1])


def _change_signature(model: Any, chance: random.Random) -> None:
    port = chance.choice([model.graph.input[0], model.graph.output[0]])
    if chance.random() < 0.5:
        port.name = chance.choice(["obs", "x", ""])
    else:
        port.type.tensor_type.elem_type = chance.choice([0, TensorProto.DOUBLE, TensorProto.STRING, 99])


_CHANGES = (_change_weights, _change_shape, _point_outside, _change_node, _change_signature)


def _put_before(model: Any, nodes: list[Any], constants: list[Any]) -> None:
    """Let a network's observation pass through other nodes first, from ``obs`` to ``changed``."""
    for node in model.graph.node:
        node.input[:] = ["changed" if name == "obs" else name for name in node.input]
    kept = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend([*nodes, *kept])
    model.graph.initializer.extend(constants)


def _crafted_nodes() -> list[tuple[list[Any], list[Any]]]:
    """Return nodes that take memory or time without end."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Identity", ["x"], ["y"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
        ],
    )
    forever = numpy_helper.from_array(np.array(2**62), "times")
    yes = numpy_helper.from_array(np.array(True), "yes")
    big = numpy_helper.from_array(np.array([100_000, 100_000]), "big")
    zero = numpy_helper.from_array(np.array(0, np.float32), "zero")
    wide = numpy_helper.from_array(np.array([2_000_000_000, 1]), "wide")
    return [
        ([helper.make_node("Loop", ["times", "yes", "obs"], ["changed"], body=body)], [forever, yes]),
        (
            [
                helper.make_node("ConstantOfShape", ["big"], ["much"]),
                helper.make_node("ReduceSum", ["much"], ["sum"], keepdims=0),
                helper.make_node("Add", ["obs", "sum"], ["changed"]),
            ],
            [big],
        ),
        (
            [
                helper.make_node("Expand", ["zero", "wide"], ["much"]),
                helper.make_node("ReduceMax", ["much"], ["most"], keepdims=0),
                helper.make_node("Add", ["obs", "most"], ["changed"]),
            ],
            [zero, wide],
        ),
    ]
