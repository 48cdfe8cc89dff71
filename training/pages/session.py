"""A page from its drivers and tracks to its folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from racer_env.physics import load_physics
from racer_env.project import DEFAULT_PHYSICS_PATH
from racer_env.tracks import Track
from training.console.messages import command_line, count_of, note, say
from training.console.parser import DONE
from training.drivers.driver import labels_of
from training.pages.building import copy_page
from training.pages.drivers import PageDriver, page_drivers, write_driver
from training.pages.folder import check_target, size_of, write_page
from training.pages.measuring import PAR_LAPS, Laps, laps_of, par_ticks
from training.pages.names import file_names
from training.pages.options import PageOptions
from training.pages.replacement import replacing_folder
from training.pages.serving import DEFAULT_PORT, HOST, serve
from training.pages.tracks import write_tracks

VERSION = 1
PHYSICS_NAME = "physics.json"


def carry_out(options: PageOptions, tracks: Sequence[Track], built: Path) -> int:
    """Load the drivers, measure them, write the page, serve it if asked to, and return the exit code.

    Args:
        options: The options of the script.
        tracks: Tracks of the page.
        built: Folder of the page without drivers and tracks.

    Raises:
        ConfigError: The folder for the page holds something else.
        ModelError: A driver cannot be loaded.
        OSError: The page cannot be written.
        PageError: The page cannot be served.
    """
    drivers = page_drivers(options, tracks)
    labels = labels_of([each.driver for each in drivers])
    names = file_names([label.removesuffix(".onnx") for label in labels])
    folder = options.output_dir or Path(f"page_of_{names[0]}")
    check_target(folder)
    with replacing_folder(folder) as beside:
        copy_page(built, beside)
        _write_data(beside, drivers, labels, names, tracks)
        size = size_of(beside)  # now, as another run may replace the page at any time
    count = f"{count_of(len(drivers), 'driver')}, {count_of(len(tracks), 'track')}"
    say(f"saved {folder} ({size / 1e6:.1f} MB): {count}")
    if options.serve:
        serve(folder, options.port, options.browser)
        return DONE
    see = ["python", "-m", "http.server", str(DEFAULT_PORT), "--bind", HOST, "--directory", str(folder)]
    say(f"see it, as with --serve: {command_line(see)}", limit=None)
    say("publish it: copy the folder to any web server; opened as a file, without a server, it does not run")
    return DONE


def _write_data(
    folder: Path, drivers: Sequence[PageDriver], labels: Sequence[str], names: Sequence[str], tracks: Sequence[Track]
) -> None:
    """Write drivers, tracks and physics, and what the page is told of them."""
    (folder / PHYSICS_NAME).write_bytes(DEFAULT_PHYSICS_PATH.read_bytes())
    (folder / "drivers").mkdir()
    entries = [
        _write_driver(folder, each, label, name, tracks)
        for each, label, name in zip(drivers, labels, names, strict=True)
    ]
    say(f"the bundled driver drives the par times, {PAR_LAPS} laps of each track ...")
    document = {
        "version": VERSION,
        "drivers": entries,
        "tracks": write_tracks(folder, tracks, par_ticks(tracks)),
        "physics": PHYSICS_NAME,
        "physicsFingerprint": load_physics().fingerprint,
    }
    write_page(folder, document)


def _write_driver(folder: Path, each: PageDriver, label: str, name: str, tracks: Sequence[Track]) -> dict[str, Any]:
    """Write a driver, let it drive as it does in the page, and return what ``page.json`` says of it."""
    say(f"{label} drives three laps of {count_of(len(tracks), 'track')} ...")
    before = laps_of(each.driver, tracks)  # first, so that what is wrong with it is said of the file that is named
    file = f"drivers/{name}.onnx"
    in_page = write_driver(folder / file, each.content, each.driver.given)
    laps = laps_of(in_page, tracks)
    _tell(label, laps, before)
    return {
        "name": name,
        "label": label,
        "file": file,
        "actionRepeat": in_page.action_repeat,
        "algorithm": each.algorithm,
        "laps": {track_id: lap._asdict() for track_id, lap in laps.items()},
    }


def _tell(label: str, in_page: dict[str, Laps], before: dict[str, Laps]) -> None:
    """Say on which tracks a driver fails, and where it drives differently in the page."""
    failed = [track_id for track_id, laps in in_page.items() if not laps.clean]
    if failed:
        note(f"{label} does not lap {', '.join(failed[:4])}{' ...' if failed[4:] else ''} cleanly")
    for track_id, laps in in_page.items():
        if laps != before[track_id]:
            note(
                f"{label} laps {track_id} in {laps.ticks} ticks in the page, and in {before[track_id].ticks} where it "
                "comes from, as the two round differently"
            )
