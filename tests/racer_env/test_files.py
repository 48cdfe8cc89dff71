"""Files of a stranger: only regular ones are opened, and none larger than its kind can be."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from racer_env.config import load_config
from racer_env.errors import RacerError
from racer_env.physics import load_physics
from racer_env.project import DEFAULT_CONFIG_PATH
from racer_env.tracks import load_track
from tests.helpers import make_link
from training.algorithms.presets import read_preset
from training.checkpoints.data import read_model_data
from training.checkpoints.pickled import read_pickled
from training.checkpoints.replay_buffer import read_buffer
from training.drivers.card import read_card
from training.drives.recording import load_recording

READERS: list[Callable[[Path], Any]] = [
    load_config,
    load_track,
    load_physics,
    read_preset,
    read_model_data,
    read_pickled,
    read_card,
    load_recording,
    lambda path: read_buffer(path, 10),
]


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe that nobody writes to."""
    path = tmp_path / "pipe.json"
    try:
        os.mkfifo(path)
    except (AttributeError, OSError):
        pytest.skip("this system makes no named pipes")
    return path


@pytest.mark.timeout(5)
@pytest.mark.parametrize("read", READERS)
def test_a_pipe_is_not_waited_for(pipe: Path, read: Callable[[Path], Any]) -> None:
    """Whatever the file should be, one line says what it is."""
    with pytest.raises(RacerError, match=r"pipe\.json.* it is a named pipe; expected a file"):
        read(pipe)


@pytest.mark.parametrize("read", READERS)
def test_a_file_of_terabytes_is_not_read(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    """It takes no space on most disks, but would in memory."""
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        try:
            file.truncate(2**40)
        except OSError:
            pytest.skip("this file system has no files with holes")
    with pytest.raises(RacerError, match=r"huge\.json.* it has 1,099,511,627,776 bytes; expected at most [0-9,]+"):
        read(path)


def test_a_device_is_not_read() -> None:
    """It never ends."""
    if not Path("/dev/zero").exists():
        pytest.skip("this system has no such device")
    with pytest.raises(RacerError, match="cannot read configuration file /dev/zero: it is a device"):
        load_config(Path("/dev/zero"))


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    """A user's own one."""
    make_link(tmp_path / "link.json", DEFAULT_CONFIG_PATH)
    assert load_config(tmp_path / "link.json") == load_config()
