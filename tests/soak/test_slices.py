"""A slice of every kind of the soak, always the same."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.soak import bridge_fuzz, kills, machine, mutations, peers, training_kills
from tests.soak.cases import Budget

pytestmark = [
    pytest.mark.timeout(120),  # on a busy machine
    pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning"),  # of archives that are made so
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: ptrace, name spaces and /proc"),
]

SLICES = [
    pytest.param(kills, Budget(stride=101), id="kills"),
    pytest.param(training_kills, Budget(only=1), id="training_kills"),
    pytest.param(bridge_fuzz, Budget(count=5), id="bridge_fuzz", marks=pytest.mark.integration),
    pytest.param(peers, Budget(stride=37, count=3), id="peers", marks=pytest.mark.integration),
    pytest.param(mutations, Budget(count=6, stride=2), id="mutations"),
    pytest.param(machine, Budget(count=3), id="machine"),
]


@pytest.mark.parametrize(("kind", "budget"), SLICES)
def test_a_slice(kind: ModuleType, budget: Budget, soak_folder: Path) -> None:
    """No case of it fails."""
    outcome = kind.run(0, soak_folder, budget)
    assert outcome.cases > 0
    assert outcome.failures == ()
