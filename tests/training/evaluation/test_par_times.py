"""Par times: medals from the lap times of a driver."""

import json
from pathlib import Path

import pytest

from tests.training.test_evaluate import figures
from training import evaluate
from training.evaluation.episode import LINE, MOVING, Episode
from training.evaluation.par_times import as_document, format_par_times, par_times

pytestmark = pytest.mark.timeout(60)


def flying(*ticks: int, is_clean: bool = True, start: str = MOVING) -> Episode:
    """Return an episode of laps."""
    return Episode("t", len(ticks), start, lap_ticks=list(ticks), clean=[is_clean] * len(ticks))


def test_medals_are_multiples_of_the_median_of_clean_flying_laps() -> None:
    """Rounded up to a tick; the lucky lap, the ones with a wall and those from a standing start do not count."""
    episodes = [
        flying(300, 400, 401),
        flying(410, 420),
        flying(200, is_clean=False),
        flying(900, 900, start=LINE),
    ]
    par = par_times(episodes)
    assert par is not None
    assert (par.laps, par.median_ticks) == (5, 401.0)
    assert par.ticks == {"gold": 422, "silver": 462, "bronze": 522}


def test_without_a_clean_lap_there_are_none() -> None:
    """Neither of crashes, nor of nothing."""
    assert par_times([flying(300, is_clean=False)]) is None
    assert par_times([]) is None


def test_the_table_shows_seconds_and_ticks() -> None:
    """And says which percentile it is."""
    par = par_times([flying(600)])
    assert par is not None
    lines = format_par_times(as_document("it", {"t": par}, {"t": "f"}))
    assert "10.500 s (630 ticks)" in lines[1]
    assert "50th percentile" in lines[-1]
    assert "gold 1.05" in lines[-1]


def test_the_script_prints_and_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In seconds and ticks, for each track; the JSON output holds the same."""
    path = tmp_path / "deep" / "par.json"
    arguments = ["--model", "scripted", "--track-id", "track-01", "--laps", "1"]
    assert evaluate.main([*arguments, "--par-times", str(path)]) == 0
    output = capsys.readouterr().out
    assert "par times" in output
    document = json.loads(path.read_text(encoding="utf-8"))
    par = document["tracks"]["track-01"]
    assert 0 < par["gold"]["ticks"] < par["silver"]["ticks"] < par["bronze"]["ticks"]
    assert par["gold"]["seconds"] == pytest.approx(par["gold"]["ticks"] / 60, abs=5e-4)
    assert f"{par['gold']['seconds']:.3f} s ({par['gold']['ticks']:,} ticks)" in output
    assert par["clean_laps"] > 50
    assert figures(capsys, *arguments, "--par-times")["par_times"] == document


def test_who_drives_no_clean_lap_sets_no_par_times(
    fresh_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer is no."""
    path = tmp_path / "par.json"
    arguments = ["--model", str(fresh_model), "--track-id", "track-01", "--laps", "1", "--par-times", str(path)]
    assert evaluate.main(arguments) == 1
    assert "no par times for track-01" in capsys.readouterr().err
    assert json.loads(path.read_text(encoding="utf-8"))["tracks"] == {}


def test_a_folder_is_no_place_for_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused before anything is driven."""
    assert evaluate.main(["--model", "scripted", "--par-times", str(tmp_path)]) == 2
    assert "--par-times takes a file" in capsys.readouterr().err


def test_a_driver_that_crashes_often_is_no_measure() -> None:
    """At least half of the laps have to be clean."""
    bad = flying(300, 310, is_clean=False)
    assert par_times([flying(400), bad]) is None
    assert par_times([flying(400), flying(410), bad]) is not None


def test_they_replace_nothing_but_par_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not the configuration, for example; older par times they do."""
    (tmp_path / "ai-config.json").write_text('{"weights": {}}')
    arguments = ["--model", "scripted", "--track-id", "track-01", "--laps", "1", "--par-times"]
    assert evaluate.main([*arguments, str(tmp_path / "ai-config.json")]) == 2
    assert "exists and holds no par times" in capsys.readouterr().err
    assert (tmp_path / "ai-config.json").read_text() == '{"weights": {}}'
    for _ in range(2):
        assert evaluate.main([*arguments, str(tmp_path / "par.json")]) == 0


def test_they_go_into_a_json_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another name is refused, so that no other file is replaced by mistake."""
    assert evaluate.main(["--model", "scripted", "--par-times", str(tmp_path / "driver.onnx")]) == 2
    assert "ends in .json" in capsys.readouterr().err
