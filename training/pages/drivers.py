"""The drivers of a page: any that ``training.evaluate`` takes, as ONNX files."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from racer_env.physics import load_physics
from racer_env.tracks import Track
from training.checkpoints.checkpoint import find_checkpoint
from training.checkpoints.data import check_physics
from training.console.messages import say
from training.drivers.driver import Driver
from training.drivers.exported import as_driver, open_onnx
from training.drivers.loading import SCRIPTED, exported_path
from training.drivers.scripted import scripted_driver
from training.pages.options import PageOptions
from training.pages.scripted_network import scripted_network
from training.pages.wrapping import wrapped


class PageDriver(NamedTuple):
    """A driver of a page.

    Attributes:
        driver: The driver as ``training.evaluate`` drives it.
        content: Its ONNX file, which takes raw observations (N, 14) or (1, 14).
        algorithm: Name of the algorithm that trained it; None if it is not known.
    """

    driver: Driver
    content: bytes
    algorithm: str | None


def page_drivers(options: PageOptions, tracks: Sequence[Track]) -> list[PageDriver]:
    """Return the drivers that the options name.

    Args:
        options: The options of the script.
        tracks: Tracks of the page, on which exports are compared with their models.

    Raises:
        ModelError: A driver cannot be loaded, or not be exported.
    """
    return [_page_driver(name, options, place == 0, tracks) for place, name in enumerate(options.model)]


def _page_driver(name: str, options: PageOptions, is_first: bool, tracks: Sequence[Track]) -> PageDriver:
    statistics = options.vecnorm if is_first else None
    normalises = not (options.no_vecnorm and is_first)
    physics = None if options.any_physics else load_physics()
    if name == SCRIPTED:
        return PageDriver(Driver(SCRIPTED, scripted_driver, given=SCRIPTED), scripted_network(), None)
    path = exported_path(name, options.models_dir)
    if path is not None:
        exported = open_onnx(path, physics, statistics=statistics, normalises=normalises)
        driver = replace(as_driver(exported), given=name)
        return PageDriver(driver, wrapped(exported), exported.card.algorithm)
    checkpoint = find_checkpoint(name, options.models_dir, statistics=statistics, normalises=normalises)
    data = checkpoint.data
    check_physics(data.path, data.physics, physics)
    say(f"exporting {data.path} ...")
    from training.pages.exporting import exported_model  # PyTorch and ONNX take 3 s to load

    driver, content = exported_model(checkpoint, tracks)
    return PageDriver(replace(driver, given=name), content, data.algorithm.name)


def write_driver(path: Path, content: bytes, given: str) -> Driver:
    """Write a driver's file, and return the driver that a page runs.

    Args:
        path: Path of the file, which will have moved when an error is read.
        content: What is written.
        given: What the user calls the driver.

    Raises:
        ModelError: The file cannot be driven, though its model can.
    """
    path.write_bytes(content)
    return as_driver(open_onnx(path, None), called=f"{given}, as the page runs it,")
