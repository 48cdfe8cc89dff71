"""What a run's TensorBoard shows, read back from its event files."""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tensorboard.backend.event_processing import plugin_event_multiplexer as event_multiplexer
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.context import RequestContext
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.custom_scalar.custom_scalars_plugin import CustomScalarsPlugin
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.plugins.hparams.backend_context import Context
from tensorboard.plugins.scalar.scalars_plugin import ScalarsPlugin

from tests.runs import ppo
from training.algorithms.registry import all_algorithms, all_settings
from training.runs.options import make_options, make_parser
from training.runs.plan import make_plan
from training.runs.run import Run
from training.runs.session import described
from training.runs.tensorboard import METRICS, RunTensorBoard

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def events(trained: Path) -> EventAccumulator:
    """The events of the run ``lap``."""
    accumulator = EventAccumulator(str(trained / "logs" / "lap"), size_guidance={"images": 0})
    accumulator.Reload()
    return accumulator


def plugin_data(events: EventAccumulator, tag: str) -> Any:
    """Return what HPARAMS reads."""
    content = events.summary_metadata[tag].plugin_data.content
    return plugin_data_pb2.HParamsPluginData.FromString(content)


def test_a_racing_line_at_every_evaluation(events: EventAccumulator) -> None:
    """A picture of the track, with the step."""
    assert events.Tags()["images"] == ["racing_line/track-01"]
    images = events.Images("racing_line/track-01")
    assert [image.step for image in images] == [event.step for event in events.Scalars("eval/clean_laps")]
    with Image.open(io.BytesIO(images[-1].encoded_image_string)) as picture:
        assert picture.size == (960, 540)
        assert len(picture.getcolors(1_000_000) or []) > 100
    assert images[0].encoded_image_string != images[-1].encoded_image_string


def test_hyperparameters_with_their_metrics(events: EventAccumulator) -> None:
    """Everything that runs differ by, and lap time and completion to compare them with."""
    start = plugin_data(events, "_hparams_/session_start_info").session_start_info.hparams
    assert start["learning_rate"].number_value == 1e-3
    assert start["algorithm"].string_value == "PPO"
    assert start["tracks"].string_value == "track-01"
    assert start["log_std"].string_value == "[-1.0, -0.5, -0.5]"
    metrics = {info.name.tag for info in plugin_data(events, "_hparams_/experiment").experiment.metric_infos}
    assert metrics == set(METRICS)
    assert {"eval/best_lap_time_sec", "eval/completion"} <= metrics & set(events.Tags()["scalars"])


def planned(name: str, *arguments: str) -> Run:
    """Return the run that a command line asks for, without training it."""
    algorithm = all_algorithms()[name]
    return make_plan(algorithm, make_options(algorithm, make_parser(algorithm).parse_args(arguments)), None).run


@pytest.mark.parametrize("first", [*all_algorithms()])
def test_runs_of_all_algorithms_are_in_one_table(first: str, tmp_path: Path) -> None:
    """As TensorBoard's own HPARAMS page puts it together, whichever comes first: with reward weights too."""
    config = tmp_path / "fast.json"
    config.write_text('{"weights": {"speedBonus": 0.25}}')
    values = {name: described(planned(name, "--config", str(config))) for name in all_algorithms()}
    folders = {f"{'a' if name == first else 'b'}_{name}": name for name in values}
    for folder, name in folders.items():
        board = RunTensorBoard(tmp_path / folder, 0)
        board.describe(values[name])
        board.close()
    multiplexer = event_multiplexer.EventMultiplexer().AddRunsFromDirectory(str(tmp_path))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(tmp_path))
    page = Context(TBContext(logdir=str(tmp_path), multiplexer=multiplexer, data_provider=provider))
    request, runs = RequestContext(), page.hparams_metadata(RequestContext(), "")
    table = page.experiment_from_metadata(request, "", True, runs, page.hparams_from_data_provider(request, "", None))
    columns = {column.name for column in table.hparam_infos}
    assert columns == set(all_settings()).union(*values.values())
    assert {"learning_rate", "buffer_size", "policy_delay", "speedBonus", "maxSteps", "reward", "seed"} <= columns
    assert {metric.name.tag for metric in table.metric_infos} == set(METRICS)
    assert set(runs) == set(folders)
    for folder, tags in runs.items():
        start = plugin_data_pb2.HParamsPluginData.FromString(tags["_hparams_/session_start_info"]).session_start_info
        assert set(start.hparams) == set(values[folders[folder]])
        assert start.hparams["speedBonus"].number_value == 0.25


@pytest.fixture(scope="module")
def custom_page(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[CustomScalarsPlugin, dict[str, Any]]:
    """The custom page of a run on one track and one on two, as TensorBoard puts it together: plugin and layout."""
    logs = tmp_path_factory.mktemp("logs")
    shutil.copytree(trained / "logs" / "lap", logs / "lap")
    board = RunTensorBoard(logs / "two", 0)
    board.describe({"a": 1, "b": (1, 2)})
    for tag in ("eval/mean_lap_time_sec", "eval_x/mean_lap_time_sec", "eval_y/mean_lap_time_sec", "racer_x/laps"):
        board.writer.add_scalar(tag, 7.0, 1)
    board.close()
    multiplexer = event_multiplexer.EventMultiplexer().AddRunsFromDirectory(str(logs))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(logs))
    context = TBContext(logdir=str(logs), multiplexer=multiplexer, data_provider=provider)
    scalars = ScalarsPlugin(context)
    context.plugin_name_to_instance = {"scalars": scalars}
    plugin = CustomScalarsPlugin(context)
    return plugin, json.loads(plugin.layout_impl(RequestContext(), ""))


def charts_of(layout: dict[str, Any]) -> dict[str, list[str]]:
    """Return the charts of a custom page with the regular expressions of their curves, by title."""
    return {chart["title"]: chart["multiline"]["tag"] for part in layout["category"] for chart in part["chart"]}


def curves(plugin: CustomScalarsPlugin, run: str, tags: list[str]) -> set[str]:
    """Return the tags of a chart's curves in a run, as the page asks for them."""
    found: dict[str, Any] = plugin.scalars_impl(RequestContext(), run, "|".join(f"({tag})" for tag in tags), "")
    assert found["regex_valid"]
    return set(found["tag_to_events"])


def test_the_custom_page_begins_with_laps(custom_page: tuple[CustomScalarsPlugin, dict[str, Any]]) -> None:
    """Lap time, completion and reward first; their curves are in the log, in evaluations and in training."""
    plugin, layout = custom_page
    charts = charts_of(layout)
    assert list(charts)[:4] == ["lap time in s", "best lap time in s", "pace in units/s", "completion"]
    expected = {"eval/best_lap_time_sec", "racer/best_lap_time_sec"}
    assert curves(plugin, "lap", charts["best lap time in s"]) == expected
    for title in list(charts)[:4]:
        assert curves(plugin, "lap", charts[title]), title


def test_several_tracks_have_curves_of_their_own(custom_page: tuple[CustomScalarsPlugin, dict[str, Any]]) -> None:
    """Beside that of all together."""
    plugin, layout = custom_page
    tags = {f"eval{track}/mean_lap_time_sec" for track in ("", "_x", "_y")}
    assert curves(plugin, "two", charts_of(layout)["lap time in s"]) == tags


def test_no_chart_is_twice_on_the_custom_page(custom_page: tuple[CustomScalarsPlugin, dict[str, Any]]) -> None:
    """Runs on one track and on several share the page."""
    titles = [chart["title"] for part in custom_page[1]["category"] for chart in part["chart"]]
    assert len(set(titles)) == len(titles) > 10


def test_runs_stand_side_by_side_under_their_names(trained: Path) -> None:
    """One folder for each run, named as it is: --logdir logs shows them all."""
    folders = {path.parent.relative_to(trained / "logs").as_posix() for path in (trained / "logs").rglob("events.*")}
    assert folders == {"lap"}


def test_no_more_pictures_than_are_shown(tmp_path: Path, short_config: str) -> None:
    """TensorBoard shows ten of a name: of many evaluations, ten are drawn, evenly, the last one among them."""
    quick = ["--num-envs", "32", "--set", "epochs=1", "--eval-laps", "1", "--config", short_config]
    assert ppo(tmp_path, "--run-name", "it", "--timesteps", "4096", "--eval-freq", "256", *quick) == 0
    events = EventAccumulator(str(tmp_path / "logs" / "it"), size_guidance={"images": 0})
    events.Reload()
    evaluated = [event.step for event in events.Scalars("eval/clean_laps")]
    drawn = [image.step for image in events.Images("racing_line/track-01")]
    assert len(drawn) == 10 < len(evaluated)
    assert drawn[-1] == evaluated[-1]


def test_what_a_killed_run_left_is_hidden_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock set back, or a resume within the same second, does not change the order of the event files."""
    for now, first_step, step in ((2e9, 0, 100), (1e9, 50, 60), (1e9, 20, 30)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        board = RunTensorBoard(tmp_path, first_step)
        board.writer.add_scalar("a", 1.0, step)
        board.close()
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("a")] == [30]
