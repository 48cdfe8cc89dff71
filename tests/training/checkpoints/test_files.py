"""Names of model files, finding what belongs together, and which files stay."""

import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from racer_env.errors import ModelError, TrackError
from racer_env.project import DEFAULT_TRACKS_DIR
from tests.runs import as_before, make_fresh, rewritten
from training.checkpoints import files
from training.checkpoints.data import read_model_data
from training.checkpoints.files import (
    STATISTICS,
    buffer_path,
    document_path,
    find_model,
    find_statistics,
    model_path,
    models_of,
    run_of,
    statistics_path,
)
from training.checkpoints.pruning import prune_checkpoints
from training.checkpoints.writing import beside, digest_of
from training.console.tracks import load_tracks_for
from training.runs.folders import choose_run_name, remove_run

pytestmark = pytest.mark.timeout(60)  # on a busy machine


@pytest.mark.parametrize(
    ("tag", "model", "companion"),
    [
        (50048, "run_50048_steps.zip", "run_{}_50048_steps"),
        ("final", "run_final.zip", "run_final_{}"),
        ("interrupted", "run_interrupted.zip", "run_interrupted_{}"),
        ("best", "run_best.zip", "run_best_{}"),
    ],
)
def test_names(tag: str | int, model: str, companion: str) -> None:
    """Model, statistics and replay buffer carry the agreed names."""
    path = model_path(Path("models"), "run", tag)
    assert path.name == model
    assert run_of(path) == "run"
    assert statistics_path(path) == Path("models") / (companion.format("vecnormalize") + ".pkl")
    assert document_path(path).name == companion.format("vecnormalize") + ".json"
    assert buffer_path(path).name == companion.format("replay_buffer") + ".npz"


def make_zip(path: Path, **data: object) -> Path:
    """Write a zip file with as much of a model as finding one needs."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("policy.pth", b"")
    return path


@pytest.mark.parametrize("name", ["run_final.zip", "run_final", "run.v2_final", "run.v2_final.zip"])
def test_a_model_is_found_with_and_without_zip(tmp_path: Path, name: str) -> None:
    """The ending may be left out, also when the name has a dot."""
    expected = make_zip(tmp_path / (name if name.endswith(".zip") else f"{name}.zip"))
    assert find_model(tmp_path / name).path == expected


def test_a_missing_model_names_those_that_are_there(tmp_path: Path) -> None:
    """The message helps to find the right one."""
    make_zip(tmp_path / "other_final.zip")
    with pytest.raises(ModelError, match=r"no model or run .*run_final; in .* there are: other"):
        find_model(tmp_path / "run_final")


def test_a_run_of_a_sweep_is_found_by_both_names(tmp_path: Path) -> None:
    """As comparisons take it; a whole path goes before."""
    folder = tmp_path / "sweep"
    folder.mkdir()
    best = make_zip(folder / "run_best.zip")
    newest = save_set(folder, "run_final", 1)
    assert find_model("sweep/run_best", tmp_path).path == find_model("sweep/run_best.zip", tmp_path).path == best
    assert find_model("sweep/run", tmp_path).path == newest
    with pytest.raises(ModelError, match=r"no model or run sweep/other; in .*sweep there are: run"):
        find_model("sweep/other", tmp_path)


def test_the_name_of_a_sweep_names_its_best_model(tmp_path: Path) -> None:
    """By the score that each run's best one was saved with; a model without a score is none of them."""
    folder = tmp_path / "sweep"
    folder.mkdir()
    for name, score in (("a", [3.0, 99.0, 0.0]), ("b", [3.0, 120.0, 0.0]), ("c", [2.0, 150.0, 0.0]), ("d", [])):
        make_zip(folder / f"{name}_best.zip", score=score)
    make_zip(folder / "e_final.zip", score=[9.0, 9.0, 9.0])
    for name in ("sweep", folder):
        with pytest.raises(ModelError, match=r"sweep is a sweep, or another folder of runs; the best .*sweep.b_best"):
            find_model(name, tmp_path)


@pytest.mark.parametrize("name", ["run_best", "run_best.zip", "run"])
def test_a_run_of_a_sweep_by_its_own_name_alone_names_where_it_is(tmp_path: Path, name: str) -> None:
    """It may be in several."""
    for sweep in ("one", "two"):
        (tmp_path / sweep).mkdir()
        make_zip(tmp_path / sweep / "run_best.zip")
    (tmp_path / "none").mkdir()
    there = ", ".join(re.escape(str(tmp_path / sweep / name.removesuffix(".zip"))) for sweep in ("one", "two"))
    with pytest.raises(ModelError, match=f"no model or run {name}; there is {there}$"):
        find_model(name, tmp_path)


def test_the_folder_of_an_exported_driver_names_its_file(tmp_path: Path) -> None:
    """It is what ``models/pretrained`` is, and what exporting prints."""
    (tmp_path / "lap_best").mkdir()
    (tmp_path / "lap_best" / "driver.onnx").touch()
    with pytest.raises(ModelError, match=r"the folder of an exported one, .*driver\.onnx$"):
        find_model(tmp_path / "lap_best")


def test_many_models_are_not_all_listed(tmp_path: Path) -> None:
    """The first eight runs, and how many more there are."""
    for number in range(11):
        make_zip(tmp_path / f"run{number:02}_final.zip")
    with pytest.raises(ModelError, match="run06, run07 and 3 more"):
        find_model(tmp_path / "missing")


def test_a_files_name_alone_is_found_among_the_models(tmp_path: Path) -> None:
    """``quick_best`` is enough, as ``quick`` is."""
    path = make_zip(tmp_path / "quick_best.zip")
    assert find_model("quick_best", tmp_path).path == find_model("quick_best.zip", tmp_path).path == path


def test_a_file_that_is_no_zip_is_refused(tmp_path: Path) -> None:
    """A truncated or foreign file is named."""
    (tmp_path / "run_final.zip").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(ModelError, match="cannot load .*run_final.zip: it is damaged or something else"):
        find_model(tmp_path / "run_final.zip")


NUMBERS = ("clip_obs", "epsilon", "obs_count", "return_mean", "return_var", "return_count", "clip_reward", "gamma")
SOUND: dict[str, Any] = {**dict.fromkeys(NUMBERS, 1.0), "obs_mean": [0.0] * 14, "obs_var": [1.0] * 14}


def save_set(folder: Path, name: str, saves: int, statistics: Any = SOUND) -> Path:
    """Write a model that is the one after so many of its run, with files beside it."""
    path = folder / f"{name}.zip"
    statistics_path(path).write_bytes(name.encode())
    steps = int("".join(filter(str.isdigit, name)) or 1_000)
    return make_zip(path, saves=saves, num_timesteps=steps, **{STATISTICS: statistics})


def test_a_run_is_its_newest_whole_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By when it was saved, not by its steps; what is not whole is passed over and named, and best comes last."""
    for name, saves in (("a_900_steps", 1), ("a_100_steps", 2), ("a_200_steps", 3), ("a_best", 9)):
        save_set(tmp_path, name, saves)
    save_set(tmp_path, "a_2_final", 99)  # another run
    assert find_model("a", tmp_path).path.name == "a_200_steps.zip"
    assert find_model(tmp_path / "a").path.name == "a_200_steps.zip"
    save_set(tmp_path, "a_200_steps", 3, statistics={})
    assert find_model("a", tmp_path).path.name == "a_100_steps.zip"
    assert "passing over a file that is not whole: the statistics in" in capsys.readouterr().err
    for name in ("a_100_steps", "a_900_steps"):
        (tmp_path / f"{name}.zip").unlink()
    assert find_model("a", tmp_path).path.name == "a_best.zip"
    (tmp_path / "a_best.zip").unlink()
    with pytest.raises(ModelError, match="'a' in .* has no model that is whole"):
        find_model("a", tmp_path)


def test_a_run_of_before_goes_by_its_steps(tmp_path: Path) -> None:
    """Its models have a time instead of a counter, which may have been set back; what is saved today is newer."""
    for name, steps, time in (("a_100_steps", 100, 9.0), ("a_200_steps", 200, 5.0), ("a_interrupted", 200, 1.0)):
        make_zip(tmp_path / f"{name}.zip", saved_at=time, num_timesteps=steps, **{STATISTICS: SOUND})
    assert find_model("a", tmp_path).path.name == "a_interrupted.zip"
    save_set(tmp_path, "a_10_steps", 1)
    assert find_model("a", tmp_path).path.name == "a_10_steps.zip"


def test_a_run_in_training_is_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Checkpoints that it deletes between being listed and being read have followers by then; nothing is said."""
    for saves in (1, 2):
        save_set(tmp_path, f"a_{saves}_steps", saves)
    real, saved = files.models_of, [3, 4, 5]

    def models_of(folder: Path, run: str) -> list[Path]:
        listed = real(folder, run)
        if saved:
            save_set(tmp_path, f"a_{saved.pop(0)}_steps", 9)
            for path in listed:
                path.unlink()
        return listed

    monkeypatch.setattr(files, "models_of", models_of)
    assert find_model("a", tmp_path).path.name == "a_5_steps.zip"
    assert capsys.readouterr().err == ""


def test_missing_statistics_are_an_error(tmp_path: Path) -> None:
    """A model without statistics is refused, and the message says which file is expected."""
    data = read_model_data(make_zip(tmp_path / "run_final.zip"))
    with pytest.raises(ModelError, match=r"statistics .* missing: expected .*run_final_vecnormalize.pkl"):
        find_statistics(data)


def test_statistics_of_another_model_are_an_error(tmp_path: Path) -> None:
    """A swapped file of the right shape is noticed."""
    path = as_before(make_fresh(tmp_path))
    statistics_path(path).write_bytes(statistics_path(path).read_bytes() + b"0")
    with pytest.raises(ModelError, match="are not those that .*fresh_final.zip was saved with"):
        find_statistics(read_model_data(path))


# --- Saves of before that were cut off ---


def cut_off(folder: Path) -> Path:
    """Leave what a save of before left between its two renames: the new statistics in place, the new model not yet."""
    old = as_before(make_fresh(folder, "a_final", marker="old"))
    new = as_before(make_fresh(folder, "b_final", marker="new", action_repeat=2))
    statistics_path(new).write_bytes(statistics_path(new).read_bytes() + b"0")  # so that the two differ
    digest = digest_of(statistics_path(new))
    rewritten(new, beside(old), lambda data: data.update(statistics_digest=digest))
    statistics_path(new).replace(statistics_path(old))
    return old


@pytest.mark.parametrize("name", ["a", "a_final"])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_save_of_before_is_completed(
    tmp_path: Path, name: str, is_first: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """The new model takes its place, and that is said; also where it is the run's first."""
    old = cut_off(tmp_path)
    if is_first:
        old.unlink()
    found = find_model(name, tmp_path)
    assert found.attributes["marker"] == "new"
    find_statistics(found)
    assert "whose saving had been cut off" in capsys.readouterr().err
    assert not beside(old).exists()


@pytest.mark.parametrize("content", [b"half of a mod", None])
def test_a_save_of_before_cut_off_earlier_leaves_the_old_pair(tmp_path: Path, content: bytes | None) -> None:
    """Half a file, or a whole one whose statistics are not in place yet, changes nothing."""
    old = as_before(make_fresh(tmp_path, "a_final", marker="old"))
    if content is None:
        make_zip(beside(old), statistics_digest="0" * 64)
    else:
        beside(old).write_bytes(content)
    found = find_model(old)
    assert found.attributes["marker"] == "old"
    find_statistics(found)


def test_what_waits_is_no_run(tmp_path: Path) -> None:
    """The temporary name of a model that was never finished is not offered."""
    make_zip(beside(tmp_path / "k_2048_steps.zip"), **{STATISTICS: SOUND})
    with pytest.raises(ModelError, match="no model or run k; python -m training.train_ppo makes one"):
        find_model("k", tmp_path)


# --- What stays ---


def test_the_newest_checkpoints_stay(tmp_path: Path) -> None:
    """By when they were saved, with everything that belongs to them; best, final, interrupted and other runs stay."""
    for saves, steps in enumerate((500, 600, 100, 200)):
        save_set(tmp_path, f"a_{steps}_steps", saves + 1)
    for name in ("a_final", "a_best", "a_interrupted", "b_1_steps"):
        save_set(tmp_path, name, 0)
    prune_checkpoints(tmp_path, "a", 2)
    kept = {path.name for path in tmp_path.iterdir()}
    models = {"a_100_steps.zip", "a_200_steps.zip", "a_final.zip", "a_best.zip", "a_interrupted.zip", "b_1_steps.zip"}
    assert kept == models | {statistics_path(tmp_path / name).name for name in models}


def test_overwriting_deletes_one_run(tmp_path: Path) -> None:
    """All of its files go, and no other run's."""
    for name in ("a_1_steps", "a_final", "a_best", "ab_final", "a_b_final"):
        save_set(tmp_path, name, 1)
    (tmp_path / "logs" / "a").mkdir(parents=True)
    (tmp_path / "logs" / "a" / "monitor.csv").write_text("")
    remove_run("a", tmp_path, tmp_path / "logs")
    assert models_of(tmp_path, "a") == []
    assert len([*tmp_path.glob("*.pkl")]) == 2
    assert not (tmp_path / "logs" / "a").exists()


# --- Names of runs ---


def test_without_a_name_the_next_free_number_is_taken(tmp_path: Path) -> None:
    """Both models and logs count as used."""
    make_zip(tmp_path / "ppo_run_1_final.zip")
    (tmp_path / "logs" / "ppo_run_2").mkdir(parents=True)
    assert choose_run_name(None, "ppo_run", tmp_path, tmp_path / "logs", False) == "ppo_run_3"


def test_a_name_in_use_is_refused(tmp_path: Path) -> None:
    """Nothing is overwritten unless asked for; a longer name is another run."""
    make_zip(tmp_path / "fast_50048_steps.zip")
    with pytest.raises(ModelError, match="files of a run 'fast' already"):
        choose_run_name("fast", "ppo_run", tmp_path, tmp_path / "logs", False)
    assert choose_run_name("fast", "ppo_run", tmp_path, tmp_path / "logs", True) == "fast"
    make_zip(tmp_path / "fast_2_final.zip")
    assert choose_run_name("slow", "ppo_run", tmp_path, tmp_path / "logs", False) == "slow"


@pytest.mark.parametrize("name", ["", "a/b", "a b", "a\\b", "a_final", "a_100_steps", "..", "n" * 300])
def test_a_name_that_cannot_be_one_is_refused(tmp_path: Path, name: str) -> None:
    """Separators, blanks, and what the files of a run end in."""
    with pytest.raises(ModelError, match="run's name may hold"):
        choose_run_name(name, "ppo_run", tmp_path, tmp_path, False)


def test_tracks_of_a_run(tmp_path: Path) -> None:
    """Named tracks come first, then the driver's, then all of the user's folder, then the first one."""
    shutil.copy(DEFAULT_TRACKS_DIR / "track-02.json", tmp_path / "track-02.json")

    def ids(own: list[str], names: list[str], folder: Path | None) -> list[str]:
        return [track.id for track in load_tracks_for(own, names, folder)]

    assert ids(["track-03"], ["track-01"], tmp_path) == ["track-01"]
    assert ids(["track-03"], [], tmp_path) == ["track-03"]
    assert ids([], [], tmp_path) == ["track-02"]
    assert ids([], [], None) == ["track-01"]
    with pytest.raises(TrackError, match="the driver was trained there"):
        ids(["elsewhere"], [], None)


def test_names_of_files_are_no_surprise_on_disk(tmp_path: Path) -> None:
    """A folder of the model's name, as an export makes it, does not hide the model."""
    path = make_zip(tmp_path / "run_final.zip")
    (tmp_path / "run_final").mkdir()
    assert find_model(tmp_path / "run_final").path == path
