"""How the code is laid out: rooms with arrows that run down, no circles, and nothing grown too large."""

import ast
import itertools
from pathlib import Path

import pytest

from racer_env.project import PROJECT_ROOT

PACKAGES = ("racer_env", "training")
# From the ground up: a room uses those before it, and never one after it.
ROOMS = ("console", "algorithms", "checkpoints", "drivers", "evaluation", "engines", "exports", "drives", "runs")
ROOMS = (*ROOMS, "reports", "sweeps", "comparisons", "pages")
MAX_FUNCTION, MAX_MODULE, MAX_DEFERRED = 60, 400, 25
LARGE = {"racer_env.simulator.kernels"}  # what is compiled has to be in one file, which says why


def modules() -> dict[str, ast.Module]:
    """Return every module of the packages, parsed, by its name."""
    parsed = {}
    for path in itertools.chain(*((PROJECT_ROOT / package).rglob("*.py") for package in PACKAGES)):
        parts = path.relative_to(PROJECT_ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        parsed[name] = ast.parse(path.read_text(encoding="utf-8"))
    return parsed


MODULES = modules()


def imported(tree: ast.AST) -> set[str]:
    """Return the modules of the packages that some code imports, wherever the statement stands."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in MODULES else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(MODULES)


ARROWS = {name: imported(tree) - {name} for name, tree in MODULES.items()}


def reached_from(name: str) -> set[str]:
    """Return all modules that a module imports, and those that they import."""
    reached: set[str] = set()
    waiting = [*ARROWS[name]]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting.extend(ARROWS[module])
    return reached


def test_no_circle_of_imports() -> None:
    """Deferred ones and those for type checkers included."""
    assert [name for name in MODULES if name in reached_from(name)] == []


def test_the_environment_knows_nothing_of_training() -> None:
    """The arrows run from training to racer_env."""
    environment = [name for name in MODULES if name.startswith("racer_env")]
    assert not {other for name in environment for other in ARROWS[name] if other.startswith("training")}


def room_of(name: str) -> str | None:
    """Return the room of ``training`` that a module is in; None where it is none of them."""
    parts = name.split(".")
    return parts[1] if parts[0] == "training" and len(parts) > 1 and parts[1] in ROOMS else None


def test_rooms_use_those_below_them() -> None:
    """And all rooms have a place in the order."""
    folders = {path.parent.name for path in (PROJECT_ROOT / "training").glob("*/__init__.py")}
    assert folders == set(ROOMS)
    for name, others in ARROWS.items():
        room = room_of(name)
        for other in sorted(others) if room is not None else ():
            if other.startswith("racer_env"):
                continue
            below = room_of(other)
            assert below is not None, f"{name} imports the script {other}"
            assert ROOMS.index(below) <= ROOMS.index(room), f"{name} imports {other}, which stands above it"


def test_the_ground_floor_stands_on_nothing() -> None:
    """The contract needs the errors alone."""
    assert ARROWS["racer_env.contract"] == {"racer_env.errors"}


def functions() -> list[tuple[str, ast.FunctionDef]]:
    """Return every function with the name of its module."""
    every = [(name, node) for name, tree in MODULES.items() for node in ast.walk(tree)]
    return [(name, node) for name, node in every if isinstance(node, ast.FunctionDef)]


def test_few_imports_wait_inside_functions() -> None:
    """Each of them for start-up time."""
    kinds = (ast.Import, ast.ImportFrom)
    deferred = {
        (name, inner.lineno) for name, node in functions() for inner in ast.walk(node) if isinstance(inner, kinds)
    }
    assert len(deferred) <= MAX_DEFERRED


def test_functions_fit_on_a_screen() -> None:
    """Docstrings included."""
    sizes = {f"{name}.{node.name}": (node.end_lineno or 0) - node.lineno + 1 for name, node in functions()}
    assert {name: size for name, size in sizes.items() if size > MAX_FUNCTION} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_have_one_job(package: str) -> None:
    """As far as their length tells."""
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines()) for path in Path(PROJECT_ROOT, package).rglob("*.py")
    }
    large = {path for path, length in lengths.items() if length > MAX_MODULE}
    assert {".".join(path.relative_to(PROJECT_ROOT).with_suffix("").parts) for path in large} <= LARGE
