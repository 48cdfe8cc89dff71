"""Pages for tests, without Node.js."""

from pathlib import Path

from training.pages.folder import write_page
from training.pages.replacement import replacing_folder


def make_built(folder: Path) -> Path:
    """Write what a build leaves, and return its folder."""
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text('<!doctype html><script type="module" src="./assets/a.js"></script>')
    (folder / "assets" / "a.js").write_text("// a script")
    (folder / "assets" / "a.wasm").write_bytes(b"\0asm")
    (folder / ".built-from").write_text("a digest")
    return folder


def write(folder: Path, text: str, *more: str) -> None:
    """Make a page of two files, and of more in its assets."""
    with replacing_folder(folder) as beside:
        (beside / "assets").mkdir()
        for name in ("a.js", *more):
            (beside / "assets" / name).write_text(text)
        write_page(beside, {"version": 1})
