"""What a run needs of this machine to be trained on another: files that its options name, and code of the user's."""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import racer_env
import training
from training.algorithms.registry import algorithm_named
from training.checkpoints.files import statistics_path
from training.runs.options import make_parser
from training.sweeps.pool import RunOrder

ELSEWHERE = "elsewhere"  # folder, over there, of what lies outside the current folder here
_NO_CODE_OF_THE_USERS = tuple(Path(package.__path__[0]) for package in (racer_env, training))


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
    named = dict(_named_paths(arguments))
    names = {text: text if _keeps_its_name(path) else _place_of(path) for text, path in named.items()}
    needed = {file for path in named.values() for file in _files_at(path)}
    files = {_place_of(path): path.read_bytes() for path in sorted({*needed, *_own_code()})}
    models_dir, logs_dir = (
        folder if _keeps_its_name(folder) else Path(_place_of(folder)) for folder in (order.models_dir, order.logs_dir)
    )
    return Luggage(tuple(_renamed(word, names) for word in order.options), models_dir, logs_dir, files)


def _named_paths(arguments: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """Yield the files and folders that options name, after the words that name them."""
    paths = (arguments.config, arguments.hyperparams, arguments.vecnorm, arguments.tracks_dir)
    words = [str(path) for path in paths if path is not None]
    words += [arguments.initialize_from] if arguments.initialize_from is not None else []
    words += [
        word for word in (*(arguments.track_id or ()), *(arguments.eval_track_id or ()), arguments.preset) if word
    ]
    words += [word.rpartition(":")[0] for word in (arguments.reward, arguments.wrapper) if word]
    for word in words:
        path = Path(word)
        if path.exists() and (path.is_file() or word == str(arguments.tracks_dir)):
            yield word, path


def _files_at(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from path.glob("*.json")
        return
    yield path
    beside = statistics_path(path)
    if path.suffix == ".zip" and beside.is_file():
        yield beside


def _own_code() -> Iterator[Path]:
    """Yield the files of the current folder that were imported, as a reward or a wrapper of the user's does."""
    here = Path.cwd()
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py"):
            continue
        path = Path(file)
        is_installed = path.is_relative_to(sys.prefix) or any(map(path.is_relative_to, _NO_CODE_OF_THE_USERS))
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
