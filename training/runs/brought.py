"""Code that a user brings to training: found by its name, known by its source, carried by a run that goes on."""

import argparse
import hashlib
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from racer_env.errors import ConfigError
from racer_env.files import read_file
from training.checkpoints.data import ModelData
from training.console.messages import first_line
from training.runs.own_code import named
from training.runs.recorded import recorded_values

MAX_SOURCE = 1_000_000  # bytes of a file

# What may be brought, with what it is in words, and what there is without it.
KINDS = {"reward": ("FUNCTION", "the game's own"), "wrapper": ("CLASS", "none")}


class _MissingError(ConfigError):
    """There is no such file or module."""


@dataclass(frozen=True)
class Brought:
    """A function or a class of the user's.

    Attributes:
        name: Its name as the user gave it: ``MODULE_OR_FILE:NAME``.
        file: The file that it is in.
        digest: SHA-256 of that file; files that it imports do not count.
        value: The function or the class.
    """

    name: str
    file: Path
    digest: str
    value: Callable[..., Any] = field(repr=False, compare=False)

    def as_document(self) -> dict[str, str]:
        """Return it for a run's record and for models."""
        return {"name": self.name, "file": str(self.file), "digest": self.digest}


def add_arguments(group: argparse._ArgumentGroup) -> None:
    """Add the arguments that name code of the user's: None is not given, an empty text is none of it."""
    group.add_argument(
        "--reward",
        metavar="MODULE_OR_FILE:FUNCTION",
        help="pay what a Python function of your own returns, such as rewards.py:smooth, see docs/rewards.md; "
        "evaluations keep the game's own reward (default: that of the run to resume, or the game's own)",
    )
    group.add_argument(
        "--no-reward", action="store_const", const="", dest="reward", help="on resume, go back to the game's own reward"
    )
    group.add_argument(
        "--wrapper",
        metavar="MODULE_OR_FILE:CLASS",
        help="wrap the cars of training in a VecEnvWrapper of your own, made as CLASS(venv), below the normalisation "
        "(default: that of the run to resume, or none)",
    )
    group.add_argument(
        "--no-wrapper", action="store_const", const="", dest="wrapper", help="on resume, leave the wrapper away"
    )


def resolve(arguments: argparse.Namespace, resumed: ModelData | None) -> dict[str, Brought | None]:
    """Return what the user brings, by the name of its option; else what the resumed run was trained with.

    Args:
        arguments: Namespace parsed with ``add_arguments``.
        resumed: The model to resume; None if a new run begins.

    Raises:
        ConfigError: It does not exist, cannot be imported, is not callable, or is not what the run was trained with.
    """
    found: dict[str, Brought | None] = {}
    for kind in KINDS:
        named = getattr(arguments, kind)
        if named:
            found[kind] = bring(kind, named)
        else:
            found[kind] = _carried(kind, resumed, arguments.logs_dir) if resumed is not None and named is None else None
    return found


def bring(kind: str, name: str, digest: str | None = None) -> Brought:
    """Find and import a function or a class of the user's.

    Args:
        kind: What it is, one of KINDS.
        name: ``MODULE_OR_FILE:NAME``.
        digest: The digest that its file must have, or it is not imported; None is any.

    Raises:
        ConfigError: It does not exist, cannot be imported, has changed, or is not callable.
    """
    place, _, attribute = name.rpartition(":")
    if not place or not attribute.isidentifier():
        example = "rewards.py:smooth" if kind == "reward" else "wrappers.py:Delay"
        raise ConfigError(f"--{kind} must be MODULE_OR_FILE:{KINDS[kind][0]}, such as {example}, got {name!r}")
    file = _file_of(kind, place)
    try:
        content = read_file(file, MAX_SOURCE)
    except (OSError, ValueError) as error:
        raise ConfigError(f"--{kind} {name}: cannot read {file}: {first_line(error)}") from error
    found = hashlib.sha256(content).hexdigest()
    if digest not in (None, found):
        raise ConfigError(f"{file} has changed since (SHA-256 {found[:8]}, it was {str(digest)[:8]})")
    with named(f"--{kind} {name}: importing it", file, ConfigError):
        value = getattr(_imported(place, file, content), attribute, None)
    if not callable(value):
        what = f"{attribute} in it is of the type {type(value).__name__}" if value is not None else f"no {attribute}"
        raise ConfigError(f"--{kind} {name}: {file} has {what}; expected a {KINDS[kind][0].lower()}")
    return Brought(name, file, found, value)


def _file_of(kind: str, place: str) -> Path:
    """Return the file of a module or a file's name.

    Raises:
        ConfigError: There is no such file or module.
    """
    if place.endswith(".py"):
        path = Path(place).resolve()
        if not path.is_file():
            raise _MissingError(f"--{kind}: there is no file {path}")
        return path
    with named(f"--{kind}: finding the module {place!r}", Path(place), ConfigError):  # a package above it is imported
        spec = importlib.util.find_spec(place)
    if spec is None:
        raise _MissingError(f"--{kind}: there is no Python module {place!r}; the name of a file ends in .py")
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise ConfigError(
            f"--{kind}: the module {place!r} has no Python file, of which the run would keep a digest; call what is in "
            "it from a file of your own"
        )
    return Path(spec.origin).resolve()


def _imported(place: str, file: Path, content: bytes) -> types.ModuleType:
    """Import a module, or run a file as one: just what its digest was taken of."""
    if not place.endswith(".py"):
        return importlib.import_module(place)
    module = types.ModuleType(f"brought_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # where dataclasses look for it
    exec(compile(content, str(file), "exec"), vars(module))
    return module


def _carried(kind: str, resumed: ModelData, logs_dir: Path) -> Brought | None:
    """Return what a model was trained with.

    A model may be a stranger's, and no file of a stranger's makes code run: the records of the user's own runs have to
    name the same.
    """
    known = resumed.get(kind, dict, None)
    if known is None:
        return None
    what = f"{resumed.path} was trained with the {kind} {known['name']}"
    out_without = f"go on without it by --no-{kind}"
    out = f"name it with --{kind} {known['name']}, or {out_without}"
    if known not in recorded_values(logs_dir, resumed, kind):
        raise ConfigError(f"{what}, of which no record of its run in {logs_dir} tells; {out}")
    place, _, attribute = known["name"].rpartition(":")
    is_file = place.endswith(".py")
    # A run that was trained on another machine, or whose folder was moved, finds the file where its name leads.
    name = f"{known['file'] if is_file and Path(known['file']).is_file() else place}:{attribute}"
    try:
        found = bring(kind, name, known["digest"])
    except ConfigError as error:
        if isinstance(error, _MissingError):
            out = f"put the file back, name where it is now with --{kind} MODULE_OR_FILE:{attribute}, or {out_without}"
        raise ConfigError(f"{what}, and {str(error).removeprefix(f'--{kind}: ')}; {out}") from error
    return Brought(known["name"], found.file, found.digest, found.value)


def documents_of(brought: Mapping[str, Brought | None]) -> dict[str, dict[str, str] | None]:
    """Return what is brought, by kind, for a run's record and for models."""
    return {kind: None if code is None else code.as_document() for kind, code in brought.items()}


def changes_of_code(resumed: ModelData | None, brought: Mapping[str, Brought | None]) -> Iterator[str]:
    """Yield a sentence about all that is brought to a run, or that it no longer has.

    Args:
        resumed: The model that the run goes on with; None if a new one begins.
        brought: What is brought to the run, by kind.
    """
    for kind, (_, without) in KINDS.items():
        now = brought[kind]
        was = resumed.get(kind, dict, None) if resumed is not None else None
        if is_same(was, now):
            if now is not None:
                yield f"the {kind} is {now.name}, as before"
            continue
        is_renamed = was is None or now is None or was["name"] != now.name
        new = without if now is None else now.name if is_renamed else f"{now.name} as it is now ({now.digest[:8]})"
        old = (
            without if was is None else was["name"] if is_renamed else f"{was['name']} as it was ({was['digest'][:8]})"
        )
        yield f"the {kind} is {new}" + (f" from here on; it was {old}" if resumed is not None else "")


def is_same(was: Any, now: Brought | None) -> bool:
    """Return whether what a model was trained with is what is brought, wherever the file is now."""
    if was is None or now is None:
        return was is None and now is None
    return (was["name"].rpartition(":")[2], was["digest"]) == (now.name.rpartition(":")[2], now.digest)
