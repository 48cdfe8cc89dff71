"""Optuna's part of a sweep: a journal of its trials, who proposes settings, and who gives bad ones up."""

import json
import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.pruners import BasePruner, MedianPruner, NopPruner, SuccessiveHalvingPruner
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock, JournalStorage
from optuna.trial import FrozenTrial, Trial, TrialState

from racer_env.errors import RunError
from training.checkpoints.writing import replacing
from training.console.messages import first_line, note
from training.sweeps.objective import Objective

JOURNAL_NAME = "study.jsonl"
WHOLE = 1000  # trials are compared in thousandths of their steps, as algorithms have runs of different lengths
FIRST_RUNG = WHOLE // 8
MIN_TRIALS = 4  # trials that are finished before the median of them ends any


class Study:
    """The trials of a sweep, in a file that survives whatever ends the sweep."""

    def __init__(self, folder: Path, objective: Objective, sampler: str, pruner: str, seed: int, trials: int) -> None:
        """Open the journal of a sweep, new or not; no other process has it open, as the sweep is held.

        Args:
            folder: Folder of the sweep's logs.
            objective: What is searched for.
            sampler, pruner: As on the command line; a grid is proposed by ``enqueue``.
            seed: Seed of the sampler.
            trials: How many trials are planned.

        Raises:
            RunError: The journal is damaged.
        """
        _silence()
        path = folder / JOURNAL_NAME
        _cut_torn_line(path)
        try:
            storage = JournalStorage(JournalFileBackend(str(path), lock_obj=_Held(str(path))))
            self._study = optuna.create_study(
                storage=storage,
                study_name=folder.name,
                direction="minimize" if objective.is_less_better else "maximize",
                load_if_exists=True,
                pruner=_make_pruner(pruner),
            )
            # A sampler that begins anew with the same seed would propose the same settings again.
            fresh = np.random.SeedSequence([seed, len(self.trials)]).generate_state(1)[0]
            self._study.sampler = _make_sampler(sampler, int(fresh), trials)
        except (ValueError, KeyError, TypeError, AssertionError) as error:
            raise RunError(
                f"the journal {path} is damaged ({first_line(error)}); put a copy back, or begin another sweep"
            ) from error

    @property
    def trials(self) -> list[FrozenTrial]:
        """All trials, in the order of their numbers."""
        return self._study.get_trials(deepcopy=False)

    @property
    def asked(self) -> int:
        """How many trials have begun."""
        return sum(trial.state != TrialState.WAITING for trial in self.trials)

    def enqueue(self, settings: Sequence[dict[str, Any]]) -> None:
        """Have settings tried in this order, before any others; those of an earlier call stay."""
        for values in settings[len(self.trials) :]:
            self._study.enqueue_trial(values)

    def ask(self) -> Trial:
        """Begin a trial."""
        return self._study.ask()

    def running(self) -> list[Trial]:
        """Return the trials that have begun and not ended, to go on with them."""
        return [Trial(self._study, trial._trial_id) for trial in self.trials if trial.state == TrialState.RUNNING]

    def tell(self, trial: Trial, state: TrialState, value: float | None = None) -> None:
        """End a trial."""
        self._study.tell(trial, value, state=state)


def _silence() -> None:
    """Keep Optuna from printing what this project says itself, or what only its developers want to know."""
    optuna.logging.set_verbosity(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"optuna\b.*")
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)


def _make_sampler(name: str, seed: int, trials: int) -> BaseSampler:
    if name != "tpe":
        return RandomSampler(seed=seed)
    # Trials run side by side: those that have not ended count as bad, or the same place would be tried several times.
    return TPESampler(seed=seed, n_startup_trials=max(5, trials // 4), constant_liar=True)


def _make_pruner(name: str) -> BasePruner:
    if name == "median":
        return MedianPruner(n_startup_trials=MIN_TRIALS, n_warmup_steps=WHOLE // 4, n_min_trials=MIN_TRIALS)
    if name == "halving":
        return SuccessiveHalvingPruner(min_resource=FIRST_RUNG, reduction_factor=2)
    return NopPruner()


class _Held(JournalFileOpenLock):
    """No lock: Optuna's would have to be waited for after a kill, and a sweep is held by one process anyway."""

    def acquire(self) -> bool:
        """Do nothing."""
        return True

    def release(self) -> None:
        """Do nothing."""


def _cut_torn_line(path: Path) -> None:
    """Take out the end of a line that was being written when a sweep was killed; what it said is found again.

    Raises:
        RunError: The journal cannot be read.
    """
    try:
        content = path.read_bytes() if path.is_file() else b""
    except OSError as error:
        raise RunError(f"cannot read the journal {path}: {error.strerror or error}") from error
    whole = content[: content.rfind(b"\n") + 1]
    *before, last = whole.splitlines(keepends=True) or [b""]
    try:
        json.loads(last or b"0")
    except ValueError:
        whole = b"".join(before)
    if len(whole) < len(content):
        with replacing(path) as beside:
            beside.write_bytes(whole)
        note(f"the last line of {path} was cut off by whatever ended the sweep; the sweep goes on from the line before")
