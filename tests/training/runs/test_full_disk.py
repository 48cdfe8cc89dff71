"""A full disk: models are refused before anything is trained, and logs are done without."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import in_child
from tests.runs import ppo

pytestmark = pytest.mark.timeout(60)


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork and a limit on the size of files")
def test_a_model_that_cannot_be_saved_is_not_trained(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, one line with the file, and the name stays free."""
    import resource

    def train() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))  # room for a fresh model, not for a trained one
        assert ppo(tmp_path, "--run-name", "a", "--timesteps", "64", "--num-envs", "4") == 2

    assert in_child(train) == 0
    output, errors = capfd.readouterr()
    assert f"error: cannot save {tmp_path / 'models' / 'a_final.zip'}: File too large; make room" in errors
    assert "training run" not in output
    assert not (tmp_path / "logs" / "a").exists()
    assert [*(tmp_path / "models").iterdir()] == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 64 KB."""
    folder = tmp_path / "logs"
    folder.mkdir()
    mount, command = shutil.which("mount"), ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if mount is None or subprocess.run([mount, *command], capture_output=True).returncode:
        pytest.skip("only an administrator of Linux can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_of_logs_does_not_end_training(
    tmp_path: Path, small_disk: Path, short_config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One note for each log, and the model is saved."""
    (small_disk / "other").write_bytes(bytes(65_536))
    arguments = ["--run-name", "a", "--timesteps", "300", "--num-envs", "4", "--config", short_config]
    assert ppo(tmp_path, *arguments) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "No space left on device" in line]
    assert [line.partition(":")[0] for line in lines] == ["note"] * 3  # record, monitor file, events
    assert (tmp_path / "models" / "a_final.zip").is_file()
