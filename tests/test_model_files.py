"""Names of model files, whole writes, and finding what belongs together."""

import shutil
import zipfile
from pathlib import Path

import pytest

from racer_env.errors import ModelError
from racer_env.tracks import DEFAULT_TRACKS_DIR
from training.model_files import (
    choose_run_name,
    find_model,
    find_statistics,
    load_tracks_for,
    model_path,
    read_track_ids,
    save_pair,
    statistics_path,
)


@pytest.mark.parametrize(
    ("tag", "model", "statistics"),
    [
        (50048, "run_50048_steps.zip", "run_vecnormalize_50048_steps.pkl"),
        ("final", "run_final.zip", "run_final_vecnormalize.pkl"),
        ("interrupted", "run_interrupted.zip", "run_interrupted_vecnormalize.pkl"),
        ("best", "run_best.zip", "run_best_vecnormalize.pkl"),
    ],
)
def test_names(tag: str | int, model: str, statistics: str) -> None:
    """Model and statistics carry the agreed names."""
    path = model_path(Path("models"), "run", tag)
    assert path.name == model
    assert statistics_path(path) == Path("models") / statistics


def make_zip(path: Path) -> Path:
    """Write a small zip file."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", "{}")
    return path


@pytest.mark.parametrize("name", ["run_final.zip", "run_final", "run.v2_final", "run.v2_final.zip"])
def test_a_model_is_found_with_and_without_zip(tmp_path: Path, name: str) -> None:
    """The ending may be left out, also when the name has a dot."""
    expected = make_zip(tmp_path / (name if name.endswith(".zip") else f"{name}.zip"))
    assert find_model(tmp_path / name) == expected


def test_a_missing_model_names_those_that_are_there(tmp_path: Path) -> None:
    """The message helps to find the right one."""
    make_zip(tmp_path / "other_final.zip")
    with pytest.raises(ModelError, match=r"no model .*run_final.zip; in .* there are: other_final.zip"):
        find_model(tmp_path / "run_final")


def test_a_file_that_is_no_zip_is_refused(tmp_path: Path) -> None:
    """A truncated or foreign file is named."""
    (tmp_path / "run_final.zip").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(ModelError, match="run_final.zip is no model"):
        find_model(tmp_path / "run_final.zip")


def test_missing_statistics_are_an_error(tmp_path: Path) -> None:
    """A model without statistics is refused, and the message says which file is expected."""
    with pytest.raises(ModelError, match=r"statistics .* missing: expected .*run_final_vecnormalize.pkl"):
        find_statistics(make_zip(tmp_path / "run_final.zip"))


class FakeSaver:
    """Writes bytes, or fails half-way."""

    def __init__(self, content: bytes, fails: bool = False) -> None:
        self.content, self.fails = content, fails

    def save(self, path: str) -> None:
        Path(path).write_bytes(self.content)
        if self.fails:
            raise OSError(28, "No space left on device")


def test_a_failed_write_leaves_the_old_pair(tmp_path: Path) -> None:
    """What was on disk stays whole, and nothing half-written remains."""
    path = tmp_path / "run_final.zip"
    save_pair(FakeSaver(b"model 1"), FakeSaver(b"statistics 1"), path)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="No space"):
        save_pair(FakeSaver(b"mod", fails=True), FakeSaver(b"statistics 1"), path)  # type: ignore[arg-type]
    assert path.read_bytes() == b"model 1"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run_final.zip", "run_final_vecnormalize.pkl"]


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


@pytest.mark.parametrize("name", ["", "a/b", "a b", "a\\b"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    """Separators and blanks cannot be part of a name."""
    with pytest.raises(ModelError, match="run's name may hold"):
        choose_run_name(name, "ppo_run", tmp_path, tmp_path, False)


def test_track_ids_of_a_model(tmp_path: Path) -> None:
    """They are read without unpickling; a file that has none gives none."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("data", '{"track_ids": ["track-02"]}')
    assert read_track_ids(tmp_path / "a.zip") == ["track-02"]
    assert read_track_ids(make_zip(tmp_path / "b.zip")) == []


def test_tracks_of_a_run(tmp_path: Path) -> None:
    """Named tracks come first, then the model's, then all of the user's folder, then the first one."""
    shutil.copy(DEFAULT_TRACKS_DIR / "track-02.json", tmp_path / "track-02.json")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("data", '{"track_ids": ["track-03"]}')

    def ids(model: Path | None, names: list[str], folder: Path | None) -> list[str]:
        return [track.id for track in load_tracks_for(model, names, folder)]

    assert ids(tmp_path / "a.zip", ["track-01"], tmp_path) == ["track-01"]
    assert ids(tmp_path / "a.zip", [], tmp_path) == ["track-03"]
    assert ids(None, [], tmp_path) == ["track-02"]
    assert ids(None, [], None) == ["track-01"]
