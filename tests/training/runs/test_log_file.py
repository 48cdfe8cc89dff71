"""Logs on a full disk: whole pieces, one note, and no end of training."""

import sys
from pathlib import Path

import pytest

from tests.helpers import in_child
from training.runs.log_file import LogFile

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork and a limit on the size of files")


@posix_only
def test_a_full_disk_leaves_whole_pieces_and_one_note(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A small piece may still fit where a large one did not."""
    import resource

    path = tmp_path / "it.log"

    def write() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        log = LogFile(path)
        for content in (b"a" * 600, b"b" * 600, b"c" * 600, b"d" * 200):
            log.write(content)
        log.close()

    assert in_child(write) == 0
    assert path.read_bytes() == b"a" * 600 + b"d" * 200
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(f"note: cannot write {path}: ")


def test_a_log_that_cannot_be_opened_is_done_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder is in its way."""
    (tmp_path / "it.log").mkdir()
    log = LogFile(tmp_path / "it.log")
    log.write(b"x")
    log.close()
    assert capsys.readouterr().err.count("note: cannot write ") == 1
