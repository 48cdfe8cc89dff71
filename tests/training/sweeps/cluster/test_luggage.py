"""What goes along with a run, and under which names."""

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


def test_code_goes_along_with_what_it_imports(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the current folder; packages that are installed stay where they are."""
    monkeypatch.syspath_prepend(here)
    (here / "helper_of_luggage.py").write_text("FACTOR = 2\n")
    (here / "unused.py").write_text("FACTOR = 3\n")
    (here / "pay.py").write_text("import helper_of_luggage\n\n\ndef half(*arguments):\n    return 0.0\n")
    algorithm = algorithm_named("PPO")
    options = ("--reward", "pay.py:half")
    make_options(algorithm, make_parser(algorithm).parse_args(options))  # as the sweep has looked at it
    luggage = packed(*options)
    assert luggage.options == options
    assert {*luggage.files} == {"pay.py", "helper_of_luggage.py"}
    del sys.modules["helper_of_luggage"]


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
