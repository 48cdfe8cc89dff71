"""The folder of a page: written beside and then renamed, and an earlier page replaced as a whole."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from racer_env.errors import ConfigError
from racer_env.json_files import read_json
from training.checkpoints.writing import move, naming
from training.console.messages import in_short

PAGE_NAME = "page.json"
MADE_BY = "python -m training.race_page"


def check_target(folder: Path) -> None:
    """Refuse a folder that holds anything but an earlier page.

    Raises:
        ConfigError: It is a file, or holds something that would be lost.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"--output-dir takes a folder, and {folder} is a file")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / PAGE_NAME).is_file():
        raise ConfigError(f"{folder} exists and is no page of this script; name another --output-dir, or move it away")
    others = list(_others(folder, _holdings(folder / PAGE_NAME)))
    if others:
        raise ConfigError(
            f"{folder} would be replaced, and holds {in_short(others)} besides the page; move that away, or name "
            "another --output-dir"
        )


def _others(folder: Path, holdings: set[str], above: str = "") -> Iterator[str]:
    """Yield what is in a folder besides files that it is to hold; a folder of nothing else, with all in it, once."""
    for path in sorted(folder.iterdir()):
        name = above + path.name
        is_folder = path.is_dir() and not path.is_symlink()
        if is_folder and any(file.startswith(f"{name}/") for file in holdings):
            yield from _others(path, holdings, f"{name}/")
        elif is_folder or name not in holdings:
            yield name


def _holdings(path: Path) -> set[str]:
    """Return the files that a page says its folder holds; none if it is not of this script."""
    document = read_json(path, ConfigError, "page")
    is_ours = isinstance(document, dict) and document.get("madeBy") == MADE_BY
    holds = document.get("holds") if is_ours else None
    return {str(name) for name in holds} if isinstance(holds, list) else set()


@contextlib.contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield the folder to write a page to; it takes its name once it is whole. After an error, the old page stays."""
    folder = folder.resolve()
    beside, old = (folder.with_name(f".{folder.name}.{state}") for state in ("partial", "old"))
    shutil.rmtree(beside, ignore_errors=True)  # of a script that was killed
    beside.mkdir(parents=True)
    try:
        with naming(beside):
            yield beside
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            move(folder, old)
        try:
            move(beside, folder)
        except OSError:
            if old.exists():
                move(old, folder)
            raise
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_page(folder: Path, document: dict[str, Any]) -> None:
    """Write ``page.json``, last of all, as it names every file of the folder."""
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    content = {**document, "madeBy": MADE_BY, "holds": sorted({PAGE_NAME, *files})}
    (folder / PAGE_NAME).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
