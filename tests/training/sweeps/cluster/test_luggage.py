"""What goes along with a run, and under which names."""

import json
import sys
from pathlib import Path

import pytest

from racer_env.project import PRETRAINED_MODEL, PROJECT_ROOT
from training.algorithms.registry import algorithm_named
from training.runs.options import make_options, make_parser
from training.sweeps.cluster.luggage import ELSEWHERE, Luggage, pack
from training.sweeps.pool import RunOrder

MODELS, LOGS = Path("models/s"), Path("logs/s")


def packed(*options: str, models_dir: Path = MODELS, logs_dir: Path = LOGS) -> Luggage:
    """Return what goes along with a run of PPO."""
    return pack(RunOrder("a", "PPO", options, models_dir, logs_dir))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_nothing_goes_along_that_is_not_named(here: Path) -> None:
    """Presets and tracks of the project are there already; numbers and names stay what they are."""
    (here / "quick").write_text("a file of the name of a preset")
    (here / "track-01").mkdir()
    options = ("--preset", "quick", "--track-id", "track-01", "--set", "gamma=0.9", "--timesteps", "5")
    assert packed(*options).options == options
    assert packed("--track-id", "procedural:4").files == {}


@pytest.mark.parametrize("option", ["--config", "--hyperparams", "--preset", "--track-id", "--eval-track-id"])
def test_a_file_inside_the_current_folder_keeps_its_name(option: str, here: Path) -> None:
    """So that records say what they would say of a run that was trained here."""
    (here / "sub").mkdir()
    (here / "sub" / "a.json").write_text("{}")
    luggage = packed(option, "sub/a.json")
    assert luggage.options == (option, "sub/a.json")
    assert luggage.files == {"sub/a.json": b"{}"}


@pytest.mark.parametrize("form", ["two words", "one word"])
def test_a_file_elsewhere_has_another_name_there(form: str, here: Path) -> None:
    """However it is named."""
    outside = here.parent / "a.json"
    outside.write_text("{}")
    for name in (str(outside), "../a.json"):
        luggage = packed(*(("--config", name) if form == "two words" else (f"--config={name}",)))
        (place,) = luggage.files
        assert place == f"{ELSEWHERE}/{outside.relative_to(outside.anchor).as_posix()}"
        assert " ".join(luggage.options).replace("=", " ") == f"--config {place}"


def test_a_folder_of_tracks_goes_along(here: Path) -> None:
    """With its track files."""
    roads = here.parent / "roads"
    roads.mkdir()
    (roads / "mine.json").write_text("{}")
    (roads / "notes.txt").write_text("not for them")
    luggage = packed("--tracks-dir", str(roads), "--track-id", "mine")
    (place,) = luggage.files
    assert place == f"{luggage.options[1]}/mine.json"


def test_a_model_goes_along_with_its_statistics(here: Path) -> None:
    """As the file beside it holds them."""
    for name in ("a.zip", "a_vecnormalize.pkl", "b.zip"):
        (here / name).write_bytes(PRETRAINED_MODEL.read_bytes())
    assert {*packed("--initialize-from", "a.zip").files} == {"a.zip", "a_vecnormalize.pkl"}


@pytest.mark.parametrize("option", ["--reward", "--wrapper"])
def test_code_goes_along_with_what_lies_beside_it(option: str, here: Path) -> None:
    """It may import that later; wherever it is."""
    outside = here.parent / "code"
    for folder in (here, outside):
        folder.mkdir(exist_ok=True)
        for name in ("pay.py", "helper.py", "table.csv"):
            (folder / name).write_text("")
    assert {*packed(option, "pay.py:half").files} == {"pay.py", "helper.py"}
    luggage = packed(option, f"{outside / 'pay.py'}:half")
    place = f"{ELSEWHERE}/{outside.relative_to(outside.anchor).as_posix()}"
    assert luggage.options == (option, f"{place}/pay.py:half")
    assert {*luggage.files} == {f"{place}/pay.py", f"{place}/helper.py"}


def test_modules_go_along_with_what_they_import(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the current folder; packages that are installed stay where they are."""
    monkeypatch.syspath_prepend(here)
    monkeypatch.setattr(sys, "prefix", str(here / "venv"))
    (here / "package_of_luggage").mkdir()
    (here / "venv").mkdir()
    monkeypatch.syspath_prepend(here / "venv")
    (here / "venv" / "installed_of_luggage.py").write_text("")
    (here / "package_of_luggage" / "__init__.py").write_text("")
    (here / "package_of_luggage" / "helper.py").write_text("import installed_of_luggage\n")
    (here / "package_of_luggage" / "pay.py").write_text(
        "from package_of_luggage import helper\n\n\ndef half(*arguments):\n    return 0.0\n"
    )
    algorithm = algorithm_named("PPO")
    options = ("--reward", "package_of_luggage.pay:half")
    make_options(algorithm, make_parser(algorithm).parse_args(options))  # as the sweep has looked at it
    luggage = packed(*options)
    assert luggage.options == options
    assert {*luggage.files} == {f"package_of_luggage/{name}.py" for name in ("__init__", "helper", "pay")}


def test_an_absolute_name_is_another_one_there(here: Path) -> None:
    """Also of a file inside the current folder, which is not where it is here."""
    (here / "a.json").write_text("{}")
    luggage = packed("--config", str(here / "a.json"))
    assert luggage.options == ("--config", "a.json")
    assert {*luggage.files} == {"a.json"}


def test_statistics_that_are_named_go_along(here: Path) -> None:
    """Wherever they are."""
    (here.parent / "a.pkl").write_bytes(b"statistics")
    luggage = packed("--vecnorm", "../a.pkl")
    assert [*luggage.files.values()] == [b"statistics"]
    assert [*luggage.files] == [luggage.options[1]]


@pytest.mark.parametrize("option", ["--preset", "--hyperparams"])
def test_files_that_a_preset_names_go_along(option: str, here: Path) -> None:
    """As the best setting of a sweep does; there, the preset has the names that they have there."""
    (here / "mine.json").write_text("{}")
    (here.parent / "other.json").write_text("{}")
    arguments = {"track_id": ["mine.json", "track-01"], "eval_track_id": ["../other.json"], "timesteps": 5}
    (here / "best.json").write_text(json.dumps({"arguments": arguments, "hyperparameters": {}}))
    luggage = packed(option, "best.json")
    (other,) = {*luggage.files} - {"mine.json", "best.json"}
    there = json.loads(luggage.files["best.json"])
    assert there == {"arguments": {**arguments, "eval_track_id": [other]}, "hyperparameters": {}}


def test_folders_of_the_sweep_follow_the_same_rule(here: Path) -> None:
    """A relative name stays; another one is elsewhere."""
    luggage = packed(logs_dir=here.parent / "logs")
    assert luggage.models_dir == MODELS
    assert luggage.logs_dir.parts[0] == ELSEWHERE


def test_the_clone_itself_is_no_code_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that is begun in it takes none of the project along, which Ray gives to the machines."""
    monkeypatch.chdir(PROJECT_ROOT)
    assert not [name for name in packed().files if name.startswith(("racer_env/", "training/"))]


def test_what_was_packed_is_unpacked(here: Path) -> None:
    """Under the names that the options have."""
    (here.parent / "a.json").write_text("{}")
    luggage = packed("--config", "../a.json")
    luggage.unpack(here)
    assert (here / luggage.options[1]).read_text() == "{}"
