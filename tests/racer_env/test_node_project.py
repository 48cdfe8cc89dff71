"""A project in TypeScript says itself which Node.js it needs, and an older one is one line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from racer_env.errors import RacerError
from racer_env.node_project import INSTALL_TIMEOUT_S, NodeProject
from racer_env.project import PROJECT_ROOT


@pytest.fixture
def project(tmp_path: Path) -> NodeProject:
    """A folder without a package.json yet."""
    return NodeProject("it", tmp_path, RacerError)


def set_engines(project: NodeProject, engines: Any) -> None:
    """Write a package.json."""
    (project.folder / "package.json").write_text(json.dumps({"name": "it", "engines": engines}))


@pytest.fixture
def set_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a ``node`` of some version on the PATH, alone."""
    shell = shutil.which("sh")
    if shell is None:
        pytest.skip("needs a shell")

    def write(version: str) -> None:
        (tmp_path / "node").write_text(f"#!{shell}\necho {version}\n")
        (tmp_path / "node").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return write


@pytest.mark.parametrize(
    ("least", "version"), [("20", "v20.0.0"), ("20.19", "v20.19.0"), ("20.19", "v22.4.1"), ("20.9.1", "v20.10.0")]
)
def test_node_that_is_recent_enough(project: NodeProject, set_node: Any, least: str, version: str) -> None:
    """By major and by minor version, as numbers."""
    set_engines(project, {"node": f">={least}"})
    set_node(version)
    project.check_node()


@pytest.mark.parametrize(
    ("least", "version"), [("20", "v18.20.9"), ("20.19", "v20.18.3"), ("20.19", "v18.21.0"), ("20.10", "v20.9.1")]
)
def test_node_that_is_too_old(project: NodeProject, set_node: Any, least: str, version: str) -> None:
    """What is needed and what is there."""
    set_engines(project, {"node": f">={least}"})
    set_node(version)
    with pytest.raises(RacerError, match=f"^it needs Node.js {least} or later; .*node is {version}$"):
        project.check_node()


def test_something_else_by_the_name_of_node(project: NodeProject, set_node: Any) -> None:
    """It has no version."""
    set_engines(project, {"node": ">=20"})
    set_node("hello")
    with pytest.raises(RacerError, match="it needs Node.js 20 or later; .*node is hello"):
        project.check_node()


@pytest.mark.parametrize("engines", [None, {}, {"node": "^20.19.0 || >=22"}, {"node": 20}])
def test_a_need_that_cannot_be_read(project: NodeProject, engines: Any) -> None:
    """Nothing is assumed."""
    set_engines(project, engines)
    with pytest.raises(RacerError, match=r'package.json: engines.node must be like ">=20.19", got'):
        _ = project.least_node


def test_the_page_needs_what_its_bundler_needs() -> None:
    """So that a new version of Vite changes it too."""
    folder = PROJECT_ROOT / "page"
    if not folder.is_dir():
        pytest.skip("needs the page's sources")
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    oldest = lock["packages"]["node_modules/vite"]["engines"]["node"].split(" ")[0]
    assert oldest.removeprefix("^").removesuffix(".0") == NodeProject("the page", folder, RacerError).least_node


@pytest.mark.parametrize("folder", ["bridge", "page"])
def test_a_registry_that_is_silent_is_asked_again(folder: str) -> None:
    """And given up in npm's words, before the installation is ended."""
    path = PROJECT_ROOT / folder / ".npmrc"
    if not path.is_file():
        pytest.skip(f"needs {folder}/")
    lines = [line.partition("=") for line in path.read_text(encoding="utf-8").splitlines()]
    wait = {name: int(value) for name, _, value in lines if name.startswith("fetch-")}
    retries = wait["fetch-retries"]
    longest_ms = (retries + 1) * wait["fetch-timeout"] + retries * wait["fetch-retry-maxtimeout"]
    assert retries >= 2
    assert longest_ms / 1000 < INSTALL_TIMEOUT_S
