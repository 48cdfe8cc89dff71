"""Videos of a lap: MP4, written by the ffmpeg in a pip package, or an animated GIF."""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import imageio_ffmpeg
import pygame
from PIL import Image
from tqdm import tqdm

from racer_env.contract import TICKS_PER_SECOND
from racer_env.rendering import DARK, WHOLE, style
from racer_env.rendering.cars import GHOST_OPACITY
from racer_env.rendering.painter import SIZE, Painter
from training.checkpoints.writing import replacing
from training.drives.frames import views_of
from training.drives.recording import Drive, Lap
from training.evaluation.options import GIF

RATES = (60, 30)  # frames per second
_ENCODING = ("-crf", "21", "-preset", "veryfast")  # for x264: flat colours compress well without its slower presets
_GIF_SIZE = (960, 540)
_GIF_DELAYS = (30, 30, 40)  # milliseconds; a GIF counts in hundredths of a second, and these three frames take a tenth


def write_video(
    laps: Sequence[tuple[Drive, Lap]], path: Path, fps: int, camera: str = WHOLE, colours: str = DARK
) -> int:
    """Write a lap as a video, with other laps of the same track as ghosts.

    All laps begin with the first frame, and the first lap ends with the last one. A ghost that is faster drives on for
    as long as its drive goes on, and then stands. The video is written under a temporary name first and then under its
    own.

    Args:
        laps: Pairs of a drive and one of its laps; the first is in focus, and the others are ghosts.
        path: Path of the video, ending in .mp4 or .gif.
        fps: Frames per second, one of RATES; 30 for a GIF.
        camera, colours: See ``Painter``.

    Returns:
        Number of frames written.

    Raises:
        OSError: The file cannot be written.
    """
    is_gif = path.suffix.lower() == GIF
    drive, lap = laps[0]
    painter = Painter(drive.track, _GIF_SIZE if is_gif else SIZE, camera=camera, colours=colours)
    ticks = range(0, lap.last - lap.first + 1, TICKS_PER_SECOND // fps)
    frames = tqdm(_frames(laps, painter, ticks), total=len(ticks), unit="frame", leave=False, disable=None)
    with replacing(path) as beside:
        if is_gif:
            _write_gif(frames, beside, style.PALETTES[colours].road)
        else:
            _write_mp4(frames, beside, painter.size, fps)
    return len(ticks)


def _frames(laps: Sequence[tuple[Drive, Lap]], painter: Painter, ticks: range) -> Iterator[pygame.Surface]:
    """Yield a frame for each of the ticks since the laps began."""
    views = [itertools.islice(views_of(drive, index), lap.first, None) for index, (drive, lap) in enumerate(laps)]
    cars = [next(view) for view in views]
    for tick in range(ticks[-1] + 1):
        if tick in ticks:
            yield painter.draw(cars)
        for view in views:
            next(view, None)  # moves the car, which stands where its drive has ended


def _write_mp4(frames: Iterator[pygame.Surface], path: Path, size: tuple[int, int], fps: int) -> None:
    writer = imageio_ffmpeg.write_frames(
        str(path),
        size,
        pix_fmt_in="bgr0",  # the byte order of a surface, so that nothing is converted
        fps=fps,
        quality=None,
        macro_block_size=2,
        output_params=list(_ENCODING),
    )
    with contextlib.closing(writer):
        writer.send(None)
        for frame in frames:
            writer.send(frame.get_buffer().raw)


def _write_gif(frames: Iterator[pygame.Surface], path: Path, road: style.Colour) -> None:
    pictures: list[Image.Image] = []
    for frame in frames:
        picture = Image.frombytes("RGB", frame.get_size(), pygame.image.tobytes(frame, "RGB"))
        palette = pictures[0] if pictures else _palette_for(picture, road)
        pictures.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
    delays = list(itertools.islice(itertools.cycle(_GIF_DELAYS), len(pictures)))
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=delays, loop=0)


def _palette_for(first: Image.Image, road: style.Colour) -> Image.Image:
    """Return a picture with a GIF's palette: the colours of its first frame, and of cars, which may come later."""
    ghosts = [style.mixed(road, colour, GHOST_OPACITY) for colour in style.CARS]
    cars = [*style.CARS, *ghosts, style.BRAKE_LIGHT]
    count = 256 - len(cars)
    of_first = first.quantize(count, Image.Quantize.MEDIANCUT).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*of_first[: 3 * count], *itertools.chain(*cars)])
    return palette
