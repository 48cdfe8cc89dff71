"""The folder of a page: an earlier page may be replaced, and nothing else."""

import json
from pathlib import Path

import pytest

from racer_env.errors import ConfigError
from tests.training.pages.built import write
from training.pages.folder import check_target


def test_page_json_says_what_the_folder_holds(tmp_path: Path) -> None:
    """Beside what the page reads."""
    write(tmp_path / "page", "")
    document = json.loads((tmp_path / "page" / "page.json").read_text())
    expected = {"version": 1, "madeBy": "python -m training.race_page", "holds": ["assets/a.js", "page.json"]}
    assert document == expected


@pytest.mark.parametrize("is_there", [False, True])
def test_an_empty_folder_is_fine(tmp_path: Path, is_there: bool) -> None:
    """And so is none."""
    page = tmp_path / "page"
    if is_there:
        page.mkdir()
    check_target(page)
    write(page, "new")
    assert (page / "assets" / "a.js").read_text() == "new"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"thesis.txt": ""}, "exists and is no page of this script"),
        ({"page.json": "{}"}, "would be replaced, and holds page.json besides the page"),
        ({"page.json": "[]"}, "would be replaced, and holds page.json besides the page"),
        ({"page.json": '{"madeBy": "me", "holds": ["page.json"]}'}, "holds page.json besides the page"),
        ({"page.json": "no JSON"}, "is not valid JSON"),
    ],
)
def test_anything_else_stays(tmp_path: Path, files: dict[str, str], message: str) -> None:
    """With what to do about it."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        check_target(tmp_path)


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (["assets/mine.onnx"], "assets/mine.onnx"),
        (["assets/deep/mine.onnx"], "assets/deep"),
        ([".git/config", *(f".git/objects/{number}" for number in range(9)), "CNAME"], ".git, CNAME"),
    ],
)
def test_what_was_put_into_a_page_is_not_lost(tmp_path: Path, files: list[str], named: str) -> None:
    """A repository with which it is published, for example, which is named once."""
    write(tmp_path / "page", "")
    for file in files:
        (tmp_path / "page" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "page" / file).write_text("")
    with pytest.raises(ConfigError, match=f"holds {named} besides the page; move that away"):
        check_target(tmp_path / "page")


def test_neither_is_an_empty_folder_or_one_in_a_file_s_place(tmp_path: Path) -> None:
    """Nor a link, behind which there may be anything."""
    page = tmp_path / "page"
    write(page, "")
    (page / "assets" / "empty").mkdir()
    (page / "assets" / "a.js").unlink()
    (page / "assets" / "a.js").mkdir()
    with pytest.raises(ConfigError, match=r"holds assets/a\.js, assets/empty besides the page"):
        check_target(page)
    (page / "assets").rename(tmp_path / "elsewhere")
    (page / "assets").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="holds assets besides the page"):
        check_target(page)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """Said before anything is loaded."""
    (tmp_path / "page").write_text("")
    with pytest.raises(ConfigError, match="--output-dir takes a folder, and .*page is a file"):
        check_target(tmp_path / "page")


@pytest.mark.parametrize("name", [".", "..", "link"])
def test_the_working_directory_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Even if it is empty, as the shell stands in it."""
    (tmp_path / "above" / "here").mkdir(parents=True)
    (tmp_path / "above" / "here" / "page").mkdir()
    monkeypatch.chdir(tmp_path / "above" / "here")
    Path("link").symlink_to(".")
    with pytest.raises(ConfigError, match=f"--output-dir {name} is or holds the working directory, .*; name another"):
        check_target(Path(name))
    check_target(Path("page"))
