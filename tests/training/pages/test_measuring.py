"""What a page says of drivers and tracks is what evaluation says."""

import json

import numpy as np
import pytest

from racer_env.project import PRETRAINED_DRIVER
from racer_env.tracks import Track
from training import evaluate
from training.drivers.driver import Driver
from training.drivers.exported import load_onnx_driver
from training.pages.measuring import laps_of, par_ticks

pytestmark = pytest.mark.timeout(60)


def test_laps_are_those_of_an_evaluation(tracks: list[Track], capsys: pytest.CaptureFixture[str]) -> None:
    """To the tick, on every track."""
    laps = laps_of(load_onnx_driver(PRETRAINED_DRIVER, None), tracks)
    assert evaluate.main(["--model", str(PRETRAINED_DRIVER), "--track-id", "all", "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)["tracks"]
    assert {name: [[tick / 60 for tick in lap.ticks]] for name, lap in laps.items()} == {
        name: [[pytest.approx(time, abs=1e-3) for time in times] for times in figures["lap_times_sec"]]
        for name, figures in seen.items()
    }
    assert all(lap.clean for lap in laps.values())


def test_a_driver_that_stands_has_no_laps(track: Track) -> None:
    """Which is not clean."""
    driver = Driver("still", lambda seen: np.zeros((len(seen), 3)))
    assert laps_of(driver, [track]) == {"track-01": ([], False)}


def test_par_times_are_those_of_the_bundled_driver(tracks: list[Track], capsys: pytest.CaptureFixture[str]) -> None:
    """As evaluation prints them for a track, whichever others the page has."""
    pars = par_ticks(tracks)
    assert evaluate.main(["--model", str(PRETRAINED_DRIVER), "--track-id", "track-01", "--par-times", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)["par_times"]["tracks"]["track-01"]
    assert pars["track-01"] == {medal: expected[medal]["ticks"] for medal in ("gold", "silver", "bronze")}
