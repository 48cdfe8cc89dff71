"""The evaluations of a run, a line of JSON each in its logs: what a sweep judges by, and what a comparison reads."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from training.checkpoints.writing import replacing
from training.console.messages import note
from training.runs.log_file import LogFile

EVALUATIONS_NAME = "evaluations.jsonl"


class EvaluationLog:
    """Appends a line for each evaluation: steps, seconds of training, and its figures."""

    def __init__(self, log_dir: Path, first_step: int = 0) -> None:
        """Open the log of a run, new or not.

        Lines beyond the step that the run goes on from are taken out, and so is one that was cut off at the end, which
        the next one would be appended to.

        Args:
            log_dir: Folder of the run's logs.
            first_step: Step counter that the run goes on from; 0 begins anew.
        """
        path, logged = log_dir / EVALUATIONS_NAME, read_evaluations(log_dir)
        before = [line for line in logged if line["steps"] <= first_step]
        if len(before) < len(logged) or _is_cut_off(path):
            try:
                with replacing(path) as beside:
                    beside.write_text("".join(map(_as_line, before)), encoding="utf-8")
            except OSError as error:
                note(f"cannot write {path}: {error.strerror or error}; it keeps evaluations that were taken back")
        self._log = LogFile(path)
        self._began = time.monotonic() - (before[-1]["seconds"] if before else 0.0)

    def add(self, steps: int, figures: Mapping[str, Any]) -> dict[str, Any]:
        """Append an evaluation, and return its line.

        Args:
            steps: Environment steps that the run had trained.
            figures: What was measured, by name, in the form that JSON has.
        """
        seconds = round(time.monotonic() - self._began, 3)
        line = {"steps": steps, "seconds": seconds, **figures}
        self._log.write(_as_line(line).encode())
        return line

    def close(self) -> None:
        """Close the file."""
        self._log.close()


def read_evaluations(log_dir: Path) -> list[dict[str, Any]]:
    """Return the evaluations in a run's logs, in the order of their steps; lines that are not whole are passed over.

    Each has ``steps``, ``seconds``, and the names of ``summarise`` and of ``BestModelCallback``.
    """
    try:
        content = (log_dir / EVALUATIONS_NAME).read_bytes()
    except OSError:
        return []
    found = [line for line in map(_parsed, content.splitlines()) if line is not None]
    return sorted(found, key=lambda line: float(line["steps"]))


def _is_cut_off(path: Path) -> bool:
    """Whether a file ends within a line, as a machine that lost its power leaves it."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return content != b"" and not content.endswith(b"\n")


def _as_line(figures: Mapping[str, Any]) -> str:
    return json.dumps(figures) + "\n"


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        figures = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(figures, dict):
        return None
    numbers = [figures.get(name) for name in ("steps", "seconds")]
    return figures if all(type(number) in (int, float) for number in numbers) else None
