"""The whole soak: half an hour of cases on two cores, with a new seed every time. ``docs/soak.md`` has the command."""

import sys
from types import ModuleType

import pytest

from tests.soak import bridge_fuzz, kills, machine, mutations, peers, training_kills
from tests.soak.conftest import Soak

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(0),
    pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning"),  # of archives that are made so
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: ptrace, name spaces and /proc"),
]

# The share of the whole time that each kind has.
SHARES = {mutations: 0.25, training_kills: 0.17, kills: 0.15, bridge_fuzz: 0.15, machine: 0.15, peers: 0.13}
NEEDS_NODE = {bridge_fuzz, peers}


def kinds() -> list[object]:
    """Return the kinds as parameters, each with its name."""
    integration = {kind: [pytest.mark.integration] if kind in NEEDS_NODE else [] for kind in SHARES}
    return [pytest.param(kind, id=kind.__name__.rsplit(".", 1)[1], marks=integration[kind]) for kind in SHARES]


@pytest.mark.parametrize("kind", kinds())
def test_no_case_fails(kind: ModuleType, soak: Soak) -> None:
    """Of any kind."""
    outcome = soak(kind, SHARES[kind])
    assert outcome.cases > 0
    assert not outcome.failures, f"{len(outcome.failures)} of {outcome.cases:,} cases, see the table"
