"""ONNX files as networks, which are checked before they are run: what they compute, and how much memory that takes."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from racer_env.contract import ACTION_SIZE
from racer_env.errors import ModelError
from training.console.messages import first_line
from training.drivers.onnx_files import read_onnx
from training.drivers.plain_graph import plain_network_of
from training.drivers.signature import signature_of, stored_rows

ROUNDING = 1e-3  # of numbers that another program has written with a few digits


class Network:
    """A network that maps observations to actions.

    Attributes:
        path: Path of its file.
        metadata: What the file says about itself, texts by name.
        signature: Its input and outputs.
        plain: Its numbers, if it is of plain layers; or None.
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
            model, content = read_onnx(path)
            self._rows = stored_rows(model)
            self.signature = signature_of(model, path)
            is_alone = self.signature.one is None and self.signature.outputs == (self.signature.actions,)
            self.plain = plain_network_of(model) if is_alone else None
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
            self.metadata: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        except ModelError:
            raise
        except Exception as error:  # protobuf, checker and runtime raise a dozen kinds
            raise ModelError(f"cannot load {path} as an ONNX model: {first_line(error)}") from error

    def __call__(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.floating[Any]]:
        """Return actions (N, 3) for observations (N, 14).

        Raises:
            ModelError: The network cannot be run, or returns something else.
        """
        given, one = observations.astype(self.signature.kind, copy=False), self.signature.one
        try:
            if one is None:
                actions = self._run(given)
            else:
                actions = np.concatenate([self._run(row.reshape(one)).reshape(1, -1) for row in given])
        except Exception as error:  # the runtime raises a dozen kinds
            raise ModelError(f"cannot run {self.path}: {first_line(error)}") from error
        if actions.shape != (len(observations), ACTION_SIZE):
            raise ModelError(
                f"{self.path} is no driver: expected actions of shape ({len(observations)}, {ACTION_SIZE}), got "
                f"{actions.shape}"
            )
        return actions

    def _run(self, observations: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
        (actions,) = self._session.run([self.signature.actions], {self.signature.observations: observations})
        result: npt.NDArray[np.floating[Any]] = actions
        return result

    def stores(self, numbers: npt.ArrayLike) -> bool:
        """Return whether 14 numbers, not all of them zero, or their negatives are stored, in full or rounded."""
        wanted = np.asarray(numbers)
        slack = ROUNDING * np.abs(wanted).max()
        return bool(wanted.any()) and any(
            np.allclose(row, sign * wanted, rtol=ROUNDING, atol=slack) for row in self._rows for sign in (1, -1)
        )
