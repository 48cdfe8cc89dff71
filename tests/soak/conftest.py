"""Options of the soak, its share of time for each kind, and the table at the end."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.soak.cases import Budget, Failure, Outcome, grouped

MINUTES = 30.0
PROPERTY = "soak"  # under which a test's report carries its outcome
MAX_NAMED = 8  # cases named for a fault
COMMAND = "python -m pytest tests/soak/test_soak.py -m soak -n 0"

# Runs the cases of a kind, given its module and its share of the whole time.
Soak = Callable[[ModuleType, float], Outcome]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the soak's options; they are known where its folder or a file of it is named on the command line."""
    group = parser.getgroup("soak")
    group.addoption(
        "--soak-minutes", type=float, default=MINUTES, help=f"how long the soak runs (default: {MINUTES:g})"
    )
    group.addoption("--soak-seed", type=int, help="seed of its cases (default: a new one)")
    group.addoption("--soak-case", type=int, help="number of the only case to run of each kind chosen with -k")


def pytest_configure(config: pytest.Config) -> None:
    """Draw the seed once, for all processes of the tests."""
    if config.getoption("soak_seed", None) is None:
        config.option.soak_seed = random.SystemRandom().randrange(2**31)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the soak out unless ``-m`` asks for it, with any other choice of tests too."""
    if "soak" in config.option.markexpr:
        return
    soaking = [item for item in items if item.get_closest_marker("soak")]
    items[:] = [item for item in items if item not in soaking]
    config.hook.pytest_deselected(items=soaking)


@pytest.fixture(scope="session")
def soak_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all kinds share, for the files that are damaged most of all."""
    return tmp_path_factory.mktemp("soak")


@pytest.fixture
def soak(pytestconfig: pytest.Config, soak_folder: Path, record_property: Callable[[str, Any], None]) -> Soak:
    """What runs the cases of a kind, and keeps their outcome for the table."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    total = 60.0 * workers * pytestconfig.getoption("soak_minutes", MINUTES)
    seed, only = pytestconfig.getoption("soak_seed"), pytestconfig.getoption("soak_case", None)

    def run(kind: ModuleType, share: float) -> Outcome:
        outcome: Outcome = kind.run(seed, soak_folder, Budget(seconds=share * total, only=only))
        rows = [[failure.number, failure.what, failure.why] for failure in outcome.failures]
        record_property(PROPERTY, [outcome.kind, outcome.seed, outcome.cases, outcome.seconds, rows])
        return outcome

    return run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table: a line for each kind, and below it each fault with the cases that show it."""
    reports = [each for status in ("passed", "failed") for each in terminalreporter.stats.get(status, [])]
    found = [(each, dict(each.user_properties)[PROPERTY]) for each in reports if PROPERTY in dict(each.user_properties)]
    if not found:
        return
    terminalreporter.section("soak")
    terminalreporter.line(f"{'kind':<24}{'cases':>8}{'failures':>10}{'seconds':>9}  seed")
    for _, (kind, seed, cases, seconds, rows) in found:
        terminalreporter.line(f"{kind:<24}{cases:>8,}{len(rows):>10,}{seconds:>9,.0f}  {seed}")
    for report, (kind, seed, _, _, rows) in found:
        name = report.nodeid.partition("[")[2].rstrip("]")
        for failures in grouped([Failure(*row) for row in rows]):
            numbers = ", ".join(str(failure.number) for failure in failures[:MAX_NAMED])
            terminalreporter.line(
                f"\n{kind}, {len(failures)}x, in case {numbers}: {failures[0].what}: {failures[0].why}"
            )
            terminalreporter.line(f"  {COMMAND} -k {name} --soak-seed {seed} --soak-case {failures[0].number}")
