"""The folder of a page: what it holds, and what may be replaced."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from racer_env.errors import ConfigError
from racer_env.json_files import read_json
from training.console.messages import in_short

PAGE_NAME = "page.json"
MADE_BY = "python -m training.race_page"


def check_target(folder: Path) -> None:
    """Refuse a folder that holds anything but an earlier page, or the process itself.

    Raises:
        ConfigError: It is a file, is or holds the working directory, or holds something that would be lost.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"--output-dir takes a folder, and {folder} is a file")
    if Path.cwd().resolve().is_relative_to(folder.resolve()):
        raise ConfigError(
            f"--output-dir {folder} is or holds the working directory, and a page replaces its folder; name another, "
            f"such as {folder / 'page'}, or start the script elsewhere"
        )
    if folder.is_dir():
        check_content(folder, folder)


def check_content(place: Path, folder: Path) -> None:
    """Refuse to lose what lies in a folder, unless that is an earlier page or nothing.

    Args:
        place: Where it lies.
        folder: The folder that it is, or was before it was moved to that place.

    Raises:
        ConfigError: It holds something that would be lost.
    """
    if not any(place.iterdir()):
        return
    if not (place / PAGE_NAME).is_file():
        raise ConfigError(f"{folder} exists and is no page of this script; name another --output-dir, or move it away")
    others = list(_others(place, _holdings(place / PAGE_NAME)))
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


def write_page(folder: Path, document: dict[str, Any]) -> None:
    """Write ``page.json``, last of all, as it names every file of the folder."""
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    content = {**document, "madeBy": MADE_BY, "holds": sorted({PAGE_NAME, *files})}
    (folder / PAGE_NAME).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
