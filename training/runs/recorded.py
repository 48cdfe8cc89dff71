"""What a run's record says of how the run went on, for the run that resumes it, and where its tracks are."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from racer_env.errors import RunError
from racer_env.json_files import read_json
from training.checkpoints.data import ModelData
from training.checkpoints.files import run_of
from training.console.arguments import track_flags
from training.runs.folders import last_record, records


def _from(low: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= low


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


# Options that go on from the record of a resumed run, and whether a value there can be one.
_RECORDED: dict[str, Callable[[Any], bool]] = {
    "checkpoint_freq": _from(1),
    "keep_checkpoints": _from(1),
    "save_replay_buffer": _is_flag,
    "eval_freq": _from(0),
    "eval_laps": _from(1),
    "eval_track_id": lambda value: isinstance(value, list),
    "eval_random_starts": _from(0),
    "stop_when_competent": _is_flag,
    "stop_when_lap_time": lambda value: value is None or (type(value) in (int, float) and value > 0),
    "track_seed": _from(0),
}


def _content(path: Path) -> dict[str, Any]:
    """Return a record, unchecked; empty if it is not whole."""
    try:
        record = read_json(path, RunError, "run record")
    except RunError:
        return {}
    return record if isinstance(record, dict) else {}


def recorded_options(logs_dir: Path, resumed: ModelData) -> dict[str, Any]:
    """Return how a resumed run was evaluated and saved, as its record says; empty without a whole record."""
    before = _content(last_record(logs_dir / run_of(resumed.path), resumed.steps)).get("arguments")
    if not isinstance(before, dict):
        return {}
    return {name: before[name] for name, is_known in _RECORDED.items() if name in before and is_known(before[name])}


def recorded_values(logs_dir: Path, resumed: ModelData, name: str) -> list[Any]:
    """Return what the records of all stretches of a model's run say under a name."""
    return [_content(path).get(name) for path in records(logs_dir / run_of(resumed.path))]


def recorded_track_flags(record: Mapping[str, Any]) -> list[str]:
    """Return the flags that find the tracks of a run's record again, if their ids are not enough."""
    named = record.get("arguments")
    named = named if isinstance(named, dict) else {}
    names, folder = named.get("track_id"), named.get("tracks_dir")
    return track_flags([*map(str, names)] if isinstance(names, list) else [], Path(str(folder)) if folder else None)
