"""A pool that pretends to train: its runs have evaluations that a test makes up."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from training.runs.evaluations import EVALUATIONS_NAME
from training.sweeps.bases import make_bases
from training.sweeps.coordinator import Coordinator
from training.sweeps.objective import OBJECTIVES
from training.sweeps.options import parse
from training.sweeps.pool import Began, Ended, Evaluated, Event, Pool, RunOrder
from training.sweeps.study import Study
from training.sweeps.trial import Sweep, starts

Line = dict[str, Any]


def line(steps: int, pace: float = 50.0, *, clean: int = 3, lap: float = 7.0, **others: Any) -> Line:
    """Return an evaluation of three laps of one track."""
    figures = {"steps": steps, "seconds": steps / 1000, "episodes": 1, "laps_asked": 3, "clean_laps": clean}
    laps = {"best_lap_time_sec": lap, "mean_lap_time_sec": lap + 1, "success": float(clean == 3)}
    return {**figures, **laps, "score": [clean, pace if clean else 0.0, 1.0], **others}


def option(order: RunOrder, name: str) -> str:
    """Return the value that a run is given for an option, the last one where there are several."""
    options = [*order.options]
    return options[len(options) - 1 - options[::-1].index(name) + 1]


def settings(order: RunOrder) -> dict[str, Any]:
    """Return what a run is given with --set."""
    given = [value for name, value in zip(order.options, order.options[1:], strict=False) if name == "--set"]
    return {name: json.loads(value) for name, value in (text.split("=") for text in given)}


class PretendingPool(Pool):
    """Trains nothing: an evaluation of each run is told at a time, in turn.

    Attributes:
        orders: What was ordered.
        ended_early: Runs that were asked to end.
    """

    def __init__(self, train: Callable[[RunOrder], Sequence[Line] | Ended], workers: int = 2) -> None:
        """Prepare.

        Args:
            train: Returns the evaluations that a run has, or how it ends instead.
            workers: How many runs are on their way at once.
        """
        self._train, self._workers = train, workers
        self.orders: list[RunOrder] = []
        self.ended_early: list[str] = []
        self._events: dict[str, list[Event]] = {}
        self._logs: dict[str, Path] = {}

    @property
    def workers(self) -> int:
        return self._workers

    def submit(self, order: RunOrder) -> None:
        assert order.run not in self._events, "it is being trained"
        self.orders.append(order)
        result = self._train(order)
        told = [result] if isinstance(result, Ended) else [*(Evaluated(order.run, line) for line in result)]
        last = [] if isinstance(result, Ended) else [Ended(order.run)]
        self._events[order.run] = [Began(order.run), *told, *last]
        log = order.logs_dir / order.run / EVALUATIONS_NAME
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("".join(json.dumps(event.figures) + "\n" for event in told if isinstance(event, Evaluated)))

    def events(self, timeout_s: float) -> list[Event]:
        assert len(self._events) <= self._workers
        found = [events.pop(0) for events in self._events.values()]
        self._events = {run: events for run, events in self._events.items() if events}
        return found

    def end_early(self, run: str, why: str) -> None:
        self.ended_early.append(run)
        self._events[run] = [Ended(run)]

    def close(self) -> None:
        self._events = {}


def make_sweep(folder: Path, *arguments: str, trials: int = 1) -> tuple[Sweep, Study]:
    """Return a sweep as its command line describes it, in a folder, new or as it was left."""
    options = parse([*arguments, "--models-dir", str(folder / "models"), "--logs-dir", str(folder / "logs")])
    objective = OBJECTIVES[options.objective]
    bases = {base.label: base for base in make_bases(options, objective)}
    logs = folder / "logs" / "s"
    logs.mkdir(parents=True, exist_ok=True)
    sweep = Sweep("s", bases, options.all_seeds, objective, trials, folder / "models" / "s", logs)
    study = Study(logs, objective, options.sampler, options.pruner, options.seed, trials)
    study.enqueue([*starts(bases, options.sampler == "grid")][:trials])
    return sweep, study


def carry_out(sweep: Sweep, study: Study, pool: PretendingPool) -> None:
    """Carry a sweep out."""
    Coordinator(sweep, study, pool).run()
