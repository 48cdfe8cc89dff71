"""What drivers are called."""

from pathlib import Path

import pytest

from racer_env.physics import load_physics
from training.drivers.driver import Driver, labels_of
from training.drivers.loading import load_driver
from training.drivers.scripted import scripted_driver


@pytest.mark.parametrize(
    ("given", "file", "title", "label"),
    [
        ("x/driver.onnx", "x/driver.onnx", "x/driver.onnx", "x/driver.onnx"),
        ("pretrained", "models/pretrained/driver.onnx", "pretrained", "pretrained"),
        ("models/quick_best", "models/quick_best.zip", "models/quick_best", "quick_best"),
        ("quick_best.zip", "models/quick_best.zip", "quick_best.zip", "quick_best"),
        ("quick", "models/quick_final.zip", "quick (quick_final.zip)", "quick_final"),
        ("scripted", "scripted", "scripted", "scripted"),
        ("", "models/quick_best.zip", "quick_best.zip", "quick_best"),
    ],
)
def test_a_driver_is_called_what_the_user_calls_it(given: str, file: str, title: str, label: str) -> None:
    """With the file that was found where the name is a run's."""
    driver = Driver(file, scripted_driver, given=given)
    assert (driver.title, driver.label) == (title, label)


def test_loaded_drivers_know_what_the_user_named(tmp_path: Path) -> None:
    """The bundled one and the scripted one too."""
    assert [load_driver(name, load_physics(), models_dir=tmp_path).title for name in ("pretrained", "scripted")] == [
        "pretrained",
        "scripted",
    ]


def test_no_two_drivers_have_one_label() -> None:
    """Files of one name in several folders have numbers, and none that another one is called by."""
    names = ("a/best.zip", "b/best.zip", "best (2).zip", "c/best.zip", "scripted")
    labels = labels_of([Driver(name, scripted_driver, given=name) for name in names])
    assert labels == ["best", "best (2)", "best (2) (2)", "best (3)", "scripted"]
