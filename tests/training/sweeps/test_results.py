"""What a sweep has found."""

from collections.abc import Sequence
from pathlib import Path

from tests.training.sweeps.pretending import Line, PretendingPool, carry_out, line, make_sweep, settings
from training.sweeps.pool import Ended, RunOrder
from training.sweeps.results import results_of, table


def test_drivers_that_are_not_clean_or_not_on_the_road_are_told(tmp_path: Path) -> None:
    """By their best models; one without evaluations has no driver."""
    sweep, study = make_sweep(tmp_path, "--seeds", "4", "--timesteps", "2048")
    runs: dict[str, Sequence[Line] | Ended] = {
        "0": [line(1024, 1.0, off_track_share=0.9), line(2048, 50.0, off_track_share=0.01)],
        "1": [line(2048, 50.0, off_track_share=0.88)],
        "2": [line(2048, 50.0, clean=2)],
        "3": Ended("trial_0000_seed_3", "why"),
    }
    carry_out(sweep, study, PretendingPool(lambda order: runs[order.run[-1]], workers=4))
    assert [*table(sweep, study, results_of(sweep, study))][-1] == (
        "not all drivers of the best setting lap cleanly and on the road: "
        "seed 1 (3 of 3 laps clean, 88% off the road), seed 2 (2 of 3 laps clean, 0% off the road)"
    )


def test_a_table_has_lap_times_and_tells_of_trials_without_laps(tmp_path: Path) -> None:
    """The median of the best models' laps; a trial without clean laps is in no row."""
    space = tmp_path / "space.json"
    space.write_text('{"hyperparameters": {"gamma": [0.9, 0.8]}}')
    grid = ("--search", str(space), "--sampler", "grid", "--seeds", "3", "--timesteps", "2048")
    sweep, study = make_sweep(tmp_path, *grid, trials=2)

    def train(order: RunOrder) -> Sequence[Line]:
        laps = 7.0 + int(order.run[-1])
        return [line(2048, 50.0, lap=laps) if settings(order)["gamma"] == 0.8 else line(2048, clean=0)]

    carry_out(sweep, study, PretendingPool(train))
    header, row, unranked = table(sweep, study, results_of(sweep, study))
    assert header.split("  ")[-2:] == ["lap time in s", "setting"]
    assert row.split()[5] == "8.00"
    assert unranked == "1 trial without clean laps"
