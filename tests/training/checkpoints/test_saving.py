"""A model and what belongs to it on disk: one unit, whole at every instant."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.vec_env import RacerVecEnv
from tests.runs import load, make_fresh
from training.checkpoints.data import read_model_data
from training.checkpoints.files import document_path, find_model, find_statistics, statistics_path
from training.checkpoints.saving import remember, save_unit
from training.checkpoints.statistics import load_statistics
from training.checkpoints.writing import beside

pytestmark = pytest.mark.timeout(60)  # on a busy machine

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork to die in the middle")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A saved pair that says "old"."""
    return make_fresh(tmp_path, "a_final", marker="old")


def make_new(old: Path) -> tuple[Any, VecNormalize]:
    """Return the same model with other statistics, saying "new"."""
    model, statistics = load(old), load_statistics(statistics_path(old), RacerVecEnv(["track-01"], 4))
    statistics.obs_rms.mean = statistics.obs_rms.mean + 1.0
    remember(model, marker="new")
    return model, statistics


def in_child(act: Callable[[], None]) -> int:
    """Do something in a process of its own and return its exit code; nothing is cleaned up there."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def marker_of(path: Path) -> tuple[str, float]:
    """Return what the pair under a name says, and a number of its statistics; it must belong together."""
    data = read_model_data(find_model(path))
    assert load(path)
    return data.attributes["marker"], float(load_statistics(find_statistics(data)).obs_rms.mean[9])


@posix_only
def test_killed_at_every_instant_the_pair_is_whole(old: Path, tmp_path: Path) -> None:
    """Wherever saving is cut off, what is found afterwards is the old pair or the new one, never a mixture."""
    model, statistics = make_new(old)
    before = marker_of(old)[1]
    seen = []
    for instant in range(30):
        calls = 0

        def die_when_due(*arguments: Any, instant: int = instant) -> None:
            nonlocal calls
            calls += 1
            if calls > instant:
                os._exit(9)

        def save(instant: int = instant) -> None:
            for name in ("fsync", "replace", "rename", "unlink"):
                real = getattr(os, name)
                setattr(os, name, lambda *a, real=real, **k: (die_when_due(), real(*a, **k), die_when_due())[1])
            save_unit(model, statistics, old)

        code = in_child(save)
        marker, mean = marker_of(old)
        assert mean == pytest.approx(before + (marker == "new"))
        seen.append(marker)
        if code == 0:
            break
        if marker == "new":  # put the old one back
            old.unlink()
            make_fresh(tmp_path, "a_final", marker="old")
    assert code == 0, "the loop ends when saving is no longer cut off"
    assert seen.count("old") >= 4
    assert seen.count("new") >= 2


@posix_only
def test_a_full_disk_leaves_the_old_pair(old: Path) -> None:
    """No space for the model: an error, the old pair, and nothing half-written."""
    import resource

    model, statistics = make_new(old)

    def save() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        with pytest.raises(OSError, match="too large"):
            save_unit(model, statistics, old)

    assert in_child(save) == 0
    assert marker_of(old)[0] == "old"
    assert not beside(old).exists()
    assert not beside(statistics_path(old)).exists()


def test_a_failed_write_leaves_the_old_pair(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails while files are written beside, those in place stay as they are."""
    model, statistics = make_new(old)

    def fail(path: str) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model, "save", fail)
    with pytest.raises(OSError, match="No space"):
        save_unit(model, statistics, old)
    assert marker_of(old)[0] == "old"
    assert [path.name for path in old.parent.iterdir() if path.name.startswith(".")] == []


def test_saving_replaces_the_pair(old: Path) -> None:
    """In the end the new one is there, its statistics as JSON too."""
    import json

    save_unit(*make_new(old), old)
    marker, mean = marker_of(old)
    assert marker == "new"
    document = json.loads(document_path(old).read_text(encoding="utf-8"))
    assert document["obs_mean"][9] == pytest.approx(mean)
    assert set(document) >= {"obs_mean", "obs_var", "obs_count", "clip_obs", "epsilon"}


def test_a_reader_may_complete_a_save_first(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script that looks for the model between the two renames completes the save, and saving does not mind."""
    real = Path.replace

    def replace(path: Path, target: Path) -> Path:
        result = real(path, target)
        if target.suffix == ".pkl":
            assert marker_of(old)[0] == "new"
        return result

    monkeypatch.setattr(Path, "replace", replace)
    save_unit(*make_new(old), old)
    assert marker_of(old)[0] == "new"


def test_a_model_of_numpy_numbers_is_saved(old: Path) -> None:
    """Statistics survive the round trip: mean, variance and count, bit by bit."""
    model, statistics = make_new(old)
    save_unit(model, statistics, old)
    loaded = load_statistics(statistics_path(old))
    for name in ("obs_rms", "ret_rms"):
        for part in ("mean", "var", "count"):
            assert np.array_equal(getattr(getattr(loaded, name), part), getattr(getattr(statistics, name), part))
