"""The best setting in words, and what the next ones are."""

from pathlib import Path

import pytest

from tests.training.comparisons.logs import comparison_of, evaluation, write_run, write_setting
from training.comparisons.best import best_in_words, next_in_words, try_in_words
from training.comparisons.measures import PACE

pytestmark = pytest.mark.timeout(60)

LONG = [f"a_long_name_{index}" for index in range(4)]


@pytest.mark.parametrize(
    ("paces", "words"),
    [
        ([125.0], "best is PPO; lap time 8.00 s, 1 seed"),
        ([100.0, 125.0, 200.0], "best is PPO; lap time 8.00 s, median of 3 seeds"),
        ([None], "best is PPO; not all of its laps are clean, 1 seed"),
    ],
)
def test_the_best_one_with_its_lap_time_and_seeds(tmp_path: Path, paces: list[float | None], words: str) -> None:
    """In one line, which a racer reads first."""
    write_setting(tmp_path, "a", paces)
    assert best_in_words(comparison_of(tmp_path)) == words


def test_what_a_trial_was_trained_with_is_told(tmp_path: Path) -> None:
    """Of the best one and of those next to it, as the name of a trial does not say it."""
    for number in range(5):
        write_setting(tmp_path, f"trial_{number}", [100.0 - number], hyperparameters=dict.fromkeys(LONG, number))
    comparison = comparison_of(tmp_path)
    about = [", ".join(f"{name}={number}" for name in LONG) for number in range(4)]
    assert best_in_words(comparison) == f"best is trial_0: {about[0]}; lap time 10.00 s, 1 seed"
    assert [*next_in_words(comparison)] == [f"next is trial_{number}: {about[number]}" for number in (1, 2, 3)]


def test_a_name_that_says_what_differs_is_not_explained(tmp_path: Path) -> None:
    """There would be nothing new."""
    for gamma in (0.5, 0.6):
        write_setting(tmp_path, f"r{gamma}", [100.0], hyperparameters={"gamma": gamma})
    assert [*next_in_words(comparison_of(tmp_path))] == []


def test_of_settings_on_other_courses_none_is_called_the_best(tmp_path: Path) -> None:
    """As their rank says nothing."""
    for laps in (3, 5):
        write_setting(tmp_path, f"r{laps}", [100.0 + laps], arguments={"eval_laps": laps})
    assert best_in_words(comparison_of(tmp_path)).startswith("first in rank is PPO eval_laps=5; ")


def test_the_command_lets_the_best_run_drive(tmp_path: Path) -> None:
    """That of the best seed, on the tracks that it was trained on, wherever they are; one that is gone is told."""
    models = tmp_path / "models"
    models.mkdir()
    for seed, pace in enumerate((100.0, 120.0)):
        arguments = {"models_dir": str(models), "track_id": ["mine"], "tracks_dir": "my tracks"}
        write_run(tmp_path / "logs", f"a_{seed}", seed, [evaluation(1000, pace)], arguments=arguments)
    (best,) = comparison_of(tmp_path / "logs").settings
    model = models / "a_1_best.zip"
    assert try_in_words(best, PACE) == f"its best model is not there: {model}"
    model.touch()
    words = f"see its best run lap: python -m training.evaluate --model {model} --tracks-dir 'my tracks'"
    assert try_in_words(best, PACE) == words
