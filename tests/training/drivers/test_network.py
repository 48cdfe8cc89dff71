"""ONNX files of a stranger: networks that drive, and nothing that grows without end or fails with a traceback."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from racer_env.errors import ModelError
from training.drivers.network import Network

OBSERVATIONS = np.zeros((2, 14), np.float32)


def written(path: Path, nodes: list[onnx.NodeProto], stored: list[onnx.TensorProto], actions: Any = ("n", 3)) -> Path:
    """Write a network of some nodes from "obs" to "actions"."""
    values = [helper.make_tensor_value_info(*v) for v in (("obs", 1, ("n", 14)), ("actions", 1, actions))]
    graph = helper.make_graph(nodes, "odd", [values[0]], [values[1]], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path


def numbers(name: str, *shape: int, kind: int = TensorProto.FLOAT) -> onnx.TensorProto:
    """Return stored ones."""
    return helper.make_tensor(name, kind, shape, np.ones(shape).ravel().tolist())


LAYER = helper.make_node("MatMul", ["obs", "w"], ["actions"])


def test_a_layer_drives(tmp_path: Path) -> None:
    """The sum of no observations is nothing."""
    network = Network(written(tmp_path / "good.onnx", [LAYER], [numbers("w", 14, 3)]))
    assert network(OBSERVATIONS).tolist() == [[0.0] * 3] * 2


def test_values_that_grow_are_refused(tmp_path: Path) -> None:
    """A few bytes say how many gigabytes a constant has; the runtime would make it while it loads."""
    size = helper.make_tensor("size", TensorProto.INT64, (2,), (14 * 10**6, 10**4))
    nodes = [
        helper.make_node("ConstantOfShape", ["size"], ["large"]),
        helper.make_node("ReduceSum", ["large"], ["sum"], keepdims=0),
        helper.make_node("Mul", ["w", "sum"], ["v"]),
        helper.make_node("MatMul", ["obs", "v"], ["actions"]),
    ]
    path = written(tmp_path / "large.onnx", nodes, [size, numbers("w", 14, 3)])
    with pytest.raises(
        ModelError, match=r"large\.onnx is no driver: its values hold 140,000,000,\d+ numbers a car, more"
    ):
        Network(path)


def test_a_size_that_only_running_tells_is_refused(tmp_path: Path) -> None:
    """What the file declares does not count."""
    nodes = [
        helper.make_node("Cast", ["obs"], ["whole"], to=TensorProto.INT64),
        helper.make_node("Squeeze", ["whole"], ["size"]),
        helper.make_node("Expand", ["w", "size"], ["actions"]),
    ]
    with pytest.raises(ModelError, match="the size of its value '(actions|size)' is not known"):
        Network(written(tmp_path / "odd.onnx", nodes, [numbers("w", 1)]))


def beside(path: Path, location: str, **entries: str) -> Path:
    """Write a layer whose weights are in another file."""
    weights = TensorProto(name="w", data_type=1, dims=(14, 3), data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        weights.external_data.add(key=key, value=value)
    return written(path, [LAYER], [weights])


def test_weights_beside_it_are_read(tmp_path: Path) -> None:
    """As PyTorch saves them; where their file is missing or cut off, that is said."""
    path = beside(tmp_path / "odd.onnx", "odd.onnx.data", offset="4", length="168")
    with pytest.raises(ModelError, match=r"odd\.onnx keeps its weights in .*odd\.onnx\.data, which is missing; copy"):
        Network(path)
    (tmp_path / "odd.onnx.data").write_bytes(np.arange(43, dtype=np.float32).tobytes())
    assert Network(path)(OBSERVATIONS + 1).tolist() == [np.arange(1, 43).reshape(14, 3).sum(axis=0).tolist()] * 2
    (tmp_path / "odd.onnx.data").write_bytes(bytes(171))
    with pytest.raises(
        ModelError, match=r"odd\.onnx is no driver: expected its weights in odd\.onnx\.data, which is too"
    ):
        Network(path)


@pytest.mark.parametrize("location", ["/etc/hostname", "../w", "c:w", "a\\w", "", ".."])
def test_weights_elsewhere_are_not_looked_for(tmp_path: Path, location: str) -> None:
    """A file must not name one of another folder to open."""
    with pytest.raises(
        ModelError, match=r"odd\.onnx is no driver: expected its weights in it or beside|it is a folder"
    ):
        Network(beside(tmp_path / "odd.onnx", location))


def test_what_fails_while_it_drives_is_one_line(tmp_path: Path) -> None:
    """Here, a lookup beyond the end of a table."""
    nodes = [
        helper.make_node("Gather", ["w", "i"], ["v"]),
        helper.make_node("MatMul", ["obs", "v"], ["some"]),
        helper.make_node("Cast", ["obs"], ["large"], to=TensorProto.INT64),
        helper.make_node("Gather", ["table", "large"], ["looked_up"]),
        helper.make_node("MatMul", ["looked_up", "v"], ["more"]),
        helper.make_node("Add", ["some", "more"], ["actions"]),
    ]
    stored = [numbers("w", 14, 3), numbers("table", 2), helper.make_tensor("i", TensorProto.INT64, (14,), range(14))]
    network = Network(written(tmp_path / "odd.onnx", nodes, stored))
    with pytest.raises(ModelError, match=r"^cannot run .*odd\.onnx: ") as failed:
        network(OBSERVATIONS + 7)
    assert "\n" not in str(failed.value)


def test_actions_of_another_shape_are_refused(tmp_path: Path) -> None:
    """The cars take three numbers each."""
    path = written(tmp_path / "odd.onnx", [LAYER], [numbers("w", 14, 5)], ("n", 5))
    with pytest.raises(ModelError, match=r"expected an output of 3 numbers a car .* got 'actions' float \(1, 5\)"):
        Network(path)


def test_what_it_says_about_itself_must_be_text(tmp_path: Path) -> None:
    """The runtime hands metadata over as they are."""
    model = onnx.load(written(tmp_path / "odd.onnx", [LAYER], [numbers("w", 14, 3)]))
    onnx.helper.set_model_props(model, {"card": "{}"})
    (tmp_path / "odd.onnx").write_bytes(model.SerializeToString().replace(b"{}", b"\xb6}"))
    with pytest.raises(ModelError, match=r"cannot load .*odd\.onnx as an ONNX model: 'utf-8' codec"):
        Network(tmp_path / "odd.onnx")
