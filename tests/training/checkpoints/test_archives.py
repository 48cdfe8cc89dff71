"""Archives of a stranger: what they would unpack to is known before anything is unpacked."""

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from racer_env.errors import ModelError, RecordingError
from training.checkpoints.data import read_model_data
from training.checkpoints.replay_buffer import read_buffer
from training.drives.recording import load_recording


def bomb(path: Path, name: str, size: int) -> Path:
    """Write an archive with a part that is nothing but zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("policy.pth", b"")
        archive.writestr("data" if name == "policy.pth" else "other", "{}")
        with archive.open(name, "w") as part:
            for _ in range(size // 1_000_000):
                part.write(bytes(1_000_000))
    return path


def test_a_model_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    """By what its parts say about themselves; unpacking them would take minutes and all memory."""
    path = bomb(tmp_path / "bomb.zip", "data", 100_000_000)
    assert path.stat().st_size < 150_000
    with pytest.raises(ModelError, match=r"bomb\.zip: it would unpack from [0-9,]+ to 100,000,0.. bytes, more than"):
        read_model_data(path)


def patched(path: Path, position: int, number: int) -> Path:
    """Change a field of two bytes in the directory entry of an archive's first part."""
    content = bytearray(path.read_bytes())
    struct.pack_into("<H", content, content.index(b"PK\x01\x02") + position, number)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: patched(path, 8, 1), "its part '[a-z.]+' is encrypted"),
        (lambda path: patched(path, 10, zipfile.ZIP_LZMA), "is compressed by a method that is not read here"),
        (lambda path: patched(path, 22, 0x7FFF), "its parts are larger than the file"),
        (lambda path: patched(path, 26, 0x7FFF), "would unpack from"),
    ],
    ids=["encrypted", "LZMA", "beyond the file", "beyond all"],
)
def test_odd_archives_are_named(tmp_path: Path, damage: Callable[[Path], Path], message: str) -> None:
    """Each in one line."""
    path = tmp_path / "odd.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", "{}" * 100)
        archive.writestr("policy.pth", "")
    with pytest.raises(ModelError, match=message) as refused:
        read_model_data(damage(path))
    assert "\n" not in str(refused.value)


def array_of(header: str, size: int) -> bytes:
    """Return the file of an array whose header says anything, before ``size`` zeros."""
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(size)


HUGE = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 14), }"


def test_an_array_is_no_larger_than_its_part(tmp_path: Path) -> None:
    """What an array says about itself is not reserved in memory."""
    with zipfile.ZipFile(tmp_path / "it.npz", "w") as archive:
        for name in ("observations", "next_observations", "actions", "rewards", "dones", "timeouts", "card", "states"):
            archive.writestr(f"{name}.npy", array_of(HUGE, 56))
    with pytest.raises(ModelError, match=r"it\.npz: .*observations is said to have the shape \(1000000000000, 14\)"):
        read_buffer(tmp_path / "it.npz", 100)
    with pytest.raises(RecordingError, match=r"card is said to have the shape"):
        load_recording(tmp_path / "it.npz")


def test_a_buffer_holds_no_more_than_its_model_says(tmp_path: Path) -> None:
    """A packed file would otherwise fill the memory."""
    content = io.BytesIO()
    rows = 100_000
    shapes = {"observations": 14, "next_observations": 14, "actions": 3}
    names = (*shapes, "rewards", "dones", "timeouts")
    arrays = {name: np.zeros((rows, shapes[name]) if name in shapes else rows, np.float32) for name in names}
    np.savez_compressed(content, **arrays)
    (tmp_path / "it.npz").write_bytes(content.getvalue())
    assert len(read_buffer(tmp_path / "it.npz", rows)["rewards"]) == rows
    with pytest.raises(ModelError, match=r"it\.npz: it would unpack .*; delete it, and it is filled again"):
        read_buffer(tmp_path / "it.npz", 1_000)
