"""Generated tracks as files, and a picture of them."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from racer_env.project import PROJECT_ROOT
from racer_env.rendering import style
from racer_env.tracks import load_tracks
from training import evaluate, make_tracks
from training.console.messages import command_line
from training.drives import track_sheet

DARK = style.PALETTES["dark"]
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
    side, pixels = track_sheet.tile_side(3), pixels_of(tmp_path / "my own" / "tracks.png")
    assert pixels.shape == (2 * side, 2 * side, 3)
    for index in range(4):
        left, top = index % 2 * side, index // 2 * side
        assert (pixels[top : top + side, left : left + side] == DARK.road).all(axis=2).any() == (index < 3)


def pixels_of(path: Path) -> np.ndarray:
    """Return a picture's pixels (height, width, 3)."""
    with Image.open(path) as picture:
        return np.array(picture.convert("RGB")).astype(int)


def test_few_tracks_are_drawn_larger() -> None:
    """One is to be looked at; of many, the sheet stays of a size that opens everywhere."""
    assert [track_sheet.tile_side(count) for count in (1, 2, 4, 5, 64, 65, 1000)] == [960, 640, 640, 320, 320, 240, 240]


@pytest.mark.parametrize(("track_id", "goes_right"), [("track-01", True), ("track-02", False)])
def test_an_arrow_shows_where_a_track_goes(track_id: str, goes_right: bool, tmp_path: Path) -> None:
    """Its head, which is its widest part, lies ahead of its middle; the start line beside it is white."""
    track_sheet.draw_tracks(load_tracks([track_id]), tmp_path / "tracks.png")
    pixels = pixels_of(tmp_path / "tracks.png")
    columns = (np.abs(pixels - DARK.ray).max(axis=2) < 12).sum(axis=0)
    arrow = np.flatnonzero(columns)
    assert 60 < np.ptp(arrow) < 120
    assert (columns.argmax() > (arrow[0] + arrow[-1]) / 2) == goes_right
    beside = slice(arrow[0] - 10, arrow[-1] + 10)
    assert (np.abs(pixels[:, beside] - style.WHITE).max(axis=2) < 12).sum(axis=0).max() > 30


def test_a_road_that_is_narrow_for_its_length_is_seen(tmp_path: Path) -> None:
    """Of the example, its start line and its arrow too."""
    assert make_tracks.main(["--from", CIRCUIT, "--scale", "2", "--output-dir", str(tmp_path)]) == 0
    pixels = pixels_of(tmp_path / "tracks.png")
    for colour, least in ((DARK.road, 2000), (DARK.ray, 1000), (style.WHITE, 100)):
        assert (np.abs(pixels - colour).max(axis=2) < 30).sum() > least


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


CIRCUIT = str(PROJECT_ROOT / "examples" / "circuit.csv")
SQUARE = "[[0, 0, 14], [300, 0, 14], [300, 300, 14], [0, 300, 14]]"


def test_tracks_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of several kinds at once; how each was taken is said."""
    data, drawing, folder = tmp_path / "game.json", tmp_path / "oval.svg", tmp_path / "out"
    data.write_text(json.dumps({"track-09": json.loads(SQUARE)}))
    drawing.write_text('<svg><path d="M0 0A200 150 0 0 0 400 0A200 150 0 0 0 0 0Z" stroke-width="30"/></svg>')
    arguments = ["--from", str(data), str(drawing), "--width-is", "half", "--output-dir", str(folder)]
    assert make_tracks.main(arguments) == 0
    said = capsys.readouterr().out
    assert "track-09: width is taken as the half width (--width-is); y grows upwards\n" in said
    assert "oval: stroke-width, 30, is taken as the road's full width; y is taken to grow downwards" in said
    assert "oval: 1 unit for 1 of the file (--scale); 1,1" in said
    assert [track.id for track in load_tracks(["all"], folder)] == ["oval", "track-09"]
    assert (folder / "tracks.png").is_file()
    assert make_tracks.main(arguments) == 2
    said, error = capsys.readouterr()
    assert "exists; name another --output-dir" in error
    assert (said, error.count("\n")) == ("", 1)


@pytest.mark.timeout(60)
def test_the_example_is_lapped_by_the_bundled_driver(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the command of the docs; that its road is narrow is said."""
    assert make_tracks.main(["--from", CIRCUIT, "--scale", "1.5", "--name", "park", "--output-dir", str(tmp_path)]) == 0
    assert (
        "note: park is narrower than any road that the bundled driver learned on, half-width 12"
        in capsys.readouterr().err
    )
    drive = ["--model", "pretrained", "--tracks-dir", str(tmp_path), "--track-id", "park", "--laps", "1", "--json"]
    assert evaluate.main(drive) == 0
    assert json.loads(capsys.readouterr().out)["tracks"]["park"]["clean_laps"] == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", None, "file not found"),
        ("a.csv", b"", "is empty"),
        ("a.json", b" ", "is empty"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\0\0", "is no text in UTF-8: byte 0 is 0x89"),
        ("a.ts", b"a\0b", "is no text: it holds zero bytes"),
        ("a.json", b"\xff\xfe", "cannot read track file"),
        ("a.svg", b"\x89PNG", "is no valid SVG"),
        ("a.png", b"\x89PNG", "expected a file that ends in .json, .ts,"),
        ("a.csv", Path(), "it is a folder; expected a file"),
        ("a.json", SQUARE.encode(), "say --width-is half or --width-is full"),
    ],
)
def test_files_that_are_no_tracks_are_refused(
    name: str, content: bytes | Path | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, before anything is written."""
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        path.mkdir()
    assert make_tracks.main(["--from", str(path), "--output-dir", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scale", "2"], "--scale is for files that --from names"),
        (["--from", "a.json", "--track-id", "procedural:2"], "leave out one or the other"),
        (["--from", "a.json", "a.json", "--width-is", "half"], "are both the track 'a'"),
        (["--from", "a.json", "b.json", "--width-is", "half", "--name", "c"], "--name is for one track"),
        (["--from", "a.json", "--width-is", "half", "--name", "../c"], "id must be up to 100 letters"),
        (["--from", "a.json", "--width-is", "half", "--scale", "1e9"], "expected a --scale between 0.0001 and 10,000"),
        (["--from", "a.json", "--half-width", "-3"], "expected a number above 0"),
        (["--from", "own.json", "--width-is", "full"], "halfWidth says that it is half of the width"),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.json").write_text(SQUARE)
    Path("own.json").write_text('[{"x": 1, "y": 2, "halfWidth": 3}]')
    try:
        code = make_tracks.main(arguments)
    except SystemExit as left:
        code = int(str(left.code))
    error = capsys.readouterr().err
    assert (code, error.count("\n")) == (2, 1)
    assert message in error
