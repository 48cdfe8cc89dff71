"""Any ONNX driver in the one form that a page runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto

from racer_env.project import PRETRAINED_DRIVER
from tests.training.drivers.test_exported import STATS, WEIGHTS, gemm, made, with_statistics
from training.drivers.exported import as_driver, load_onnx_driver, open_onnx
from training.pages.wrapping import wrapped

OBSERVATIONS = np.random.default_rng(3).random((4, 14), dtype=np.float32)


def run_as_the_page(content: bytes, observation: np.ndarray) -> np.ndarray:
    """Return what a page gets for one car: raw numbers in single precision in, and as such out."""
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (given,), (returned,) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.type, returned.name, returned.type) == (
        "obs",
        "tensor(float)",
        "actions",
        "tensor(float)",
    )
    actions: Any = session.run(None, {"obs": observation.reshape(1, 14)})[0]
    assert actions.shape == (1, 3)
    return actions[0]


MAKERS: dict[str, Callable[[Path], Path]] = {
    "any number of cars": made,
    "one car": lambda path: made(path, (1, 14), (1, 3)),
    "one car without a batch": lambda path: made(path, (14,), (3,)),
    "double precision": lambda path: made(path, kind=TensorProto.DOUBLE),
    "half precision": lambda path: made(path, kind=TensorProto.FLOAT16),
    "one car in half precision": lambda path: made(path, (14,), (3,), kind=TensorProto.FLOAT16),
    "several outputs": lambda path: made(
        path, outputs=["value", "mu"], nodes=[onnx.helper.make_node("ReduceSum", ["mu"], ["value"], keepdims=1)]
    ),
    "actions beyond their bounds": lambda path: made(path, weights=WEIGHTS * 99),
    "normalised observations": lambda path: with_statistics(made(path)),
    "normalised observations in double precision": lambda path: with_statistics(made(path, kind=TensorProto.DOUBLE)),
    "layers with biases": gemm,
    "the bundled driver": lambda path: PRETRAINED_DRIVER,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_it_drives_as_it_does_here(tmp_path: Path, kind: str) -> None:
    """Asked as the page asks it."""
    exported = open_onnx(MAKERS[kind](tmp_path / "theirs.onnx"), None)
    expected = as_driver(exported)(OBSERVATIONS)
    content, tolerance = wrapped(exported), 1e-4 if "half" in kind else 1e-6  # runtimes may round less than they should
    for observation, actions in zip(OBSERVATIONS, expected, strict=True):
        assert run_as_the_page(content, observation) == pytest.approx(actions, abs=tolerance)


def test_a_file_of_ours_stays_as_it_is() -> None:
    """Byte by byte."""
    assert wrapped(open_onnx(PRETRAINED_DRIVER, None)) == PRETRAINED_DRIVER.read_bytes()


def test_what_it_says_of_itself_stays_true(tmp_path: Path) -> None:
    """It takes raw observations now; how long it holds an action is kept. So evaluation takes it, too."""
    path = with_statistics(made(tmp_path / "theirs.onnx"), {**STATS, "action_repeat": 3})
    exported = open_onnx(path, None)
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "it.onnx").write_bytes(wrapped(exported))
    driver = load_onnx_driver(tmp_path / "page" / "it.onnx", None)
    assert driver.action_repeat == 3
    assert driver(OBSERVATIONS) == pytest.approx(as_driver(exported)(OBSERVATIONS), abs=1e-6)


def test_weights_that_lie_beside_come_along(tmp_path: Path) -> None:
    """A page's driver is one file."""
    model = onnx.load(made(tmp_path / "it.onnx"))
    onnx.save_model(model, tmp_path / "it.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    content = wrapped(open_onnx(tmp_path / "it.onnx", None))
    (tmp_path / "w.bin").unlink()
    assert run_as_the_page(content, OBSERVATIONS[0]) == pytest.approx(
        np.clip(OBSERVATIONS[0] @ WEIGHTS, [-1, 0, 0], 1), abs=1e-6
    )


def test_a_model_of_ours_takes_its_statistics_along(tmp_path: Path) -> None:
    """``model.onnx`` has them in a file beside it; what else it says about itself is kept."""
    stats = {**STATS, "action_repeat": 2}
    path = with_statistics(made(tmp_path / "model.onnx"), stats)
    model = onnx.load(path)
    card = {"normalises": False, "action_repeat": 2, "track_ids": ["track-01"], "physics_fingerprint": "f" * 64}
    onnx.helper.set_model_props(model, {"racer_driver": json.dumps({**card, "algorithm": "SAC"})})
    onnx.save(model, path)
    content = wrapped(open_onnx(path, None))
    told = json.loads(onnx.load_model_from_string(content).metadata_props[0].value)
    assert told == {**card, "algorithm": "SAC", "normalises": True}
    expected = as_driver(open_onnx(path, None))(OBSERVATIONS)
    assert run_as_the_page(content, OBSERVATIONS[1]) == pytest.approx(expected[1], abs=1e-6)
