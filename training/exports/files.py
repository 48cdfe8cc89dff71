"""Writing a driver as ONNX files."""

import json
from pathlib import Path
from typing import Any

import onnx
import torch
from stable_baselines3.common.base_class import BaseAlgorithm

from racer_env.contract import ACTION, OBSERVATION, OBSERVATION_SIZE, TICKS_PER_SECOND
from training.algorithms.networks import DeterministicPolicy, NormalisingPolicy
from training.checkpoints.data import ModelData
from training.checkpoints.files import DRIVER_NAME, MODEL_NAME, STATISTICS_NAME
from training.checkpoints.statistics import Normalisation
from training.console.messages import without_warnings_of
from training.drivers.beside import KEYS, statistics_digest
from training.drivers.card import CARD_KEY
from training.drivers.onnx_files import stored_tensors

# Every onnxruntime and onnxruntime-web from this version on reads the opset and IR version below.
MIN_RUNTIME = "1.14"
OPSET = 18
IR_VERSION = 8
INPUT, OUTPUT = "obs", "actions"


def write_files(folder: Path, data: ModelData, model: BaseAlgorithm, normalise: Normalisation) -> None:
    """Write the three files of an exported driver.

    Args:
        folder: Folder to write to.
        data: What the model file says about itself.
        model: Model that is exported.
        normalise: How the observations are normalised that the model takes.
    """
    policy = DeterministicPolicy(data.algorithm, model.policy)
    stats = {**{key: getattr(normalise, key) for key in KEYS}, "action_repeat": data.action_repeat}
    (folder / STATISTICS_NAME).write_text(json.dumps(stats, indent=2) + "\n", encoding="utf-8")
    _write_onnx(policy, folder / MODEL_NAME, _metadata(data, normalises=False, stats=stats))
    _write_onnx(NormalisingPolicy(policy, stats), folder / DRIVER_NAME, _metadata(data, normalises=True, stats=stats))


def computes_in_double(path: Path) -> bool:
    """Return whether a network needs double precision, which WebGPU lacks: a layer of the user's own may."""
    graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
    kinds = {value.type.tensor_type.elem_type for value in (*graph.value_info, *graph.output)}
    return onnx.TensorProto.DOUBLE in kinds | {tensor.data_type for tensor in stored_tensors(graph)}


def _metadata(data: ModelData, normalises: bool, stats: dict[str, Any]) -> dict[str, str]:
    """Return the metadata of an exported driver; each value is JSON."""
    card = {
        "normalises": normalises,
        "action_repeat": data.action_repeat,
        "statistics": statistics_digest(stats),
        "track_ids": data.track_ids,
        "track_fingerprints": data.get("track_fingerprints", dict, {}),
        "ai_config": data.get("ai_config", dict, None),
        "physics_fingerprint": data.get("physics_fingerprint", str, None),
        "algorithm": data.algorithm.name,
        "steps": data.steps,
        "min_onnxruntime": MIN_RUNTIME,
        "ticks_per_second": TICKS_PER_SECOND,
        "observation": [value._asdict() for value in OBSERVATION],
        "actions": [value._asdict() for value in ACTION],
    }
    return {CARD_KEY: json.dumps(card)}


def _write_onnx(network: torch.nn.Module, path: Path, metadata: dict[str, str]) -> None:
    """Write a network as one file for any batch size, by the exporter based on torch.export."""
    with without_warnings_of("torch.onnx"):
        program = torch.onnx.export(
            network,
            (torch.zeros(2, OBSERVATION_SIZE),),
            dynamo=True,
            opset_version=OPSET,
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_shapes=({0: torch.export.Dim("batch")},),
            external_data=False,
            verbose=False,
        )
    assert program is not None
    document = program.model_proto
    for part in (*document.graph.node, *document.graph.input, *document.graph.output, *document.graph.initializer):
        part.ClearField("doc_string")  # source locations on this machine: useless, larger than the network
        del part.metadata_props[:]
    del document.graph.value_info[:], document.graph.metadata_props[:], document.metadata_props[:]
    document.graph.name = path.stem
    document.ir_version = IR_VERSION
    onnx.helper.set_model_props(document, metadata)
    onnx.checker.check_model(document, full_check=True)
    onnx.save_model(document, path)
