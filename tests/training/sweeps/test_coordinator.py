"""Carrying out a sweep, with a pool that pretends to train."""

import contextlib
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from tests.training.sweeps.pretending import Line, PretendingPool, carry_out, line, make_sweep, option, settings
from training.sweeps.pool import Ended, RunOrder
from training.sweeps.results import results_of
from training.sweeps.study import Study

SHORT = ("--timesteps", "80000", "--eval-freq", "8192")
COMPLETE, PRUNED, FAIL = TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL


@pytest.fixture
def space(tmp_path: Path) -> str:
    """The path of a search space with a hyper-parameter and a reward weight."""
    path = tmp_path / "space.json"
    path.write_text('{"hyperparameters": {"gamma": [0.5, 0.6, 0.7]}, "weights": {"speedBonus": [0.0, 1.0]}}')
    return str(path)


def states(study: Study) -> list[TrialState]:
    """Return how every trial stands."""
    return [trial.state for trial in study.trials]


def by_seed(order: RunOrder) -> Sequence[Line]:
    """Train a run whose pace is ten times its seed."""
    return [line(80000, 10.0 * int(option(order, "--seed")))]


def test_a_setting_is_judged_by_the_median_of_its_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each of which is an ordinary run with a name of its own."""
    sweep, study = make_sweep(tmp_path, "--seeds", "3", "--seed", "4", *SHORT)
    pool = PretendingPool(by_seed)
    carry_out(sweep, study, pool)
    assert [order.run for order in pool.orders] == [f"trial_0000_seed_{seed}" for seed in (4, 5, 6)]
    assert [trial.value for trial in study.trials] == [50.0]
    assert "trial 0: 50.00 units/s (40.00, 50.00, 60.00)" in capsys.readouterr().out


def test_algorithms_and_presets_are_compared_with_one_another(tmp_path: Path) -> None:
    """Each of them once, and the best is a preset for its algorithm."""
    sweep, study = make_sweep(tmp_path, "--algorithm", "PPO", "SAC", "--timesteps", "20000", trials=2)
    pool = PretendingPool(lambda order: [line(20000, 70.0 if order.algorithm == "SAC" else 60.0)])
    carry_out(sweep, study, pool)
    assert [order.algorithm for order in pool.orders] == ["PPO", "SAC"]
    best = json.loads((sweep.logs_dir / "best.json").read_text())
    assert (best["algorithm"], best["arguments"]) == ("SAC", {"timesteps": 20000})
    assert "Median 70.00 units/s (seed 0: 70.00) on track-01" in best["figures"]


def test_what_is_searched_goes_to_the_runs_and_into_the_best_preset(space: str, tmp_path: Path) -> None:
    """Reward weights by a configuration of the trial's, in which the others stay."""

    def train(order: RunOrder) -> Sequence[Line]:
        weights = json.loads(Path(option(order, "--config")).read_text())["weights"]
        assert weights["wallPenalty"] == -0.002
        return [line(80000, 100 * settings(order)["gamma"] + weights["speedBonus"])]

    sweep, study = make_sweep(tmp_path, "--search", space, "--sampler", "grid", "--set", "epochs=3", *SHORT, trials=6)
    carry_out(sweep, study, PretendingPool(train))
    best = json.loads((sweep.logs_dir / "best.json").read_text())
    assert best["hyperparameters"] == {"epochs": 3, "gamma": 0.7}
    assert best["ai_config"]["weights"]["speedBonus"] == 1.0
    assert sorted(trial.value for trial in study.trials) == pytest.approx([50, 51, 60, 61, 70, 71])


def test_algorithms_are_searched_each_in_its_own_space(tmp_path: Path) -> None:
    """By chance at first, and then by what was good."""
    path = tmp_path / "space.json"
    path.write_text('{"hyperparameters": {"gamma": {"low": 0.5, "high": 0.9}, "hidden": [[32, 32], [64]]}}')
    search = ("--search", str(path), "--timesteps", "20000", "--algorithm", "PPO", "SAC")
    sweep, study = make_sweep(tmp_path, *search, trials=20)
    pool = PretendingPool(lambda order: [line(20000, 60.0 + settings(order)["gamma"])])
    carry_out(sweep, study, pool)
    assert {order.algorithm for order in pool.orders} == {"PPO", "SAC"}
    assert {str(settings(order)["hidden"]) for order in pool.orders} == {"[32, 32]", "[64]"}
    best = max(settings(order)["gamma"] for order in pool.orders)
    assert json.loads((sweep.logs_dir / "best.json").read_text())["hyperparameters"]["gamma"] == best


def test_a_search_begins_with_the_settings_as_they_are(tmp_path: Path) -> None:
    """So that what it finds is better than these, or these are the best."""
    path = tmp_path / "space.json"
    path.write_text('{"hyperparameters": {"gamma": {"low": 0.5, "high": 1}}}')
    sweep, study = make_sweep(tmp_path, "--search", str(path), "--set", "epochs=3", *SHORT, trials=2)
    pool = PretendingPool(by_seed)
    carry_out(sweep, study, pool)
    assert settings(pool.orders[0]) == {"epochs": 3, "gamma": 0.99}
    assert settings(pool.orders[1])["gamma"] != 0.99


def test_runs_are_counted_too(space: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So that movement is seen; what is done at the end is not for the progress to tell."""
    sweep, study = make_sweep(tmp_path, "--search", space, "--seeds", "3", *SHORT, trials=2)
    carry_out(sweep, study, PretendingPool(by_seed, workers=4))
    lines = [each for each in capsys.readouterr().out.splitlines() if " done; " in each]
    assert [each.partition(";")[0] for each in lines] == ["1 of 2 trials and 4 of 6 runs done"]


def test_workers_are_kept_busy_with_the_runs_of_several_trials(space: str, tmp_path: Path) -> None:
    """The pool makes sure that there are no more than there are workers."""
    sweep, study = make_sweep(tmp_path, "--search", space, "--seeds", "3", *SHORT, trials=2)
    pool = PretendingPool(by_seed, workers=4)
    carry_out(sweep, study, pool)
    assert [order.run[:10] for order in pool.orders] == ["trial_0000"] * 3 + ["trial_0001"] * 3
    assert states(study) == [COMPLETE] * 2


def test_a_failure_is_one_line_and_the_sweep_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A seed that fails counts as the worst of its trial."""
    sweep, study = make_sweep(tmp_path, "--seeds", "3", *SHORT)
    no_memory = Ended("trial_0000_seed_2", "there is not enough memory")
    pool = PretendingPool(lambda order: no_memory if order.run.endswith("2") else by_seed(order))
    carry_out(sweep, study, pool)
    assert "trial_0000_seed_2 failed: there is not enough memory\n" in capsys.readouterr().out
    assert [(trial.state, trial.value) for trial in study.trials] == [(COMPLETE, 0.0)]


def test_a_trial_of_which_all_runs_fail_has_failed(space: str, tmp_path: Path) -> None:
    """With the reason; the others are done."""
    sweep, study = make_sweep(tmp_path, "--search", space, "--sampler", "grid", "--seeds", "2", *SHORT, trials=6)
    pool = PretendingPool(lambda order: Ended(order.run, "why") if settings(order)["gamma"] == 0.6 else by_seed(order))
    carry_out(sweep, study, pool)
    assert sorted(states(study)) == [COMPLETE] * 4 + [FAIL] * 2
    assert {trial.user_attrs["why_failed"] for trial in study.trials if trial.state == FAIL} == {"why"}


def test_a_run_that_is_lost_is_tried_once_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And counts once."""
    sweep, study = make_sweep(tmp_path, *SHORT)
    lost = [Ended("trial_0000_seed_0", "its process was ended by SIGKILL", is_lost=True)]
    pool = PretendingPool(lambda order: lost.pop() if lost else [line(80000, 60.0)])
    carry_out(sweep, study, pool)
    assert len(pool.orders) == 2
    assert "trial_0000_seed_0: its process was ended by SIGKILL; it is tried once more\n" in capsys.readouterr().out
    assert [(trial.state, trial.value) for trial in study.trials] == [(COMPLETE, 60.0)]


def test_a_run_that_is_lost_twice_has_failed(tmp_path: Path) -> None:
    """A third attempt would be lost too."""
    sweep, study = make_sweep(tmp_path, *SHORT)
    pool = PretendingPool(lambda order: Ended(order.run, "it is gone", is_lost=True))
    carry_out(sweep, study, pool)
    assert len(pool.orders) == 2
    assert states(study) == [FAIL]


def test_a_lost_machine_is_no_fault_of_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """However often it happens."""
    sweep, study = make_sweep(tmp_path, *SHORT)
    lost = [Ended("trial_0000_seed_0", "its machine is gone", is_lost=True, machine_is_gone=True)] * 5
    pool = PretendingPool(lambda order: lost.pop() if lost else [line(80000, 60.0)])
    carry_out(sweep, study, pool)
    assert len(pool.orders) == 6
    assert "trial_0000_seed_0: its machine is gone; it is trained elsewhere\n" in capsys.readouterr().out
    assert [(trial.state, trial.value) for trial in study.trials] == [(COMPLETE, 60.0)]


def test_an_earlier_attempt_counts_for_nothing(tmp_path: Path) -> None:
    """Neither in what Optuna is told on the way."""
    sweep, study = make_sweep(tmp_path, "--search", *SHORT)
    attempts = [[line(16384, 20.0), line(80000, 30.0)], [line(8192, 90.0), line(16384, 90.0)]]
    pool = LosingPool(lambda order: attempts.pop())
    carry_out(sweep, study, pool)
    (trial,) = study.trials
    assert trial.value == 30.0
    assert trial.intermediate_values == {100: 90.0, 200: 20.0, 900: 30.0}


class LosingPool(PretendingPool):
    """Loses its first run after its first evaluation."""

    def submit(self, order: RunOrder) -> None:
        super().submit(order)
        if len(self.orders) == 1:
            self._events[order.run][2:] = [Ended(order.run, "it is gone", is_lost=True)]


def test_seeds_are_compared_at_the_same_point(tmp_path: Path) -> None:
    """A run that is ahead waits to be told until the others have come that far."""
    sweep, study = make_sweep(tmp_path, "--search", "--seeds", "2", *SHORT)
    pool = PretendingPool(lambda order: climbing(100.0)[1::2] if order.run.endswith("0") else climbing(50.0))
    carry_out(sweep, study, pool)
    (trial,) = study.trials
    assert trial.intermediate_values[200] == 15.0  # the mean of 20 and 10, at 16,384 steps
    assert trial.intermediate_values[400] == 30.0


def climbing(top: float) -> list[Line]:
    """Return the evaluations of a run that climbs evenly to a pace."""
    return [line(8192 * part, top * part / 10) for part in range(1, 11)]


def test_bad_trials_end_early(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once they are worse than the median of four others; their runs are asked to end, and the rest never begins."""
    path = tmp_path / "space.json"
    path.write_text('{"hyperparameters": {"gamma": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}}')
    sweep, study = make_sweep(tmp_path, "--search", str(path), "--sampler", "grid", "--seeds", "3", *SHORT, trials=6)
    pool = PretendingPool(lambda order: climbing(100 * (1 - settings(order)["gamma"])), workers=2)
    carry_out(sweep, study, pool)
    assert states(study) == [COMPLETE] * 4 + [PRUNED] * 2
    assert pool.ended_early == [f"trial_000{trial}_seed_{seed}" for trial in (4, 5) for seed in (0, 1)]
    assert not [order for order in pool.orders if order.run in ("trial_0004_seed_2", "trial_0005_seed_2")]
    assert "trial 4: ended early at 30% of its steps, as others were better there; gamma 0.5" in capsys.readouterr().out
    assert all(result.number < 4 for result in results_of(sweep, study))


def test_a_lucky_seed_saves_no_trial_and_an_unlucky_one_ends_none(tmp_path: Path) -> None:
    """The median of all seeds that have begun decides, once all of them have come that far."""
    path = tmp_path / "space.json"
    path.write_text('{"hyperparameters": {"gamma": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}}')

    def train(order: RunOrder) -> Sequence[Line]:
        trial, seed = int(order.run[6:10]), int(option(order, "--seed"))
        unlucky, lucky = trial == 4 and seed == 0, trial == 5 and seed == 0
        return climbing(10.0 if unlucky or (trial == 5 and not lucky) else 90.0 if lucky else 50.0 + trial)

    sweep, study = make_sweep(tmp_path, "--search", str(path), "--sampler", "grid", "--seeds", "3", *SHORT, trials=6)
    carry_out(sweep, study, PretendingPool(train, workers=3))
    assert states(study) == [COMPLETE] * 5 + [PRUNED]


class KillError(Exception):
    """The process is gone."""


def test_a_sweep_that_is_killed_whenever_it_writes_counts_every_run_once(
    space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a write to the journal, or after it; what was being trained starts again, and no trial is left out."""
    write, left = JournalFileBackend.append_logs, 0

    def dying(self: JournalFileBackend, logs: list[dict[str, Any]]) -> None:
        nonlocal left
        left -= 1
        if left != -1:
            write(self, logs)
        if left < 0:
            raise KillError

    monkeypatch.setattr(JournalFileBackend, "append_logs", dying)
    arguments = ("--search", space, "--sampler", "grid", "--seeds", "2", "--seed", "1", *SHORT)
    trained: list[str] = []
    for attempt in itertools.count(2):
        left, pool, is_done = attempt, PretendingPool(by_seed), False
        with contextlib.suppress(KillError):
            sweep, study = make_sweep(tmp_path, *arguments, trials=6)
            carry_out(sweep, study, pool)
            is_done = True
        trained += [order.run for order in pool.orders]
        if is_done:
            break
    assert attempt > 10
    assert states(study) == [COMPLETE] * 6
    assert {*trained} == {f"trial_000{trial}_seed_{seed}" for trial in range(6) for seed in (1, 2)}
    assert [trial.value for trial in study.trials] == [15.0] * 6


def test_a_run_that_is_over_is_not_trained_again(tmp_path: Path) -> None:
    """Whose trial is not, as the sweep was killed."""
    seeds = ("--seeds", "2", *SHORT)
    pool = PretendingPool(by_seed, workers=1)
    with contextlib.suppress(KillError):
        carry_out(*make_sweep(tmp_path, *seeds), KilledPool(by_seed, workers=1))
    carry_out(*make_sweep(tmp_path, *seeds), pool)
    assert [order.run for order in pool.orders] == ["trial_0000_seed_1"]


class KilledPool(PretendingPool):
    """Is killed when it gets its second run."""

    def submit(self, order: RunOrder) -> None:
        if self.orders:
            raise KillError
        super().submit(order)


def test_a_sweep_that_is_done_trains_nothing(tmp_path: Path) -> None:
    """When it is gone on with."""
    sweep, study = make_sweep(tmp_path, "--seeds", "2", *SHORT)
    carry_out(sweep, study, PretendingPool(by_seed))
    sweep, study = make_sweep(tmp_path, "--seeds", "2", *SHORT)
    pool = PretendingPool(by_seed)
    carry_out(sweep, study, pool)
    assert pool.orders == []
    assert states(study) == [COMPLETE]
