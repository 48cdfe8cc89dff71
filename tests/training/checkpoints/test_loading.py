"""Loading models: only what belongs there, and nothing that a pickle could run."""

import base64
import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from racer_env.errors import ModelError
from racer_env.physics import load_physics
from tests.runs import load, rewritten
from training.checkpoints.data import UNKNOWN_PHYSICS, check_physics, read_model_data
from training.checkpoints.loading import POLICY, load_model


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_a_pickle_in_a_model_is_not_opened(fresh_model: Path, tmp_path: Path) -> None:
    """Whatever is hidden in any attribute, known or new, does not run."""
    sprung = tmp_path / "sprung"
    trap = {":type:": "x", ":serialized:": base64.b64encode(pickle.dumps(Trap(sprung))).decode()}

    def set_traps(data: dict[str, Any]) -> None:
        for name in [name for name, value in data.items() if isinstance(value, dict) and ":serialized:" in value]:
            data[name][":serialized:"] = trap[":serialized:"]
        data["harmless"] = trap

    path = rewritten(fresh_model, tmp_path / "trap_final.zip", set_traps)
    assert load(path).predict(np.zeros((1, 14), np.float32))[0].shape == (1, 3)
    assert not sprung.exists()
    pickle.loads(base64.b64decode(trap[":serialized:"]))
    assert sprung.exists()  # the trap works


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(fresh_model: Path, tmp_path: Path, value: float) -> None:
    """Of a training that has diverged; one line, whatever is to be done with the model."""
    path = tmp_path / "lost_final.zip"
    with zipfile.ZipFile(fresh_model) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == POLICY:
                weights = torch.load(io.BytesIO(content), weights_only=True)
                next(iter(weights.values())).view(-1)[0] = value
                changed = io.BytesIO()
                torch.save(weights, changed)
                content = changed.getvalue()
            target.writestr(name, content)
    with pytest.raises(ModelError, match=r"lost_final.zip: policy.pth: it has weights that are NaN or infinite"):
        load(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_model(fresh_model: Path, tmp_path: Path, share: float) -> None:
    """A file that was cut off anywhere is named."""
    content = fresh_model.read_bytes()
    (tmp_path / "bad_final.zip").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelError, match="bad_final.zip"):
        read_model_data(tmp_path / "bad_final.zip")


def test_a_flipped_bit_in_a_model(fresh_model: Path, tmp_path: Path) -> None:
    """Every part is checked against its sum, the weights too."""
    content = bytearray(fresh_model.read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "bad_final.zip").write_bytes(content)
    with pytest.raises(ModelError, match="bad_final.zip"):
        read_model_data(tmp_path / "bad_final.zip")


@pytest.mark.parametrize("names", [[], ["data"], ["policy.pth"]])
def test_a_foreign_zip(tmp_path: Path, names: list[str]) -> None:
    """A zip file of something else is no model."""
    with zipfile.ZipFile(tmp_path / "odd.zip", "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    with pytest.raises(ModelError, match="odd.zip: it is a zip file, but no model of stable-baselines3"):
        read_model_data(tmp_path / "odd.zip")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda data: data["observation_space"].update(_shape=[9]),
            r"trained on observations of shape \(9,\); .* \(14,\)",
        ),
        (lambda data: data["policy_class"].update(__module__="mine"), "has a policy of its own, mine"),
        (lambda data: data.pop("n_epochs"), "a model of neither PPO nor SAC"),
        (lambda data: data.update(policy_kwargs={":serialized:": "x"}), "a network of its own classes"),
        (lambda data: data.update(policy_kwargs={"net_arch": [8]}), "cannot load .* as a PPO model"),
    ],
)
def test_models_of_something_else(fresh_model: Path, tmp_path: Path, change: Any, message: str) -> None:
    """Another observation, policy, algorithm or network: one line."""
    path = rewritten(fresh_model, tmp_path / "odd_final.zip", change)
    with pytest.raises(ModelError, match=message):
        load_model(read_model_data(path), None, "cpu")


def test_physics_have_to_be_those_of_training(fresh_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other ones are refused where the game's are known, with both fingerprints; unknown ones are noted."""
    data = read_model_data(fresh_model)
    check_physics(data.path, data.physics, load_physics())
    check_physics(data.path, "0123456789abcdef", None)
    with pytest.raises(ModelError, match="other physics: 0123456789ab against"):
        check_physics(data.path, "0123456789abcdef", load_physics())
    assert capsys.readouterr().err == ""
    for unknown in (None, UNKNOWN_PHYSICS):
        check_physics(data.path, unknown, load_physics())
        assert "does not say on which physics it was trained" in capsys.readouterr().err
