"""Make the tables of speed.md: ``python docs/speed.py``, from the project's folder.

They say how cost grows with cars, tracks, the network's width and processes, and take about five minutes on two cores
with nothing else to do; ``python docs/speed.py cars tracks`` makes some of them. Every row is measured in a process of
its own, so that its memory is its own. The rows take turns, as the speed of a machine changes by the second, and each
figure is that of the fastest turn, as other work only slows it.
"""

import argparse
import contextlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TURNS = 3
LEAST_CARS = 64  # where tracks are counted
RUN_STEPS = 200_000  # of each of the trainings side by side

Figures = dict[str, float]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", nargs="*", help=f"which tables: {', '.join(TABLES)} (default: all)")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"of each row (default: {TURNS})")
    arguments = parser.parse_args(argv)
    for name in arguments.table:
        if name not in TABLES:
            parser.error(f"expected some of {', '.join(TABLES)}, got {name!r}")
    if arguments.turns < 1:
        parser.error(f"--turns must be at least 1, got {arguments.turns}")
    print(machine(), flush=True)
    for name in arguments.table or TABLES:
        print("", *TABLES[name](ROWS[name], arguments.turns), sep="\n", flush=True)


def machine() -> str:
    """Return what the figures depend on: cores, processor, and versions of what computes."""
    name = platform.processor() or platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", cpus.read_text(), re.MULTILINE)
        name = found[1] if found else name
    elif sys.platform == "darwin":
        ask = ["sysctl", "-n", "machdep.cpu.brand_string"]
        name = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    packages = ", ".join(f"{package} {version(package)}" for package in ("numpy", "numba", "torch"))
    return f"{os.cpu_count()} cores of {name}; Python {platform.python_version()}, {packages}"


# --- The tables ---


def by_cars(rows: Sequence[int], turns: int) -> list[str]:
    """Return a table over how many cars drive on the first track; speeds are steps of all cars per second."""
    lines = heading("cars", "simulator", "`RacerVecEnv`", "collecting", "learning", "both", "memory")
    for cars, seen in measure("cars", rows, turns):
        rates = (rounded(seen[what]) for what in ("simulator", "environment", "collecting", "learning", "both"))
        lines.append(row(cars, *rates, in_megabytes(seen)))
    return lines


def by_tracks(rows: Sequence[int], turns: int) -> list[str]:
    """Return a table over how many generated tracks are driven on."""
    lines = heading("tracks", "cars", "making tracks", "making tables", "simulator", "training", "memory")
    for tracks, seen in measure("tracks", rows, turns):
        seconds = (f"{seen[what]:.2f} s" for what in ("tracks", "tables"))
        rates = (rounded(seen[what]) for what in ("simulator", "both"))
        lines.append(row(tracks, max(tracks, LEAST_CARS), *seconds, *rates, in_megabytes(seen)))
    return lines


def by_width(rows: Sequence[int], turns: int) -> list[str]:
    """Return a table over the units of each of the two hidden layers."""
    lines = heading("`--set`", "collecting", "learning", "both", "evaluation")
    for width, seen in measure("width", rows, turns):
        rates = (rounded(seen[what]) for what in ("collecting", "learning", "both", "evaluation"))
        lines.append(row(f"`hidden={width},{width}`", *rates))
    return lines


def by_processes(rows: Sequence[int], turns: int) -> list[str]:
    """Return a table over how many trainings run side by side."""
    taken: dict[int, list[Figures]] = {count: [] for count in rows}
    for _ in range(turns):
        for count in rows:
            taken[count].append(train_side_by_side(count))
    lines = heading("trainings", "each", "in sum", "from start to end")
    for count, figures in taken.items():
        best = min(figures, key=lambda seen: seen["seconds"])
        lines.append(row(count, rounded(best["each"]), rounded(best["sum"]), f"{best['seconds']:.1f} s"))
    return lines


TABLES = {"cars": by_cars, "tracks": by_tracks, "width": by_width, "processes": by_processes}
ROWS = {
    "cars": (1, 4, 16, 64, 256, 1024, 4096),
    "tracks": (1, 4, 16, 64, 256, 1024),
    "width": (64, 128, 256, 512),
    "processes": (1, 2, 4),
}


def heading(*names: str) -> list[str]:
    """Return the first lines of a table."""
    return [row(*names), "|" + "---|" * len(names)]


def row(*cells: object) -> str:
    """Return a line of a table; whole numbers get commas."""
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells) + " |"


def rounded(rate: float) -> str:
    """Return a rate with the three digits that count."""
    return f"{float(f'{rate:.3g}'):,.0f}"


def in_megabytes(seen: Figures) -> str:
    """Return the most memory that a process held."""
    return f"{seen['memory'] / 1e6:,.0f} MB" if "memory" in seen else "unknown"


# --- Measuring in turns, in processes of their own ---


def measure(table: str, rows: Sequence[int], turns: int) -> list[tuple[int, Figures]]:
    """Return the figures of each row: its highest rates, and what is the same in every turn."""
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(RowProcess(table, value)) for value in rows]
        taken = [[process.turn() for process in processes] for _ in range(turns)]
    by_row = zip(*taken, strict=True)
    best = [{name: max(seen[name] for seen in figures) for name in figures[0]} for figures in by_row]
    return list(zip(rows, best, strict=True))


class RowProcess:
    """The process that measures a row, see speed_rows.py. In its first turn, it loads and makes what it needs."""

    def __init__(self, table: str, value: int) -> None:
        self._what = f"{table} {value}"
        # The package comes first, as it limits the threads of what is imported after it.
        code = f"import training; from docs.speed_rows import serve; serve({table!r}, {value})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "RowProcess":
        return self

    def __exit__(self, *details: object) -> None:
        self._process.__exit__(None, None, None)  # closes its input, which ends it, and waits

    def turn(self) -> Figures:
        """Measure once more, and return the figures."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"error: the process that measures {self._what} has ended; its own message is above")
        figures: Figures = json.loads(line)
        return figures


def train_side_by_side(count: int) -> Figures:
    """Return the steps per second of trainings that begin at the same time, and the seconds until all have ended."""
    with tempfile.TemporaryDirectory() as folder:
        places = ["--models-dir", f"{folder}/models", "--logs-dir", f"{folder}/logs"]
        script = [sys.executable, "-m", "training.train_ppo", "--timesteps", str(RUN_STEPS), *places]
        began = time.perf_counter()
        runs = [subprocess.Popen(script, cwd=PROJECT, stdout=subprocess.PIPE, text=True) for _ in range(count)]
        printed = [run.communicate()[0] for run in runs]
        seconds = time.perf_counter() - began
    rates = [float(found.replace(",", "")) for text in printed for found in re.findall(r"\(([\d,]+) steps/s\)", text)]
    if len(rates) < count:
        raise SystemExit(f"error: {count - len(rates)} of {count} trainings did not end well; what they say is above")
    return {"each": statistics.median(rates), "sum": sum(rates), "seconds": seconds}


if __name__ == "__main__":
    main()
