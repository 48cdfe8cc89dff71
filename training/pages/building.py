"""The scripts of a page, which are a project in TypeScript: built once, and again when a file has changed."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from racer_env.errors import PageError
from racer_env.node_project import NodeProject
from racer_env.project import PROJECT_ROOT
from training.checkpoints.writing import naming

SOURCES = PROJECT_ROOT / "page"
_MARK = ".built-from"  # file in the built page, with the digests of the sources and of what was built
# What the page is built from, within the project: its engine is the bridge's, and it shares data with the window.
_PATTERNS = (
    *("page/*.json", "page/*.ts", "page/*.html", "page/src/**/*", "page/public/**/*", "bridge/src/**/*.ts"),
    *("racer_env/rendering/*.json", "training/drives/*.json"),
)


def built_page(say: Callable[[str], None]) -> Path:
    """Return the folder of the built page, with no drivers and tracks yet.

    Args:
        say: Called with a message before anything that takes a while.

    Raises:
        PageError: The sources or Node.js are missing, or the build fails.
    """
    if not (SOURCES / "package.json").is_file():
        raise PageError(
            f"the page is built from {SOURCES.name}/ in a clone of the project, which pip install leaves out; start "
            "the script in a clone"
        )
    project = NodeProject("the page", SOURCES, PageError)
    built = SOURCES / "dist"
    if not _is_current(built):
        project.check_node()
        with project.lock():
            if not _is_current(built):
                _build(project, built, say)
    return built


def _build(project: NodeProject, built: Path, say: Callable[[str], None]) -> None:
    project.install(say)
    say("building the page, once after a change ...")
    sources = _digest_of_sources()
    project.build()
    if not (built / "index.html").is_file():
        raise PageError(f"`npm run build` in {SOURCES} has made no {built.name}/index.html; update the clone")
    (built / _MARK).write_bytes(_mark(sources, built))


def _is_current(built: Path) -> bool:
    try:
        return (built / _MARK).read_bytes() == _mark(_digest_of_sources(), built)
    except FileNotFoundError:
        return False  # it was never built, or another process is at it


def _mark(sources: str, built: Path) -> bytes:
    """Return what says of which sources, by their digest, a page was built, and what was built."""
    return f"{sources} {_digest(built, (path for path in built.rglob('*') if path != built / _MARK))}".encode()


def _digest_of_sources() -> str:
    root = SOURCES.parent
    return _digest(root, {path for pattern in _PATTERNS for path in root.glob(pattern)})


def _digest(folder: Path, paths: Iterable[Path]) -> str:
    """Return a digest of the names and the content of files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in paths if path.is_file()):
        name, content = path.relative_to(folder).as_posix().encode(), path.read_bytes()
        digest.update(b"%d %s %d " % (len(name), name, len(content)) + content)
    return digest.hexdigest()


def copy_page(built: Path, folder: Path) -> None:
    """Copy the built page into a folder that is there.

    Raises:
        OSError: A file cannot be read or written; it is named.
    """
    for path in sorted(built.rglob("*")):  # shutil.copytree's error names neither file nor reason
        target = folder / path.relative_to(built)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        elif path != built / _MARK:
            with naming(target):
                target.write_bytes(path.read_bytes())
