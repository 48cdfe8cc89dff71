"""ONNX graphs as numbers: plain layers are computed as onnxruntime does, and anything else is left to it."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from racer_env.project import PRETRAINED_DRIVER
from tests.training.drivers.test_network import written
from training.algorithms.forward import SAMPLES, ForwardPass
from training.drivers.network import Network

RANDOM = np.random.default_rng(0)
STORED: dict[str, Any] = {
    "mean": RANDOM.normal(0.0, 0.3, 14),
    "deviation": RANDOM.uniform(0.1, 0.5, 14),
    "minus": -2.0,
    "plus": 2.0,
    "w": RANDOM.normal(0.0, 0.2, (8, 14)),
    "b": RANDOM.normal(0.0, 0.2, 8),
    "v": RANDOM.normal(0.0, 0.2, (8, 3)),
    "c": RANDOM.normal(0.0, 0.2, 3),
    "half": [1.0, 0.5, 0.5],
    "low": [-1.0, 0.0, 0.0],
    "high": [1.0, 1.0, 1.0],
    "one": 1.0,
    "row": np.full((1, 14), 0.1),
}
HIDDEN = ("Gemm", "w", "b", {"transB": 1})
LAST = ("Gemm", "v", "c", {})
PLAIN = [HIDDEN, ("Tanh",), LAST]
BOUNDS = [("Max", "low"), ("Min", "high")]


def network(path: Path, steps: list[Any]) -> Network:
    """Return a network of some steps in a row: each is an operator, what is stored that it takes, and its options."""
    nodes, value = [], "obs"
    for number, (kind, *stored) in enumerate(steps):
        options = dict(stored.pop()) if stored and isinstance(stored[-1], dict) else {}
        taken = [*stored, value] if options.pop("is_last", False) else [value, *stored]
        value = "actions" if number == len(steps) - 1 else f"value{number}"
        nodes.append(helper.make_node(kind, taken, [value], **options))
    tensors = [numpy_helper.from_array(np.array(array, np.float32), name) for name, array in STORED.items()]
    return Network(written(path, nodes, tensors))


@pytest.mark.parametrize(
    "steps",
    [
        PLAIN,
        [HIDDEN, ("Relu",), LAST, *BOUNDS],
        [("Sub", "mean"), ("Div", "deviation"), ("Clip", "minus", "plus"), *PLAIN],
        [("Sub", "mean"), ("Sub", "mean"), *PLAIN],
        [*PLAIN, ("Tanh",), ("Add", "one"), ("Mul", "half"), ("Add", "low", {"is_last": True}), *BOUNDS],
    ],
)
def test_plain_layers_are_computed_as_by_the_runtime(tmp_path: Path, steps: list[Any]) -> None:
    """To 1e-6, with actions cut to their bounds."""
    theirs = network(tmp_path / "theirs.onnx", steps)
    assert theirs.plain is not None
    expected = np.clip(theirs(SAMPLES), [-1, 0, 0], 1)
    assert np.abs(ForwardPass(theirs.plain)(SAMPLES) - expected).max() <= 1e-6


@pytest.mark.parametrize(
    "steps",
    [
        [HIDDEN, ("Elu",), LAST],
        [HIDDEN, ("Tanh",), ("Tanh",), LAST],
        [("Gemm", "w", "b", {"transB": 1, "alpha": 2.0}), LAST],
        [("Clip", "minus", "one"), *PLAIN],
        [("Div", "deviation"), ("Sub", "mean"), *PLAIN],
        [("Sub", "mean", {"is_last": True}), *PLAIN],
        [("Sub", "row"), *PLAIN],
        [*PLAIN, ("Max", "half"), ("Min", "high")],
        [*PLAIN, ("Max", "low")],
    ],
)
def test_anything_else_is_left_to_the_runtime(tmp_path: Path, steps: list[Any]) -> None:
    """Another operator, another order, other options, or other bounds."""
    assert network(tmp_path / "theirs.onnx", steps).plain is None


def test_a_branch_is_left_to_the_runtime(tmp_path: Path) -> None:
    """What comes out of a step goes into the next one, and nowhere else."""
    nodes = [
        helper.make_node("Gemm", ["obs", "w", "b"], ["hidden"], transB=1),
        helper.make_node("Gemm", ["hidden", "v", "c"], ["outputs"]),
        helper.make_node("Add", ["outputs", "outputs"], ["actions"]),
    ]
    tensors = [numpy_helper.from_array(np.array(array, np.float32), name) for name, array in STORED.items()]
    assert Network(written(tmp_path / "theirs.onnx", nodes, tensors)).plain is None


def test_exported_drivers_are_plain() -> None:
    """The bundled one, which normalises the observations itself."""
    bundled = Network(PRETRAINED_DRIVER)
    assert bundled.plain is not None
    assert len(bundled.plain.layers) == len([n for n in onnx.load(PRETRAINED_DRIVER).graph.node if n.op_type == "Gemm"])
    assert np.abs(ForwardPass(bundled.plain)(SAMPLES) - bundled(SAMPLES)).max() <= 1e-6
