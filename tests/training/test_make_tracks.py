"""Generated tracks as files, and a picture of them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from racer_env.rendering import style
from racer_env.tracks import load_tracks
from training import make_tracks
from training.console.messages import command_line
from training.drives import track_sheet

pytestmark = pytest.mark.timeout(30)


def test_files_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files are the tracks of those names; every track is in the picture."""
    arguments = ["--track-id", "procedural:3", "--track-seed", "4", "--output-dir", str(tmp_path / "my own")]
    assert make_tracks.main(arguments) == 0
    said = capsys.readouterr().out
    assert f"saved 3 tracks and tracks.png to {tmp_path / 'my own'}" in said
    assert command_line(["--tracks-dir", str(tmp_path / "my own"), "--track-id", "all"]) in said
    names = [f"procedural-4-{number}" for number in range(3)]
    written, made = load_tracks(["all"], tmp_path / "my own"), load_tracks(names)
    assert [track.fingerprint for track in written] == [track.fingerprint for track in made]
    with Image.open(tmp_path / "my own" / "tracks.png") as picture:
        assert picture.size == (2 * track_sheet.TILE, 2 * track_sheet.TILE)
        pixels = np.array(picture.convert("RGB"))
    for index in range(4):
        left, top = index % 2 * track_sheet.TILE, index // 2 * track_sheet.TILE
        tile = pixels[top : top + track_sheet.TILE, left : left + track_sheet.TILE]
        assert ((tile == style.WALL).all(axis=2).sum() > 100) == (index < 3)


def test_files_that_are_there_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless they are to be replaced."""
    arguments = ["--track-id", "procedural-1-0", "--output-dir", str(tmp_path)]
    assert make_tracks.main(arguments) == 0
    path = tmp_path / "procedural-1-0.json"
    path.write_text("mine")
    assert make_tracks.main(arguments) == 2
    assert "procedural-1-0.json exists; name another --output-dir" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert make_tracks.main([*arguments, "--overwrite"]) == 0
    assert path.read_text() != "mine"


@pytest.mark.parametrize("folder", ["", "deep"])
def test_places_that_cannot_be_written_are_refused(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No name at all, and a folder where the picture would be: before anything is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep" / "tracks.png").mkdir(parents=True)
    assert make_tracks.main(["--output-dir", folder, "--track-id", "procedural:1"]) == 2
    assert "name a" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.json"))


def test_other_tracks_of_the_folder_are_pointed_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As ``--track-id all`` means them too."""
    arguments = ["--output-dir", str(tmp_path), "--overwrite", "--track-id"]
    assert make_tracks.main([*arguments, "procedural:2"]) == 0
    assert "also holds" not in capsys.readouterr().err
    assert make_tracks.main([*arguments, "procedural:1"]) == 0
    assert "also holds 1 other track\n" in capsys.readouterr().err


def test_a_picture_is_not_replaced_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As little as a track."""
    where = ["--output-dir", str(tmp_path), "--track-id"]
    assert make_tracks.main([*where, "procedural-1-1"]) == 0
    assert make_tracks.main([*where, "procedural-1-2"]) == 2
    assert "tracks.png exists" in capsys.readouterr().err
