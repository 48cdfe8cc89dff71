"""The attributes in a model file: what they may be, and which of them a loaded model has."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from racer_env.errors import ModelError
from tests.runs import load, rewritten
from training.checkpoints.data import read_model_data

ODD: list[tuple[str, Any]] = [
    ("num_timesteps", None),
    ("num_timesteps", -4096),
    ("num_timesteps", 1e300),
    ("_n_updates", "many"),
    ("policy_kwargs", []),
    ("policy_kwargs", {"net_arch": ["x"]}),
    ("policy_kwargs", {"net_arch": {"pi": 3}}),
    ("policy_kwargs", {"net_arch": [10**9, 10**9]}),
    ("policy_kwargs", {"n_critics": 10**9}),
    ("score", "best"),
    ("score", [1.0, 2.0, "x"]),
    ("score", [1.0, float("nan"), 2.0]),
    ("n_envs", 10**12),
    ("n_steps", 0),
    ("action_repeat", 0),
    ("run_seed", -1),
    ("saves", "often"),
    ("track_ids", "track-01"),
    ("track_ids", [1]),
    ("track_ids", ["track-01"] * 20_000),
    ("track_fingerprints", {"track-01": 1}),
    ("score_in_words", "\x1b[2J"),
]


@pytest.mark.parametrize(("name", "value"), ODD)
def test_an_odd_attribute_is_named(fresh_model: Path, tmp_path: Path, name: str, value: Any) -> None:
    """In one line that says what it should be."""
    path = rewritten(fresh_model, tmp_path / "odd_final.zip", lambda data: data.update({name: value}))
    with pytest.raises(ModelError, match=rf"cannot load .*odd_final\.zip: its (net_arch|{name}) ") as refused:
        read_model_data(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["num_timesteps", "policy_kwargs", "policy_class", "observation_space"])
def test_an_absent_attribute_is_named(fresh_model: Path, tmp_path: Path, name: str) -> None:
    """Without these, no model can be made."""
    path = rewritten(fresh_model, tmp_path / "odd_final.zip", lambda data: data.pop(name))
    with pytest.raises(ModelError, match=f"odd_final.zip: its data lack {name}"):
        load(path)


def test_no_attribute_takes_the_place_of_what_a_model_does(fresh_model: Path, tmp_path: Path) -> None:
    """A method, an environment, a logger or a device of the file is left out, and it drives."""
    names = ("save", "learn", "predict", "_logger", "env", "device", "_vec_normalize_env", "policy", "lr_schedule")
    path = rewritten(
        fresh_model, tmp_path / "odd_final.zip", lambda data: data.update({name: {"a": 1} for name in names})
    )
    model = load(path)
    assert not [name for name in names if getattr(model, name, None) == {"a": 1}]
    assert model.predict(np.zeros((1, 14), np.float32))[0].shape == (1, 3)
    model.save(tmp_path / "again.zip")


def with_weights(model: Path, target: Path, change: Any) -> Path:
    """Write a copy of a model whose weights, as PyTorch writes them, are changed."""
    with zipfile.ZipFile(model) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            copy.writestr(name, source.read(name))
        with copy.open("more.pth", "w") as part:
            change(part)
    return target


def write_packed(part: Any) -> None:
    """Write an archive, as PyTorch's are, that unpacks to many times its size."""
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data/0", bytes(1_000_000))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (write_packed, r"more\.pth: it would unpack from"),
        (lambda part: part.write(b"\x80\x02}q\x00."), r"more\.pth: it is damaged or something else"),
        (
            lambda part: torch.save({"a": torch.zeros(1).expand(10**9)}, part),
            r"a tensor of 4,000,000,000 bytes is stored",
        ),
    ],
    ids=["packed", "another format", "repeated"],
)
def test_weights_that_grow_are_refused(fresh_model: Path, tmp_path: Path, change: Any, message: str) -> None:
    """Before they fill the memory."""
    with pytest.raises(ModelError, match=message):
        load(with_weights(fresh_model, tmp_path / "odd_final.zip", change))
