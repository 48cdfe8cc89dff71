"""Text from outside on a terminal: in one line, of a bounded length, without characters that act on the terminal."""

import unicodedata

MAX_LINE = 1_000  # characters
MAX_NAME = 100  # characters of a name within a line
# Control characters, invisible ones that change the direction of text, halves of pairs, and line separators.
_ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str, limit: int | None = MAX_LINE) -> str:
    """Return text with everything escaped that is not to be seen, and the middle of a long one left out.

    Args:
        text: Any text.
        limit: Most characters that are shown; None is no limit.
    """
    if limit is not None and len(text) > limit:
        text = f"{text[: limit - limit // 3]} ... {text[-(limit // 3) :]}"
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in _ACTING else character
        for character in text
    )
