"""A comparison as a whole: rank, table and JSON."""

from pathlib import Path

import pytest

from tests.training.comparisons.logs import comparison_of, evaluation, write_run, write_setting
from training.comparisons.comparison import compare
from training.comparisons.document import as_document
from training.comparisons.finding import find_runs
from training.comparisons.measures import LAP_TIME, STEPS
from training.comparisons.table import MAX_ROWS, settings_table

pytestmark = pytest.mark.timeout(60)


def test_settings_are_ranked_by_the_median(tmp_path: Path) -> None:
    """Not by the best seed; those that never lap come last, by their reward."""
    write_setting(tmp_path, "lucky", [90.0, 90.0, 500.0], hyperparameters={"gamma": 0.1})
    write_setting(tmp_path, "good", [100.0, 100.0, 100.0], hyperparameters={"gamma": 0.2})
    for name, gamma, reward in (("standing", 0.3, -5.0), ("crawling", 0.4, 0.0)):
        line = evaluation(1000, None, 0, mean_reward=reward)
        write_run(tmp_path, name, 0, [line], hyperparameters={"gamma": gamma})
    labels = [each.label for each in comparison_of(tmp_path).settings]
    assert labels == ["PPO gamma=0.2", "PPO gamma=0.1", "PPO gamma=0.4", "PPO gamma=0.3"]


def test_another_measure_ranks_in_its_own_way(tmp_path: Path) -> None:
    """As that of a sweep which searched for the fewest steps."""
    write_run(tmp_path, "fast", 0, [evaluation(5000, 200.0)], timesteps=5000)
    write_run(tmp_path, "soon", 0, [evaluation(1000, 100.0)])
    for rank, first in ((LAP_TIME, "PPO timesteps=5000"), (STEPS, "PPO timesteps=1000")):
        assert compare(find_runs(["*"], tmp_path), rank).settings[0].label == first


def test_the_table_has_median_interquartile_mean_and_interval(tmp_path: Path) -> None:
    """What no seed has reached is a dash, and what all seeds have alike stands alone."""
    write_setting(tmp_path, "a", [100.0, 100.0, 125.0])
    write_setting(tmp_path, "b", [None, None, None], algorithm="SAC")
    lines = settings_table(comparison_of(tmp_path))
    assert [line.split()[:2] for line in lines if line.startswith("PPO")] == [["PPO", "3"]] * 3
    assert "10.00 | 9.33 (8.00 to 10.00)        100%" in lines[2]
    assert lines[3].split() == ["SAC", "3", "0.0", "-", "0%"]


def test_a_thousand_settings_fit_a_terminal(tmp_path: Path) -> None:
    """The best ones, and how many more there are; JSON has all of them."""
    for index in range(1000):
        write_setting(tmp_path, f"r{index}", [100.0 + index], hyperparameters={"gamma": index / 1000})
    comparison = comparison_of(tmp_path)
    lines = settings_table(comparison)
    assert lines[2].startswith("PPO gamma=0.999 ")
    assert len(lines) == 3 * (MAX_ROWS + 1) + 2
    assert lines[-1] == f"and {1000 - MAX_ROWS} settings more; --json has them all"
    assert len(as_document(comparison, [], [], [])["settings"]) == 1000


def test_the_document_has_every_seed(tmp_path: Path) -> None:
    """What differs, and null for what a run never reached."""
    write_setting(tmp_path, "a", [100.0, 100.0, None], hyperparameters={"gamma": 0.5})
    write_setting(tmp_path, "b", [50.0])
    document = as_document(comparison_of(tmp_path), ["words"], [], [])
    setting = next(each for each in document["settings"] if each["label"] == "PPO gamma=0.5")
    assert setting["differs"] == {"gamma": 0.5}
    assert setting["seeds"] == [0, 1, 2]
    assert setting["measures"]["lap_time_sec"] == {
        "by_seed": [10.0, 10.0, None],
        "median": 10.0,
        "interquartile_mean": None,
        "interval": [10.0, None],
    }
    assert document["words"] == ["words"]
    assert document["ranked_by"] == "pace_less_costs"


@pytest.mark.parametrize(("seeds", "is_told"), [(2, False), (3, True)])
def test_intervals_are_explained_where_there_are_some(tmp_path: Path, seeds: int, is_told: bool) -> None:
    """Cells of one or two seeds are single numbers."""
    write_setting(tmp_path, "a", [100.0 + seed for seed in range(seeds)])
    assert ("interquartile mean" in settings_table(comparison_of(tmp_path))[0]) == is_told


@pytest.mark.parametrize(("tracks", "is_told"), [(1, False), (2, True)])
def test_what_a_lap_time_is_on_several_tracks_is_told(tmp_path: Path, tracks: int, is_told: bool) -> None:
    """It is the mean there, and elsewhere the best lap."""
    line = evaluation(1000, 100.0, episodes=tracks, mean_lap_time_sec=11.0)
    write_run(tmp_path, "a", 0, [line])
    assert (settings_table(comparison_of(tmp_path))[-1].startswith("lap time is the best lap")) == is_told
