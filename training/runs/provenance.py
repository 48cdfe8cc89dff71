"""The record of what a run was started with, in its folder: enough to trace a driver later and to repeat the run."""

import json
import os
import platform
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from racer_env.project import IS_INSTALLED, PROJECT_ROOT
from training.algorithms.settings import as_document
from training.checkpoints.writing import digest_of, replacing
from training.console.bridges import physics_behind
from training.console.messages import command_line, note
from training.console.tracks import track_fingerprints
from training.runs.brought import documents_of
from training.runs.folders import record_path
from training.runs.plan import Plan
from training.runs.run import Run
from training.runs.versions import package_versions, python_version

COMMIT_VARIABLE = "TOP_DOWN_RACER_COMMIT"  # environment variable that tells it to copies, which have no history


def write_record(plan: Plan, run: Run) -> Path:
    """Write a run's record; a resumed run adds what it goes on with to what it began with.

    Args:
        plan: Plan that is about to be carried out.
        run: The plan's run, under its final name.
    """
    physics = physics_behind(run.bridge)
    record = {
        "run": run.name,
        "algorithm": run.algorithm.name,
        "command": command_line(["python", "-m", run.algorithm.script, *sys.argv[1:]]),
        **surroundings(),
        "seed": run.seed,
        "begins_with": str(plan.beginning.data.path) if plan.beginning else None,
        "begins_with_digest": digest_of(plan.beginning.data.path) if plan.beginning else None,
        "first_step": run.first_step,
        "timesteps": run.timesteps,
        "num_envs": run.num_envs,
        "hyperparameters": as_document(run.settings),
        "algorithm_arguments": {name: value for name, value in run.arguments.items() if _is_plain(value)},
        "ai_config": run.config.to_json(),
        **documents_of(run.brought),
        "physics_fingerprint": physics.fingerprint if physics else None,
        "track_fingerprints": track_fingerprints(run.tracks),
        "arguments": plan.options,
    }
    path = record_path(run.log_dir, run.first_step)
    try:
        with replacing(path) as beside:
            beside.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        note(f"cannot save {path}: {error.strerror or error}; training goes on without this record")
    return path


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def surroundings() -> dict[str, Any]:
    """Return the time, the versions of packages, and the commit."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": python_version(),
        "platform": platform.platform(),
        "packages": package_versions(),
        "commit": _commit(),
    }


def _commit() -> str | None:
    """Return the project's commit, with "-dirty" if files differ from it; None if it is neither a clone nor told."""
    if COMMIT_VARIABLE in os.environ:
        return os.environ[COMMIT_VARIABLE] or None
    git = shutil.which("git")
    if git is None or IS_INSTALLED:  # packages installed by pip may lie inside another project's clone
        return None
    command = [git, "-C", str(PROJECT_ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
