"""Plain literals in JavaScript or TypeScript source: numbers, texts, lists and objects. Nothing is ever run."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from racer_env.errors import TrackError

MAX_DEPTH = 12  # levels of lists and objects; deeper ones count as code
LONGEST_TYPE = 16  # tokens between a name and its =
CODE = "code is not run, so write plain numbers there, or let the game write its tracks as JSON"

# Every alternative ends somewhere: an unclosed text ends with its line, an unclosed comment with the file.
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*(?:.*?\*/|.*))
    |(?P<text>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?)
    |(?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?(?![\w$]))
    |(?P<name>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None}
_CLOSING = {"[": "]", "{": "}", "(": ")"}
_AFTER = (",", ";", ")", "]", "}")  # what may stand after a literal that is used as it is


@dataclass(frozen=True)
class Code:
    """Something between literals that only running it would tell."""

    line: int
    text: str

    def __repr__(self) -> str:
        return f"{self.text[:40]!r} in line {self.line}"


class Literal(NamedTuple):
    """A literal at the top of a source, or within code.

    Attributes:
        name: Name that it is given to; None if there is none.
        value: Lists, dictionaries, texts, numbers, and ``Code`` for what is none of these.
        called: Name of the function that it is an argument of; None if it is of none.
    """

    name: str | None
    value: Any
    called: str | None


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def read_literals(source: str, where: str, wanted: Callable[[Any], bool]) -> Iterator[Literal]:
    """Yield the outermost lists and objects of a source that are wanted.

    Args:
        source: The text of the source.
        where: Name of the source in error messages.
        wanted: Tells of a literal's value whether it is wanted.

    Raises:
        TrackError: Code changes a wanted literal, by ``.map(...)`` for example.
    """
    reader, seen = _Reader(_tokens(source), where, wanted), set[int]()
    for index, token in enumerate(reader.tokens):
        if token.text not in ("[", "{") or index not in reader.ends or index in seen:
            continue
        reader.read.clear()
        value, after = reader.value(index, 0)
        if not wanted(value):
            continue  # there may be one within it
        seen |= reader.read
        reader.refuse_changed(after)
        yield Literal(reader.name_of(index), value, reader.called(index))


def _tokens(source: str) -> list[_Token]:
    tokens, line = [], 1
    for match in _TOKEN.finditer(source):
        if match.lastgroup != "space":
            tokens.append(_Token(str(match.lastgroup), match.group(), line))
        line += match.group().count("\n")
    return tokens


class _Reader:
    """Reads values from tokens.

    Attributes:
        tokens: The tokens of the source.
        ends: Index of the closing bracket by that of the opening one.
        read: Indices of the brackets that were read as part of the value.
    """

    def __init__(self, tokens: list[_Token], where: str, wanted: Callable[[Any], bool]) -> None:
        self.tokens, self._where, self._wanted = tokens, where, wanted
        self.read: set[int] = set()
        self.ends: dict[int, int] = {}
        waiting: list[int] = []
        for index, token in enumerate(tokens):
            if token.kind == "mark" and token.text in _CLOSING:
                waiting.append(index)
            elif token.kind == "mark" and waiting and _CLOSING[tokens[waiting[-1]].text] == token.text:
                self.ends[waiting.pop()] = index

    def value(self, index: int, depth: int) -> tuple[Any, int]:
        """Return the value that begins at a token, and the index of the token after it."""
        kind, text, line = self.tokens[index]
        if kind == "number":
            return float(text.replace("_", "")), index + 1
        if text in ("-", "+") and self.tokens[index + 1].kind == "number":
            number, after = self.value(index + 1, depth)
            return -number if text == "-" else number, after
        if kind == "text":
            return text.strip(text[0]), index + 1
        if kind == "name" and text in _CONSTANTS:
            return _CONSTANTS[text], index + 1
        if text in ("[", "{") and index in self.ends and depth < MAX_DEPTH:
            self.read.add(index)
            read = self._list if text == "[" else self._object
            return read(index + 1, self.ends[index], depth + 1), self.ends[index] + 1
        return Code(line, text), index

    def _list(self, index: int, end: int, depth: int) -> list[Any]:
        values = []
        while index < end:
            value, comma = self._entry(index, end, depth)
            values.append(value)
            index = comma + 1
        return values

    def _object(self, index: int, end: int, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while index < end:
            token = self.tokens[index]
            key = token.text.strip(token.text[0]) if token.kind == "text" else token.text
            if token.kind != "mark" and self.tokens[index + 1].text == ":" and index + 2 < end:
                values[key], comma = self._entry(index + 2, end, depth)
            else:
                comma = self._comma(index, end)
                values[key] = self._code(index, comma)
            index = comma + 1
        return values

    def _entry(self, index: int, end: int, depth: int) -> tuple[Any, int]:
        """Return the value of an entry, and the index of the comma or bracket that ends it."""
        comma = self._comma(index, end)
        if comma == index:
            return None, comma
        value, after = self.value(index, depth)
        if after < comma and not self._is_typed(after):
            if self._wanted(value):
                self.refuse_changed(after)
            return self._code(index, comma), comma
        return value, comma

    def _is_typed(self, index: int) -> bool:
        """Return whether TypeScript names the type of what stands before a token."""
        return self.tokens[index].text in ("as", "satisfies")

    def _comma(self, index: int, end: int) -> int:
        while index < end and self.tokens[index].text != ",":
            index = self.ends.get(index, index) + 1
        return min(index, end)

    def _code(self, index: int, end: int) -> Code:
        return Code(
            self.tokens[index].line, " ".join(token.text for token in self.tokens[index : min(end, index + 12)])
        )

    def refuse_changed(self, after: int) -> None:
        """Refuse a literal that code changes: what would be read is not what the game drives on."""
        if after >= len(self.tokens) or self.tokens[after].text in _AFTER or self._is_typed(after):
            return
        token, before = self.tokens[after], self.tokens[after - 1]
        if token.kind == "name" and token.line > before.line:  # the next statement, where no semicolon is written
            return
        code = self._code(after, len(self.tokens))
        raise TrackError(f"{self._where}: code changes the list of points: {code!r}; {CODE}")

    def name_of(self, index: int) -> str | None:
        """Return the name that the value at a token is given to, by a declaration or as an object's key."""
        at = index - 1
        while at >= 0 and (self.tokens[at].text in ("(", ".") or self.tokens[at + 1].text in ("(", ".")):
            at -= 1  # a function around it
        if at < 1 or self.tokens[at].text not in ("=", ":"):
            return None
        for before in range(at - 1, max(at - LONGEST_TYPE, 0), -1) if self.tokens[at].text == "=" else ():
            if self.tokens[before - 1].text in ("const", "let", "var"):
                return self.tokens[before].text
        kind, text, _ = self.tokens[at - 1]
        return {"text": text.strip(text[0]), "name": text}.get(kind)

    def called(self, index: int) -> str | None:
        """Return the name of the function that the value at a token is an argument of; freezing it changes nothing."""
        if index < 2 or self.tokens[index - 1].text != "(" or self.tokens[index - 2].kind != "name":
            return None
        name = self.tokens[index - 2].text
        return None if name in ("freeze", "return") else name
