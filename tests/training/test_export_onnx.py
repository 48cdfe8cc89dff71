"""Exported drivers: three files that drive as the model does, or none."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from racer_env.errors import ModelError
from racer_env.physics import load_physics
from racer_env.project import PROJECT_ROOT
from tests.runs import as_before, load, make_fresh
from training import evaluate, export_onnx
from training.algorithms.networks import DeterministicPolicy, NormalisingPolicy
from training.algorithms.registry import algorithm_named
from training.checkpoints.files import statistics_path
from training.checkpoints.pickled import read_pickled
from training.drivers.card import read_card
from training.drivers.exported import load_onnx_driver
from training.drivers.loading import load_driver

pytestmark = [pytest.mark.timeout(60), pytest.mark.slow]

FILES = {"model.onnx", "vecnorm_stats.json", "driver.onnx"}


@pytest.fixture(scope="module", params=["PPO", "SAC"])
def model(request: pytest.FixtureRequest) -> Path:
    """A trained model of either algorithm."""
    folder: Path = request.getfixturevalue({"PPO": "trained", "SAC": "trained_sac"}[request.param])
    return folder / "models" / "lap_final.zip"


@pytest.fixture(scope="module")
def exported(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an export of it."""
    folder = tmp_path_factory.mktemp("exported")
    assert export_onnx.main(["--model", str(model), "--output-dir", str(folder)]) == 0
    return folder


def actions_of(path: Path, observations: np.ndarray) -> np.ndarray:
    """Return what plain onnxruntime makes of observations, as a game would."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    actions: Any = session.run(["actions"], {"obs": observations})[0]
    return actions


def test_three_small_files(exported: Path) -> None:
    """Each network is one file of less than 40 KB without its weights elsewhere; nothing else is left."""
    assert {path.name for path in exported.iterdir()} == FILES
    for name in ("model.onnx", "driver.onnx"):
        assert (exported / name).stat().st_size < 40 * 1024
        document = onnx.load(exported / name)
        assert (document.opset_import[0].version, document.ir_version) == (18, 8)  # onnxruntime-web 1.14 reads these
        assert {value.data_type for value in document.graph.initializer} == {onnx.TensorProto.FLOAT}
        assert "Cast" not in {node.op_type for node in document.graph.node}  # doubles are refused in WebGPU
        assert document.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
        assert b"site-packages" not in (exported / name).read_bytes()


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_both_drive_as_the_model(model: Path, exported: Path, batch: int) -> None:
    """The raw one on observations, the game's pair on what the game normalises itself; actions within their range."""
    observations = np.random.default_rng(batch).random((batch, 14), dtype=np.float32)
    statistics = json.loads((exported / "vecnorm_stats.json").read_text(encoding="utf-8"))
    scaled = (observations - np.array(statistics["obs_mean"])) / np.sqrt(
        np.array(statistics["obs_var"]) + statistics["epsilon"]
    )
    normalised = np.clip(scaled, -statistics["clip_obs"], statistics["clip_obs"]).astype(np.float32)
    expected = load_driver(model, load_physics())(observations)
    assert actions_of(exported / "driver.onnx", observations) == pytest.approx(expected, abs=1e-5)
    assert actions_of(exported / "model.onnx", normalised) == pytest.approx(expected, abs=1e-5)
    assert np.abs(expected).max() <= 1.0
    assert expected[:, 1:].min() >= 0.0


def test_it_says_what_it_is(model: Path, exported: Path) -> None:
    """Names, ranges, tick rate, physics, tracks and action repeat are in the metadata."""
    session = onnxruntime.InferenceSession(str(exported / "driver.onnx"))
    card = json.loads(session.get_modelmeta().custom_metadata_map["racer_driver"])
    assert card["physics_fingerprint"] == load_physics().fingerprint
    assert card["ticks_per_second"] == 60
    assert card["min_onnxruntime"] == "1.14"
    assert card["track_ids"] == ["track-01"]
    assert card["actions"][0] == {"name": "steer", "low": -1.0, "high": 1.0}
    assert [len(card[key]) for key in ("observation", "actions")] == [14, 3]
    repeat = {"PPO": 1, "SAC": 4}[card["algorithm"]]
    assert card["action_repeat"] == repeat
    assert json.loads((exported / "vecnorm_stats.json").read_text(encoding="utf-8"))["action_repeat"] == repeat


def test_it_laps_as_the_model_does(model: Path, exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evaluation takes all three forms, and the lap times are the same."""
    times = []
    for path in (model, exported / "driver.onnx", exported / "model.onnx"):
        capsys.readouterr()
        assert evaluate.main(["--model", str(path), "--laps", "2", "--json"]) == 0
        track = json.loads(capsys.readouterr().out)["tracks"]["track-01"]
        assert track["laps"] == 2
        times.append(track["lap_times_sec"])
    assert times[0] == times[1] == times[2]


def test_driving_an_export_needs_no_pytorch(exported: Path) -> None:
    """Neither PyTorch nor stable-baselines3 nor pickles are loaded for it."""
    script = f"""
import sys
sys.modules["torch"] = sys.modules["stable_baselines3"] = None
from training.evaluate import main
sys.exit(main(["--model", {str(exported / "driver.onnx")!r}, "--laps", "1"]))
"""
    result = subprocess.run([sys.executable, "-c", script], cwd=PROJECT_ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "100%" in result.stdout


def test_actions_stay_within_their_bounds(trained_sac: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some runtimes' tanh exceeds 1 by a rounding error."""
    tanh = torch.tanh
    monkeypatch.setattr(torch, "tanh", lambda given: 1.0000001 * tanh(1000 * given))
    policy = DeterministicPolicy(algorithm_named("SAC"), load(trained_sac / "models" / "lap_final.zip").policy)
    with torch.no_grad():
        actions = policy(torch.linspace(-5, 5, 14 * 50).reshape(50, 14)).numpy()
    assert (actions.min(), actions.max()) == (-1.0, 1.0)
    assert actions[:, 1:].min() == 0.0


def test_normalisation_is_as_precise_as_in_training(trained: Path) -> None:
    """An observation that hardly ever changes loses its digits in single precision."""
    policy = DeterministicPolicy(algorithm_named("PPO"), load(trained / "models" / "lap_final.zip").policy)
    statistics = {"obs_mean": [0.7] * 14, "obs_var": [1e-9] * 14, "clip_obs": 10.0, "epsilon": 1e-8}
    observations = np.float32(0.7) + np.linspace(-3e-4, 3e-4, 28, dtype=np.float32).reshape(2, 14)
    scaled = np.clip((observations.astype(np.float64) - 0.7) / np.sqrt(1e-9 + 1e-8), -10, 10).astype(np.float32)
    with torch.no_grad():
        raw = NormalisingPolicy(policy, statistics)(torch.from_numpy(observations)).numpy()
        expected = policy(torch.from_numpy(scaled)).numpy()
    assert raw == pytest.approx(expected, abs=1e-7)


def test_the_printed_command_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where the model's own tracks are elsewhere, its physics are others, and names have spaces."""
    folder = tmp_path / "own models"
    folder.mkdir()
    make_fresh(folder, "own_final", track_ids=["lost"], physics_fingerprint="f" * 64)
    tracks = tmp_path / "own tracks"
    shutil.copytree(PROJECT_ROOT / "tracks", tracks)
    document = json.loads((tracks / "track-01.json").read_text(encoding="utf-8"))
    (tracks / "own road.json").write_text(json.dumps({**document, "id": "own road"}), encoding="utf-8")
    arguments = ["--model", "own_final", "--models-dir", str(folder), "--output-dir", str(tmp_path / "my driver")]
    assert export_onnx.main([*arguments, "--tracks-dir", str(tracks), "--track-id", "own road"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("see it drive: ")]
    arguments = shlex.split(line.removeprefix("see it drive: "))
    assert arguments[:3] == ["python", "-m", "training.evaluate"]
    assert evaluate.main([*arguments[3:], "--laps", "1", "--json"]) == 0
    assert [*json.loads(capsys.readouterr().out)["tracks"]] == ["own road"]


def test_a_model_without_normalisation_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its statistics change nothing, so that the game loads its files like any others."""
    path = make_fresh(tmp_path)
    assert export_onnx.main(["--model", str(path), "--no-vecnorm", "--output-dir", str(tmp_path / "out")]) == 0
    assert "vecnorm_stats.json (0.4 KB), which changes nothing" in capsys.readouterr().out
    observations = np.random.default_rng(0).uniform(-1, 1, (50, 14)).astype(np.float32)
    expected, _ = load(path).predict(observations, deterministic=True)
    for name in ("model.onnx", "driver.onnx"):
        driver = load_onnx_driver(tmp_path / "out" / name, load_physics())
        assert driver(observations) == pytest.approx(expected, abs=1e-6)


def test_where_it_does_not_run_is_said(
    fresh_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A network that needs double precision is written, as it drives on the CPU."""
    real = DeterministicPolicy.forward
    monkeypatch.setattr(DeterministicPolicy, "forward", lambda self, obs: real(self, obs).double().mul(1.0).float())
    assert export_onnx.main(["--model", str(fresh_model), "--output-dir", str(tmp_path / "out")]) == 0
    assert "and later, on the CPU, but not in WebGPU: they need double precision" in capsys.readouterr().out


# --- What is refused ---


def test_an_export_that_differs_is_not_written(
    fresh_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, what differs by how much, and no file."""
    real = DeterministicPolicy.forward
    monkeypatch.setattr(DeterministicPolicy, "forward", lambda self, obs: real(self, obs) + 2e-5)
    assert export_onnx.main(["--model", str(fresh_model), "--output-dir", str(tmp_path / "out")]) == 1
    output = capsys.readouterr().out
    assert "driver.onnx on 1,000 real observations: differs from the model by up to 2e-05" in output
    assert "nothing was written" in output
    assert [*(tmp_path / "out").iterdir()] == []


def test_an_export_goes_beside_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --output-dir, into a folder of the model's name; statistics that are elsewhere have to be named."""
    path = as_before(make_fresh(tmp_path))
    moved = statistics_path(path).rename(tmp_path / "elsewhere.pkl")
    assert export_onnx.main(["--model", str(path)]) == 2
    assert "the statistics of" in capsys.readouterr().err
    assert export_onnx.main(["--model", str(path), "--vecnorm", str(moved)]) == 0
    assert {file.name for file in (tmp_path / "fresh_final").iterdir()} == FILES
    driver = load_onnx_driver(tmp_path / "fresh_final" / "driver.onnx", load_physics())
    observations = np.full((3, 14), 0.5, np.float32)
    expected, _ = load(path).predict(read_pickled(moved)(observations), deterministic=True)
    assert driver(observations) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "missing"], "no model or run missing"),
        (["--model", "scripted"], "no model or run scripted"),
        (["--model", "pretrained"], "no model or run pretrained; the driver of that name comes with the project"),
    ],
)
def test_what_cannot_be_exported(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line and exit code 2."""
    assert export_onnx.main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def foreign(path: Path) -> Path:
    """Write an ONNX file that is no driver."""
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    out = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g", [value], [out])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]), path)
    return path


def test_onnx_files_of_something_else(tmp_path: Path, exported: Path) -> None:
    """Missing, damaged, another network, other physics, or statistics that do not fit."""
    with pytest.raises(ModelError, match="no exported driver"):
        read_card(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"no network")
    with pytest.raises(ModelError, match="cannot load .*bad.onnx as an ONNX model"):
        read_card(tmp_path / "bad.onnx")
    with pytest.raises(ModelError, match="odd.onnx is no driver: expected one input of 14 numbers"):
        read_card(foreign(tmp_path / "odd.onnx"))
    import copy

    other = copy.copy(load_physics())
    other.fingerprint = "0" * 64
    with pytest.raises(ModelError, match="trained on other physics"):
        load_onnx_driver(exported / "driver.onnx", other)
    shutil.copy(exported / "model.onnx", tmp_path / "model.onnx")
    with pytest.raises(ModelError, match="vecnorm_stats.json is missing: copy it there with the model"):
        load_onnx_driver(tmp_path / "model.onnx", load_physics())
    (tmp_path / "vecnorm_stats.json").write_text('{"obs_mean": [0], "obs_var": [1], "clip_obs": 10, "epsilon": 0}')
    with pytest.raises(ModelError, match="obs_mean must be a list of 14 numbers"):
        load_onnx_driver(tmp_path / "model.onnx", load_physics())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"obs_mean": [0.5] * 14}, "not the statistics that the model beside was exported with"),
        ({"action_repeat": 7}, "not the statistics that the model beside was exported with"),
        ({"clip_obs": 0}, "clip_obs must be above 0"),
        ({"epsilon": -1}, "epsilon must be above 0"),
    ],
)
def test_statistics_of_another_driver_are_refused(
    tmp_path: Path, exported: Path, change: dict[str, Any], message: str
) -> None:
    """A driver is nothing without its own; their layout does not matter."""
    shutil.copy(exported / "model.onnx", tmp_path / "model.onnx")
    document = json.loads((exported / "vecnorm_stats.json").read_text(encoding="utf-8"))
    (tmp_path / "vecnorm_stats.json").write_text(json.dumps(document))
    assert load_onnx_driver(tmp_path / "model.onnx", load_physics())
    (tmp_path / "vecnorm_stats.json").write_text(json.dumps({**document, **change}))
    with pytest.raises(ModelError, match=message):
        load_onnx_driver(tmp_path / "model.onnx", load_physics())


@pytest.mark.parametrize(
    "change",
    [
        '"action_repeat": Infinity',
        '"action_repeat": 61',
        '"action_repeat": "4"',
        '"action_repeat": true',
        '"action_repeat": 4.0',
        '"track_ids": "track-01"',
        '"normalises": 1',
        '"track_ids": [1]',
        '"physics_fingerprint": 5',
        '"algorithm": 5',
        '"track_fingerprints": []',
        '"normalises": ' + "[" * 100_000,
    ],
)
def test_metadata_that_makes_no_sense(tmp_path: Path, exported: Path, change: str) -> None:
    """One line each, whatever a stranger's file says about itself."""
    document = onnx.load(exported / "driver.onnx")
    card = document.metadata_props[0].value
    onnx.helper.set_model_props(document, {"racer_driver": f"{card[:-1]}, {change}}}"})
    onnx.save(document, tmp_path / "odd.onnx")
    with pytest.raises(ModelError, match="does not say what it was trained on|says odd things about itself"):
        read_card(tmp_path / "odd.onnx")


def test_a_folder_in_the_way_is_named_before_anything_is_written(
    fresh_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The three files come together or not at all."""
    (tmp_path / "driver.onnx").mkdir()
    assert export_onnx.main(["--model", str(fresh_model), "--output-dir", str(tmp_path)]) == 2
    assert "driver.onnx is a folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["driver.onnx"]


def test_an_export_has_no_noise(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Asking for it is an error."""
    assert evaluate.main(["--model", str(exported / "driver.onnx"), "--no-deterministic"]) == 2
    assert "drives deterministically only" in capsys.readouterr().err


@pytest.mark.parametrize("flag", [["--no-vecnorm"], ["--vecnorm", "own.pkl"]])
def test_an_export_has_its_own_statistics(exported: Path, flag: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Naming others would change nothing, so it is an error."""
    assert evaluate.main(["--model", str(exported / "driver.onnx"), *flag]) == 2
    assert "driver.onnx says itself which observations it takes; leave out --vecnorm" in capsys.readouterr().err
