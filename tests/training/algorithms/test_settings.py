"""Hyper-parameters: precedence, and refusal by name, type and range."""

from pathlib import Path

import pytest

from racer_env.errors import ConfigError
from training.algorithms.members.ppo import PpoSettings
from training.algorithms.members.sac import SacSettings
from training.algorithms.presets import read_preset
from training.algorithms.settings import as_document, described, overridden


def write(folder: Path, text: str) -> Path:
    """Write a file of hyper-parameters."""
    path = folder / "params.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_single_value_beats_the_file_beats_the_default(tmp_path: Path) -> None:
    """What nobody names keeps its default."""
    file = write(tmp_path, '{"gamma": 0.9, "epochs": 7}')
    settings = overridden(PpoSettings(), [read_preset(file).hyperparameters], ["epochs=3", "log_std=-1,-2,-3"])
    assert (settings.gamma, settings.epochs, settings.gae_lambda) == (0.9, 3, 0.97)
    assert settings.log_std == (-1.0, -2.0, -3.0)
    assert overridden(PpoSettings(), [], ["bias=[0, 1, 2]"]).bias == (0.0, 1.0, 2.0)


@pytest.mark.parametrize(("text", "layers"), [("128,64", (128, 64)), ("64", (64, 64)), ("[64]", (64,))])
def test_layers_are_sizes_and_a_single_one_is_two_layers(text: str, layers: tuple[int, ...]) -> None:
    """As it was before there could be others."""
    assert overridden(PpoSettings(), [], [f"hidden={text}"]).hidden == layers


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("gama=0.9", "unknown key 'gama' in the hyper-parameters; allowed: learning_rate, "),
        ("gamma=much", "gamma must be a number, got 'much'"),
        ("gamma=nan", "gamma must be a number"),
        ("gamma=NaN", "gamma must be a finite number"),
        ("gamma=1.5", r"gamma must be within \[0, 1\], got 1.5"),
        ("epochs=2.5", "epochs must be a whole number, got 2.5"),
        ("epochs=true", "epochs must be a number, got True"),
        ("log_std=1,2", "log_std must be a list of 3 numbers"),
        ("log_std=a,b,c", "log_std must be a list of 3 numbers"),
        ("log_std=[1,2,null]", r"log_std\[2\] must be a number"),
        ("hidden=0", r"hidden must be within \[1, 4096\], got 0"),
        ("hidden=64,1.5", "hidden must be a whole number, got 1.5"),
        ("hidden=[]", r"hidden must be the sizes of 1 to 8 layers, got \[\]"),
        ("hidden=1,2,3,4,5,6,7,8,9", "hidden must be the sizes of 1 to 8 layers"),
        ("hidden=4096,4096,4096", "hidden must have at most 16,777,216 weights between layers, got 33,554,432"),
        ("activation=relu6", "activation must be one of tanh, relu, elu, .*, got 'relu6'"),
        ("activation=1", "activation must be one of tanh, relu, elu, .*, got 1"),
        ("gamma", "--set must be name=value, got 'gamma'"),
    ],
)
def test_a_wrong_assignment_is_one_line(assignment: str, message: str) -> None:
    """It names the assignment, what was expected and what came."""
    with pytest.raises(ConfigError, match=message):
        overridden(PpoSettings(), [], [assignment])


@pytest.mark.parametrize(
    ("text", "message"), [("[]", "must be an object"), ("{", "is not valid JSON"), ('{"x": 1}', "unknown key 'x'")]
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    """It names the file."""
    with pytest.raises(ConfigError, match=message):
        overridden(SacSettings(), [read_preset(write(tmp_path, text)).hyperparameters], [])
    with pytest.raises(ConfigError, match="hyper-parameter file not found"):
        read_preset(tmp_path / "missing.json")


@pytest.mark.parametrize("settings", [PpoSettings, SacSettings])
def test_every_one_is_described_and_survives_json(settings: type) -> None:
    """The help has a line for each; a document of all of them gives the same settings back."""
    document = as_document(settings())
    assert [line.split("=")[0].strip() for line in described(settings).splitlines()] == [*document]
    assert overridden(settings(), [], [f"{name}={value}" for name, value in document.items()]) == settings()
