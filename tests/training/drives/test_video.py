"""Videos of a lap: as many frames as it has ticks, of the right size, in both formats."""

import shutil
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from racer_env.errors import ConfigError
from racer_env.project import PRETRAINED_DRIVER
from racer_env.rendering import style
from racer_env.rendering.cars import GHOST_OPACITY
from racer_env.rendering.painter import Painter
from racer_env.tracks import Track
from training import evaluate
from training.drives import video
from training.drives.frames import view_of_lap, views_of
from training.drives.recording import Lap, Recording, record
from training.drives.video import write_video
from training.evaluation.options import check_video

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def recording(track: Track) -> Recording:
    """A second and a half straight on."""
    return record("it", track, [np.array([0.0, 1.0, 0.0])] * 90)


LAP = Lap(20, 80, True)


@pytest.mark.parametrize(("fps", "count"), [(60, 61), (30, 31)])
@pytest.mark.parametrize(("camera", "colours"), [("track", "dark"), ("follow", "dark"), ("heading", "light")])
def test_an_mp4_has_every_frame(
    recording: Recording, tmp_path: Path, fps: int, count: int, camera: str, colours: str
) -> None:
    """Of the full size, at its rate; they move."""
    path = tmp_path / "deep" / "lap.mp4"
    assert write_video([(recording.drive, LAP)], path, fps, camera, colours) == count
    frames = imageio_ffmpeg.read_frames(str(path))
    meta = next(frames)
    assert meta["size"] == (1280, 720)
    assert meta["fps"] == fps
    decoded = [np.frombuffer(frame, np.uint8).reshape(720, 1280, 3) for frame in frames]
    assert len(decoded) == count
    assert [file.name for file in path.parent.iterdir()] == ["lap.mp4"]
    painter = Painter(recording.track, camera=camera, colours=colours)
    for tick, frame in ((LAP.first, decoded[0]), (LAP.last, decoded[-1])):
        for at, car in enumerate(views_of(recording.drive)):
            if at == tick:
                painter.draw([car])
        assert np.abs(painter.pixels().astype(int) - frame).mean() < 6  # lossy, but this moment
    assert np.abs(decoded[0].astype(int) - decoded[-1]).max() > 60


def test_ghosts_begin_their_laps_with_the_first_frame(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slower one is on its way when the lap ends, and one whose drive is over stands where it ended."""
    drive, shown = recording.drive, []
    monkeypatch.setattr(Painter, "draw", lambda self, cars: shown.append([car.x for car in cars]))
    monkeypatch.setattr(video, "_write_mp4", lambda frames, path, *how: path.write_bytes(b"%d" % len(list(frames))))
    laps = [(drive, LAP), (drive, Lap(0, 80, True)), (recording.until(50, "early").drive, Lap(30, 50, True))]
    assert write_video(laps, tmp_path / "lap.mp4", 30) == len(shown) == 31
    x = drive.states["x"]
    for index, ticks in ((0, (20, 0, 30)), (5, (30, 10, 40)), (10, (40, 20, 50)), (30, (80, 60, 50))):
        assert shown[index] == [x[tick] for tick in ticks]


def test_a_gif_has_every_second_frame(recording: Recording, tmp_path: Path) -> None:
    """And takes as long as the lap."""
    path = tmp_path / "lap.gif"
    path.write_bytes(b"an older one")
    assert write_video([(recording.drive, LAP)], path, 30) == 31
    with Image.open(path) as picture:
        assert picture.size == (960, 540)
        durations = []
        for index in range(picture.n_frames):  # type: ignore[attr-defined]
            picture.seek(index)
            durations.append(picture.info["duration"])
    assert sum(durations) == pytest.approx(31 / 30 * 1000, abs=20)


def test_a_gif_has_the_colours_of_all_cars(recording: Recording, tmp_path: Path) -> None:
    """Also of ghosts that hide below another car in the first frame, of which the palette is."""
    path = tmp_path / "lap.gif"
    ghosts = [(recording.drive, Lap(first, 90, True)) for first in (20, 0)]
    write_video([(recording.drive, LAP), *ghosts], path, 30)
    with Image.open(path) as picture:
        picture.seek(15)
        pixels = np.array(picture.convert("RGB"))[:, 200:]
    ghost = style.mixed(style.PALETTES["dark"].road, style.CARS[2], GHOST_OPACITY)
    assert (np.abs(pixels.astype(int) - ghost).max(axis=2) < 4).sum() > 20


@pytest.mark.parametrize(
    ("name", "fps", "message"),
    [
        ("lap.avi", None, "must end in .mp4 or .gif, got lap.avi"),
        ("lap.gif", 60, "a GIF has 30 frames a second, got 60"),
    ],
)
def test_what_is_no_video(name: str, fps: int | None, message: str) -> None:
    """It is said before anything is driven."""
    with pytest.raises(ConfigError, match=message):
        check_video(Path(name), fps)
    assert check_video(Path("LAP.MP4"), None) == 60
    assert check_video(Path("lap.gif"), None) == 30


def test_a_video_that_fails_leaves_nothing(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither half a file nor the one that was there before changed."""
    path = tmp_path / "lap.gif"
    path.write_bytes(b"before")

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(video, "_write_gif", fail)
    with pytest.raises(OSError, match="No space"):
        write_video([(recording.drive, LAP)], path, 30)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("lap.gif", b"before")]


def test_evaluation_makes_one_of_each_track(
    tmp_path: Path, short_config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a drive without a lap, all of it; the track's id is in the name, and its colours are those asked for."""
    arguments = ["--model", "scripted", "--laps", "1", "--track-id", "track-01", "track-02", "--config", short_config]
    assert evaluate.main([*arguments, "--video", str(tmp_path / "it.gif"), "--colours", "light"]) == 0
    output = capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"it_track-01.gif", "it_track-02.gif"}
    assert "all of the drive, without a completed lap on track-02, 31 frames at 30 a second" in output
    with Image.open(tmp_path / "it_track-02.gif") as picture:
        corner = picture.convert("RGB").getpixel((3, 3))
    assert corner == pytest.approx(style.PALETTES["light"].panel, abs=12)


def test_several_drivers_are_in_one_video(
    tmp_path: Path, short_config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first one's lap, with the other as a ghost, who is named."""
    path = tmp_path / "it.gif"
    arguments = ["--laps", "1", "--track-id", "track-01", "--config", short_config, "--video", str(path)]
    assert evaluate.main(["--model", "scripted", "pretrained", *arguments]) == 0
    said = "31 frames at 30 a second; as a ghost pretrained (no lap)\n"
    assert said in capsys.readouterr().out
    assert path.is_file()


def test_ghosts_of_one_name_are_told_apart(
    tmp_path: Path, short_config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where files and their folders have the same names."""
    copies = [tmp_path / place / "theirs" / "driver.onnx" for place in ("here", "there")]
    for path in copies:
        path.parent.mkdir(parents=True)
        shutil.copyfile(PRETRAINED_DRIVER, path)
    arguments = ["--laps", "1", "--track-id", "track-01", "--config", short_config, "--video", str(tmp_path / "it.gif")]
    assert evaluate.main(["--model", "scripted", *map(str, copies), *arguments]) == 0
    said = "31 frames at 30 a second; as ghosts theirs/driver.onnx (no lap), theirs/driver.onnx (2) (no lap)\n"
    assert said in capsys.readouterr().out


def test_a_lap_as_a_trail(recording: Recording) -> None:
    """From its first to its last state, with the car at its end."""
    car = view_of_lap(recording.drive, LAP)
    assert len(car.trail) == 61
    assert car.x == recording.drive.states["x"][LAP.last]
    assert car.trail[0][0] == recording.drive.states["x"][LAP.first]
