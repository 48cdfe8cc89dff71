"""Training killed at any moment, or asked to end: the newest model is whole, it drives, and the run goes on."""

import functools
import itertools
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests import crash_child, runs
from tests.soak.cases import Budget, Case, Outcome, chance_of, run_cases
from tests.soak.mutations import SHORT
from tests.soak.mutators import dumped
from tests.soak.processes import TIME_LIMIT_S, fault_of, finish, forked, pipe, start
from training import evaluate, train_ppo, train_sac
from training.checkpoints.checkpoint import find_checkpoint
from training.checkpoints.data import ModelData
from training.checkpoints.loading import load_model

KIND = "kills of training"
ROUNDS = 3  # kills of a run
LONGEST_S = 0.6  # from the first checkpoint to the kill
# Saving all the time, so that most kills meet a save.
_PPO = ("--num-envs", "16", "--eval-freq", "0", "--checkpoint-freq", "1024", "--set", "steps_per_car=32")
_SAC = (*runs.SMALL_SAC, "--checkpoint-freq", "48", "--set", "buffer_size=1000")
_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)


def cases(seed: int, scratch: Path) -> Iterator[Case]:
    """Yield runs of PPO and SAC in turn, without end."""
    for number in itertools.count():
        name, script, options = (("PPO", train_ppo.main, _PPO), ("SAC", train_sac.main, _SAC))[number % 2]
        chance = chance_of(KIND, seed, number)
        yield Case(
            f"{name}, {ROUNDS} times",
            functools.partial(_run, script, options, chance, scratch),
        )


def run(seed: int, folder: Path, budget: Budget) -> Outcome:
    """Kill training, in a folder of the soak's."""
    return run_cases(KIND, seed, cases(seed, folder / "killed"), budget)


def _run(
    script: Callable[[list[str]], int], options: tuple[str, ...], chance: random.Random, scratch: Path
) -> str | None:
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    (scratch / "short.json").write_bytes(dumped(SHORT))
    begin, known = ["--run-name", "a"], 0
    common = ["--timesteps", "10000000", "--keep-checkpoints", chance.choice(["1", "3"]), *runs.folders(scratch)]
    for _ in range(ROUNDS):
        last, fault = _killed(script, [*begin, *options, *common], chance, scratch)
        fault = fault or _fault_in(scratch, max(last, known))
        if fault is not None:
            return fault
        known, begin = _newest(scratch).steps, ["--resume", "a"]
    arguments = ["--model", "a", "--laps", "1", "--config", str(scratch / "short.json")]
    ended = forked(evaluate.main, [*arguments, "--models-dir", str(scratch / "models")], folder=scratch)
    return fault_of(ended, codes=(0,))


def _killed(
    script: Callable[[list[str]], int], arguments: list[str], chance: random.Random, scratch: Path
) -> tuple[int, str | None]:
    """Train, end it after a while, and return the steps of the last checkpoint that it reported and what is wrong."""
    reports, sender = pipe()
    number = chance.choice(_SIGNALS)
    child = start(crash_child.run, script, arguments, sender, folder=scratch)
    sender.close()
    last = _steps_of(reports, TIME_LIMIT_S)
    if last > 0:
        time.sleep(chance.uniform(0.0, LONGEST_S))
        os.kill(child.pid, number)
    ended = finish(child, scratch)
    last = max(last, _steps_of(reports, 0.0))
    reports.close()
    if last == 0 or number != signal.SIGKILL:
        return last, fault_of(ended, codes=(128 + number,))
    return last, ended.stopped


def _steps_of(reports: Any, wait_s: float) -> int:
    """Return the steps of the last checkpoint reported, after the first one has come; 0 for none."""
    last, end = 0, time.monotonic() + wait_s
    try:
        while reports.poll(max(0.0, end - time.monotonic()) if last == 0 else 0.0):
            report = reports.recv()
            last = report if isinstance(report, int) else last
    except EOFError:
        pass
    return last


def _newest(scratch: Path) -> ModelData:
    return find_checkpoint("a", scratch / "models").data


def _fault_in(scratch: Path, least: int) -> str | None:
    """Return what is wrong with the newest model of the run, which must have at least so many steps."""
    try:
        checkpoint = find_checkpoint("a", scratch / "models")
        load_model(checkpoint.data, None, "cpu")
        assert checkpoint.statistics is not None
    except Exception as error:
        return f"no whole model is left: {type(error).__name__}: {error}"
    if checkpoint.data.steps < least:
        return f"the newest model has {checkpoint.data.steps} steps, and one with {least} was saved"
    return _monitor_fault(scratch / "logs" / "a" / "monitor.csv")


def _monitor_fault(path: Path) -> str | None:
    lines = path.read_text(encoding="utf-8").splitlines()
    if sum(line.startswith("#") for line in lines) != 1:
        return "the monitor file has not one head"
    broken = [line for line in lines[1:] if line.count(",") != 2]
    return f"the monitor file has the line {broken[0]!r}" if broken else None
