"""What scripts print for people."""

import pytest

from racer_env.printable import MAX_LINE
from training.console.messages import complain, in_short, note, say


@pytest.mark.parametrize("show", [say, note, complain])
def test_a_name_from_outside_is_shown_in_one_line(show: object, capsys: pytest.CaptureFixture[str]) -> None:
    """It can neither look like an error nor fill the screen."""
    show("the track \x1b[2J\nerror: gone" + "x" * 100_000)  # type: ignore[operator]
    captured = capsys.readouterr()
    printed = captured.out + captured.err
    assert printed.count("\n") == 1
    assert "the track \\x1b[2J\\nerror: gone" in printed
    assert len(printed) < 1.1 * MAX_LINE


def test_a_command_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """Half of one cannot be typed."""
    say("x" * 5_000, limit=None)
    assert len(capsys.readouterr().out) == 5_001


def test_names_in_a_sentence_are_short() -> None:
    """So that the rest of it is seen."""
    assert len(in_short(["x" * 100_000, "y"])) < 150
