"""The log of a run's evaluations: whole lines, cut where a run goes on from an earlier step."""

from pathlib import Path

from training.runs.evaluations import EVALUATIONS_NAME, EvaluationLog, read_evaluations


def logged(folder: Path, first_step: int, *steps: int) -> None:
    """Log evaluations at some steps, in a run that goes on from ``first_step``."""
    log = EvaluationLog(folder, first_step)
    for step in steps:
        log.add(step, {"clean_laps": step // 100})
    log.close()


def test_an_evaluation_is_read_back_as_it_was_measured(tmp_path: Path) -> None:
    """Under the names that it was given."""
    logged(tmp_path, 0, 100, 200)
    assert [(line["steps"], line["clean_laps"]) for line in read_evaluations(tmp_path)] == [(100, 1), (200, 2)]


def test_what_a_killed_run_did_beyond_the_step_it_goes_on_from_is_taken_out(tmp_path: Path) -> None:
    """Its steps are trained again, and evaluated again."""
    logged(tmp_path, 0, 100, 200, 300)
    logged(tmp_path, 200, 250)
    assert [line["steps"] for line in read_evaluations(tmp_path)] == [100, 200, 250]


def test_the_seconds_go_on_from_those_of_the_last_stretch(tmp_path: Path) -> None:
    """Pauses between them do not count."""
    (tmp_path / EVALUATIONS_NAME).write_text('{"steps": 100, "seconds": 50.0}\n')
    logged(tmp_path, 100, 200)
    assert [line["seconds"] >= 50.0 for line in read_evaluations(tmp_path)] == [True, True]


def test_lines_that_are_not_whole_are_passed_over(tmp_path: Path) -> None:
    """Cut off, of another kind, or no text."""
    lines = ['{"steps": 1, "seconds": 2}', '{"steps": 3, "sec', "[]", '{"steps": "4", "seconds": 1}', "\xff"]
    (tmp_path / EVALUATIONS_NAME).write_bytes("\n".join(lines).encode("latin-1"))
    assert read_evaluations(tmp_path) == [{"steps": 1, "seconds": 2}]


def test_a_line_that_was_cut_off_does_not_take_the_next_one_with_it(tmp_path: Path) -> None:
    """A run that goes on begins a line of its own."""
    (tmp_path / EVALUATIONS_NAME).write_text('{"steps": 100, "seconds": 50.0}\n{"steps": 200, "sec')
    logged(tmp_path, 100, 200, 300)
    assert [line["steps"] for line in read_evaluations(tmp_path)] == [100, 200, 300]


def test_a_run_without_evaluations_has_none(tmp_path: Path) -> None:
    """With --eval-freq 0, for example."""
    assert read_evaluations(tmp_path) == []
