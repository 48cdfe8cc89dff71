"""Carrying out a sweep: trials from Optuna, their runs to workers, and what becomes of them into the journal."""

from optuna.trial import TrialState

from training.console.messages import say
from training.sweeps.folders import await_end
from training.sweeps.pool import Ended, Evaluated, Event, Pool, RunOrder
from training.sweeps.progress import SweepProgress
from training.sweeps.results import counts_in_words, results_of, write_best
from training.sweeps.study import WHOLE, Study
from training.sweeps.trial import Sweep, SweepTrial, settings_in_words

MAX_ATTEMPTS = 2  # of a run whose process is gone, not counting those that went with their machine
POLL_S = 1.0  # seconds between looks at the time


class Coordinator:
    """Keeps the workers of a pool busy until all trials have ended."""

    def __init__(self, sweep: Sweep, study: Study, pool: Pool) -> None:
        """Prepare; trials that had begun are gone on with.

        Args:
            sweep: The sweep.
            study: Its trials.
            pool: What trains its runs.
        """
        self._sweep, self._study, self._pool = sweep, study, pool
        self._trials = [SweepTrial(trial, sweep) for trial in study.running()]
        again = [run.name for trial in self._trials for run in trial.runs.values() if not run.is_over]
        await_end(again, sweep.models_dir, sweep.logs_dir)
        self._orders: dict[str, tuple[SweepTrial, int]] = {}  # runs that a worker has, and their seeds
        self._ended = 0

    def run(self) -> None:
        """Train until every trial has ended."""
        for trial in [*self._trials]:
            self._settle(trial)
        progress = SweepProgress(self._sweep.trials * len(self._sweep.seeds), self._done())
        try:
            while self._fill():
                ended = self._ended
                for event in self._pool.events(POLL_S):
                    self._take(event)
                progress.show(self._done(), self._in_words(), is_new=self._ended > ended)
        finally:
            progress.close()

    def _fill(self) -> bool:
        """Give every free worker a run; return whether any run is being trained."""
        while len(self._orders) < self._pool.workers:
            order = self._next_order()
            if order is None:
                break
            self._pool.submit(order)
        return bool(self._orders)

    def _next_order(self) -> RunOrder | None:
        """Return the next run, of a trial that has begun or of a new one; None if there is nothing left to begin."""
        while True:
            for trial in self._trials:
                for seed, run in trial.runs.items():
                    if not run.has_begun:
                        self._orders[run.name] = trial, seed
                        return trial.order(seed)
            if self._study.asked >= self._sweep.trials:
                return None
            self._trials.append(SweepTrial(self._study.ask(), self._sweep))

    def _take(self, event: Event) -> None:
        trial, seed = self._orders[event.run]
        if isinstance(event, Evaluated):
            trial.runs[seed].evaluations.append(event.figures)
        if isinstance(event, Ended):
            del self._orders[event.run]
        if trial not in self._trials:  # it was given up
            return
        if isinstance(event, Ended):
            self._end_run(trial, seed, event)
        if trial in self._trials:
            trial.report()
            if not trial.is_over and trial.may_be_given_up:
                self._give_up(trial)

    def _end_run(self, trial: SweepTrial, seed: int, event: Ended) -> None:
        run = trial.runs[seed]
        if event.machine_is_gone:
            run.attempts -= 1
        if event.is_lost and run.attempts < MAX_ATTEMPTS:
            again = "trained elsewhere" if event.machine_is_gone else "tried once more"
            say(f"{event.run}: {event.why_failed}; it is {again}")
            run.has_begun = False
            return
        trial.end_run(seed, event.why_failed)
        if event.why_failed is not None:
            say(f"{event.run} failed: {event.why_failed}")
        self._settle(trial)

    def _settle(self, trial: SweepTrial) -> None:
        """End a trial if all of its runs are over."""
        if not trial.is_over:
            return
        self._trials.remove(trial)
        self._ended += 1
        if trial.why_failed is not None:
            trial.trial.set_user_attr("why_failed", trial.why_failed)
            self._study.tell(trial.trial, TrialState.FAIL)
            return
        objective, values = self._sweep.objective, [run.value for run in trial.runs.values()]
        self._study.tell(trial.trial, TrialState.COMPLETE, objective.told(trial.median))
        several = f" ({', '.join(map(objective.in_short, values))})" if len(values) > 1 else ""
        say(f"trial {trial.number}: {objective.in_words(trial.median)}{several}{self._setting(trial)}")
        results = results_of(self._sweep, self._study)
        if results and results[0].number == trial.number:
            write_best(self._sweep, results[0])

    def _give_up(self, trial: SweepTrial) -> None:
        self._trials.remove(trial)
        self._ended += 1
        reached = max(trial.trial.storage.get_trial(trial.trial._trial_id).intermediate_values)
        self._study.tell(trial.trial, TrialState.PRUNED)
        why = f"ended early at {reached / WHOLE:.0%} of its steps, as others were better there"
        say(f"trial {trial.number}: {why}{self._setting(trial)}")
        for name, (other, _) in self._orders.items():
            if other is trial:
                self._pool.end_early(name, f"its trial was {why}")

    def _setting(self, trial: SweepTrial) -> str:
        words = settings_in_words(trial.hyperparameters, trial.weights)
        label = trial.base.label if len(self._sweep.bases) > 1 else ""
        return "".join(f"; {part}" for part in (label, words) if part)

    def _done(self) -> float:
        waiting = self._study.asked - len(self._trials)
        return waiting * len(self._sweep.seeds) + sum(trial.done_share() for trial in self._trials)

    def _counts(self) -> str:
        """Return how many trials are done, and where these have several runs, how many runs are over."""
        trials = f"{counts_in_words(self._study)} of {self._sweep.trials} trials"
        seeds = len(self._sweep.seeds)
        on_the_way = sum(not run.is_over for trial in self._trials for run in trial.runs.values())
        runs = f" and {self._study.asked * seeds - on_the_way} of {self._sweep.trials * seeds} runs"
        return f"{trials}{runs if seeds > 1 else ''} done"

    def _in_words(self) -> str:
        results = results_of(self._sweep, self._study)
        best = "none with clean laps yet"
        if results:
            best = f"best {self._sweep.objective.in_words(results[0].median)}, trial {results[0].number}"
        return f"{self._counts()}; {best}"
