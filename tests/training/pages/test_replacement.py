"""A page takes its place as a whole, whoever else writes there, and nothing of the user's is lost."""

import errno
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from racer_env.errors import ConfigError
from racer_env.project import PROJECT_ROOT
from tests.training.pages.built import write
from training.checkpoints.writing import move
from training.pages.folder import check_target
from training.pages.replacement import replacing_folder


def names_in(folder: Path) -> list[str]:
    """Return the names of what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_a_page_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Nothing of the old one stays, and nothing lies beside."""
    page = tmp_path / "deep" / "page"
    write(page, "old", "gone.js")
    check_target(page)
    write(page, "new")
    assert (page / "assets" / "a.js").read_text() == "new"
    assert names_in(page / "assets") == ["a.js"]
    assert names_in(page.parent) == ["page"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions of POSIX")
def test_others_may_read_a_page(tmp_path: Path) -> None:
    """As any new folder, so that a web server serves it."""
    write(tmp_path / "page", "")
    (tmp_path / "usual").mkdir()
    assert (tmp_path / "page").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_the_old_page_stays_after_an_error(tmp_path: Path) -> None:
    """While the new one is written."""
    write(tmp_path / "page", "old")
    with (
        pytest.raises(OSError, match="No space left on device: .*partial"),
        replacing_folder(tmp_path / "page") as beside,
    ):
        (beside / "half").write_text("")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert (tmp_path / "page" / "assets" / "a.js").read_text() == "old"
    assert names_in(tmp_path) == ["page"]


def test_the_old_page_stays_where_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where another program holds the new folder, say."""
    write(tmp_path / "page", "old")
    real = move

    def refuse(source: Path, target: Path) -> None:
        if source.name == "new":
            raise PermissionError("held")
        real(source, target)

    monkeypatch.setattr("training.pages.replacement.move", refuse)
    with pytest.raises(PermissionError):
        write(tmp_path / "page", "new")
    assert (tmp_path / "page" / "assets" / "a.js").read_text() == "old"
    assert names_in(tmp_path) == ["page"]


def test_what_lies_beside_stays(tmp_path: Path) -> None:
    """Whatever its name; also what a killed script has left that wrote another page."""
    files = (
        *(".page.old/thesis.txt", ".page.partial/thesis.txt", ".page.12345678.partial/new/thesis.txt"),
        *(".page.more.12345678.partial/new/thesis.txt", ".page.more.12345678.partial/race_page.lock"),
    )
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("of years")
    write(tmp_path / "page", "old")
    write(tmp_path / "page", "new")
    assert all((tmp_path / file).read_text() == "of years" for file in files)
    assert len(names_in(tmp_path)) == 5


def test_what_comes_into_the_folder_meanwhile_stays(tmp_path: Path) -> None:
    """Into one that is new, or into an old page."""
    page = tmp_path / "page"
    for message in ("page exists and is no page of this script", "page would be replaced, and holds thesis.txt"):
        with pytest.raises(ConfigError, match=message), replacing_folder(page):
            page.mkdir(exist_ok=True)
            (page / "thesis.txt").write_text("of years")
        assert (page / "thesis.txt").read_text() == "of years"
        assert names_in(tmp_path) == ["page"]
        (page / "thesis.txt").unlink()
        write(page, "old")


def test_the_old_page_stays_where_the_new_one_is_deleted(tmp_path: Path) -> None:
    """By somebody who clears away what looks like a leftover."""
    write(tmp_path / "page", "old")
    with pytest.raises(FileNotFoundError), replacing_folder(tmp_path / "page") as beside:
        shutil.rmtree(beside.parent)
    assert (tmp_path / "page" / "assets" / "a.js").read_text() == "old"
    with pytest.raises(FileNotFoundError), replacing_folder(tmp_path / "page") as beside:
        shutil.rmtree(beside)
    assert (tmp_path / "page" / "assets" / "a.js").read_text() == "old"
    assert names_in(tmp_path) == ["page"]


# --- Several at once ---


def test_the_last_one_has_the_folder(tmp_path: Path) -> None:
    """Whoever began first; each writes to a place of its own."""
    with replacing_folder(tmp_path / "page") as first:
        (first / "first.txt").write_text("")
        write(tmp_path / "page", "second")
        assert names_in(tmp_path / "page") == ["assets", "page.json"]
    assert names_in(tmp_path / "page") == ["first.txt"]
    assert names_in(tmp_path) == ["page"]


def test_another_page_comes_between_two_renamings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is then the old one."""
    write(tmp_path / "page", "old")
    real, others = move, ["between"]

    def with_another(source: Path, target: Path) -> None:
        if source.name == "new" and others:
            write(tmp_path / "page", others.pop())
        real(source, target)

    monkeypatch.setattr("training.pages.replacement.move", with_another)
    write(tmp_path / "page", "new")
    assert (tmp_path / "page" / "assets" / "a.js").read_text() == "new"
    assert (names_in(tmp_path), others) == (["page"], [])


def test_many_at_once(tmp_path: Path) -> None:
    """All of them come through, and the page is whole."""
    page, done = tmp_path / "page", []

    def write_often(who: str) -> None:
        for _ in range(20):
            write(page, who, "b.js")
            done.append(who)

    threads = [threading.Thread(target=write_often, args=(who,)) for who in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 60
    check_target(page)
    assert (page / "assets" / "a.js").read_text() == (page / "assets" / "b.js").read_text()
    assert names_in(tmp_path) == ["page"]


# --- A script that is killed ---

KILLED = """
import os, sys
from pathlib import Path
from training.pages import replacement
def kill(source, target, real=replacement.move):
    os._exit(9) if source.name == "new" else real(source, target)
replacement.move = kill
with replacement.replacing_folder(Path(sys.argv[1])) as new:
    print((new / "half").write_text("half"), flush=True)
    sys.stdin.read()
"""


def started(folder: Path) -> "subprocess.Popen[str]":
    """Start a script that writes a page; at the end of its input, it is killed between the two renamings."""
    command = [sys.executable, "-c", KILLED, str(folder)]
    process = subprocess.Popen(command, cwd=PROJECT_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "4\n"
    return process


def test_the_next_run_deletes_what_a_killed_one_has_left(tmp_path: Path) -> None:
    """As soon as it is killed, and not before."""
    process = started(tmp_path / "page")
    write(tmp_path / "page", "while it works")
    (work,) = tmp_path.glob(".page.*.partial")
    assert (work / "new" / "half").is_file()
    process.kill()
    process.communicate()
    assert work.is_dir()
    write(tmp_path / "page", "later")
    assert names_in(tmp_path) == ["page"]


def test_a_run_that_is_killed_between_two_renamings_costs_no_page(tmp_path: Path) -> None:
    """The next run puts it back, so that it is there even if that run fails."""
    write(tmp_path / "page", "old")
    started(tmp_path / "page").communicate("")
    assert not (tmp_path / "page").exists()
    with pytest.raises(OSError, match="No space"), replacing_folder(tmp_path / "page"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert (tmp_path / "page" / "assets" / "a.js").read_text() == "old"
    assert names_in(tmp_path) == ["page"]


def test_what_the_user_put_into_a_leftover_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Into an old page, which is then named."""
    write(tmp_path / "page", "old")
    started(tmp_path / "page").communicate("")
    (work,) = tmp_path.glob(".page.*.partial")
    (work / "old" / "thesis.txt").write_text("")
    (work / "new").rename(tmp_path / "page")
    (tmp_path / "page" / "half").unlink()
    write(tmp_path / "page", "new")
    assert f"{work / 'old'} is what was in {tmp_path / 'page'}, and stays there" in capsys.readouterr().err
    assert names_in(work / "old") == ["assets", "page.json", "thesis.txt"]
