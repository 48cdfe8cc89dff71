"""A sweep's journal, and who proposes settings."""

from pathlib import Path

import pytest
from optuna.trial import TrialState

from racer_env.errors import RunError
from training.sweeps.objective import OBJECTIVES
from training.sweeps.study import JOURNAL_NAME, Study


def open_study(folder: Path, sampler: str = "random") -> Study:
    """Open the journal in a folder."""
    return Study(folder, OBJECTIVES["lap-time"], sampler, "median", 0, 20)


def ended(study: Study, count: int, sampler: str = "random") -> list[float]:
    """Carry out trials, and return what was tried."""
    values = []
    for _ in range(count):
        trial = study.ask()
        values.append(trial.suggest_float("gamma", 0, 1))
        study.tell(trial, TrialState.COMPLETE, 7.0 + values[-1])
    return values


def test_trials_are_found_again(tmp_path: Path) -> None:
    """Those that have ended, and those that have begun."""
    study = open_study(tmp_path)
    ended(study, 2)
    study.ask().set_user_attr("runs", {"0": 1})
    again = open_study(tmp_path)
    assert [trial.state for trial in again.trials] == [TrialState.COMPLETE] * 2 + [TrialState.RUNNING]
    (running,) = again.running()
    assert (running.number, running.user_attrs["runs"]) == (2, {"0": 1})
    again.tell(running, TrialState.COMPLETE, 1.0)
    assert again.running() == []


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_a_line_that_was_cut_off_is_taken_out(cut: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever the kill came; what is written next is read again."""
    ended(open_study(tmp_path), 2)
    path = tmp_path / JOURNAL_NAME
    path.write_bytes(path.read_bytes()[:-cut])
    study = open_study(tmp_path)
    assert "was cut off" in capsys.readouterr().err
    (unfinished,) = study.running()
    study.tell(unfinished, TrialState.COMPLETE, 1.0)
    assert [trial.state for trial in open_study(tmp_path).trials] == [TrialState.COMPLETE] * 2


def test_a_last_line_of_something_else_is_taken_out(tmp_path: Path) -> None:
    """As a power cut may leave one."""
    ended(open_study(tmp_path), 1)
    path = tmp_path / JOURNAL_NAME
    path.write_bytes(path.read_bytes() + b"\0\0\0\n")
    ended(open_study(tmp_path), 1)
    assert len(open_study(tmp_path).trials) == 2


def test_a_journal_that_is_damaged_within_is_refused(tmp_path: Path) -> None:
    """In one line with its path."""
    ended(open_study(tmp_path), 2)
    path = tmp_path / JOURNAL_NAME
    path.write_bytes(path.read_bytes().replace(b"op_code", b'op"code', 1))
    with pytest.raises(RunError, match=rf"the journal .*{JOURNAL_NAME} is damaged"):
        open_study(tmp_path)


def test_a_lock_of_optunas_that_a_kill_has_left_is_not_waited_for(tmp_path: Path) -> None:
    """A sweep is held by its process."""
    ended(open_study(tmp_path), 1)
    (tmp_path / f"{JOURNAL_NAME}.lock").symlink_to(tmp_path / JOURNAL_NAME)
    ended(open_study(tmp_path), 1)


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_a_sampler_proposes_nothing_twice_after_a_restart(sampler: str, tmp_path: Path) -> None:
    """Though its seed is the same; and two sweeps of a seed begin alike."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = ended(open_study(tmp_path / "a", sampler), 2)
    assert ended(open_study(tmp_path / "b", sampler), 2) == first
    then = ended(open_study(tmp_path / "a", sampler), 2)
    assert not {*first} & {*then}


def test_settings_that_are_enqueued_come_first_and_once(tmp_path: Path) -> None:
    """Also when the sweep was killed between them."""
    first = [{"gamma": 0.1}, {"gamma": 0.2}]
    open_study(tmp_path).enqueue(first[:1])
    study = open_study(tmp_path)
    study.enqueue(first)
    assert study.asked == 0
    values = ended(study, 3)
    assert values[:2] == [0.1, 0.2]
    assert values[2] not in (0.1, 0.2)
