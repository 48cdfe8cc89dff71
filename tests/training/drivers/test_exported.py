"""ONNX drivers of other programs: what is assumed of them is said, and what does not fit is refused."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from racer_env.errors import ModelError
from racer_env.physics import load_physics
from racer_env.project import PRETRAINED_DRIVER, PRETRAINED_MODEL
from tests.helpers import make_link
from training import evaluate
from training.algorithms.members.ppo import ALGORITHM as PPO
from training.drivers.exported import load_onnx_driver
from training.drivers.loading import load_driver
from training.runs.options import make_options, make_parser

FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
OBSERVATIONS = np.random.default_rng(0).random((5, 14), dtype=np.float32)
WEIGHTS = np.random.default_rng(1).normal(0.0, 0.05, (14, 3))
EXPECTED = np.clip(OBSERVATIONS @ WEIGHTS, [-1, 0, 0], 1)
STATS: dict[str, Any] = {"obs_mean": [0.1] * 14, "obs_var": [4.0] * 14, "clip_obs": 0.2, "epsilon": 1e-8}
NORMALISED = np.clip(np.clip((OBSERVATIONS - 0.1) / np.sqrt(4.0 + 1e-8), -0.2, 0.2) @ WEIGHTS, [-1, 0, 0], 1)


def made(
    path: Path,
    takes: Sequence[Any] = ("batch", 14),
    returns: Sequence[Any] = ("batch", 3),
    *,
    kind: int = FLOAT,
    weights: np.ndarray = WEIGHTS,
    outputs: Sequence[str] = ("mu",),
    nodes: Sequence[onnx.NodeProto] = (),
) -> Path:
    """Write a driver of one layer from "state" to "mu"; further nodes and outputs may use both."""
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    layer = helper.make_node("MatMul", ["state", "w"], ["mu"])
    graph = helper.make_graph(
        [layer, *nodes],
        "theirs",
        [helper.make_tensor_value_info("state", kind, takes)],
        [helper.make_tensor_value_info(name, kind, returns if name == "mu" else None) for name in outputs],
        [numpy_helper.from_array(weights.astype(dtype), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path


def gemm(path: Path) -> Path:
    """Write the same driver as PyTorch would: with biases."""
    model = onnx.load(made(path))
    model.graph.node[0].op_type = "Gemm"
    model.graph.node[0].input.append("b")
    model.graph.initializer.append(numpy_helper.from_array(np.zeros(3, np.float32), "b"))
    path.write_bytes(model.SerializeToString())
    return path


def with_statistics(path: Path, stats: Any = STATS, name: str = "vecnorm_stats.json") -> Path:
    """Put statistics beside a driver."""
    path.with_name(name).write_text(json.dumps(stats), encoding="utf-8")
    return path


def without_metadata(path: Path) -> Path:
    """Write the bundled driver as another program would: with other names, and nothing about itself."""
    model = onnx.load(PRETRAINED_DRIVER)
    del model.metadata_props[:]
    for value, name in ((model.graph.input[0], "state"), (model.graph.output[0], "controls")):
        for node in model.graph.node:
            for names in (node.input, node.output):
                names[:] = [name if each == value.name else each for each in names]
        value.name = name
    path.write_bytes(model.SerializeToString())
    return path


def as_exported_before(path: Path) -> Path:
    """Write the bundled driver as earlier releases did: it normalises in double precision, with IR version 10."""
    model = onnx.load(PRETRAINED_DRIVER)
    stored = {tensor.name: numpy_helper.to_array(tensor).astype(np.float64) for tensor in model.graph.initializer}
    subtract, _, divide, clip, *_ = model.graph.node
    assert [subtract.op_type, divide.op_type, clip.op_type] == ["Sub", "Div", "Clip"]
    doubles = {"m": stored["mean"] + stored["rest_of_mean"], "d": stored["deviation"]}
    doubles |= {"low": stored[clip.input[1]], "high": stored[clip.input[2]]}
    nodes = [
        helper.make_node("Cast", ["obs"], ["double"], to=DOUBLE),
        helper.make_node("Sub", ["double", "m"], ["off"]),
        helper.make_node("Div", ["off", "d"], ["scaled"]),
        helper.make_node("Clip", ["scaled", "low", "high"], ["clipped"]),
        helper.make_node("Cast", ["clipped"], [clip.output[0]], to=FLOAT),
        *list(model.graph.node)[4:],
    ]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(numpy_helper.from_array(values, name) for name, values in doubles.items())
    model.ir_version = 10
    path.write_bytes(model.SerializeToString())
    return path


def test_an_export_of_an_earlier_release_drives(tmp_path: Path) -> None:
    """As the bundled driver, which has the same numbers, does."""
    before = load_onnx_driver(as_exported_before(tmp_path / "driver.onnx"), load_physics())
    now = load_onnx_driver(PRETRAINED_DRIVER, load_physics())
    assert before(OBSERVATIONS) == pytest.approx(now(OBSERVATIONS), abs=1e-6)
    assert (before.action_repeat, before.track_ids) == (now.action_repeat, now.track_ids)


@pytest.mark.parametrize("kind", [FLOAT, DOUBLE, TensorProto.FLOAT16])
@pytest.mark.parametrize(
    ("takes", "returns"),
    [(("batch", 14), ("batch", 3)), ((None, None), (None, None)), ((1, 14), (1, 3)), ((14,), (3,))],
    ids=str,
)
def test_any_batch_and_precision_drives(tmp_path: Path, takes: Any, returns: Any, kind: int) -> None:
    """Any number of cars together, one at a time, or one without a batch; what is above its range is clipped."""
    driver = load_onnx_driver(made(tmp_path / "theirs.onnx", takes, returns, kind=kind), load_physics())
    assert driver(OBSERVATIONS) == pytest.approx(EXPECTED, abs=1e-2 if kind == TensorProto.FLOAT16 else 1e-6)
    assert driver.action_repeat == 1
    large = load_onnx_driver(made(tmp_path / "large.onnx", takes, returns, kind=kind, weights=WEIGHTS * 99), None)
    assert (np.abs(large(OBSERVATIONS)).max(), large(OBSERVATIONS)[:, 1:].min()) == (1.0, 0.0)


def test_sizes_for_one_car_are_enough(tmp_path: Path) -> None:
    """A network in which the number of cars is lost on the way drives them one by one."""
    nodes = [
        helper.make_node("Constant", [], ["size"], value_ints=[-1, 3]),
        helper.make_node("Reshape", ["mu", "size"], ["rows"]),
    ]
    driver = load_onnx_driver(made(tmp_path / "theirs.onnx", nodes=nodes, outputs=["rows"]), None)
    assert driver(OBSERVATIONS) == pytest.approx(EXPECTED, abs=1e-6)


OTHERS = {
    "value": helper.make_node("ReduceMean", ["mu"], ["value"], keepdims=0),
    "log_prob": helper.make_node("ReduceSum", ["mu"], ["log_prob"], keepdims=1),
    "noise": helper.make_node("Neg", ["mu"], ["noise"]),
    "best_action": helper.make_node("Identity", ["mu"], ["best_action"]),
    "actions": helper.make_node("Identity", ["mu"], ["actions"]),
}


@pytest.mark.parametrize(
    ("outputs", "chosen"),
    [
        (["value", "mu", "log_prob"], "mu"),
        (["noise", "best_action", "value"], "best_action"),
        (["best_action", "noise", "actions"], "actions"),
    ],
)
def test_the_actions_are_found_among_several_outputs(
    tmp_path: Path, outputs: list[str], chosen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By their shape, or else by their name; which one was taken is said."""
    path = made(tmp_path / "theirs.onnx", outputs=outputs, nodes=[OTHERS[name] for name in outputs if name != "mu"])
    assert load_onnx_driver(path, None)(OBSERVATIONS) == pytest.approx(EXPECTED, abs=1e-6)
    assert f"its output '{chosen}' of {', '.join(outputs)} is steer, throttle, brake" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"takes": ("batch", 13), "weights": WEIGHTS[:13]},
            r"expected one input of 14 numbers a car, .* got 'state' float \(batch, 13\)$",
        ),
        ({"takes": (8, 14)}, r"expected one input of 14 numbers a car, .* got 'state' float \(8, 14\)$"),
        (
            {"weights": WEIGHTS[:, :2], "returns": ("batch", 2)},
            r"expected an output of 3 numbers a car \(steer, throttle, brake\), .* got 'mu' float \(1, 2\)$",
        ),
        (
            {"outputs": ["mu", "noise"], "nodes": [OTHERS["noise"]]},
            r".* the only one or named 'actions', got 'mu' float \(1, 3\), 'noise' float \(1, 3\)$",
        ),
    ],
)
def test_other_sizes_are_refused(tmp_path: Path, options: Any, message: str) -> None:
    """With what was expected, and what came."""
    with pytest.raises(ModelError, match=r"theirs\.onnx is no driver: " + message):
        load_onnx_driver(made(tmp_path / "theirs.onnx", **options), None)


@pytest.mark.parametrize("name", ["vecnorm_stats.json", "theirs.vecnorm_stats.json", "theirs_vecnorm_stats.json"])
def test_statistics_beside_it_are_used(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Those named after the driver before others; which file it was is said, and so is all else that is assumed."""
    path = with_statistics(made(tmp_path / "theirs.onnx"), name=name)
    if name != "vecnorm_stats.json":
        with_statistics(path, {**STATS, "clip_obs": 5})
    driver = load_onnx_driver(path, load_physics())
    assert driver(OBSERVATIONS) == pytest.approx(NORMALISED, abs=1e-6)
    told = capsys.readouterr().err
    assert f"it takes observations normalised with {path.with_name(name)} (--no-vecnorm, if it norm" in told
    assert "its output 'mu' is steer, throttle, brake, which are clipped to their ranges outside it only" in told
    assert "each action is held for 1 tick; its tracks and reward weights are unknown" in told
    assert "does not say on which physics it was trained" in told


def test_what_the_user_says_goes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Raw observations in spite of statistics beside it; statistics from elsewhere, with the ticks of its actions."""
    path = with_statistics(made(tmp_path / "theirs.onnx"), {**STATS, "clip_obs": 5})
    assert load_driver(path, None, normalise=False)(OBSERVATIONS) == pytest.approx(EXPECTED, abs=1e-6)
    assert "it takes raw observations, as --no-vecnorm says" in capsys.readouterr().err
    with_statistics(path, {**STATS, "action_repeat": 4}, "elsewhere.json")
    driver = load_driver(path, None, vecnorm=tmp_path / "elsewhere.json")
    assert driver(OBSERVATIONS) == pytest.approx(NORMALISED, abs=1e-6)
    assert driver.action_repeat == 4
    assert "each action is held for 4 ticks" in capsys.readouterr().err


def test_nothing_is_normalised_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An exported driver says what it takes; one that has lost its metadata still holds the mean of its statistics."""
    rows = [numpy_helper.to_array(tensor).ravel() for tensor in onnx.load(PRETRAINED_DRIVER).graph.initializer]
    mean = next(row for row in rows if row.shape == (14,) and 0 < row[0] < 1)
    shutil.copy(PRETRAINED_DRIVER, tmp_path / "driver.onnx")
    expected = load_onnx_driver(tmp_path / "driver.onnx", None)(OBSERVATIONS)
    for path in (tmp_path / "driver.onnx", without_metadata(tmp_path / "mute.onnx")):
        with_statistics(path, {**STATS, "obs_mean": mean.astype(float).tolist()})
        assert np.array_equal(load_onnx_driver(path, None)(OBSERVATIONS), expected)
    assert (
        f"raw observations, as the mean in {tmp_path / 'vecnorm_stats.json'} is part of it" in capsys.readouterr().err
    )


@pytest.mark.parametrize("change", [lambda mean: -mean, lambda mean: mean.round(4), lambda mean: mean.astype("f2")])
def test_a_mean_that_is_negative_or_rounded_is_known_again(tmp_path: Path, change: Any) -> None:
    """Other programs add its negative, or write a few digits of it; then nothing is normalised twice."""
    mean = np.random.default_rng(2).uniform(-1, 1, 14)
    nodes = [helper.make_node("Add", ["state", "m"], ["shifted"]), helper.make_node("Neg", ["mu"], ["actions"])]
    nodes.append(helper.make_node("ReduceSum", ["shifted"], ["sum"], keepdims=1))
    path = made(tmp_path / "theirs.onnx", nodes=nodes, outputs=["mu", "sum"])
    model = onnx.load(path)
    model.graph.initializer.append(numpy_helper.from_array(change(mean).astype(np.float32), "m"))
    path.write_bytes(model.SerializeToString())
    with_statistics(path, {**STATS, "obs_mean": mean.tolist()})
    assert load_onnx_driver(path, None)(OBSERVATIONS) == pytest.approx(EXPECTED, abs=1e-6)
    with_statistics(path, {**STATS, "obs_mean": (mean * 1.01).tolist()})
    assert load_onnx_driver(path, None)(OBSERVATIONS) != pytest.approx(EXPECTED, abs=1e-6)


def test_what_another_program_adds_to_statistics_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Keys of its own, and a byte order mark."""
    path = made(tmp_path / "theirs.onnx")
    content = json.dumps({**STATS, "gamma": 0.99, "author": "me"})
    (tmp_path / "vecnorm_stats.json").write_text(content, encoding="utf-8-sig")
    assert load_onnx_driver(path, None)(OBSERVATIONS) == pytest.approx(NORMALISED, abs=1e-6)
    assert "vecnorm_stats.json also holds gamma, author, which is not known here" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["nowhere.json", "vecnorm_stats.json"])
def test_a_link_to_no_statistics_is_an_error(tmp_path: Path, target: str) -> None:
    """It leads nowhere, or in a circle; that there were to be statistics is known."""
    path = made(tmp_path / "theirs.onnx")
    make_link(tmp_path / "vecnorm_stats.json", tmp_path / target)
    with pytest.raises(ModelError, match="vecnorm_stats.json is a link that leads to no file"):
        load_onnx_driver(path, None)


def test_a_model_named_as_the_bundled_driver_is_said(
    fresh_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the file of the bundled one."""
    load_driver("pretrained", None, models_dir=tmp_path)
    assert capsys.readouterr().err == ""
    own = tmp_path / "pretrained_final.zip"
    shutil.copy(fresh_model, own)
    load_driver("pretrained", None, models_dir=tmp_path)
    told = capsys.readouterr().err
    assert told.startswith(f"note: pretrained is {own} here, a model of your own; the driver that comes with the")
    assert f"is {PRETRAINED_DRIVER}" in told
    options = ["--initialize-from", "pretrained", "--models-dir", str(tmp_path)]
    make_options(PPO, make_parser(PPO).parse_args(options))
    assert f"is {PRETRAINED_MODEL}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no JSON", "is not valid JSON"),
        ('{"obs_mean": ' + "[" * 100_000, "nested too deeply|is not valid JSON"),
        ({**STATS, "obs_mean": [float("nan")] * 14}, "obs_mean must be a finite number, got nan"),
        ({**STATS, "obs_var": [-1.0] * 14}, "obs_var must not be negative"),
        ({**STATS, "obs_var": [1.0] * 13}, "obs_var must be a list of 14 numbers"),
        ({**STATS, "clip_obs": None}, "clip_obs must be a number, got None"),
        ({**STATS, "action_repeat": 61}, "action_repeat must be at most 60, got 61"),
        ({**STATS, "epsilon": 5e-324}, "epsilon must be at least 1e-30"),
        ({"obs_mean": [0.0] * 14}, "the statistics lacks the key 'obs_var'"),
        ([1, 2], "the statistics must be an object, got list"),
    ],
)
def test_statistics_that_make_no_sense_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    """In one line that names the file."""
    path = with_statistics(made(tmp_path / "theirs.onnx"), content)
    if isinstance(content, str):
        (tmp_path / "vecnorm_stats.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=f"vecnorm_stats.json.*({message})") as refused:
        load_onnx_driver(path, None)
    assert "\n" not in str(refused.value)


def test_an_action_that_is_no_number_ends_the_drive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Weights may have been trained to pieces."""
    weights = WEIGHTS.copy()
    weights[:, 1] = np.nan
    assert evaluate.main(["--model", str(made(tmp_path / "theirs.onnx", weights=weights))]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.endswith("theirs.onnx cannot drive: expected finite numbers, and its throttle is nan")


# --- The scripts ---


@pytest.mark.timeout(60)
def test_it_is_measured_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To the tick as the driver that it is a copy of, on the first track where none is named."""
    path = without_metadata(tmp_path / "theirs.onnx")
    assert evaluate.main(["--model", str(path), "--compare", "pretrained", "--laps", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tracks"]["track-01"]["laps"] == 2
    assert found["tracks"] == found["compared_with"]["tracks"]


@pytest.mark.parametrize("is_scaled_outside", [False, True])
def test_plain_layers_drive_without_the_runtime(
    is_scaled_outside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which takes several times as long for a few cars; whatever normalises the observations."""
    path = with_statistics(gemm(tmp_path / "theirs.onnx")) if is_scaled_outside else gemm(tmp_path / "theirs.onnx")
    driver = load_onnx_driver(path, None)
    monkeypatch.setattr("training.drivers.network.Network.__call__", None)
    expected = NORMALISED if is_scaled_outside else EXPECTED
    assert driver(OBSERVATIONS) == pytest.approx(expected, abs=1e-6)


def test_layers_that_compute_something_else_are_left_to_the_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not equal to 1e-6 is not used."""
    path = gemm(tmp_path / "theirs.onnx")
    monkeypatch.setattr("training.algorithms.forward.ForwardPass.__call__", lambda self, seen: seen[:, :3])
    assert load_onnx_driver(path, None)(OBSERVATIONS) == pytest.approx(EXPECTED, abs=1e-6)
