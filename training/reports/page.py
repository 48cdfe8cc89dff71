"""The page about a training run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from racer_env.contract import REWARD_COMPONENTS
from racer_env.errors import ModelError, RecordingError, RunError
from racer_env.json_files import read_json
from training.algorithms.registry import all_algorithms
from training.checkpoints.data import read_model_data
from training.checkpoints.files import BEST, FINAL, INTERRUPTED, model_path, models_of
from training.console.arguments import LOGS_DIR, MODELS_DIR
from training.console.messages import command_line, in_short, note
from training.drives.plots import racing_line, telemetry
from training.drives.recording import Recording, load_recording
from training.evaluation.summary import MAX_TRACKS_APART
from training.reports import lap_table, learning_curves
from training.reports.axes import AXES, STEPS
from training.reports.html import embedded, fill_in
from training.reports.learning_curves import Mark
from training.reports.run_log import RunLog
from training.runs.fastest_laps import RECORDS_FOLDER
from training.runs.folders import records_of
from training.runs.recorded import recorded_track_flags

ALL_PICTURES = ("--samples_per_plugin", "images=100")  # TensorBoard keeps ten, and a resumed run has more


def make_page(run: str, logs_dir: Path, models_dir: Path | None = None) -> str:
    """Return the HTML page of a run.

    Args:
        run: Name of the run.
        logs_dir: Folder of logs.
        models_dir: Folder of models; None is the one that the run's record names, if it is there.

    Raises:
        RunError: The run's log is missing or damaged, or a record of its configuration is damaged.
    """
    folder = logs_dir / run
    stretches = {path.name: _record(path) for path in records_of(folder)}
    if not stretches:
        note(f"no record of the run's configuration in {folder}; the page is without")
    record = _as_it_went_on(stretches)
    models_dir = models_dir or _models_dir(record)
    log, marks, records = RunLog(folder), _marks(models_dir, run), _records(folder)
    tracks = list(_part(record, "track_fingerprints"))
    unmoved = {
        chart.title: words for chart in learning_curves.CHARTS if (words := learning_curves.unmoved(log, chart, tracks))
    }
    components = learning_curves.components(log, REWARD_COMPONENTS, STEPS)
    curves = [
        {"name": f"{chart.title} over {over}", "source": embedded(figure)}
        for chart in learning_curves.CHARTS
        for over in AXES
        if chart.title not in unmoved
        and (figure := learning_curves.learning_curve(log, chart, over, marks, tracks)) is not None
    ]
    return fill_in(
        "reports/report.html.j2",
        run=run,
        subtitle=_subtitle(record),
        cards=_cards(log, records),
        lap_columns=lap_table.COLUMNS,
        lap_rows=lap_table.lap_table(log, tracks, records),
        laps=[_lap(recording) for recording in records],
        without_lap=_without_lap(log, tracks, records),
        curves=curves,
        unmoved=unmoved,
        components=embedded(components) if components is not None else None,
        commands=_commands(run, record, logs_dir, models_dir),
        tables=_tables(record, list(stretches)),
    )


def _record(path: Path) -> dict[str, Any]:
    record = read_json(path, RunError, "run record")
    if not isinstance(record, dict):
        raise RunError(f"{path} is no record of a run; expected an object as training writes it")
    return record


def _as_it_went_on(stretches: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the record of the last stretch, with what the first one began with and when; empty if there is none."""
    records = list(stretches.values())
    if not records:
        return {}
    return {**records[-1], "started": records[0].get("started"), "begins_with": records[0].get("begins_with")}


def _part(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object in a record; an empty one if it is absent."""
    part = record.get(name)
    return part if isinstance(part, dict) else {}


def _models_dir(record: dict[str, Any]) -> Path:
    named = _part(record, "arguments").get("models_dir")
    return Path(named) if isinstance(named, str) and Path(named).is_dir() else MODELS_DIR


def _marks(models_dir: Path, run: str) -> list[Mark]:
    """Return the saved models by age, with a label for those that are more than a checkpoint."""
    labels = {model_path(models_dir, run, tag): tag for tag in (BEST, FINAL, INTERRUPTED)}
    marks = []
    for path in models_of(models_dir, run):
        try:
            marks.append(Mark(read_model_data(path).steps, labels.get(path, "")))
        except ModelError as error:
            if path.exists():  # training may have deleted it meanwhile
                note(f"passing over a file that is not whole: {error}")
    return sorted(marks, key=lambda mark: (mark.steps, mark.label))


def _records(folder: Path) -> list[Recording]:
    """Return the record laps of a run, by track."""
    records = []
    for path in sorted((folder / RECORDS_FOLDER).glob("[!.]*.npz")):
        try:
            recording = load_recording(path)
        except RecordingError as error:
            note(f"passing over a record lap: {error}")
            continue
        if recording.drive.best_lap is None:
            note(f"passing over {path}: it holds no lap")
        else:
            records.append(recording)
    return records


def _subtitle(record: dict[str, Any]) -> str:
    if not record:
        return "its configuration is not known"
    tracks = in_short(list(_part(record, "track_fingerprints")))
    return f"{record.get('algorithm', '')} on {tracks}, begun {str(record.get('started', '')).replace('T', ' ')}"


def _cards(log: RunLog, records: Sequence[Recording]) -> list[dict[str, str]]:
    cards = []
    for recording in records:
        lap = recording.drive.best_lap
        if lap is not None:
            cards.append({"name": f"best clean lap on {recording.track.id}", "value": f"{lap.seconds:.2f} s"})
    completion, cleans = log.curve("eval/completion"), log.curve("eval/clean_laps")
    asked = log.curve("eval/laps_asked")
    if completion is not None:
        cards.append({"name": "completion in the last evaluation", "value": f"{completion.values[-1]:.0%}"})
    if cleans is not None and asked is not None:
        value = f"{cleans.values[-1]:.0f} of {asked.values[-1]:.0f}"
        cards.append({"name": "clean laps in the last evaluation", "value": value})
    reversals, off_road = log.curve("eval/steer_reversals_per_sec"), log.curve("eval/off_track_share")
    if reversals is not None and off_road is not None:
        cards.append(
            {"name": "reversals of the steering in the last evaluation", "value": f"{reversals.values[-1]:.1f}/s"}
        )
        cards.append({"name": "of the last evaluation off the road", "value": f"{off_road.values[-1]:.1%}"})
    pace = log.curve("reward/progress") or completion
    if pace is not None:
        minutes = log.minutes
        cards.append({"name": "environment steps", "value": f"{pace.steps[-1]:,.0f}"})
        value = f"{minutes:.1f} min" if minutes >= 1 else f"{minutes * 60:.0f} s"
        cards.append({"name": "of training", "value": value})
    return cards


def _lap(recording: Recording) -> dict[str, str]:
    drive = recording.drive
    lap = drive.best_lap
    assert lap is not None  # a record always contains a lap
    return {
        "track": recording.track.id,
        "line": embedded(racing_line(drive, lap, width=7.2), "png"),  # PNG, as the road has thousands of pieces
        "telemetry": embedded(telemetry([(drive, lap)], width=7.2)),
    }


def _without_lap(log: RunLog, tracks: Sequence[str], records: Sequence[Recording]) -> list[str]:
    """Return the tracks that evaluations drove on without a clean lap."""
    known = {recording.track.id for recording in records}
    return [track for track in tracks if track not in known and log.curve(f"eval_{track}/laps") is not None]


def _commands(run: str, record: dict[str, Any], logs_dir: Path, models_dir: Path) -> list[dict[str, str]]:
    best = model_path(models_dir, run, BEST)
    model = str(best if best.is_file() else model_path(models_dir, run, FINAL))
    places = [] if models_dir == MODELS_DIR else ["--models-dir", str(models_dir)]
    places += [] if logs_dir == LOGS_DIR else ["--logs-dir", str(logs_dir)]
    tracks = recorded_track_flags(record)
    algorithm, lines = all_algorithms().get(str(record.get("algorithm"))), {}
    if algorithm is not None:
        lines["Go on training, for as many steps more"] = [
            *("python", "-m", algorithm.script, "--resume", run, "--timesteps", str(record.get("timesteps", ""))),
            *(*places, *tracks),
        ]
    lines |= {
        "Measure it": ["python", "-m", "training.evaluate", "--model", model, *tracks],
        "Watch it drive": ["python", "-m", "training.watch", "--model", model, *tracks],
        "Race it in the browser": ["python", "-m", "training.race_page", "--model", model, *tracks, "--serve"],
        "Make a video of its best lap": [
            *("python", "-m", "training.evaluate", "--model", model, "--video", "lap.mp4", *tracks),
        ],
        "Export it for the game": ["python", "-m", "training.export_onnx", "--model", model, *tracks],
        "Look at all that was logged": [*("tensorboard", "--logdir", str(logs_dir)), *ALL_PICTURES],
    }
    return [{"what": what, "line": command_line(parts)} for what, parts in lines.items()]


def _tables(record: dict[str, Any], stretches: Sequence[str]) -> list[dict[str, Any]]:
    """Return the tables of the configuration: that of the last stretch, whose record is the last of the names."""
    if not record:
        return []
    config, tracks = _part(record, "ai_config"), _part(record, "track_fingerprints")
    run = {
        "command": record.get("command"),
        "begins with": record.get("begins_with") or "a fresh model",
        "seed": record.get("seed"),
        "cars": record.get("num_envs"),
        "commit": record.get("commit") or "not known",
        "Python": record.get("python"),
        "platform": record.get("platform"),
        "physics": record.get("physics_fingerprint"),
        **{f"track {name}": fingerprint for name, fingerprint in list(tracks.items())[:MAX_TRACKS_APART]},
    }
    if len(tracks) > MAX_TRACKS_APART:
        run["more tracks"] = f"{len(tracks) - MAX_TRACKS_APART}, in {stretches[-1]}"
    if len(stretches) > 1:
        run["record of this"] = stretches[-1]
        run["records of earlier stretches"] = ", ".join(stretches[:-1])
    tables = {
        "run": run,
        "hyper-parameters": _part(record, "hyperparameters"),
        "reward weights": _part(config, "weights"),
        "episode limits": _part(config, "episode"),
        "versions": _part(record, "packages"),
    }
    return [{"name": name, "rows": list(rows.items())} for name, rows in tables.items() if rows]
