"""What a search has found out about hyper-parameters, from the journal that Optuna keeps of a sweep."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.storages.journal import JournalFileBackend, JournalStorage
from optuna.trial import FrozenTrial, TrialState

from training.console.messages import first_line, note, without_warnings_of
from training.sweeps.objective import NOT_REACHED
from training.sweeps.study import JOURNAL_NAME

MIN_TRIALS = 12  # finished trials from which importance can be estimated
BEST_SHARE = 0.25  # share of the trials that importance asks what sets them apart


@dataclass(frozen=True)
class Search:
    """The finished trials of a search that stand on one algorithm and preset.

    Attributes:
        sweep: Name of the sweep.
        label: Algorithm and preset, as the sweep calls them.
        is_less_better: Whether a smaller value of a trial is better.
        distributions: What was searched, by name: what every trial has, and where its values differ.
        trials: The finished trials; each has a value.
        importance: Share of each name in what makes a trial one of the best, from the greatest; the sum is 1. None if
            there are too few trials.
        others: How many trials were ended early or failed, which have no part in this.
    """

    sweep: str
    label: str
    is_less_better: bool
    distributions: dict[str, BaseDistribution]
    trials: Sequence[FrozenTrial]
    importance: dict[str, float] | None
    others: int

    def short(self, name: str) -> str:
        """Return a name without the label that stands before it where a sweep has several."""
        return name.removeprefix(f"{self.label}: ")

    @property
    def values(self) -> list[float]:
        """Value of each trial; that of one that never got there is infinite."""
        return [math.inf if trial.values[0] >= NOT_REACHED else trial.values[0] for trial in self.trials]


def searches_of(folder: Path) -> list[Search]:
    """Return the searches of a sweep; none if it had nothing to search, or if its journal cannot be read.

    Args:
        folder: Folder of the sweep's logs.
    """
    if not (folder / JOURNAL_NAME).is_file():
        return []
    optuna.logging.set_verbosity(logging.ERROR)
    try:
        storage = JournalStorage(JournalFileBackend(str(folder / JOURNAL_NAME)))
        study = optuna.load_study(study_name=None, storage=storage)
        trials = study.get_trials(deepcopy=False)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        note(f"no importance of hyper-parameters: the journal of {folder} is damaged ({first_line(error)})")
        return []
    labels = dict.fromkeys(str(trial.user_attrs.get("label", folder.name)) for trial in trials)
    found = [
        _search(folder.name, label, study.direction, [each for each in trials if _is_of(each, label)])
        for label in labels
    ]
    return [search for search in found if search.distributions]


def _is_of(trial: FrozenTrial, label: str) -> bool:
    return bool(trial.user_attrs.get("label", label) == label)


def _search(sweep: str, label: str, direction: Any, trials: Sequence[FrozenTrial]) -> Search:
    finished = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    others = sum(trial.state in (TrialState.PRUNED, TrialState.FAIL) for trial in trials)
    distributions = _searched(finished)
    alone = optuna.create_study(direction=direction)
    alone.add_trials(finished)
    importance = None
    if len(finished) >= MIN_TRIALS and distributions:
        with without_warnings_of("optuna"):  # it is said to be experimental; fANOVA would need scikit-learn
            evaluator = PedAnovaImportanceEvaluator(target_quantile=BEST_SHARE)
            importance = get_param_importances(alone, evaluator=evaluator, params=[*distributions])
    is_less_better = direction == optuna.study.StudyDirection.MINIMIZE
    return Search(sweep, label, is_less_better, distributions, finished, importance, others)


def _searched(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """Return what all trials have a value of that is not the same in each, by name."""
    if not trials:
        return {}
    first = trials[0]
    shared = [name for name in first.params if all(name in trial.params for trial in trials)]
    differs = [name for name in shared if any(trial.params[name] != first.params[name] for trial in trials)]
    return {name: first.distributions[name] for name in differs}


def place_of(value: Any, distribution: BaseDistribution) -> float:
    """Return where a value lies between the ends of what was searched, in [0, 1]; by its logarithm if it was so."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices.index(value) / max(len(distribution.choices) - 1, 1)
    low, high = distribution.low, distribution.high  # type: ignore[attr-defined]
    if high == low:
        return 0.5
    if distribution.log:  # type: ignore[attr-defined]
        return math.log(value / low) / math.log(high / low)
    return float((value - low) / (high - low))
