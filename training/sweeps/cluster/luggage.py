"""What a run needs of this machine to be trained on another: files that its options name, and code of the user's."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racer_env.errors import ConfigError
from racer_env.json_files import read_json
from training.algorithms.registry import algorithm_named
from training.checkpoints.files import statistics_path
from training.runs.brought import KINDS
from training.runs.options import make_parser
from training.sweeps.cluster.project_copy import PACKAGES
from training.sweeps.pool import RunOrder

ELSEWHERE = "elsewhere"  # folder, over there, of what lies outside the current folder here


@dataclass(frozen=True)
class Luggage:
    """What goes along with a run.

    Attributes:
        options: Command line of the training script, in which every file has the name that it has over there: its own
            if it is relative and leads to a place inside the current folder, else one in ELSEWHERE.
        models_dir, logs_dir: Folders of the sweep over there, by the same rule.
        files: Content by path, relative to the folder in which the run is trained, with "/" on all systems.
    """

    options: tuple[str, ...]
    models_dir: Path
    logs_dir: Path
    files: dict[str, bytes]

    def unpack(self, folder: Path) -> None:
        """Write the files."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def pack(order: RunOrder) -> Luggage:
    """Return what goes along with a run.

    Raises:
        OSError: A file cannot be read.
    """
    arguments = make_parser(algorithm_named(order.algorithm)).parse_args(order.options)
    presets = [path for path in map(_preset_of, (arguments.preset, arguments.hyperparams)) if path is not None]
    named = {word: path for of in (vars(arguments), *map(_arguments_in, presets)) for word, path in _named_paths(of)}
    names = {text: text if _keeps_its_name(path) else _place_of(path) for text, path in named.items()}
    code = [named[word] for word in named if word.endswith(".py")]
    needed = {file for path in named.values() for file in _files_at(path)}
    files = {_place_of(path): path.read_bytes() for path in sorted({*needed, *_own_code(code)})}
    files |= {_place_of(path): _preset_there(path, names) for path in presets}
    models_dir, logs_dir = (
        folder if _keeps_its_name(folder) else Path(_place_of(folder)) for folder in (order.models_dir, order.logs_dir)
    )
    return Luggage(tuple(_renamed(word, names) for word in order.options), models_dir, logs_dir, files)


def _preset_of(name: Path | str | None) -> Path | None:
    """Return the file of a preset or of hyper-parameters; None if it is none of the user's."""
    path = Path(name) if name is not None else None
    return path if path is not None and path.suffix == ".json" and path.is_file() else None


def _arguments_in(preset: Path) -> dict[str, Any]:
    """Return the arguments that a preset holds."""
    document = read_json(preset, ConfigError, "preset")
    arguments = document.get("arguments", {}) if isinstance(document, dict) else {}
    return arguments if isinstance(arguments, dict) else {}


def _preset_there(preset: Path, names: Mapping[str, str]) -> bytes:
    """Return the content of a preset in which every file has the name that it has over there."""
    arguments = _arguments_in(preset)
    there = {name: _value_there(value, names) for name, value in arguments.items()}
    if there == arguments:
        return preset.read_bytes()
    return json.dumps({**read_json(preset, ConfigError, "preset"), "arguments": there}, indent=2).encode()


def _value_there(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_value_there(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


def _named_paths(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    """Yield the files and folders that options name, after the words that name them."""
    words = [arguments.get(name) for name in ("config", "hyperparams", "vecnorm", "tracks_dir", "initialize_from")]
    words += [arguments.get("preset"), *(arguments.get("track_id") or ()), *(arguments.get("eval_track_id") or ())]
    words += [arguments[kind].rpartition(":")[0] for kind in KINDS if arguments.get(kind)]
    for word in map(str, filter(None, words)):
        path = Path(word)
        if path.is_file() or (path.is_dir() and word == str(arguments.get("tracks_dir"))):
            yield word, path


def _files_at(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from path.glob("*.json")
        return
    yield path
    beside = statistics_path(path)
    if path.suffix == ".zip" and beside.is_file():
        yield beside


def _own_code(named: Iterable[Path]) -> Iterator[Path]:
    """Yield code of the user's: what lies beside the files that options name, and what was imported from here."""
    for file in named:
        yield from file.parent.glob("*.py")
    here = Path.cwd()
    for module in [*sys.modules.values()]:
        path = Path(getattr(module, "__file__", None) or "")
        if path.suffix != ".py":
            continue
        is_installed = path.is_relative_to(sys.prefix) or any(map(path.is_relative_to, PACKAGES))
        if path.is_relative_to(here) and not is_installed and path.is_file():
            yield path


def _keeps_its_name(path: Path) -> bool:
    return not path.is_absolute() and _absolute(path).is_relative_to(Path.cwd())


def _place_of(path: Path) -> str:
    absolute = _absolute(path)
    if absolute.is_relative_to(Path.cwd()):
        return absolute.relative_to(Path.cwd()).as_posix()
    return f"{ELSEWHERE}/{absolute.relative_to(absolute.anchor).as_posix()}"


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 (follows no links: a name stays a name)


def _renamed(word: str, names: Mapping[str, str]) -> str:
    flag, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    place, colon, attribute = value.rpartition(":")
    if value in names:
        return f"{flag}{equals}{names[value]}"
    return f"{flag}{equals}{names[place]}{colon}{attribute}" if place in names else word
