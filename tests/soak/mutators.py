"""Damage for files: bytes, JSON and archives that a stranger might send, or a disk might make."""

import copy
import functools
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

GARBAGE = 4096  # bytes of garbage at most
BOMB_BYTES = 6 * 2**30  # that a small member unpacks to
_TOKEN = "@token:"  # of what JSON's own writer would not write

# Values for anywhere in a JSON document.
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 0.5, -0.0, 1e-320, 1e16, 2**31, 2**53 + 1, 2**63, -(2**64), 1e300),
    *(f"{_TOKEN}NaN", f"{_TOKEN}Infinity", f"{_TOKEN}-Infinity", f"{_TOKEN}1e400", f"{_TOKEN}{'9' * 5000}"),
    *(f"{_TOKEN}{'[' * 100_000}{']' * 100_000}", f"{_TOKEN}{'[' * 300}{']' * 300}", f'{_TOKEN}{{"a":1,"a":2}}'),
    *("", " ", "0", "NaN", "x" * 100_000, "track-01", "../../etc/passwd", "/dev/zero", "/dev/stdin", "C:\\x", "CON"),
    *("\x1b]0;owned\x07\x1b[2J", "a\nerror: b", "\x00", "\u202e\u2066", "\ud800", "é\U0001f3ce", "%s{0}{x.__class__}"),
    *([], {}, [[]], [None] * 3, [0] * 20_000, {"": 0}, {"x" * 1000: {}}, {":type:": "x", ":serialized:": "gASVAAAA"}),
)


def dumped(document: Any) -> bytes:
    """Return a document as JSON, with what no JSON writer would write where it holds such a thing."""
    text = json.dumps(document)
    parts = text.split(f'"{_TOKEN}')
    for index, part in enumerate(parts[1:], 1):
        token, rest = _string_end(part)
        parts[index] = json.loads(f'"{token}"') + rest
    return "".join(parts).encode("utf-8", "surrogatepass")


def _string_end(text: str) -> tuple[str, str]:
    at = 0
    while text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return text[:at], text[at + 1 :]


def odd_value(chance: random.Random) -> Any:
    """Return a value that JSON can hold, and that hardly anybody expects."""
    return copy.deepcopy(chance.choice(ODD_VALUES))


def mutated_json(document: Any, chance: random.Random) -> bytes:
    """Return a document as JSON with one to three of its values changed, moved, doubled or left out."""
    document = copy.deepcopy(document)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        document = _with_one_change(document, chance)
    text = dumped(document)
    return mutated_bytes(text, chance) if chance.random() < 0.1 else text


def _with_one_change(document: Any, chance: random.Random) -> Any:
    places = _places(document)
    if not places or chance.random() < 0.03:
        return odd_value(chance)
    inside, key = chance.choice(places)
    act = chance.random()
    if act < 0.6:
        inside[key] = odd_value(chance)
    elif act < 0.7:
        inside[key] = _near(inside[key], chance)
    elif act < 0.8:
        del inside[key]
    elif isinstance(inside, list):
        inside.extend([inside[key]] * chance.choice([1, 5, 2000]))
    else:
        inside[chance.choice(["", "__proto__", "x\x1b[0m", f"{key} ", "type"])] = inside.pop(key)
    return document


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Return every place of a document, as the list or the dictionary and the index or the key."""
    keys: Any = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    return [place for key in list(keys) for place in ((document, key), *_places(document[key]))]


def _near(value: Any, chance: random.Random) -> Any:
    """Return a value of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return chance.choice([value + 1, -value, value * 1e6, value / 3, str(value), [value]])
    if isinstance(value, str):
        return chance.choice([value + "x", value[:-1], value.upper(), value * 2000, [value]])
    return [value] if isinstance(value, dict) else dict(enumerate(map(str, range(3))))


def mutated_bytes(content: bytes, chance: random.Random) -> bytes:
    """Return bytes with some flipped, cut off, doubled, inserted or overwritten."""
    data, at = bytearray(content), chance.randrange(len(content) + 1)
    length = min(chance.choice([1, 4, 64, GARBAGE]), len(data) - at)
    act = chance.randrange(7)
    if act <= 1:
        for _ in range(chance.choice([1, 2, 8, 64]) if data else 0):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif act == 2:
        del data[at:]
    elif act == 3:
        data[at:at] = data[at : at + length]
    elif act == 4:
        data[at : at + length] = chance.randbytes(length)
    elif act == 5:
        data[at : at + length] = bytes([chance.choice([0, 0x7F, 0xFF])]) * length
    else:
        data = bytearray(chance.choice([b"", chance.randbytes(64), content * 2, b"\x00" * GARBAGE, b"PK\x05\x06"]))
    return bytes(data)


# --- Archives ---

Members = dict[str, bytes]


def read_members(path: Path) -> Members:
    """Return what an archive holds, by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(members: Members, path: Path, method: int = zipfile.ZIP_STORED) -> None:
    """Write an archive."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def mutated_archive(
    source: Path, target: Path, chance: random.Random, inner: Callable[[str, bytes, random.Random], bytes]
) -> None:
    """Write a copy of an archive with something wrong: in a member, in the members, or in the bytes of the file.

    Args:
        source, target: The archives.
        chance: Random numbers.
        inner: Returns a member's content, changed, given its name and content.
    """
    members, act = read_members(source), chance.random()
    name = chance.choice(sorted(members))
    if act < 0.6:
        write_members({**members, name: inner(name, members[name], chance)}, target)
    elif act < 0.75:
        target.write_bytes(mutated_bytes(source.read_bytes(), chance))
    elif act < 0.85:
        _change_directory(source, target, chance)
    elif act < 0.93:
        _change_members(members, name, target, chance)
    else:
        write_members({key: value for key, value in members.items() if key != name}, target)
        _append_bomb(target, name, chance)


def _change_members(members: Members, name: str, target: Path, chance: random.Random) -> None:
    """Leave a member out, rename it, write it twice or pack it in another way."""
    act, rest = chance.randrange(5), {key: value for key, value in members.items() if key != name}
    if act == 0:
        write_members(rest, target)
    elif act == 1:
        new = chance.choice(["../out", "/tmp/out", "a" * 60_000, f"{name}\x00", "\x1b[2J", name.upper(), f"{name}/"])
        write_members({**rest, new: members[name]}, target)
    elif act == 2:
        with zipfile.ZipFile(target, "w") as archive:
            for key, value in [*members.items(), (name, chance.randbytes(64))]:
                archive.writestr(zipfile.ZipInfo(key), value)
    elif act == 3:
        write_members(members, target, chance.choice([zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED]))
    else:
        write_members({**members, **{f"more/{index}": b"" for index in range(60_000)}}, target)


def _change_directory(source: Path, target: Path, chance: random.Random) -> None:
    """Change fields of the directory at an archive's end: sizes, places, methods, flags, names."""
    data = bytearray(source.read_bytes())
    begin = data.rfind(b"PK\x05\x06")
    at = struct.unpack_from("<L", data, begin + 16)[0]
    for _ in range(chance.choice([1, 1, 4])):
        place = chance.randrange(at, len(data) - 4)
        struct.pack_into("<L", data, place, chance.choice([0, 1, 0xFFFF, 0xFFFFFFFF, 0x7FFFFFFF, 99, 0x809]))
    target.write_bytes(data)


@functools.lru_cache(maxsize=1)
def _bomb() -> bytes:
    """Return a deflate stream of BOMB_BYTES zeros, of a few megabytes."""
    packer, block = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(2**24)
    packer.compress(block)
    packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    return piece * (BOMB_BYTES // 2**24) + b"\x03\x00"


def _append_bomb(path: Path, name: str, chance: random.Random) -> None:
    """Append a member that unpacks to gigabytes; its sizes are told as they are, or as if it were small."""
    told = chance.choice([BOMB_BYTES, 1000, 0xFFFFFFF0])
    content = _bomb()
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "a") as archive:
        info.header_offset = archive.start_dir
        info.compress_size, info.file_size, info.CRC = len(content), told, 0
        archive.fp.seek(archive.start_dir)  # type: ignore[union-attr]
        archive.fp.write(info.FileHeader(told > 0xFFFFFFFF) + content)  # type: ignore[union-attr]
        archive.start_dir = archive.fp.tell()  # type: ignore[union-attr]
        archive.filelist.append(info)
        archive.NameToInfo[name] = info
        archive._didModify = True  # type: ignore[attr-defined]
