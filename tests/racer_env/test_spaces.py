"""Info dictionaries from the engines' records."""

import numpy as np
import pytest

from racer_env.contract import INFO_DTYPE, STEP_INFO
from racer_env.spaces import step_info, step_infos

RANDOM = np.random.default_rng(5)


@pytest.fixture
def records() -> np.ndarray:
    """Three cars' records with a different value in every field, and rubbish in between."""
    raw = RANDOM.integers(0, 256, 3 * INFO_DTYPE.itemsize, np.uint8)
    made = raw.view(INFO_DTYPE)
    for field in STEP_INFO:
        made[field.name] = RANDOM.integers(0, 2, 3) if field.type is bool else RANDOM.normal(0.0, 1e6, 3)
    return made


def test_infos_hold_the_values_of_the_records(records: np.ndarray) -> None:
    """Under the contract's names, in its order, as Python's own types."""
    for info, record in zip(step_infos(records), records, strict=True):
        assert list(info.items()) == [(field.name, record[field.name].item()) for field in STEP_INFO]
        assert [type(value) for value in info.values()] == [field.type for field in STEP_INFO]


def test_one_info_is_that_of_the_first_car(records: np.ndarray) -> None:
    """However many there are."""
    assert step_info(records) == step_info(records[:1]) == step_infos(records)[0]
    assert step_info(records[2:]) == step_infos(records)[2]


def test_infos_outlive_the_records(records: np.ndarray) -> None:
    """Engines write every step into the same records."""
    infos = step_infos(records)
    before = [dict(info) for info in infos]
    records[:] = np.zeros(3, INFO_DTYPE)
    assert infos == before
