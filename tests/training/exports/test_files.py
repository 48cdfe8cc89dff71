"""Exported networks are in single precision, whatever the algorithm: WebGPU has no other."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from racer_env.project import PRETRAINED_DRIVER, PRETRAINED_MODEL
from tests.runs import save_guest
from training.algorithms.networks import NormalisingPolicy
from training.checkpoints.checkpoint import find_checkpoint
from training.checkpoints.loading import load_model
from training.checkpoints.statistics import UNCHANGED
from training.exports.files import computes_in_double, write_files

pytestmark = pytest.mark.timeout(60)

BUFFER = {"buffer_size": 100}


def write(folder: Path, name: str, models_dir: Path) -> None:
    """Write the files of a model, without comparing them with it."""
    checkpoint = find_checkpoint(name, models_dir)
    model = load_model(checkpoint.data, None, "cpu", learns=False)
    write_files(folder, checkpoint.data, model, checkpoint.statistics or UNCHANGED)


@pytest.mark.parametrize(
    ("algorithm", "arguments"),
    [("PPO", {}), ("A2C", {}), ("SAC", BUFFER), ("TD3", BUFFER), ("DDPG", BUFFER), ("TQC", BUFFER)],
)
def test_no_algorithm_needs_double_precision(tmp_path: Path, algorithm: str, arguments: dict[str, Any]) -> None:
    """Neither a stored number nor any value on the way to the actions; no operator converts."""
    save_guest(tmp_path, algorithm, **arguments)
    write(tmp_path, "guest", tmp_path / "models")
    for name in ("model.onnx", "driver.onnx"):
        model = onnx.load(tmp_path / name)
        assert not computes_in_double(tmp_path / name)
        assert {tensor.data_type for tensor in model.graph.initializer} == {onnx.TensorProto.FLOAT}
        assert not {"Cast", "CastLike", "Constant"} & {node.op_type for node in model.graph.node}


def test_a_layer_that_computes_in_double_precision_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the file that has it; the other one is as before."""
    monkeypatch.setattr(NormalisingPolicy, "forward", lambda self, obs: self.policy(obs.double().sin().float()))
    save_guest(tmp_path, "PPO")
    write(tmp_path, "guest", tmp_path / "models")
    assert computes_in_double(tmp_path / "driver.onnx")
    assert not computes_in_double(tmp_path / "model.onnx")


def test_the_bundled_driver_is_the_export_of_the_bundled_model(tmp_path: Path) -> None:
    """Number by number; torch and onnx may lay the file out in another way."""
    write(tmp_path, str(PRETRAINED_MODEL), tmp_path)
    written, bundled = (
        {t.name: t for t in onnx.load(path).graph.initializer} for path in (tmp_path / "driver.onnx", PRETRAINED_DRIVER)
    )
    assert written.keys() == bundled.keys()
    for name, tensor in written.items():
        np.testing.assert_array_equal(*map(onnx.numpy_helper.to_array, (tensor, bundled[name])), err_msg=name)
