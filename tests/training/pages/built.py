"""A built page for tests, without Node.js."""

from pathlib import Path


def make_built(folder: Path) -> Path:
    """Write what a build leaves, and return its folder."""
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text('<!doctype html><script type="module" src="./assets/a.js"></script>')
    (folder / "assets" / "a.js").write_text("// a script")
    (folder / "assets" / "a.wasm").write_bytes(b"\0asm")
    (folder / ".built-from").write_text("a digest")
    return folder
