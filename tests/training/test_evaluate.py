"""The evaluation script: any driver, its statistics, its noise, the table and the JSON."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.contract import EpisodeLimits, RewardWeights
from racer_env.errors import ModelError
from racer_env.physics import load_physics
from racer_env.project import DEFAULT_CONFIG_PATH
from tests.runs import as_before, make_fresh, ppo, rewritten
from training import evaluate
from training.checkpoints.files import statistics_path
from training.drivers.loading import load_driver
from training.evaluation.stress import STRESSES

pytestmark = pytest.mark.timeout(60)


def figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Return the JSON of an evaluation."""
    capsys.readouterr()
    assert evaluate.main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_deterministic_driver_repeats_itself(fresh_model: Path) -> None:
    """The same observation gives the same action, and statistics stay as they are."""
    driver = load_driver(fresh_model, load_physics())
    observations = np.random.default_rng(0).random((5, 14), dtype=np.float32)
    assert np.array_equal(driver(observations), driver(observations))


def test_other_physics_are_refused(fresh_model: Path, tmp_path: Path) -> None:
    """A model of other physics is refused with both fingerprints, unless one insists."""
    path = rewritten(fresh_model, tmp_path / "x_final.zip", lambda data: data.update(physics_fingerprint="f" * 64))
    shutil.copy(statistics_path(fresh_model), statistics_path(path))
    with pytest.raises(ModelError, match=r"trained on other physics: ffffffffffff against"):
        load_driver(path, load_physics())
    assert load_driver(path, load_physics(), any_physics=True)


def test_the_table_and_the_json(fresh_model: Path, short_config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Both name every track; several episodes with noise differ."""
    arguments = ["--model", str(fresh_model), "--config", short_config, "--track-id", "track-01"]
    assert evaluate.main(arguments) == 0
    output = capsys.readouterr().out
    for title in ("laps", "clean", "completion", "mean lap", "best lap", "std", "wall contact", "off track", "reward"):
        assert title in output
    assert "lap times on track-01" in output
    tracks = figures(capsys, *arguments, "track-02", "--episodes", "2", "--no-deterministic")["tracks"]
    assert set(tracks) == {"track-01", "track-02"}
    assert tracks["track-01"]["episodes"] == 2


def test_the_weights_are_the_models_own(fresh_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And it is said; a file that is named goes before them, and a recording keeps those that it was driven with."""
    dear = AiConfig(RewardWeights(progress=1000.0), EpisodeLimits(stillness_timeout_ticks=30))
    path = rewritten(fresh_model, tmp_path / "x_final.zip", lambda data: data.update(ai_config=dear.to_json()))
    shutil.copy(statistics_path(fresh_model), statistics_path(path))
    lap, usual = str(tmp_path / "lap.npz"), str(DEFAULT_CONFIG_PATH)
    driving = ["--model", str(path), "--track-id", "track-01", "--record", lap]
    own = figures(capsys, *driving)["tracks"]["track-01"]["mean_reward"]
    other = figures(capsys, "--replay", lap, "--config", usual)["tracks"]["track-01"]["mean_reward"]
    assert own > 100 > other
    assert figures(capsys, "--replay", lap)["tracks"]["track-01"]["mean_reward"] == pytest.approx(own)
    assert evaluate.main(driving) == 0
    assert f"rewards and limits are those of {path}, not of ai-config.json" in capsys.readouterr().err


def test_the_seed_is_that_of_the_noise(
    fresh_model: Path, short_config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Equal seeds drive equally, other seeds do not, whatever the model was trained with."""
    arguments = ["--model", str(fresh_model), "--config", short_config, "--no-deterministic", "--seed"]
    one, again, other = (figures(capsys, *arguments, seed) for seed in ("1", "1", "2"))
    assert one == again
    assert one != other


@pytest.mark.parametrize("track_ids", [["all"], ["track-03", "track-01"]])
def test_the_scripted_driver_to_compare_with(track_ids: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """It needs no file, and laps on every track."""
    tracks = figures(capsys, "--model", "scripted", "--laps", "1", "--track-id", *track_ids)["tracks"]
    assert len(tracks) == (3 if track_ids == ["all"] else 2)
    assert all(track["completion"] == 1.0 for track in tracks.values())


def test_missing_statistics_are_an_error(tmp_path: Path, short_config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Not a warning; --vecnorm names them elsewhere, and --no-vecnorm says that there are none."""
    path = as_before(make_fresh(tmp_path))
    moved = statistics_path(path).rename(tmp_path / "elsewhere.pkl")
    arguments = ["--model", str(path), "--config", short_config]
    assert evaluate.main(arguments) == 2
    error = capsys.readouterr().err
    assert "the statistics of" in error
    assert error.count("\n") == 1
    with_them = figures(capsys, *arguments, "--vecnorm", str(moved))
    without = figures(capsys, *arguments, "--no-vecnorm")
    assert with_them["tracks"] != without["tracks"]
    moved.write_bytes(moved.read_bytes() + b"0")
    assert evaluate.main([*arguments, "--vecnorm", str(moved)]) == 2
    assert "are not those that" in capsys.readouterr().err
    assert evaluate.main([*arguments, "--vecnorm", "missing.pkl"]) == 2
    assert "statistics file not found: missing.pkl" in capsys.readouterr().err


def test_a_model_of_plain_stable_baselines3_drives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Trained by somebody's own script, without normalisation: it says nothing of physics, which is noted."""
    from stable_baselines3 import SAC

    from racer_env.vec_env import RacerVecEnv

    SAC("MlpPolicy", RacerVecEnv(["track-01"], 1), buffer_size=10, device="cpu").save(tmp_path / "own.zip")
    assert evaluate.main(["--model", str(tmp_path / "own"), "--laps", "1", "--no-vecnorm"]) == 0
    assert "own.zip does not say on which physics it was trained" in capsys.readouterr().err


def test_a_run_is_found_by_its_name(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest model of a run drives."""
    result = figures(capsys, "--model", "lap", "--models-dir", str(trained / "models"), "--laps", "1")
    assert result["model"].endswith("lap_final.zip")


def test_a_limit_below_a_lap_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr, so that JSON stays JSON; the laps are driven all the same."""
    config = tmp_path / "short.json"
    config.write_text('{"episode": {"maxSteps": 100}}', encoding="utf-8")
    assert evaluate.main(["--model", "scripted", "--laps", "1", "--config", str(config), "--json"]) == 0
    captured = capsys.readouterr()
    assert "maxSteps 100 ends an episode on track-01 before a lap is possible" in captured.err
    assert json.loads(captured.out)["tracks"]["track-01"]["laps"] == 1


def test_the_same_laps_on_both_engines(
    trained: Path, trained_sac: Path, bridge_server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tick by tick the same laps on the simulator and through the bridge, with and without an action repeat."""
    for folder in (trained, trained_sac):
        arguments = ["--model", str(folder / "models" / "lap_best"), "--laps", "2"]
        here, there = (
            figures(capsys, *arguments, "--bridge-url", url)["tracks"] for url in ("embedded", bridge_server)
        )
        assert here["track-01"]["laps"] == 2
        assert here["track-01"]["lap_times_sec"] == there["track-01"]["lap_times_sec"]
        assert here["track-01"]["mean_reward"] == pytest.approx(there["track-01"]["mean_reward"], abs=1e-9)


def test_random_starts_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """In a table, and as JSON."""
    arguments = ["--model", "scripted", "--laps", "1", "--track-id", "track-01", "--random-starts", "2"]
    assert evaluate.main(arguments) == 0
    (row,) = [line.split() for line in capsys.readouterr().out.splitlines() if " of 2 " in line]
    assert " ".join(row[:10]) == "track-01 1 of 1 2 of 2 2 of 2"
    row = figures(capsys, *arguments)["tracks"]["track-01"]
    assert (row["success"], row["moving_start_success"], row["standing_start_success"]) == (1.0, 1.0, 1.0)


def test_stress_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each kind of it beside the one without, from the line and from random starts, and as JSON."""
    arguments = ["--model", "scripted", "--laps", "1", "--track-id", "track-01", "--stress", "--random-starts", "1"]
    assert evaluate.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = lines[lines.index("under stress") + 2 :]
    assert [row[:17].strip() for row in rows] == ["none", *(stress.name for stress in STRESSES)]
    assert all(" of 4 " in row for row in rows[1:])
    stress = figures(capsys, *arguments)["stress"]
    assert list(stress) == [stress.name for stress in STRESSES]
    assert stress["action noise"]["episodes"] == 4
    assert stress["action noise"]["pace_units_per_sec"] != stress["a tick of delay"]["pace_units_per_sec"]


def test_many_tracks_are_told_by_groups(capsys: pytest.CaptureFixture[str]) -> None:
    """Success share and pace of each kind and of all; those without a success are named, not a line for each."""
    names = ["track-01", "procedural:4", "procedural-hard:4"]
    assert evaluate.main(["--model", "scripted", "--laps", "1", "--track-id", *names]) == 0
    output = capsys.readouterr().out
    for group, count in (("of files", 1), ("procedural", 4), ("procedural-hard", 4), ("all", 9)):
        assert re.search(rf"^{group} +\d of {count} +[\d.]+ units/s", output, re.MULTILINE)
    assert "lap times on" not in output
    assert len(output.splitlines()) < 15


@pytest.mark.parametrize("arguments", [["--fps", "30"], ["--camera", "follow"], ["--colours", "light"]])
def test_arguments_about_a_video_want_one(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Instead of being passed over."""
    assert evaluate.main(["--model", "scripted", *arguments]) == 2
    assert "name its file with --video" in capsys.readouterr().err


def test_generated_tracks_of_training_are_pointed_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a driver does there says little about others."""
    assert ppo(tmp_path, "--run-name", "g", "--timesteps", "4096", "--track-id", "procedural:2") == 0
    arguments = ["--model", str(tmp_path / "models" / "g_final.zip"), "--laps", "1", "--track-id"]
    assert evaluate.main([*arguments, "procedural:1", "procedural-9-1"]) == 0
    assert (
        "g_final.zip was trained on 1 of these 2 tracks; --track-id procedural:8 --track-seed 1, for example, makes"
        in capsys.readouterr().err
    )
    assert evaluate.main([*arguments, "procedural:1"]) == 0
    assert "g_final.zip was trained on this track; --track-id" in capsys.readouterr().err
    assert evaluate.main([*arguments, "procedural-9-1"]) == 0
    assert "was trained on" not in capsys.readouterr().err


def test_failing_where_it_was_not_trained_is_explained(
    fresh_model: Path, short_config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model knows the first track alone."""
    assert evaluate.main(["--model", str(fresh_model), "--config", short_config, "--track-id", "track-01"]) == 0
    assert "not trained" not in capsys.readouterr().err
    assert evaluate.main(["--model", str(fresh_model), "--config", short_config, "--track-id", "track-02"]) == 0
    assert (
        f"note: {fresh_model} was not trained on track-02, where it fails; --preset general trains"
        in capsys.readouterr().err
    )


def test_failing_where_nothing_is_known_of_its_training_is_said(
    fresh_model: Path, tmp_path: Path, short_config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A driver of another program, or of a script without this project, may know the track or not."""
    path = rewritten(fresh_model, tmp_path / "x_final.zip", lambda data: data.pop("track_ids"))
    arguments = ["--config", short_config, "--laps", "1", "--track-id", "track-01", "track-02"]
    assert evaluate.main(["--model", str(path), *arguments]) == 0
    told = capsys.readouterr().err
    assert f"note: {path} fails on track-01, track-02, and does not say on which tracks it was trained" in told
    assert evaluate.main(["--model", "scripted", *arguments, "--config", short_config]) == 0
    assert "trained" not in capsys.readouterr().err


def test_several_drivers_are_in_one_table(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each on each track and on all of them, by default on all that any was trained on, with equal laps."""
    best = str(trained / "models" / "lap_best")
    alone = figures(capsys, "--model", best, "--laps", "1")["tracks"]["track-01"]
    assert evaluate.main(["--model", best, "scripted", "--laps", "1"]) == 0
    head, *rows = [line.split() for line in capsys.readouterr().out.splitlines() if "  " in line]
    assert [head[0], *(row[0] for row in rows)] == ["driver", best, "scripted"]
    assert rows[0][6] == f"{alone['best_lap_time_sec']:.2f}"
    document = figures(capsys, "--model", best, "scripted", "--laps", "1", "--track-id", "track-01", "track-02")
    assert [driver["model"] for driver in document["drivers"]] == [f"{best}.zip", "scripted"]
    assert [list(driver["tracks"]) for driver in document["drivers"]] == [["track-01", "track-02"]] * 2
    assert document["drivers"][0]["tracks"]["track-01"] == alone


def test_lap_times_of_several_tracks_are_not_put_together(capsys: pytest.CaptureFixture[str]) -> None:
    """On all tracks of a driver, and on groups of many tracks, there is a pace."""
    arguments = ["--model", "scripted", "pretrained", "--laps", "1", "--track-id"]
    for tracks, place in ((["track-01", "track-02"], "all"), (["procedural:9"], "procedural")):
        assert evaluate.main([*arguments, *tracks]) == 0
        rows = [line.split() for line in capsys.readouterr().out.splitlines() if f" {place} " in line]
        assert len(rows) == 2
        assert all(row[4:6] == ["-", "-"] and row[7] == "units/s" for row in rows)


def test_a_driver_that_is_named_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Its rows would be the same."""
    assert evaluate.main(["--model", "scripted", "pretrained", "scripted"]) == 2
    told = "--model names scripted twice, whose figures would be the same; name each driver once"
    assert capsys.readouterr().err == f"error: {told}\n"


@pytest.mark.parametrize(
    "option",
    [["--compare", "quick"], ["--stress"], ["--par-times"], ["--record", "a.npz"], ["--plot", "p"], ["--no-vecnorm"]],
)
def test_what_goes_with_one_driver_is_refused_for_several(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, before anything is driven."""
    assert evaluate.main(["--model", "scripted", "pretrained", *option]) == 2
    assert capsys.readouterr().err == (
        f"error: {option[0]} goes with one driver; name one with --model, or leave out {option[0]}\n"
    )


def test_drivers_of_different_rewards_are_measured_by_the_same(
    fresh_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the project, and it is said; if all had the same, by these."""
    dear = AiConfig(RewardWeights(progress=1000.0), EpisodeLimits(stillness_timeout_ticks=30))
    paths = {}
    for name, config in (("dear", dear), ("also dear", dear), ("usual", AiConfig())):
        document = {"ai_config": config.to_json()}
        paths[name] = str(rewritten(fresh_model, tmp_path / f"{name}.zip", lambda data: data.update(document)))  # noqa: B023
    for other, told in (("usual", "as the drivers had different ones"), ("also dear", "those of the drivers, not of")):
        assert evaluate.main(["--model", paths["dear"], paths[other], "--laps", "1"]) == 0
        assert told in capsys.readouterr().err
