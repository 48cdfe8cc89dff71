"""What a search has found out, from Optuna's journal."""

import random
from pathlib import Path

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages.journal import JournalFileBackend, JournalStorage

from training.comparisons.search import MIN_TRIALS, Search, place_of, searches_of
from training.comparisons.search_charts import importances, parallel_coordinates
from training.sweeps.objective import NOT_REACHED
from training.sweeps.study import JOURNAL_NAME

pytestmark = pytest.mark.timeout(60)


def journal(folder: Path, trials: int, labels: tuple[str, ...] = ("PPO",), direction: str = "minimize") -> None:
    """Write the journal of a search in which the learning rate decides, and gamma does not."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = JournalStorage(JournalFileBackend(str(folder / JOURNAL_NAME)))
    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(storage=storage, study_name="s", direction=direction, sampler=sampler)
    noise = random.Random(0)
    for number in range(trials):
        trial, label = study.ask(), labels[number % len(labels)]
        prefix = f"{label}: " if len(labels) > 1 else ""
        rate = trial.suggest_float(f"{prefix}learning_rate", 1e-4, 1e-2, log=True)
        trial.suggest_float(f"{prefix}gamma", 0.9, 0.99)
        trial.suggest_categorical(f"{prefix}hidden", ["[32]", "[64]"])
        trial.set_user_attr("label", label)
        study.tell(trial, 10 * rate + noise.random() / 1000 if number else NOT_REACHED)
    study.tell(study.ask(), state=optuna.trial.TrialState.PRUNED)


def test_what_decides_is_the_most_important(tmp_path: Path) -> None:
    """The shares add up to 1; the value that was told for a run that never got there is infinite."""
    journal(tmp_path, 32)
    (search,) = searches_of(tmp_path)
    assert search.importance is not None
    assert next(iter(search.importance)) == "learning_rate"
    assert search.importance["learning_rate"] > 0.7
    assert sum(search.importance.values()) == pytest.approx(1.0)
    assert len(search.trials) == 32
    assert search.others == 1
    assert search.values[0] == float("inf")


def test_few_trials_have_no_importance(tmp_path: Path) -> None:
    """But lines across the axes."""
    journal(tmp_path, MIN_TRIALS - 1)
    (search,) = searches_of(tmp_path)
    assert search.importance is None
    assert importances(search) is None
    assert len(parallel_coordinates(search, "s").axes[0].collections[0].get_paths()) == MIN_TRIALS - 1


def test_algorithms_are_searched_apart(tmp_path: Path) -> None:
    """As each has hyper-parameters of its own, whose names are shown without the algorithm's."""
    journal(tmp_path, 12, ("PPO", "SAC quick"))
    one, other = searches_of(tmp_path)
    assert (one.label, other.label) == ("PPO", "SAC quick")
    assert [other.short(name) for name in other.distributions] == ["learning_rate", "gamma", "hidden"]


def test_a_sweep_without_a_search_has_nothing_to_tell(tmp_path: Path) -> None:
    """Without a journal neither."""
    assert searches_of(tmp_path) == []
    storage = JournalStorage(JournalFileBackend(str(tmp_path / JOURNAL_NAME)))
    study = optuna.create_study(storage=storage, study_name="s")
    study.tell(study.ask(), 1.0)
    assert searches_of(tmp_path) == []


@pytest.mark.parametrize("content", [b"{}\n{}\n", b"nonsense\nmore\n", b"\xff\xfe\n\n"])
def test_a_damaged_journal_is_told(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    """The rest of the comparison does without."""
    (tmp_path / JOURNAL_NAME).write_bytes(content)
    assert searches_of(tmp_path) == []
    assert "the journal of" in capsys.readouterr().err


def test_places_on_an_axis() -> None:
    """By orders of magnitude where it was searched by them; choices in their order."""
    assert place_of(1e-3, FloatDistribution(1e-4, 1e-2, log=True)) == pytest.approx(0.5)
    assert place_of(5, IntDistribution(0, 10)) == 0.5
    assert place_of("c", CategoricalDistribution(["a", "b", "c"])) == 1.0
    assert place_of(2.0, FloatDistribution(2.0, 2.0)) == 0.5


def test_the_best_trial_is_on_top(tmp_path: Path) -> None:
    """Whether less or more is better."""
    for direction, best in (("minimize", min), ("maximize", max)):
        folder = tmp_path / direction
        folder.mkdir()
        journal(folder, 5, direction=direction)
        (search,) = searches_of(folder)
        assert isinstance(search, Search)
        axes = parallel_coordinates(search, "value").axes[0]
        line = next(line for line in axes.lines if len(line.get_xdata()) == 4)  # type: ignore[arg-type]
        index = search.values.index(best(value for value in search.values if value < NOT_REACHED))
        rate = search.trials[index].params["learning_rate"]
        assert line.get_ydata()[0] == pytest.approx(place_of(rate, search.distributions["learning_rate"]))  # type: ignore[index]
