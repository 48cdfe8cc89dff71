"""Settings: what makes runs alike, and the names that tell settings apart."""

import json
from pathlib import Path

import pytest

from tests.training.comparisons.logs import evaluation, write_run, write_setting
from training.comparisons.finding import find_runs
from training.comparisons.grouping import MAX_LABEL, Setting, differing, group


def settings_in(logs: Path) -> list[Setting]:
    """Return the settings of all runs in a folder."""
    return group(find_runs(["*"], logs))


def test_runs_that_differ_in_the_seed_alone_are_one_setting(tmp_path: Path) -> None:
    """Wherever, when and by which words they were trained."""
    for seed in (2, 0, 1):
        words = {"preset": "quick" if seed else None, "models_dir": str(seed), "checkpoint_freq": seed + 1}
        write_run(tmp_path, f"r{seed}", seed, [evaluation(1000, 1.0)], arguments=words, command=str(seed))
    (setting,) = settings_in(tmp_path)
    assert setting.seeds == (0, 1, 2)
    assert setting.label == "PPO"


@pytest.mark.parametrize(
    ("record", "label"),
    [
        ({"hyperparameters": {"learning_rate": 0.0005}}, "PPO learning_rate=0.0005"),
        ({"hyperparameters": {"hidden": [64, 64]}}, "PPO hidden=64,64"),
        ({"ai_config": {"weights": {"speedBonus": 0.01}}}, "PPO speedBonus=0.01"),
        ({"timesteps": 2000}, "PPO timesteps=2000"),
        ({"track_fingerprints": {"track-02": "f"}}, "PPO tracks=track-02"),
        ({"arguments": {"eval_laps": 5}}, "PPO eval_laps=5"),
        ({"reward": {"name": "mine.py:smooth", "file": "/x", "digest": "0123456789"}}, "PPO reward=smooth 01234567"),
        ({"begins_with": "models/a.zip"}, "PPO begins_with=models/a.zip"),
        ({"algorithm": "SAC"}, "SAC"),
    ],
)
def test_a_setting_is_named_by_what_it_has_of_its_own(tmp_path: Path, record: dict, label: str) -> None:  # type: ignore[type-arg]
    """Beside the usual one; of another algorithm, the name is enough."""
    write_setting(tmp_path, "usual", [1.0])
    write_setting(tmp_path, "zother", [1.0], **record)
    assert settings_in(tmp_path)[1].label == label


def test_much_that_differs_makes_no_long_name(tmp_path: Path) -> None:
    """But that of the runs, such as a trial's; the rest is in the table of what differs."""
    for number in range(3):
        many = {f"a_long_name_{index}": number for index in range(4)}
        write_setting(tmp_path, f"trial_000{number}", [1.0, 1.0], hyperparameters=many)
    settings = settings_in(tmp_path)
    assert [setting.label for setting in settings] == ["trial_0000", "trial_0001", "trial_0002"]
    assert differing(settings) == [f"a_long_name_{index}" for index in range(4)]
    assert all(len(setting.label) <= MAX_LABEL for setting in settings)


LONG = {f"a_long_name_{index}": 0 for index in range(4)}


def test_names_are_alike(tmp_path: Path) -> None:
    """One that is named by its runs goes with others that are too; of several algorithms, each says its own."""
    write_setting(tmp_path, "trial_0000", [1.0, 1.0])
    for number in (1, 2):
        longer = dict.fromkeys(LONG, number)
        write_setting(tmp_path, f"trial_000{number}", [1.0, 1.0], algorithm="SAC", hyperparameters=longer)
    settings = settings_in(tmp_path)
    assert [setting.label for setting in settings] == ["PPO trial_0000", "SAC trial_0001", "SAC trial_0002"]
    assert [setting.about for setting in settings[:2]] == ["", ", ".join(f"{name}=1" for name in LONG)]


def test_names_of_several_sweeps_begin_with_theirs(tmp_path: Path) -> None:
    """So that each is known by where it is; a run of no sweep has its name alone."""
    for number, folder in enumerate(("one", "other", "")):
        longer = dict.fromkeys(LONG, number)
        write_setting(tmp_path / folder, "trial_0000", [1.0], hyperparameters=longer)
    assert [setting.label for setting in settings_in(tmp_path)] == ["one/trial_0000", "other/trial_0000", "trial_0000"]


def test_no_two_settings_have_the_same_name(tmp_path: Path) -> None:
    """Also where the shown digits are equal."""
    for index, rate in enumerate((0.10000001, 0.10000002, 0.3)):
        write_setting(tmp_path, f"r{index}", [1.0], hyperparameters={"learning_rate": rate})
    labels = [setting.label for setting in settings_in(tmp_path)]
    assert labels == ["PPO learning_rate=0.1", "PPO learning_rate=0.1 (2)", "PPO learning_rate=0.3"]


def test_tracks_of_the_same_name_that_differ_are_told_apart(tmp_path: Path) -> None:
    """By their fingerprints."""
    write_setting(tmp_path, "a", [1.0])
    write_setting(tmp_path, "b", [1.0], track_fingerprints={"track-01": "changed"})
    assert differing(settings_in(tmp_path)) == ["track_fingerprints"]


def test_a_run_that_was_trained_twice_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it says nothing new."""
    for name in ("one", "two"):
        write_run(tmp_path, name, 3, [evaluation(1000, 1.0)])
    (setting,) = settings_in(tmp_path)
    assert [run.name for run in setting.runs] == ["one"]
    assert "two and" in capsys.readouterr().err


def resumed(folder: Path, **record: object) -> None:
    """Let a run go on from 600 steps, to 1,000 as before unless said otherwise."""
    first = json.loads((folder / "config.json").read_text())
    later = {**first, "first_step": 600, "timesteps": 400, "begins_with": "models/x.zip", **record}
    (folder / "config_from_600_steps.json").write_text(json.dumps(later))


def test_a_run_that_paused_is_as_if_it_had_not(tmp_path: Path) -> None:
    """If it went on in the same way, for as many steps in all."""
    write_run(tmp_path, "whole", 0, [evaluation(1000, 1.0)])
    resumed(write_run(tmp_path, "paused", 1, [evaluation(1000, 1.0)]))
    assert [setting.seeds for setting in settings_in(tmp_path)] == [(0, 1)]


def test_a_run_that_went_on_in_another_way_is_another_setting(tmp_path: Path) -> None:
    """Named by what changed, and when."""
    write_run(tmp_path, "whole", 0, [evaluation(1000, 1.0)])
    resumed(write_run(tmp_path, "x", 0, [evaluation(1000, 1.0)]), hyperparameters={"learning_rate": 0.1, "gamma": 0.99})
    labels = {setting.label for setting in settings_in(tmp_path)}
    assert "PPO learning_rate from 600 steps on=0.1" in labels


def test_runs_of_several_versions_are_pointed_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their difference may be that of the versions."""
    write_setting(tmp_path, "a", [1.0])
    write_setting(tmp_path, "b", [1.0], commit="d", algorithm="SAC")
    settings_in(tmp_path)
    assert "trained by 2 versions of the project" in capsys.readouterr().err
