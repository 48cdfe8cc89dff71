"""A trial of a sweep: one setting, judged by the median of its runs, which differ in their seeds."""

import bisect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import optuna

from training.checkpoints.writing import replacing
from training.runs.evaluations import read_evaluations
from training.sweeps.bases import Base
from training.sweeps.objective import Evaluation, Objective
from training.sweeps.pool import RunOrder
from training.sweeps.study import WHOLE

LAST_PRUNING = WHOLE * 9 // 10
BASE = "base"  # Optuna's name of the choice between algorithms and presets


@dataclass(frozen=True)
class Sweep:
    """A sweep that is carried out.

    Attributes:
        name: Its name.
        bases: What its trials stand on, by label.
        seeds: Seeds of the runs of every trial.
        objective: What these are judged by.
        trials: How many trials there are to be.
        models_dir, logs_dir: Its own folders.
    """

    name: str
    bases: dict[str, Base]
    seeds: list[int]
    objective: Objective
    trials: int
    models_dir: Path
    logs_dir: Path


@dataclass
class TrialRun:
    """A run of a trial.

    Attributes:
        name: Name of the run.
        has_begun: Whether it was handed to a worker.
        is_over: Whether it was trained, or has failed.
        attempts: How often it was handed to a worker.
        evaluations: Its evaluations so far.
        value: Its value once it is over; None if it has not got there, or failed.
        why_failed: Why it failed; None if it did not.
    """

    name: str
    has_begun: bool = False
    is_over: bool = False
    attempts: int = 0
    evaluations: list[Evaluation] = field(default_factory=list)
    value: float | None = None
    why_failed: str | None = None


class SweepTrial:
    """A setting that is being tried.

    Attributes:
        trial: The trial as Optuna knows it, in whose journal everything is that must survive the sweep.
        base: What it has in common with other trials.
        hyperparameters, weights: What is tried.
        runs: Its runs by seed.
    """

    def __init__(self, trial: optuna.trial.Trial, sweep: Sweep) -> None:
        """Begin a trial, or go on with one that has begun.

        Args:
            trial: The trial as Optuna knows it.
            sweep: The sweep that it belongs to.
        """
        self.trial = trial
        self._sweep, self._objective = sweep, sweep.objective
        bases = sweep.bases
        label = trial.suggest_categorical(BASE, [*bases]) if len(bases) > 1 else next(iter(bases))
        self.base, prefix = bases[label], prefix_of(label, bases)
        searched = self.base.space
        self.hyperparameters = {
            name: found.suggest(trial, prefix + name) for name, found in searched.hyperparameters.items()
        }
        self.weights = {name: found.suggest(trial, prefix + name) for name, found in searched.weights.items()}
        self.runs = {seed: TrialRun(f"trial_{trial.number:04d}_seed_{seed}") for seed in sweep.seeds}
        self._reported = max(trial.storage.get_trial(trial._trial_id).intermediate_values, default=0)
        known = trial.user_attrs.get("runs", {})
        for seed, run in self.runs.items():
            if str(seed) in known:
                run.has_begun = run.is_over = True
                run.evaluations = read_evaluations(sweep.logs_dir / run.name)
                run.value, run.why_failed = known[str(seed)]["value"], known[str(seed)]["why_failed"]
        for name in ("hyperparameters", "weights"):
            trial.set_user_attr(name, getattr(self, name))
        trial.set_user_attr("label", label)

    @property
    def number(self) -> int:
        """Number of the trial, from 0."""
        return self.trial.number

    @property
    def is_over(self) -> bool:
        """Whether all of its runs are."""
        return all(run.is_over for run in self.runs.values())

    @property
    def why_failed(self) -> str | None:
        """Why all of its runs have failed; None if some have not."""
        reasons = [run.why_failed for run in self.runs.values()]
        return reasons[0] if None not in reasons else None

    @property
    def median(self) -> float | None:
        """What the trial is judged by, once it is over."""
        return self._objective.median(run.value for run in self.runs.values())

    @property
    def may_be_given_up(self) -> bool:
        """Whether Optuna would end the trial where it stands; near its end, that would save nothing."""
        return self._reported <= LAST_PRUNING and self.trial.should_prune()

    def done_share(self) -> float:
        """Return how many of its runs are done; those on the way count in part."""
        steps = self.base.run.steps
        return sum(1.0 if run.is_over else _steps(run) / steps for run in self.runs.values())

    def order(self, seed: int) -> RunOrder:
        """Return the order for the run of a seed, which has begun from now on."""
        run = self.runs[seed]
        run.has_begun, run.evaluations = True, []
        run.attempts += 1
        options = [*self.base.arguments, "--seed", str(seed)]
        for name, value in self.hyperparameters.items():
            options += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
        if self.weights:
            options += ["--config", str(self._write_config())]
        name = self.base.algorithm.name
        return RunOrder(run.name, name, tuple(options), self._sweep.models_dir, self._sweep.logs_dir)

    def _write_config(self) -> Path:
        path = self._sweep.logs_dir / f"trial_{self.number:04d}_ai-config.json"
        document = self.base.run.config.to_json()
        document["weights"] |= self.weights
        with replacing(path) as beside:
            beside.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        return path

    def end_run(self, seed: int, why_failed: str | None) -> None:
        """Keep what has become of a run; from here on it counts, whatever ends the sweep.

        Args:
            seed: Seed of the run.
            why_failed: Why it failed; None if it was trained.
        """
        run = self.runs[seed]
        run.is_over, run.why_failed = True, why_failed
        run.evaluations = read_evaluations(self._sweep.logs_dir / run.name)
        run.value = self._objective.value_of(run.evaluations) if why_failed is None else None
        over = {
            str(seed): {"run": run.name, "value": run.value, "why_failed": run.why_failed}
            for seed, run in self.runs.items()
            if run.is_over
        }
        self.trial.set_user_attr("runs", over)

    def report(self) -> None:
        """Tell Optuna how the trial stands, as far as all of its runs that have begun have come.

        That is the median of what each of them would be worth if it ended there.
        """
        begun = [run for run in self.runs.values() if run.has_begun and run.why_failed is None]
        reached = min((WHOLE if run.is_over else self._place(run.evaluations[-1:]) for run in begun), default=0)
        for place in sorted({self._place([line]) for run in begun for line in run.evaluations}):
            if self._reported < place <= reached:
                values = [self._value_at(run, place) for run in begun]
                self.trial.report(self._objective.told(self._objective.median(values)), place)
                self._reported = place

    def _place(self, last: Sequence[Evaluation]) -> int:
        """Return how far a run was at an evaluation, in thousandths of its steps; evaluations are due at equal places.

        Args:
            last: The evaluation; empty is the begin of the run.
        """
        frequency, steps = self.base.run.eval_freq, self.base.run.steps
        return round(WHOLE * (last[0]["steps"] // frequency * frequency) / steps) if last else 0

    def _value_at(self, run: TrialRun, place: int) -> float | None:
        places = [self._place([line]) for line in run.evaluations]
        return self._objective.value_of(run.evaluations[: bisect.bisect_right(places, place)])


def _steps(run: TrialRun) -> int:
    return int(run.evaluations[-1]["steps"]) if run.evaluations else 0


def prefix_of(label: str, bases: Mapping[str, Base]) -> str:
    """Return what Optuna's names of the settings of a base begin with, so that those of several differ."""
    return f"{label}: " if len(bases) > 1 else ""


def settings_in_words(hyperparameters: Mapping[str, Any], weights: Mapping[str, Any]) -> str:
    """Return settings for people."""
    return ", ".join(_in_words(name, value) for name, value in {**hyperparameters, **weights}.items())


def _in_words(name: str, value: Any) -> str:
    return f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"


def starts(bases: Mapping[str, Base], is_grid: bool) -> Iterator[dict[str, Any]]:
    """Yield the settings that a sweep begins with, by Optuna's names: each base as it is, or a whole grid."""
    for label, base in bases.items():
        prefix, named = prefix_of(label, bases), {BASE: label} if len(bases) > 1 else {}
        if is_grid:
            yield from ({**named, **values} for values in base.space.grid(prefix))
            continue
        place = base.space.place_of(base.run.settings, base.run.config, prefix)
        if place is not None:
            yield {**named, **place}
