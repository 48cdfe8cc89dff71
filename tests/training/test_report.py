"""The page about a run: read back, and opened in a real browser."""

import html
import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from torch.utils.tensorboard import SummaryWriter

from racer_env.errors import RunError
from tests.browser import BROWSER, addresses_in, shown
from tests.runs import ppo
from training import report
from training.reports import page as report_page
from training.reports.axes import MINUTES, STEPS
from training.reports.lap_table import COLUMNS
from training.reports.learning_curves import CHARTS, Chart, Mark, learning_curve, unmoved
from training.reports.run_log import RunLog

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def page(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the run ``lap``."""
    path = tmp_path_factory.mktemp("report") / "deep" / "lap.html"
    places = ["--models-dir", str(trained / "models"), "--logs-dir", str(trained / "logs")]
    assert report.main(["lap", "--output", str(path), *places]) == 0
    return path


@pytest.fixture(scope="module")
def drawn(trained: Path) -> list[Chart]:
    """The learning curves of the run that move."""
    log = RunLog(trained / "logs" / "lap")
    return [chart for chart in CHARTS if unmoved(log, chart, ["track-01"]) is None]


def test_everything_is_in_the_page(page: Path, drawn: list[Chart]) -> None:
    """It fetches nothing: every picture is in it, and style too."""
    content = page.read_text(encoding="utf-8")
    addresses = addresses_in(content)
    assert len(addresses) == 3 + 2 * len(drawn)  # map, telemetry, components, curves over steps and over minutes
    assert all(address.startswith("data:image/") for address in addresses)
    assert "@import" not in content
    assert "url(" not in content
    assert len(content) < 2_000_000


def test_shares_that_never_move_are_said_and_not_drawn(tmp_path: Path) -> None:
    """Once for steps and minutes together."""
    with SummaryWriter(str(tmp_path / "still")) as writer:
        for step, success in enumerate([0.0, 1.0]):
            writer.add_scalar("eval/completion", 1.0, step)
            writer.add_scalar("eval/success", success, step)
    content = report_page.make_page("still", tmp_path)
    assert content.count("Not drawn, as it hardly moves") == 1
    assert "Not drawn, as it hardly moves: completion rate (evaluation 100%)." in content
    names = re.findall(r'alt="(.*?)"', content)
    assert names == [f"success: all laps, no wall, no stall over {over}" for over in (STEPS, MINUTES)]


def test_lap_times_are_in_a_table(page: Path) -> None:
    """With a heading for each column, and a row for each track."""
    content = page.read_text(encoding="utf-8")
    assert re.findall(r"<th>(.*?)</th>", content) == [*COLUMNS]
    assert "<tr><td>track-01</td><td>" in content


def test_it_tells_what_the_run_was(page: Path, trained: Path) -> None:
    """Best lap, steps, configuration, and commands that name the run's files."""
    content = html.unescape(page.read_text(encoding="utf-8"))
    record = json.loads((trained / "logs" / "lap" / "config.json").read_text(encoding="utf-8"))
    best = trained / "models" / "lap_best.zip"
    for text in (
        "<h1>lap</h1>",
        "best clean lap on track-01",
        "81,920",
        "learning_rate",
        "stillnessSpeedThreshold",
        record["physics_fingerprint"],
        record["commit"] or "None",
        f"python -m training.train_ppo --resume lap --timesteps 80000 --models-dir {trained / 'models'}",
        f"python -m training.evaluate --model {best}",
        f"python -m training.export_onnx --model {best}",
        f"python -m training.race_page --model {best}",
        f"tensorboard --logdir {trained / 'logs'} --samples_per_plugin images=100",
    ):
        assert text in content, text


@pytest.mark.skipif(BROWSER is None, reason="no Chromium, Chrome or Edge on the PATH")
def test_a_browser_shows_its_plots(page: Path, drawn: list[Chart], tmp_path: Path) -> None:
    """Every picture is decoded with a size, and nothing is wider than the window."""
    document = shown(page, tmp_path, "1280,2000")
    names = [name for name, *_ in document["sizes"]]
    assert names == [
        *("racing line on track-01", "telemetry on track-01"),
        *(f"{chart.title} over {over}" for chart in drawn for over in (STEPS, MINUTES)),
        "reward components",
    ]
    assert all(width > 200 and height > 100 and there > 200 for _, width, height, there in document["sizes"])
    assert document["width"] <= document["window"]


def test_checkpoints_are_marked(trained: Path) -> None:
    """Along the bottom of a curve, with the names of those that have one."""
    marks = report_page._marks(trained / "models", "lap")
    assert [(mark.steps, mark.label) for mark in marks if not mark.label] == [(30016, ""), (60032, "")]
    assert {mark.label for mark in marks} == {"", "best", "final"}
    log = RunLog(trained / "logs" / "lap")
    figure = learning_curve(log, CHARTS[2], STEPS, marks, ["track-01"])
    assert figure is not None
    axes = figure.axes[0]
    ticks = [float(line.get_xdata()[0]) for line in axes.lines if len(line.get_xdata()) == 2]  # type: ignore[arg-type, index]
    assert {30016.0, 60032.0, 81920.0} <= set(ticks)
    assert {text.get_text() for text in axes.texts} == {"best", "final"}
    curve = log.curve("eval/mean_lap_time_sec")
    assert curve is not None
    drawn = next(line for line in axes.lines if line.get_label() == "evaluation")
    assert list(drawn.get_ydata()) == curve.values.tolist()  # type: ignore[arg-type]


def test_a_run_without_laps_has_a_report_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that never evaluated says so in the place of its best laps; without --output it lies in its logs."""
    assert ppo(tmp_path, "--run-name", "bare", "--timesteps", "8192") == 0
    places = ["--models-dir", str(tmp_path / "models"), "--logs-dir", str(tmp_path / "logs")]
    assert report.main(["bare", *places]) == 0
    path = tmp_path / "logs" / "bare" / "report.html"
    assert f"saved {path}" in capsys.readouterr().out
    content = path.read_text(encoding="utf-8")
    assert "No evaluation of this run has completed a lap" in content
    assert "reward components" in content


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("nowhere", lambda folder: None, "no run 'nowhere' in .*; there are: lap"),
        ("", lambda folder: None, "no run ''"),
        ("lap", lambda folder: (folder / "config.json").write_text("{"), "is not valid JSON"),
        ("lap", lambda folder: (folder / "config.json").write_text("[]"), "is no record of a run"),
        ("lap", lambda folder: [path.unlink() for path in folder.glob("events*")], "no TensorBoard events in"),
    ],
)
def test_what_has_no_report(
    trained: Path, tmp_path: Path, name: str, spoil: object, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit code 2, and no page."""
    shutil.copytree(trained / "logs", tmp_path / "logs")
    spoil(tmp_path / "logs" / "lap")  # type: ignore[operator]
    assert report.main([name, "--models-dir", str(trained / "models"), "--logs-dir", str(tmp_path / "logs")]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error)
    assert error.count("\n") == 1
    assert not (tmp_path / "logs" / "lap" / "report.html").exists()


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"no events"])
def test_events_that_hold_nothing_are_named(
    trained: Path, tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page without curves would look like a run without training."""
    shutil.copytree(trained / "logs", tmp_path / "logs")
    for path in (tmp_path / "logs" / "lap").glob("events*"):
        path.write_bytes(content)
    assert report.main(["lap", "--models-dir", str(trained / "models"), "--logs-dir", str(tmp_path / "logs")]) == 2
    assert "hold no figures" in capsys.readouterr().err


@pytest.fixture
def few_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages with one learning curve alone, as all of them take seconds to draw."""
    monkeypatch.setattr(report_page.learning_curves, "CHARTS", CHARTS[2:3])
    monkeypatch.setattr(report_page, "REWARD_COMPONENTS", ())


@pytest.mark.parametrize("value", [None, ["a"], 5])
def test_a_record_with_odd_parts_is_reported_without_them(
    trained: Path, tmp_path: Path, few_pictures: None, value: Any
) -> None:
    """As an older or a foreign one may be."""
    shutil.copytree(trained / "logs", tmp_path / "logs", ignore=shutil.ignore_patterns("records"))
    path = tmp_path / "logs" / "lap" / "config.json"
    parts = ("track_fingerprints", "arguments", "ai_config", "hyperparameters", "packages")
    path.write_text(json.dumps({**json.loads(path.read_text()), **dict.fromkeys(parts, value)}))
    assert "<h1>lap</h1>" in report_page.make_page("lap", tmp_path / "logs", trained / "models")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Logs of a run ``bare``: a point without a plot, so that its page is made at once, and no record."""
    with SummaryWriter(str(tmp_path / "logs" / "bare")) as writer:
        writer.add_scalar("a", 1.0, 1)
    return tmp_path / "logs" / "bare"


def test_the_page_of_a_run_that_went_on(bare: Path) -> None:
    """The last stretch's configuration, wherever the first record is from; the earlier ones by their steps."""
    for steps in (9, 10, 100):
        record = {"started": f"day {steps}", "begins_with": f"m{steps}.zip", "seed": 7000 + steps}
        (bare / f"config_from_{steps}_steps.json").write_text(json.dumps(record))
    content = report_page.make_page("bare", bare.parent)
    for text in ("7100", "m9.zip", "begun day 9", "config_from_9_steps.json, config_from_10_steps.json<"):
        assert text in content, text
    assert "7009" not in content


def test_a_run_without_a_record_is_reported_without_it(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No command goes on with it then, as its algorithm is not known."""
    content = report_page.make_page("bare", bare.parent)
    assert "no record of the run's configuration in" in capsys.readouterr().err
    assert "its configuration is not known" in content
    assert "--resume" not in content


def test_models_are_where_the_run_says(bare: Path, tmp_path: Path) -> None:
    """Unless that folder is gone, or another is named."""
    there = tmp_path / "there"
    arguments = {"models_dir": str(there)}
    (bare / "config.json").write_text(json.dumps({"algorithm": "PPO", "timesteps": 8, "arguments": arguments}))
    assert f"--model {Path('models') / 'bare_final.zip'}" in report_page.make_page("bare", bare.parent)
    there.mkdir()
    assert report.main(["bare", "--logs-dir", str(bare.parent)]) == 0
    content = html.unescape((bare / "report.html").read_text(encoding="utf-8"))
    assert f"--timesteps 8 --models-dir {there}" in content
    assert f"--model {there / 'bare_final.zip'}" in content
    assert f"--models-dir {tmp_path}" in report_page.make_page("bare", bare.parent, tmp_path)


def test_a_figure_of_which_nothing_is_left_has_no_curve(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A run that went on from an earlier checkpoint hides what came after it, evaluations included: unsaid."""
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("reward/progress", 1.0, 10)
        writer.add_scalar("eval/laps", 3, 100)
    time.sleep(1.1)  # the next file is named by the second
    with SummaryWriter(str(tmp_path), purge_step=50) as writer:
        writer.add_scalar("reward/progress", 2.0, 60)
    log = RunLog(tmp_path)
    assert "eval/laps" in log.tags
    assert log.curve("eval/laps") is None
    assert not caplog.records


def test_tracks_without_a_clean_lap_are_named(trained: Path, tmp_path: Path) -> None:
    """Otherwise they would just be missing."""
    log = RunLog(trained / "logs" / "lap")
    assert report_page._without_lap(log, ["track-01"], []) == []
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("eval_track-03/laps", 0, 1)
    assert report_page._without_lap(RunLog(tmp_path), ["track-01", "track-03"], []) == ["track-03"]


def test_damaged_parts_are_passed_over(
    trained: Path, tmp_path: Path, few_pictures: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record lap and a checkpoint that cannot be read are said, and the rest is there."""
    run = Path(shutil.copytree(trained, tmp_path / "copy"))
    (run / "logs" / "lap" / "records" / "track-01.npz").write_bytes(b"cut off")
    (run / "models" / "lap_30016_steps.zip").write_bytes(b"cut off")
    assert report.main(["lap", "--models-dir", str(run / "models"), "--logs-dir", str(run / "logs")]) == 0
    notes = capsys.readouterr().err
    assert "passing over a record lap: cannot load the recording" in notes
    assert "passing over a file that is not whole: cannot load" in notes


def test_names_are_text_and_no_markup(tmp_path: Path) -> None:
    """Whatever stands in a record."""
    folder = tmp_path / "logs" / "odd"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"command": "<script>alert(1)</script> \ud800"}))
    with SummaryWriter(str(folder)) as writer:
        writer.add_scalar("reward/progress", 1.0, 1)
    places = ["--models-dir", str(tmp_path / "models"), "--logs-dir", str(tmp_path / "logs")]
    assert report.main(["odd", *places]) == 0
    content = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script>" not in content
    assert "&lt;script&gt;" in content
    assert "\\ud800" in content, "what is no character is escaped"


def test_a_pause_is_no_training(tmp_path: Path) -> None:
    """Minutes go on after a run was resumed the next day; values that are no numbers are left out."""
    with SummaryWriter(str(tmp_path)) as writer:
        for step in range(20):
            day = 86_400 if step >= 10 else 0
            writer.add_scalar("a", float("nan") if step == 3 else step, step, walltime=1000.0 + 6 * step + day)
    curve = RunLog(tmp_path).curve("a")
    assert curve is not None
    assert curve.minutes[-1] == pytest.approx(18 * 6 / 60)
    assert 3.0 not in curve.steps
    assert RunLog(tmp_path).curve("b") is None
    assert RunLog(tmp_path).minutes_at(5) == pytest.approx(0.5)


def test_a_folder_without_events(tmp_path: Path) -> None:
    """It is no run's."""
    with pytest.raises(RunError, match="no TensorBoard events"):
        RunLog(tmp_path)


def test_several_tracks_have_lap_times_apart(tmp_path: Path) -> None:
    """Together they would mean little."""
    with SummaryWriter(str(tmp_path)) as writer:
        for track in ("a", "b"):
            writer.add_scalar(f"eval_{track}/mean_lap_time_sec", 5.0, 1)
    figure = learning_curve(RunLog(tmp_path), CHARTS[2], MINUTES, [Mark(1)], ["a", "b"])
    assert figure is not None
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels == ["evaluation on a", "evaluation on b"]


def test_success_and_steering_have_curves(trained: Path) -> None:
    """Success from random places too, where evaluations started there; what was never logged has no line."""
    log = RunLog(trained / "logs" / "lap")
    by_title = {chart.title: learning_curve(log, chart, STEPS, [], ["track-01"]) for chart in CHARTS}
    labels = {
        title: [line.get_label() for line in figure.axes[0].lines] if figure is not None else []
        for title, figure in by_title.items()
    }
    assert labels["success: all laps, no wall, no stall"] == ["evaluation"]
    assert labels["steering: reversals per second"] == ["evaluation", "changes of sign per second"]
    assert labels["share of the time off the road"] == ["training, with exploration", "evaluation"]


def test_several_runs_are_for_another_script(capsys: pytest.CaptureFixture[str]) -> None:
    """Which is named, as a command."""
    with pytest.raises(SystemExit) as left:
        report.main(["one", "two words"])
    assert left.value.code == 2
    assert capsys.readouterr().err == (
        "error: a report is of one run, got 2; compare them by: python -m training.compare one 'two words' "
        "(--help explains all arguments)\n"
    )


def test_many_tracks_are_named_in_short() -> None:
    """In the line below the title, and in the table of the run."""
    prints = {f"procedural-0-{number}": "f" * 64 for number in range(48)}
    record = {"algorithm": "PPO", "started": "now", "track_fingerprints": prints}
    assert (
        report_page._subtitle(record) == "PPO on procedural-0-0, procedural-0-1, procedural-0-2 and 45 more, begun now"
    )
    rows = dict(report_page._tables(record, ["config.json"])[0]["rows"])
    assert [name for name in rows if name.startswith("track ")] == [f"track procedural-0-{n}" for n in range(8)]
    assert rows["more tracks"] == "40, in config.json"


def test_commands_find_tracks_that_were_named_by_their_files(tmp_path: Path) -> None:
    """Their ids alone would not."""
    record = {"arguments": {"track_id": ["own/road.json"], "tracks_dir": None}}
    lines = [command["line"] for command in report_page._commands("lap", record, tmp_path, tmp_path)]
    measuring = [line for line in lines if "training.evaluate" in line]
    assert measuring
    assert all(line.endswith("--track-id own/road.json") for line in measuring)
