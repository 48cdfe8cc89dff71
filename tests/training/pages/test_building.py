"""The page's scripts are built once, and again after a change; every failure is one line."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from racer_env.errors import PageError
from tests.training.pages.built import make_built
from training.pages import building
from training.pages.building import built_page, copy_page

pytestmark = pytest.mark.timeout(60)

BUILD = """
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
const before = (() => { try { return readFileSync("count", "utf8"); } catch { return ""; } })();
writeFileSync("count", before + "x");
rmSync("dist", { recursive: true, force: true });
mkdirSync("dist/assets", { recursive: true });
writeFileSync("dist/index.html", readFileSync("src/main.ts"));
writeFileSync("dist/assets/a.wasm", "two");
"""


PACKAGE = {
    "name": "page",
    "version": "1.0.0",
    "engines": {"node": ">=20.19"},
    "dependencies": {"dependency": "file:dependency"},
}
LOCK = {
    "lockfileVersion": 3,
    "packages": {
        "": PACKAGE,
        "dependency": {"version": "1.0.0"},
        "node_modules/dependency": {"resolved": "dependency", "link": True},
    },
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page's project beside a bridge's, whose build counts itself, and which depends on nothing from elsewhere."""
    files = {
        "page/package.json": json.dumps({**PACKAGE, "scripts": {"build": "node build.mjs"}}),
        "page/package-lock.json": json.dumps({**PACKAGE, **LOCK}),
        "page/dependency/package.json": json.dumps({"name": "dependency", "version": "1.0.0"}),
        "page/build.mjs": BUILD,
        "page/src/main.ts": "one",
        "bridge/src/engine/car.ts": "engine",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(building, "SOURCES", tmp_path / "page")
    return tmp_path / "page"


def builds_of(project: Path) -> int:
    """Return how often it was built."""
    return len((project / "count").read_text())


def test_it_is_built_once(node_bridge: None, project: Path) -> None:
    """And what is done is said before."""
    said: list[str] = []
    assert built_page(said.append) == project / "dist"
    assert built_page(said.append) == project / "dist"
    assert builds_of(project) == 1
    assert said == [
        "installing the page with npm, once; this takes some seconds ...",
        "building the page, once after a change ...",
    ]


@pytest.mark.parametrize(
    "path", ["page/src/main.ts", "page/src/deep/new.ts", "page/index.html", "bridge/src/engine/car.ts"]
)
def test_it_is_built_again_after_a_change(node_bridge: None, project: Path, path: str) -> None:
    """Of its own sources or of the engine's, by their content: a clone may be older than what was built before."""
    built_page(lambda text: None)
    changed = project.parent / path
    changed.parent.mkdir(exist_ok=True)
    changed.write_text("two")
    os.utime(changed, (0, 0))
    built_page(lambda text: None)
    assert builds_of(project) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [("assets/a.wasm", None), ("assets/a.wasm", b""), ("index.html", b"else"), (".built-from", b"\xff")],
)
def test_it_is_built_again_after_damage(node_bridge: None, project: Path, name: str, content: bytes | None) -> None:
    """Of any file that was built: one that is missing or empty, as after a full disk, or holds something else."""
    built = built_page(lambda text: None)
    (built / name).unlink() if content is None else (built / name).write_bytes(content)
    said: list[str] = []
    assert built_page(said.append) == built_page(said.append) == built
    assert (said, builds_of(project)) == (["building the page, once after a change ..."], 2)
    assert (built / "index.html").read_text() == "one"
    assert (built / "assets" / "a.wasm").read_text() == "two"


def test_a_built_page_needs_no_node(node_bridge: None, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as no source has changed."""
    built_page(lambda text: None)
    monkeypatch.setenv("PATH", "")
    assert built_page(lambda text: None) == project / "dist"
    (project / "src" / "main.ts").write_text("two")
    with pytest.raises(
        PageError, match="the page needs node, which is not on the PATH; install Node.js 20.19 or later"
    ):
        built_page(lambda text: None)


def test_sources_that_pip_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they can be had is said."""
    monkeypatch.setattr(building, "SOURCES", tmp_path / "page")
    with pytest.raises(PageError, match="the page is built from page/ in a clone of the project"):
        built_page(lambda text: None)


def test_a_build_that_fails_is_one_line(node_bridge: None, project: Path) -> None:
    """With the end of what npm said; the next start builds again."""
    main = (project / "src" / "main.ts").rename(project / "away.ts")
    with pytest.raises(PageError, match="`npm run build` failed in .*page: .*Error: ENOENT") as failed:
        built_page(lambda text: None)
    assert "\n" not in str(failed.value)
    main.rename(project / "src" / "main.ts")
    assert (built_page(lambda text: None) / "index.html").read_text() == "one"


def test_a_build_that_makes_nothing_is_noticed(node_bridge: None, project: Path) -> None:
    """Before an empty page is written."""
    (project / "build.mjs").write_text("")
    with pytest.raises(PageError, match="has made no dist/index.html; update the clone"):
        built_page(lambda text: None)


def test_node_that_is_too_old(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the version that is there."""
    shell = shutil.which("sh")
    if shell is None:
        pytest.skip("needs a shell")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "node").write_text(f"#!{shell}\necho v20.18.3\n")
    (tmp_path / "bin" / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(PageError, match="the page needs Node.js 20.19 or later; .*node is v20.18.3"):
        built_page(lambda text: None)


def test_a_copy_leaves_out_how_it_was_built(tmp_path: Path) -> None:
    """The rest is as it was."""
    (tmp_path / "page").mkdir()
    copy_page(make_built(tmp_path / "built"), tmp_path / "page")
    there = sorted(path.relative_to(tmp_path / "page").as_posix() for path in (tmp_path / "page").rglob("*.*"))
    assert there == ["assets/a.js", "assets/a.wasm", "index.html"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    """With the file that could not be written, and the system's reason."""
    (tmp_path / "page" / "assets").mkdir(parents=True)
    (tmp_path / "page" / "assets" / "a.wasm").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as full:
        copy_page(make_built(tmp_path / "built"), tmp_path / "page")
    assert (full.value.strerror, full.value.filename) == (
        os.strerror(errno.ENOSPC),
        str(tmp_path / "page" / "assets" / "a.wasm"),
    )


@pytest.mark.timeout(300)
def test_the_page_of_this_project_is_built(node_bridge: None) -> None:
    """With relative addresses only, so that it works under any path; nothing of it is an address elsewhere."""
    if not building.SOURCES.is_dir():
        pytest.skip("needs the page's sources")
    index = (built_page(lambda text: None) / "index.html").read_text(encoding="utf-8")
    assert 'src="./assets/' in index
    assert "://" not in index
