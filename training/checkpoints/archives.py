"""Zip archives that a stranger may have made: what they would unpack to is checked before anything is unpacked."""

import contextlib
import io
import math
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.errors import RacerError
from racer_env.files import open_file
from training.console.messages import first_line

# From a reason to the error that gives it.
Refusal = Callable[[str], RacerError]

MAX_PARTS = 500  # a file of weights has three with each layer of ten critics
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1  # bit of a part's flags
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@contextlib.contextmanager
def open_archive(
    source: Path | bytes, refuse: Refusal, most: int, growth: float = math.inf
) -> Iterator[zipfile.ZipFile]:
    """Open an archive; whatever is wrong with it, then or while it is read, becomes one error.

    Args:
        source: Path of the archive, or its content.
        refuse: Makes the error from a reason.
        most: Bytes that it and all of its parts, unpacked, may have.
        growth: How many times the archive's own size its parts may have, unpacked.

    Raises:
        RacerError: As ``refuse`` makes it.
    """
    try:
        file = io.BytesIO(source) if isinstance(source, bytes) else open_file(source, most)
    except FileNotFoundError as missing:
        raise refuse("there is no such file") from missing
    except (OSError, ValueError) as unreadable:
        raise refuse(first_line(unreadable)) from unreadable
    try:
        with file, zipfile.ZipFile(file) as archive:
            fault = _fault(archive, file.seek(0, os.SEEK_END), most, growth)
            if fault is not None:
                raise refuse(fault)
            yield archive
    except RacerError:
        raise
    except Exception as error:  # a damaged archive may raise anything
        raise refuse(f"it is damaged or something else ({first_line(error)})") from error


def _fault(archive: zipfile.ZipFile, size: int, most: int, growth: float) -> str | None:
    """Return why an archive of ``size`` bytes is not unpacked; None if it may be."""
    parts = archive.infolist()
    if len(parts) > MAX_PARTS:
        return f"it has {len(parts):,} parts, more than {MAX_PARTS}"
    if len({part.filename for part in parts}) < len(parts):
        return "two of its parts have one name"
    for part in parts:
        if part.flag_bits & _ENCRYPTED:
            return f"its part {part.filename[:40]!r} is encrypted"
        if part.compress_type not in _METHODS:
            return f"its part {part.filename[:40]!r} is compressed by a method that is not read here, only deflate is"
    if sum(part.compress_size for part in parts) > size:
        return "its parts are larger than the file"
    unpacked = sum(part.file_size for part in parts)
    if unpacked > min(most, growth * size):
        return f"it would unpack from {size:,} to {unpacked:,} bytes, more than {min(most, growth * size):,.0f}"
    return None


def read_array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Return an array of an archive of NumPy.

    Raises:
        ValueError: It holds pickles, or says that it is larger than it is.
        KeyError: There is no such array.
    """
    part = archive.getinfo(f"{name}.npy")
    with archive.open(part) as file:
        shape, _, kind = _HEADERS[np.lib.format.read_magic(file)](file)
    if kind.itemsize == 0 or math.prod(shape) * kind.itemsize > part.file_size:
        raise ValueError(f"{name} is said to have the shape {shape}, and {part.file_size:,} bytes")
    with archive.open(part) as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array
