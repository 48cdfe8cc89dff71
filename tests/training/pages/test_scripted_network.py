"""The scripted driver as a network: bit by bit the function."""

from pathlib import Path

import numpy as np

from training.drivers.exported import load_onnx_driver
from training.drivers.scripted import scripted_driver
from training.pages.scripted_network import scripted_network


def test_the_network_drives_as_the_function_does(tmp_path: Path) -> None:
    """Also where a car is just as fast as it should be."""
    (tmp_path / "it.onnx").write_bytes(scripted_network())
    seen = np.random.default_rng(0).random((20_000, 14), dtype=np.float32)
    seen[:100, 4], seen[:100, 9] = 0.0, np.linspace(0.1, 0.2, 100)
    seen[100:200, 4], seen[100:200, 9] = 0.4, np.float32(20 + 0.75 * 80) / 160
    actions = load_onnx_driver(tmp_path / "it.onnx", None)(seen)
    np.testing.assert_array_equal(actions, scripted_driver(seen))
    assert {tuple(np.unique(actions[:, item])) for item in (1, 2)} == {(0.0, 1.0)}
