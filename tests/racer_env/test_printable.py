"""Text from outside on a terminal."""

import json
from pathlib import Path

import pytest

from racer_env.errors import ConfigError, TrackError
from racer_env.printable import MAX_LINE, printable
from racer_env.tracks import load_track


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a plain line, ü, 赛道, and a\u3000blank", "a plain line, ü, 赛道, and a\u3000blank"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("\x1b[2J\x9b31m\x00", "\\x1b[2J\\x9b31m\\x00"),
        ("\u202egnp.elif\u2066", "\\u202egnp.elif\\u2066"),
        ("a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\x85d"),
        ("half of a pair: \ud800", "half of a pair: \\ud800"),
    ],
)
def test_what_acts_on_a_terminal_is_escaped(text: str, shown: str) -> None:
    """Letters and blanks of any script stay."""
    assert printable(text) == shown
    assert printable(shown) == shown


def test_a_long_text_keeps_its_begin_and_its_end() -> None:
    """The end often says what to do."""
    shown = printable("begin" + "x" * 1_000_000 + "end")
    assert len(shown) < MAX_LINE + 10
    assert shown.startswith("begin")
    assert shown.endswith("end")
    assert len(printable("x" * 5_000, limit=None)) == 5_000


def test_an_error_is_one_line_whatever_it_quotes() -> None:
    """Wherever it is printed, in a traceback too."""
    error = ConfigError("the file says 'x\nerror: all is lost\x1b[31m'")
    assert str(error) == "the file says 'x\\nerror: all is lost\\x1b[31m'"


def test_a_key_of_a_file_cannot_fake_a_line(tmp_path: Path) -> None:
    """Nor fill the screen."""
    path = tmp_path / "track.json"
    path.write_text(json.dumps({"\x1b[2J\nerror: " + "long" * 100_000: 1}))
    with pytest.raises(TrackError) as caught:
        load_track(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1.1 * MAX_LINE
