"""Which model is the best, and when a run may end."""

from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.runs import data_of, folders, ppo
from training.evaluation.episode import STANDING, Episode, Steering
from training.runs.best_model import WORST, best_score_of, score_of
from training.runs.evaluations import read_evaluations
from training.runs.script import run_training

pytestmark = pytest.mark.timeout(60)


def episode(laps: list[int], clean: list[bool], reward: float = 1.0, track: str = "t", off: int = 0) -> Episode:
    """Return an episode with laps of some ticks, of which some were off the road."""
    return Episode(track, 3, lap_ticks=laps, clean=clean, steps=sum(laps) + 1, reward=reward, off_track_ticks=off)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (episode([900, 900, 900], [True] * 3), episode([300, 300, 300], [True, True, False])),
        (episode([500, 400, 400], [True] * 3), episode([500, 400, 401], [True] * 3)),
        (episode([900], [True]), episode([300, 300, 300], [False] * 3)),
        (episode([], [], reward=0.2), episode([], [], reward=0.1)),
        (episode([500, 400, 400], [True] * 3), episode([480, 390, 390], [True] * 3, off=200)),
        (episode([480, 390, 390], [True] * 3, off=5), episode([500, 400, 400], [True] * 3)),
    ],
)
def test_clean_laps_come_first_then_lap_time(better: Episode, worse: Episode) -> None:
    """And among beginners, reward."""
    lengths = {"t": 1000.0}
    assert score_of([better], lengths, 0.005) > score_of([worse], lengths, 0.005) > WORST


def test_a_lap_of_a_drive_that_stalls_is_not_clean() -> None:
    """However fast it was."""
    lengths = {"t": 1000.0}
    stalled = episode([300, 300, 300], [True] * 3)
    stalled.stalls = 1
    assert score_of([stalled], lengths, 0.005) < score_of([episode([900], [True])], lengths, 0.005)


def test_random_starts_count_like_clean_laps() -> None:
    """A driver that gets around from anywhere is better than a faster one that does not."""
    lengths = {"t": 1000.0}
    good = Episode("t", 1, STANDING, lap_ticks=[400], clean=[True], steps=500)
    bad = Episode("t", 1, STANDING, steps=500)
    slow, fast = episode([600] * 3, [True] * 3), episode([400] * 3, [True] * 3)
    assert (
        score_of([slow, good], lengths, 0.005)
        > score_of([fast, bad], lengths, 0.005)
        > score_of([slow, bad], lengths, 0.005)
    )


@pytest.mark.parametrize(("ticks", "is_better"), [(380, False), (360, True)])
def test_restless_steering_takes_some_pace_off(ticks: int, is_better: bool) -> None:
    """At 15 reversals a second, 7.5 %: a little faster is not better, much faster is."""
    calm, restless = episode([400], [True]), episode([ticks], [True])
    restless.steering = Steering(reversals=ticks // 4)
    assert (score_of([restless], {"t": 1000.0}, 0.005) > score_of([calm], {"t": 1000.0}, 0.005)) == is_better


def test_tracks_of_any_length_count_alike() -> None:
    """On several tracks it is pace that decides: a clean lap of a longer track is not a slower one."""
    lengths = {"short": 1000.0, "long": 3000.0}
    on_short = [episode([600], [True], track="short"), episode([], [], track="long")]
    on_long = [episode([], [], track="short"), episode([1700], [True], track="long")]
    assert score_of(on_long, lengths, 0.005) > score_of(on_short, lengths, 0.005)


def test_a_run_without_a_best_model_has_the_worst_score(trained: Path, tmp_path: Path) -> None:
    """A missing file, one without a score, and one without its statistics."""
    assert best_score_of(tmp_path / "none_best.zip") == (WORST, "")
    assert best_score_of(trained / "models" / "lap_final.zip") == (WORST, "")
    score, words = best_score_of(trained / "models" / "lap_best.zip")
    assert score[0] == 3
    steps = data_of(trained, "lap_best").steps
    assert words.startswith(f"at {steps:,} steps, 3 of 3 laps clean, mean ")


def test_every_best_model_is_told_and_the_last_one_summed_up(
    tmp_path: Path, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each that is saved, faster ones too; the end names step and figures of the file that is there."""
    start = ["--initialize-from", str(trained / "models" / "lap_30016_steps"), "--run-name", "b"]
    assert ppo(tmp_path, *start, "--timesteps", "24000", "--eval-freq", "4096") == 0
    lines = capsys.readouterr().out.splitlines()
    told = [line.partition(";")[0] for line in lines if f"saved {tmp_path / 'models' / 'b_best.zip'}" in line]
    assert len(told) > 1
    assert f"the best one is {tmp_path / 'models' / 'b_best.zip'}: {told[-1]}" in lines


def test_scores_of_other_courses_are_not_compared(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """More clean laps of a longer course are no better: the best one before is set aside, and the new one stands."""
    import shutil

    run = Path(shutil.copytree(trained, tmp_path / "copy"))
    before = (run / "models" / "lap_best.zip").read_bytes()
    again = ["--resume", "lap", "--timesteps", "4096", "--eval-freq", "4096", "--set", "learning_rate=0"]
    assert ppo(run, *again, "--eval-laps", "1") == 0
    assert "lap_best.zip was measured on other laps or tracks; it is kept as" in capsys.readouterr().out
    assert (run / "models" / "lap-1_best.zip").read_bytes() == before
    score, words = best_score_of(run / "models" / "lap_best.zip")
    assert score[0] == 1
    assert "1 of 1 lap clean" in words
    assert ppo(run, *again, "--eval-laps", "1") == 0
    assert "was measured on other" not in capsys.readouterr().out


def test_a_competent_driver_ends_the_run(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is final then is what the evaluation has seen."""
    start = ["--initialize-from", str(trained / "models" / "lap_best"), "--run-name", "c", "--timesteps", "500000"]
    assert ppo(tmp_path, *start, "--stop-when-competent", "--eval-freq", "4096") == 0
    assert "ended early: it is competent: 3 of 3 laps clean" in capsys.readouterr().out
    assert data_of(tmp_path, "c_final").steps == data_of(tmp_path, "c_best").steps == 4096


def test_a_fast_driver_ends_the_run(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Within a lap time that it can do; one that it cannot lets it go on to the end."""
    start = ["--initialize-from", str(trained / "models" / "lap_best"), "--eval-freq", "4096", "--timesteps", "8192"]
    assert ppo(tmp_path, *start, "--run-name", "f", "--stop-when-lap-time", "12") == 0
    assert "within the 12 s of --stop-when-lap-time" in capsys.readouterr().out
    assert ppo(tmp_path, *start, "--run-name", "s", "--stop-when-lap-time", "1") == 0
    assert "ended early" not in capsys.readouterr().out
    assert data_of(tmp_path, "s_final").steps == 8192


def test_the_score_is_that_of_the_best_model_alone(trained: Path) -> None:
    """Other files of the run do not claim it."""
    assert "score" in data_of(trained, "lap_best").attributes
    assert "score" not in data_of(trained, "lap_final").attributes


def test_evaluations_of_several_tracks_are_logged_apart(tmp_path: Path, short_config: str) -> None:
    """Under ``eval_<track>/``, and all together under ``eval/``."""
    arguments = ["--track-id", "track-01", "track-02", "--timesteps", "6144", "--run-name", "two"]
    assert ppo(tmp_path, *arguments, "--eval-freq", "6144", "--config", short_config) == 0
    events = EventAccumulator(str(tmp_path / "logs" / "two"))
    events.Reload()
    assert {"eval/clean_laps", "eval_track-01/clean_laps", "eval_track-02/mean_reward"} <= {*events.Tags()["scalars"]}


def test_the_last_update_is_evaluated_too(trained: Path) -> None:
    """The final weights have their point in the log, and may be the best."""
    events = EventAccumulator(str(trained / "logs" / "lap"))
    events.Reload()
    assert events.Scalars("eval/clean_laps")[-1].step == 81920


def test_every_evaluation_is_logged_with_its_figures(trained: Path) -> None:
    """The best of them is the score of the best model."""
    log = read_evaluations(trained / "logs" / "lap")
    assert [line["steps"] for line in log] == sorted({line["steps"] for line in log})
    assert max(tuple(line["score"]) for line in log) == best_score_of(trained / "models" / "lap_best.zip")[0]
    assert {"clean_laps", "laps_asked", "best_lap_time_sec", "pace_units_per_sec"} <= set(log[0])


class Impatient:
    """Follows a run, and ends it after its second evaluation."""

    def __init__(self) -> None:
        self.figures: list[dict[str, Any]] = []

    def evaluated(self, figures: dict[str, Any]) -> None:
        self.figures.append(figures)

    def why_end(self) -> str | None:
        return "it was enough" if len(self.figures) == 2 else None


def test_a_run_is_followed_and_ended_from_outside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told what is logged, and ends at once, as a trained run."""
    follower = Impatient()
    arguments = ["--timesteps", "100000", "--num-envs", "16", "--eval-freq", "512", "--run-name", "a"]
    assert run_training("PPO", [*arguments, *folders(tmp_path)], follower) == 0
    assert follower.figures == read_evaluations(tmp_path / "logs" / "a")
    assert data_of(tmp_path, "a_final").steps == 1024
    assert "ended early: it was enough" in capsys.readouterr().out
