"""The script that makes the tables of docs/speed.md: a small row of each, and who is measured when."""

import contextlib
import os
import re

import pytest

from docs import speed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def cells(line: str) -> list[str]:
    """Return the cells of a table's line."""
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize(
    ("table", "value", "expected"),
    [
        ("cars", 4, ["4", *["RATE"] * 5, "MEMORY"]),
        ("tracks", 2, ["2", "64", "SECONDS", "SECONDS", "RATE", "RATE", "MEMORY"]),
        ("width", 8, ["`hidden=8,8`", *["RATE"] * 4]),
        ("processes", 2, ["2", "RATE", "RATE", "SECONDS"]),
    ],
)
def test_a_row_of_each_table(table: str, value: int, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured in processes of their own, and with a cell for every column."""
    monkeypatch.setattr(speed, "RUN_STEPS", 8192)
    heading, rule, row = speed.TABLES[table]([value], 1)
    kinds = {"RATE": r"[1-9][\d,]*", "SECONDS": r"\d+\.\d+ s", "MEMORY": r"[1-9][\d,]* MB|unknown"}
    for cell, kind in zip(cells(row), expected, strict=True):
        assert re.fullmatch(kinds.get(kind, re.escape(kind)), cell), row
    assert len(cells(heading)) == rule.count("---") == len(expected)


def test_rows_take_turns_and_the_fastest_turn_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one row after the other."""
    order = []

    class Fake(contextlib.nullcontext[None]):
        def __init__(self, table: str, value: int) -> None:
            super().__init__()
            self.value, self.turns = value, 0

        def __enter__(self) -> "Fake":  # type: ignore[override]
            return self

        def turn(self) -> speed.Figures:
            order.append(self.value)
            self.turns += 1
            return {"both": 100.0 * self.value - self.turns, "memory": float(self.turns)}

    monkeypatch.setattr(speed, "RowProcess", Fake)
    assert speed.measure("cars", [1, 4], 2) == [(1, {"both": 99.0, "memory": 2.0}), (4, {"both": 399.0, "memory": 2.0})]
    assert order == [1, 4, 1, 4]


def test_the_end_of_a_row_s_process_is_said() -> None:
    """Instead of a table without it."""
    with speed.RowProcess("cars", -1) as process, pytest.raises(SystemExit, match="measures cars -1 has ended"):
        process.turn()


def test_a_training_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no speed."""
    monkeypatch.setattr(speed, "RUN_STEPS", 0)
    with pytest.raises(SystemExit, match="1 of 1 trainings did not end well"):
        speed.train_side_by_side(1)


def test_only_the_tables_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Below what the figures depend on; all without a name."""
    for name in speed.TABLES:
        monkeypatch.setitem(speed.TABLES, name, lambda rows, turns, name=name: [f"{name} {len(rows)} {turns}"])
    speed.main(["width", "cars", "--turns", "7"])
    machine, *lines = capsys.readouterr().out.splitlines()
    assert machine.startswith(f"{os.cpu_count()} cores of ")
    assert "torch 2" in machine
    assert lines == ["", "width 4 7", "", "cars 7 7"]
    speed.main([])
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2 * len(speed.TABLES)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["sizes"], "expected some of cars, tracks, width, processes, got 'sizes'"),
        (["cars", "--turns", "0"], "--turns must be at least 1, got 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line that says what was expected."""
    with pytest.raises(SystemExit) as left:
        speed.main(arguments)
    assert left.value.code == 2
    assert why in capsys.readouterr().err


def test_rates_keep_the_digits_that_count() -> None:
    """Three of them."""
    assert speed.rounded(123_456.0) == "123,000"
    assert speed.rounded(98.76) == "99"
