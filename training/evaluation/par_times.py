"""Par times: how fast a lap earns gold, silver and bronze, relative to a driver's median lap."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from racer_env.contract import TICKS_PER_SECOND
from racer_env.errors import ConfigError
from racer_env.json_files import read_json
from training.checkpoints.writing import replacing
from training.evaluation.episode import LINE, Episode
from training.evaluation.stress import Stress

PERCENTILE = 50  # percentile of the lap times; the median of many laps is no lucky one
MEDALS = {"gold": 1.05, "silver": 1.15, "bronze": 1.3}  # multiples of that lap time, rounded up to a tick
STARTS, LAPS = 16, 3  # random starts on each track, and laps from each
MIN_CLEAN_SHARE = 0.5  # least share of clean laps; a driver that crashes more often sets no par
UNSTEADY = Stress("an unsteady hand", action_noise=0.1)  # without noise, all laps of a driver are the same


@dataclass(frozen=True)
class ParTimes:
    """The par times of one track.

    Attributes:
        laps: Number of clean laps that they are based on.
        median_ticks: Median lap time in ticks, which they are multiples of.
        ticks: Par times in ticks, by medal.
    """

    laps: int
    median_ticks: float
    ticks: dict[str, int]


def par_times(episodes: Sequence[Episode]) -> ParTimes | None:
    """Return the par times from the clean flying laps of a track's episodes; None if too few are clean."""
    lap_ticks = clean_flying_laps(episodes)
    asked = sum(episode.laps_asked for episode in episodes if episode.start != LINE)
    if not lap_ticks or len(lap_ticks) < MIN_CLEAN_SHARE * asked:
        return None
    middle = float(np.percentile(lap_ticks, PERCENTILE))
    return ParTimes(len(lap_ticks), middle, {medal: math.ceil(middle * factor) for medal, factor in MEDALS.items()})


def clean_flying_laps(episodes: Sequence[Episode]) -> list[int]:
    """Return the ticks of clean laps that did not begin with a standing start."""
    return [ticks for episode in episodes if episode.start != LINE for ticks in episode.clean_lap_ticks]


def as_document(driver: str, pars: dict[str, ParTimes], fingerprints: dict[str, str | None]) -> dict[str, Any]:
    """Return par times in the form of the file.

    Args:
        driver: Name of the driver whose laps they are based on.
        pars: Par times by track id.
        fingerprints: Fingerprints of these tracks, by id.
    """
    return {
        "driver": driver,
        "percentile": PERCENTILE,
        "times_that_lap_time": MEDALS,
        "tracks": {
            track_id: {
                **{medal: {"seconds": in_seconds(ticks), "ticks": ticks} for medal, ticks in par.ticks.items()},
                "clean_laps": par.laps,
                "track_fingerprint": fingerprints[track_id],
            }
            for track_id, par in pars.items()
        },
    }


def in_seconds(ticks: float) -> float:
    """Return ticks in seconds, rounded to a thousandth."""
    return round(ticks / TICKS_PER_SECOND, 3)


def holds_par_times(path: Path) -> bool:
    """Return whether a file was written by ``write_par_times``."""
    try:
        return "times_that_lap_time" in read_json(path, ConfigError, "par times")
    except (ConfigError, TypeError):
        return False


def write_par_times(path: Path, document: dict[str, Any]) -> None:
    """Write par times, completely or not at all."""
    with replacing(path) as beside:
        beside.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def format_par_times(document: dict[str, Any]) -> list[str]:
    """Return the lines of a table with one row per track, and an explanation."""
    pars = document["tracks"]
    width = max(9, *(len(track_id) for track_id in pars))
    lines = [f"{'par times':<{width}}" + "".join(f"  {medal:>21}" for medal in MEDALS) + f"  {'clean laps':>10}"]
    for track_id, par in pars.items():
        cells = [f"{par[medal]['seconds']:.3f} s ({par[medal]['ticks']:,} ticks)" for medal in MEDALS]
        lines.append(f"{track_id:<{width}}" + "".join(f"  {cell:>21}" for cell in cells) + f"  {par['clean_laps']:>10}")
    factors = ", ".join(f"{medal} {factor:g}" for medal, factor in MEDALS.items())
    lines.append(f"they are the {PERCENTILE}th percentile of the clean laps times {factors}")
    return lines
