"""Reading ONNX files, also those that keep their weights in a file beside them."""

from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

import onnx

from racer_env.errors import ModelError
from racer_env.files import read_file

MAX_ONNX = 300_000_000  # bytes with all weights; three layers of 4,096 units have 70 million


def read_onnx(path: Path) -> tuple[onnx.ModelProto, bytes]:
    """Read an ONNX file.

    Returns:
        The model with all of its weights, and the same as bytes.

    Raises:
        ModelError: Its weights are in another file, which is missing or wrong.
        Exception: The file is missing, too large, or damaged; protobuf raises several kinds.
    """
    content = read_file(path, MAX_ONNX)
    model = onnx.load_model_from_string(content)
    return (model, model.SerializeToString()) if _take_in_weights(model, path) else (model, content)


def stored_tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yield all numbers that a graph brings along: its weights, and the constants in its operators."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            yield attribute.t
            yield from attribute.tensors


def _take_in_weights(model: onnx.ModelProto, path: Path) -> bool:
    """Put the weights that are kept beside a file into its model, and return whether there were any.

    Raises:
        ModelError: They are missing, too large, or anywhere else.
    """
    files: dict[str, bytes] = {}
    total = 0
    for tensor in stored_tensors(model.graph):
        if not tensor.external_data and tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        told = {entry.key: entry.value for entry in tensor.external_data}
        name = told.get("location", "")
        if name not in files:
            files[name] = _read_beside(path, name)
        offset = int(told.get("offset", 0))
        length = int(told.get("length", len(files[name]) - offset))
        if offset < 0 or length < 0 or offset + length > len(files[name]):
            raise ModelError(f"{path} is no driver: expected its weights in {name}, which is too short for them")
        total += length
        if total > MAX_ONNX:
            raise ModelError(f"{path} is no driver: its weights have more than {MAX_ONNX:,} bytes")
        tensor.raw_data = files[name][offset : offset + length]
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]
    return bool(files)


def _read_beside(path: Path, name: str) -> bytes:
    # The file may be a stranger's: it names no file in another folder. A drive or a backslash does so on Windows only.
    if not name or PureWindowsPath(name).name != name:
        raise ModelError(f"{path} is no driver: expected its weights in it or beside it, and they are in {name[:80]!r}")
    beside = path.with_name(name)
    try:
        return read_file(beside, MAX_ONNX)
    except FileNotFoundError as missing:
        raise ModelError(
            f"{path} keeps its weights in {beside}, which is missing; copy it there, or save the model as one file"
        ) from missing
    except OSError as unreadable:
        raise ModelError(f"cannot read {beside}, the weights of {path.name}: {unreadable}") from unreadable
