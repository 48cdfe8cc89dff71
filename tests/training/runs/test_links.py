"""Links among a run's files: what is written takes their place, and what they lead to stays as it is."""

from pathlib import Path

import pytest

from tests.helpers import make_link
from tests.runs import make_fresh, ppo

pytestmark = pytest.mark.timeout(60)


def test_a_run_writes_through_no_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Temporary files, models, statistics, monitor file and records."""
    make_fresh(tmp_path / "models", "a_128_steps")
    models, logs, mine = tmp_path / "models", tmp_path / "logs" / "a", tmp_path / "mine"
    mine.mkdir()
    logs.mkdir(parents=True)
    names = [".a_final.partial.zip", "a_final.zip", ".a_final_vecnormalize.partial.pkl", "a_final_vecnormalize.pkl"]
    links = [*(models / name for name in names), logs / "monitor.csv", logs / "config_from_0_steps.json"]
    for link in (*links, logs / "config.json"):
        (mine / link.name).write_text("mine")
        make_link(link, mine / link.name)
    assert ppo(tmp_path, "--resume", "a_128_steps", "--run-name", "a", "--timesteps", "64", "--num-envs", "4") == 0
    assert {path.read_text() for path in mine.iterdir() if path.is_file()} == {"mine"}
    assert "monitor.csv was a link to" in capsys.readouterr().err
    assert (logs / "monitor.csv").read_text().startswith("#")


def test_a_link_of_a_whole_folder_is_the_users_own(tmp_path: Path) -> None:
    """Models may lie on another disk."""
    for name in ("models", "logs"):
        (tmp_path / f"other_{name}").mkdir()
        make_link(tmp_path / name, tmp_path / f"other_{name}")
    assert ppo(tmp_path, "--run-name", "a", "--timesteps", "64", "--num-envs", "4") == 0
    assert (tmp_path / "other_models" / "a_final.zip").is_file()
    assert (tmp_path / "other_logs" / "a" / "monitor.csv").is_file()
