"""Finding runs: by names, patterns and sweeps, with a line about each that cannot be compared."""

import shutil
from pathlib import Path

import pytest

from racer_env.errors import RunError
from tests.training.comparisons.logs import evaluation, write_run
from training.comparisons.finding import MAX_LINES, find_runs

LINES = [evaluation(1000, 100.0)]


def names(found: list) -> list[str]:  # type: ignore[type-arg]
    """Return the names of runs."""
    return [run.name for run in found]


def test_runs_by_name_pattern_path_and_sweep(tmp_path: Path) -> None:
    """Each once, however often it is named; a sweep stands for its runs, and so does any folder with runs inside."""
    for name in ("a_1", "a_2", "b"):
        write_run(tmp_path, name, 0, LINES)
    for folder in ("sweep", "others"):
        write_run(tmp_path / folder, f"{folder}_run", 0, LINES)
    (tmp_path / "sweep" / "sweep.json").write_text("{}")
    assert names(find_runs(["b", "a_*", "a_1"], tmp_path)) == ["b", "a_1", "a_2"]
    assert names(find_runs(["sweep", "others"], tmp_path)) == ["sweep_run", "others_run"]
    assert names(find_runs([str(tmp_path / "sweep"), "sweep/*", "s*"], tmp_path)) == ["sweep_run"]


def test_a_run_says_by_what_it_was_found_and_where(tmp_path: Path) -> None:
    """The first of the names that stand for it, and its sweep."""
    write_run(tmp_path, "alone", 0, LINES)
    write_run(tmp_path / "sweep", "trial", 0, LINES)
    found = find_runs(["alone", "missing", "sweep", "sweep/*"], tmp_path)
    assert [(run.given, run.sweep) for run in found] == [("alone", ""), ("sweep", "sweep")]


def test_each_that_cannot_be_compared_has_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Missing, damaged, without a record, without evaluations; the others are compared."""
    write_run(tmp_path, "good", 0, LINES)
    write_run(tmp_path, "empty", 0, [])
    (write_run(tmp_path, "damaged", 0, LINES) / "config.json").write_text("{")
    (write_run(tmp_path, "odd", 0, LINES) / "config.json").write_text("[]")
    (write_run(tmp_path, "bare", 0, LINES) / "config.json").unlink()
    assert names(find_runs(["good", "empty", "damaged", "odd", "bare", "missing", "x*"], tmp_path)) == ["good"]
    lines = capsys.readouterr().err.splitlines()
    told = (
        "matches 'x*'",
        "empty has no evaluations",
        "not valid JSON",
        "no record",
        "has no config.json",
        "'missing'",
    )
    assert len(lines) == len(told)
    assert all(text in line for text, line in zip(told, lines, strict=True))


def test_a_run_of_a_sweep_without_a_record_is_told_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It may be about to begin."""
    write_run(tmp_path / "s", "trial_0000_seed_0", 0, LINES)
    (tmp_path / "s" / "sweep.json").write_text("{}")
    (tmp_path / "s" / "trial_0001_seed_0").mkdir()
    assert names(find_runs(["s"], tmp_path)) == ["trial_0000_seed_0"]
    assert "trial_0001_seed_0 has no config.json" in capsys.readouterr().err


def test_a_single_name_of_no_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the runs that there are; the name of a model says which run it is of."""
    write_run(tmp_path, "quick", 0, LINES)
    write_run(tmp_path, "slow", 0, LINES)
    with pytest.raises(RunError, match=r"^nothing to compare: no run 'nope' in .*; there are: quick, slow$"):
        find_runs(["nope"], tmp_path)
    with pytest.raises(RunError, match=r"no run 'quick_best' in .*; that is the name of a model of the run quick$"):
        find_runs(["quick_best"], tmp_path)
    with pytest.raises(RunError, match=r"^nothing to compare: nothing in .* matches 'x\*'$"):
        find_runs(["x*"], tmp_path)
    assert capsys.readouterr().err == ""


def test_nothing_to_compare_is_an_error(tmp_path: Path) -> None:
    """If there is none at all."""
    with pytest.raises(RunError, match=r"nothing to compare: none of a, b in .* is a run with evaluations"):
        find_runs(["a", "b"], tmp_path)


def test_a_run_that_is_not_finished_is_compared_by_what_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And it is said, whether it is being trained or has ended early, but not if it ended because it was good."""
    models = tmp_path / "models"
    models.mkdir()
    for name in ("now", "pruned", "good"):
        stops = {"stop_when_competent": name == "good"}
        write_run(tmp_path / "logs", name, 0, LINES, timesteps=5000, arguments={"models_dir": str(models), **stops})
    (models / ".now.lock").touch()
    for name in ("pruned", "good"):
        (models / f"{name}_final.zip").touch()
    assert len(find_runs(["now", "pruned", "good"], tmp_path / "logs")) == 3
    now, pruned = capsys.readouterr().err.splitlines()
    assert "now is being trained, or was killed: compared by its evaluations until 1,000 of 5,000 steps" in now
    assert "pruned ended early" in pruned


def test_many_lines_of_a_kind_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As of a thousand trials that were ended early."""
    write_run(tmp_path, "good", 0, LINES)
    find_runs(["good", *(f"missing_{number}" for number in range(MAX_LINES + 5))], tmp_path)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == MAX_LINES + 1
    assert lines[-1] == "note: left out: 5 more runs"


def test_models_are_where_the_run_was_trained(tmp_path: Path) -> None:
    """Or, if that folder is gone, at the same place in the usual one; a folder that is named goes before both."""
    there = tmp_path / "there"
    there.mkdir()
    write_run(tmp_path / "logs" / "s", "r", 0, LINES, arguments={"models_dir": str(there)})
    (run,) = find_runs(["s/r"], tmp_path / "logs")
    assert run.best_model == there / "r_best.zip"
    (run,) = find_runs(["s/r"], tmp_path / "logs", tmp_path / "elsewhere")
    assert run.best_model == tmp_path / "elsewhere" / "s" / "r_best.zip"
    shutil.rmtree(there)
    (run,) = find_runs(["s/r"], tmp_path / "logs")
    assert run.best_model.parts[-3:] == ("models", "s", "r_best.zip")
