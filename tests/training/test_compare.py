"""The comparison as a whole: its table, its page, and the page in a real browser."""

import html
import json
import shutil
from pathlib import Path

import pytest

from tests.browser import BROWSER, addresses_in, shown
from tests.training.comparisons.logs import evaluation, write_run, write_setting
from tests.training.comparisons.test_search import journal
from training import compare
from training.comparisons.words import OTHER_COURSES

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory, fresh_model: Path) -> Path:
    """A folder with a sweep ``s`` of two settings with a driver that stands still, and the page of its comparison."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "models" / "s").mkdir(parents=True)
    for number, paces in enumerate(((100.0, 102.0, None), (50.0, 51.0, 52.0))):
        values = {"hyperparameters": {"learning_rate": number + 1}, "arguments": {"models_dir": "gone"}}
        write_setting(folder / "logs" / "s", f"trial_000{number}", paces, **values)
    shutil.copy(fresh_model, folder / "models" / "s" / "trial_0000_seed_1_best.zip")
    (folder / "logs" / "s" / "sweep.json").write_text('{"arguments": ["--search", "--objective", "lap-time"]}')
    journal(folder / "logs" / "s", 16)
    return folder


def compared(folder: Path, *arguments: str) -> int:
    """Compare in a folder."""
    places = ["--models-dir", str(folder / "models"), "--logs-dir", str(folder / "logs")]
    return compare.main([*arguments, *places])


@pytest.fixture(scope="module")
def page(sweep: Path) -> Path:
    """The page of the sweep, in its usual place."""
    assert compared(sweep, "s", "--track-id", "track-01") == 0
    return sweep / "logs" / "s" / "compare.html"


def test_the_page_holds_everything(page: Path) -> None:
    """Words, both settings, what differs, importance, parallel coordinates and drivers; it fetches nothing."""
    content = html.unescape(page.read_text(encoding="utf-8"))
    addresses = addresses_in(content)
    assert len(addresses) == 11  # intervals, four curves over steps and minutes, importance, trials
    assert all(address.startswith("data:image/") for address in addresses)
    for text in (
        "<h1>s</h1>",
        "2 settings, 6 runs, by lap time in s",
        "<li>best is PPO learning_rate=1; lap time 10.00 s, median of 3 seeds</li>",
        "<li>see its best run lap: python -m training.evaluate --model ",
        "PPO learning_rate=1 is faster than PPO learning_rate=2 in 2 of 3 seeds; the intervals overlap",
        "16 finished trials; 1 more trial ended early or failed",
        "track-01 (trained there)",
        "<h3>s: PPO</h3>",
        "importance of PPO",
    ):
        assert text in content, text


@pytest.mark.skipif(BROWSER is None, reason="no Chromium, Chrome or Edge on the PATH")
def test_a_browser_shows_it_on_a_dark_screen(page: Path, tmp_path: Path) -> None:
    """Every picture is decoded with a size, nothing is wider than the window, and the page is dark."""
    document = shown(page, tmp_path, "1280,720", is_dark=True)
    assert len(document["sizes"]) == 11
    assert all(width > 200 and height > 100 and there > 200 for _, width, height, there in document["sizes"])
    assert document["width"] <= document["window"]
    assert document["background"] == "rgb(18, 21, 27)"


def test_the_table_and_the_json(sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same sweep by a pattern; without a drive; the page where it is asked for."""
    path = tmp_path / "deep" / "page.html"
    assert compared(sweep, "s/*", "--no-drive", "--output", str(path)) == 0
    captured = capsys.readouterr()
    model = sweep / "models" / "s" / "trial_0000_seed_1_best.zip"
    first = [
        "best is PPO learning_rate=1; lap time 10.00 s, median of 3 seeds",
        f"see its best run lap: python -m training.evaluate --model {model}",
        "2 settings by pace less costs in units/s",
    ]
    lines = captured.out[captured.out.index("best is") :].splitlines()
    assert [line.partition("; in each cell")[0] for line in lines[:3]] == first
    assert "side by side" not in captured.out
    assert f"saved {path}" in captured.out
    assert "importance of PPO" not in path.read_text(encoding="utf-8")
    assert compared(sweep, "s", "--no-drive", "--json", "--output", str(path)) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["words"][0] == first[0]
    assert [each["label"] for each in document["settings"]] == ["PPO learning_rate=1", "PPO learning_rate=2"]
    assert document["searches"][0]["sweep"] == "s"
    assert next(iter(document["searches"][0]["importance"])) == "learning_rate"
    assert f"note: saved {path}" in captured.err


def test_settings_on_other_tracks_are_said_to_be_so_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And on the screen; single numbers have no intervals to be explained."""
    for name, track in (("a", "track-01"), ("b", "track-02")):
        write_run(tmp_path / "logs", name, 0, [evaluation(1000, 100.0)], arguments={"eval_track_id": [track]})
    assert compared(tmp_path, "a", "b", "--no-drive") == 0
    content = html.unescape((tmp_path / "logs" / "compare.html").read_text(encoding="utf-8"))
    assert OTHER_COURSES in content
    assert "below it the interquartile mean" not in content
    assert capsys.readouterr().out.count(OTHER_COURSES) == 1


def test_the_page_is_titled_by_what_was_compared(tmp_path: Path) -> None:
    """Not by a name of which there is no run."""
    write_run(tmp_path / "logs", "a", 0, [evaluation(1000, 100.0)])
    assert compared(tmp_path, "a", "nope", "--no-drive") == 0
    assert "<h1>a</h1>" in (tmp_path / "logs" / "compare.html").read_text(encoding="utf-8")


def test_the_seed_of_the_tracks_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """As it is not that of other scripts."""
    with pytest.raises(SystemExit):
        compare.main(["--help"])
    words = " ".join(capsys.readouterr().out.split())
    assert "seed of the generated tracks (default: 4711, or the next one that no run was trained on)" in words


def test_a_best_model_that_is_missing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The comparison does without its drive."""
    write_run(tmp_path / "logs", "a", 0, [evaluation(1000, 100.0)])
    assert compared(tmp_path, "a", "--track-id", "track-01") == 0
    captured = capsys.readouterr()
    assert "PPO does not drive: no model or run" in captured.err
    assert f"saved {tmp_path / 'logs' / 'compare.html'}" in captured.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nothing to compare: no run 'nowhere' in"),
        (["a", "--no-drive", "--track-id", "track-01"], "do not go with --no-drive"),
        (["a", "--track-seed", "3", "--track-id", "track-01"], "--track-seed is of sets of generated tracks"),
        (["a", "--output", "."], "--output takes a file, and . is a folder"),
        (["a", "--track-id", "nix"], "nix"),
    ],
)
def test_what_cannot_be_compared(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and one line."""
    write_run(tmp_path / "logs", "a", 0, [evaluation(1000, 100.0)])
    assert compared(tmp_path, *arguments) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert message in errors[0]
