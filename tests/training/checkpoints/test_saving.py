"""A model and what belongs to it on disk: one unit, whole at every instant."""

import io
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.vec_env import RacerVecEnv
from tests.helpers import in_child
from training.checkpoints.data import read_model_data
from training.checkpoints.files import document_path, find_model, find_statistics, models_of, statistics_path
from training.checkpoints.leftovers import clear_leftovers, find_buffer
from training.checkpoints.pickled import read_pickled
from training.checkpoints.pruning import prune_checkpoints
from training.checkpoints.replay_buffer import read_buffer
from training.checkpoints.saving import remember, save_unit
from training.checkpoints.vec_normalize import observation_moments, statistics_of
from training.checkpoints.writing import beside

pytestmark = pytest.mark.timeout(60)  # on a busy machine

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork to die in the middle")
OLD, NEW = 1, 2


def make_unit(algorithm: type[BaseAlgorithm] = PPO) -> tuple[BaseAlgorithm, VecNormalize]:
    """Return a small model with statistics that have seen something."""
    env = VecNormalize(RacerVecEnv(["track-01"], 2))
    env.reset()
    more: dict[str, Any] = {"buffer_size": 40} if algorithm is SAC else {"n_steps": 2, "batch_size": 4}
    return algorithm("MlpPolicy", env, policy_kwargs={"net_arch": [4]}, device="cpu", **more), env


def save(unit: tuple[Any, VecNormalize], path: Path, version: int) -> None:
    """Save a unit of which every part tells the version."""
    model, env = unit
    remember(model, version=version)
    observation_moments(env).mean[:] = version
    if isinstance(model, SAC):
        seen = np.zeros((2, 14), np.float32)
        model.replay_buffer.add(seen, seen, np.zeros((2, 3)), np.full(2, version), np.zeros(2), [{}, {}])
    save_unit(model, env, path, with_buffer=True)


def version_of(folder: Path, name: str) -> int:
    """Return the version of the unit that a name stands for; all parts of it must tell the same."""
    data = find_model(name, folder)
    version = data.attributes["version"]
    assert find_statistics(data).obs_mean == (version,) * 14
    buffer = find_buffer(data)
    if data.algorithm.has_buffer:
        assert buffer is not None
        assert read_buffer(buffer, 100)["rewards"].max() == version
    return int(version)


def die_at(call: int, folder: Path) -> None:
    """Let this process be gone, without any cleaning up, just before so many calls that change files of a folder."""
    calls = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal calls
        changes = event in ("os.rename", "os.remove") or (event == "open" and arguments[1] not in ("r", "rb", None))
        if changes and str(arguments[0]).startswith(str(folder)):
            calls += 1
            if calls > call:
                os._exit(137)

    sys.addaudithook(watch)


@posix_only
@pytest.mark.parametrize("algorithm", [PPO, SAC])
@pytest.mark.parametrize(("old", "new"), [("a_final", "a_final"), ("a_1_steps", "a_2_steps")])
def test_killed_at_every_instant_the_unit_is_whole(
    tmp_path: Path, algorithm: type[BaseAlgorithm], old: str, new: str
) -> None:
    """Wherever saving and pruning are cut off, the old unit or the new one is found, and the next start tidies up."""
    unit, seen, code, instant = make_unit(algorithm), [], 137, 0
    save(unit, tmp_path / "old" / f"{old}.zip", OLD)
    while code != 0:
        folder = tmp_path / f"{instant}"
        shutil.copytree(tmp_path / "old", folder)

        def act(instant: int = instant, folder: Path = folder) -> None:
            die_at(instant, folder)
            save(unit, folder / f"{new}.zip", NEW)
            prune_checkpoints(folder, "a", 1)

        code = in_child(act)
        assert code in (0, 137)
        seen.append(version_of(folder, "a"))
        clear_leftovers(folder, "a")
        assert version_of(folder, "a") == seen[-1]
        assert [*folder.glob(".*")] == []
        for path in folder.glob("*.pkl"):  # they are those of the model beside
            assert any(statistics_path(model) == path for model in models_of(folder, "a"))
            assert read_pickled(path).obs_mean[0] in (OLD, seen[-1] if old == new else NEW)
        instant += 1
    assert seen == sorted(seen), "first the old one, and from one instant on the new one"
    assert seen.count(OLD) >= 5
    assert seen.count(NEW) >= 3


@posix_only
def test_a_full_disk_leaves_the_old_unit(tmp_path: Path) -> None:
    """No space for the model: an error, the old unit, and nothing half-written."""
    import resource

    unit, path = make_unit(), tmp_path / "a_final.zip"
    save(unit, path, OLD)
    content = statistics_path(path).read_bytes()

    def act() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))
        with pytest.raises(OSError, match="too large"):
            save(unit, path, NEW)

    assert in_child(act) == 0
    assert version_of(tmp_path, "a") == OLD
    assert statistics_path(path).read_bytes() == content
    assert [*tmp_path.glob(".*")] == []


@pytest.mark.parametrize("part", [0, 1])
def test_a_failed_write_leaves_the_old_unit(tmp_path: Path, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails while files are written beside, those in place stay as they are."""
    unit, path = make_unit(), tmp_path / "a_final.zip"
    save(unit, path, OLD)

    def fail(place: Any) -> None:
        if not isinstance(place, io.BytesIO):
            Path(place).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(unit[part], "save", fail)
    with pytest.raises(OSError, match=r"No space left on device: '.*\.a_final.*\.partial\."):
        save(unit, path, NEW)
    assert version_of(tmp_path, "a") == read_pickled(statistics_path(path)).obs_mean[0] == OLD
    assert [*tmp_path.glob(".*")] == []


def test_saving_replaces_the_unit(tmp_path: Path) -> None:
    """In the end the new one is there; its statistics are the same, bit by bit, in the model and in both files."""
    import json

    unit, path = make_unit(), tmp_path / "a_final.zip"
    save(unit, path, OLD)
    save(unit, path, NEW)
    assert version_of(tmp_path, "a_final") == NEW
    expected = statistics_of(unit[1])
    assert find_statistics(read_model_data(path)) == read_pickled(statistics_path(path)) == expected
    assert json.loads(document_path(path).read_text(encoding="utf-8")) == expected.document()


def test_a_model_says_how_many_were_saved_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the newest ones stay, and the newest is found, also where the clock runs backwards."""
    unit, times = make_unit(), iter(range(2_000_000_000, 0, -3600))
    monkeypatch.setattr("time.time", lambda: float(next(times)))
    for steps in (7, 8, 9):
        save(unit, tmp_path / f"a_{steps}_steps.zip", steps)
        prune_checkpoints(tmp_path, "a", 2)
    assert {path.name for path in tmp_path.glob("*.zip")} == {"a_8_steps.zip", "a_9_steps.zip"}
    assert version_of(tmp_path, "a") == 9
    assert read_model_data(tmp_path / "a_9_steps.zip").saves == 3


def test_what_waits_of_another_model_is_not_put_in_place(tmp_path: Path) -> None:
    """Only what was written with the model that is there; the rest of that run is deleted, and no other run's."""
    unit, path = make_unit(SAC), tmp_path / "a_final.zip"
    save(unit, path, OLD)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    save(unit, tmp_path / "b_final.zip", NEW)
    for file in tmp_path.glob("b_final*"):
        file.rename(beside(tmp_path / file.name.replace("b_", "a_", 1)))
    others = [beside(tmp_path / name) for name in ("a_1_final.zip", "ab_final_vecnormalize.pkl")]
    for other in others:
        other.write_bytes(b"half")
    clear_leftovers(tmp_path, "a")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file not in others} == before
    assert all(other.exists() for other in others)
