"""What a page says of its drivers and tracks: laps from a standing start, and par times."""

from collections.abc import Sequence
from typing import NamedTuple

from racer_env.config import load_config
from racer_env.project import PRETRAINED_DRIVER
from racer_env.tracks import Track
from training.drivers.driver import Driver
from training.drivers.exported import load_onnx_driver
from training.evaluation.course import Course, evaluate, evaluate_all
from training.evaluation.measuring import par_course, pars_of
from training.evaluation.options import DEFAULT_LAPS
from training.evaluation.par_times import LAPS, STARTS, UNSTEADY

PAR_LAPS = 2 * STARTS * LAPS  # of each track, on the move and from rest


class Laps(NamedTuple):
    """Laps from a standing start.

    Attributes:
        ticks: Ticks of each completed lap.
        clean: Whether all laps were driven, and no wall was touched on them.
    """

    ticks: list[int]
    clean: bool


def laps_of(driver: Driver, tracks: Sequence[Track]) -> dict[str, Laps]:
    """Return what ``training.evaluate`` measures of a driver on each track, by track id."""
    course = Course(tracks, driver.config or load_config(None), DEFAULT_LAPS)
    from_line = evaluate(driver, course).from_line
    return {track_id: Laps(episode.lap_ticks, episode.is_clean) for track_id, (episode,) in from_line.items()}


def par_ticks(tracks: Sequence[Track]) -> dict[str, dict[str, int]]:
    """Return the ticks for gold, silver and bronze by track id, without the tracks that have none, which are said.

    The bundled driver sets them, on each track alone, so that a medal is worth the same on every page.
    """
    driver = load_onnx_driver(PRETRAINED_DRIVER, None)  # on other physics it may still lap
    config, pars = load_config(None), dict[str, dict[str, int]]()
    for track in tracks:
        (evaluation,) = evaluate_all(driver, [(par_course([track], config), UNSTEADY)])
        pars |= {track_id: par.ticks for track_id, par in pars_of(evaluation).items()}
    return pars
