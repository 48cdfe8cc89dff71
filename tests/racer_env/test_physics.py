"""Physics numbers and their fingerprint."""

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

from racer_env.errors import ConfigError
from racer_env.physics import Physics, fingerprint_of, load_physics
from racer_env.project import DEFAULT_PHYSICS_PATH
from tests.helpers import with_value, without

# The game's physics is frozen. Another fingerprint makes every trained model worthless.
SHIPPED_FINGERPRINT = "b6f063cc15767fda781412dbbccb2d9b67ef85c71614c6b2b116d41a5b26aa7d"


@pytest.fixture
def document() -> dict[str, Any]:
    """The content of the shipped physics file."""
    content: dict[str, Any] = json.loads(DEFAULT_PHYSICS_PATH.read_text(encoding="utf-8"))
    return content


def reversed_keys(value: Any) -> Any:
    """Return a document with its keys in reversed order, at every level."""
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return value


def test_shipped_physics_is_frozen() -> None:
    """The shipped file has the fingerprint that models remember."""
    assert load_physics().fingerprint == SHIPPED_FINGERPRINT


def test_fingerprint_ignores_key_order(document: dict[str, Any]) -> None:
    """The order of keys does not change the fingerprint."""
    turned = reversed_keys(document)
    assert list(turned) != list(document)
    assert Physics(turned).fingerprint == Physics(document).fingerprint


@pytest.mark.parametrize("indent", [None, 1, 8])
def test_fingerprint_ignores_whitespace(document: dict[str, Any], tmp_path: Path, indent: int | None) -> None:
    """The file's layout does not change the fingerprint."""
    path = tmp_path / "physics.json"
    path.write_text(json.dumps(document, indent=indent))
    assert load_physics(path).fingerprint == Physics(document).fingerprint


def test_fingerprint_ignores_how_a_whole_number_is_written(document: dict[str, Any]) -> None:
    """2 and 2.0 give the same fingerprint."""
    whole, fraction = (with_value(document, value, "car", "width") for value in (2, 2.0))
    assert Physics(whole).fingerprint == Physics(fraction).fingerprint


def test_fingerprint_depends_on_every_value(document: dict[str, Any]) -> None:
    """A change of any number, however small, changes the fingerprint."""
    fingerprints = {Physics(document).fingerprint}
    count = 1
    for group, values in document.items():
        for key, value in values.items():
            if (group, key) != ("rays", "count"):
                fingerprints.add(Physics(with_value(document, value * (1 + 1e-12), group, key)).fingerprint)
                count += 1
    assert len(fingerprints) == count


def test_numbers_are_attributes(document: dict[str, Any]) -> None:
    """A number of the file is there under its Python name."""
    physics = Physics(with_value(document, 123.5, "car", "maxSpeed"))
    assert physics.max_speed == 123.5
    assert physics.record["max_speed"][0] == 123.5


def test_input_response_is_the_share_of_one_tick(document: dict[str, Any]) -> None:
    """A smoothed input goes 1 - exp(-rate / 60) of the way in one tick."""
    physics = Physics(with_value(document, 30, "response", "throttle"))
    assert physics.throttle_response == pytest.approx(1 - math.exp(-0.5), abs=1e-15)


def test_unknown_attribute_is_an_attribute_error() -> None:
    """A name that is no number of the physics is no attribute."""
    with pytest.raises(AttributeError, match="colour"):
        load_physics().colour  # noqa: B018


def test_missing_group_is_named(document: dict[str, Any]) -> None:
    """A document that lacks a group is refused with its name."""
    with pytest.raises(ConfigError, match="the physics lacks the key 'wall'"):
        Physics(without(document, "wall"))


def test_missing_key_is_named(document: dict[str, Any]) -> None:
    """A group that lacks a key is refused with both names."""
    with pytest.raises(ConfigError, match="car lacks the key 'mass'"):
        Physics(without(document, "car", "mass"))


def test_unknown_group_is_named(document: dict[str, Any]) -> None:
    """A document with a group too many is refused with its name."""
    with pytest.raises(ConfigError, match="unknown key 'weather' in the physics; allowed: car, "):
        Physics(with_value(document, {}, "weather"))


def test_unknown_key_is_named(document: dict[str, Any]) -> None:
    """A group with a key too many is refused with its name and the allowed ones."""
    with pytest.raises(ConfigError, match="unknown key 'colour' in car; allowed: mass, wheelbase"):
        Physics(with_value(document, 1, "car", "colour"))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("800", "must be a number, got '800'"),
        (False, "must be a number, got False"),
        (float("inf"), "must be a finite number, got inf"),
    ],
)
def test_wrong_number_is_named(document: dict[str, Any], value: Any, message: str) -> None:
    """A value that is no finite number is refused with its key."""
    with pytest.raises(ConfigError, match=rf"car\.mass {message}"):
        Physics(with_value(document, value, "car", "mass"))


def test_another_number_of_rays_is_refused(document: dict[str, Any]) -> None:
    """The observation has nine rays, whatever the file says."""
    with pytest.raises(ConfigError, match=r"rays\.count must be 9, got 11"):
        Physics(with_value(document, 11, "rays", "count"))


def test_missing_file_is_named(tmp_path: Path) -> None:
    """A file that does not exist is an error with its path."""
    with pytest.raises(ConfigError, match=r"physics file not found: .*absent\.json"):
        load_physics(tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (2.0, "2"),
        (-2.5, "-2.5"),
        (0.1, "0.1"),
        (1e-5, "0.00001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (6.123233995736766e-17, "6.123233995736766e-17"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1.5e300, "-1.5e+300"),
        (5e-324, "5e-324"),
        (2**60, "1152921504606847000"),
    ],
)
def test_fingerprint_writes_numbers_as_ecmascript_does(number: float, text: str) -> None:
    """The hash is that of the text which a JavaScript program would write."""
    assert fingerprint_of([number]) == hashlib.sha256(f"[{text}]".encode()).hexdigest()


def test_fingerprint_of_everything_that_json_has() -> None:
    """Keys are sorted, there is no white space, and text is UTF-8."""
    expected = '{"a":[true,false,null],"b":{"x":"\\u00e9\\n\\""}}'.replace("\\u00e9", "é")
    document = {"b": {"x": 'é\n"'}, "a": [True, False, None]}
    assert fingerprint_of(document) == hashlib.sha256(expected.encode()).hexdigest()
