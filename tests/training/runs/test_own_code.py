"""What code of the user's raises: in one line, and an interruption as it is."""

from pathlib import Path

import pytest

from racer_env.errors import BridgeError, ConfigError, OwnCodeError, RacerError
from training.runs.own_code import named

FILE = Path(__file__)


class _UnreadableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (SystemExit(), "SystemExit"),
        (GeneratorExit(), "GeneratorExit"),
        (RacerError("mine"), "RacerError: mine"),
        (ValueError(), "ValueError"),
        (ValueError("\n first\nsecond"), "ValueError: first"),
        (SystemError(), "SystemError"),
        (StopIteration(), "StopIteration"),
        (_UnreadableError(), "_UnreadableError"),
    ],
)
def test_whatever_is_raised_is_one_line(error: BaseException, words: str) -> None:
    """With the last line of the file that it came from."""
    with pytest.raises(ConfigError) as refused, named("mine", FILE, ConfigError):
        raise error
    head, _, place = str(refused.value).partition(f" ({FILE}, line ")
    assert head == f"mine raised {words}"
    assert place.removesuffix(")").isdigit()


def test_interruptions_stay_what_they_are() -> None:
    """Those that compiled code has swallowed, too."""
    swallowed = SystemError("returned a result with an exception set")
    swallowed.__cause__ = KeyboardInterrupt()
    for error in (KeyboardInterrupt(), swallowed):
        with pytest.raises(type(error)) as passed, named("mine", FILE):
            raise error
        assert passed.value is error


def test_what_is_not_the_code_s_passes() -> None:
    """As it is, when it is named."""
    with pytest.raises(BridgeError, match=r"^gone$"), named("mine", FILE, OwnCodeError, (BridgeError,)):
        raise BridgeError("gone")
