"""Kills: at every system call of a save, and of real training at any moment; what was whole stays whole.

A save is traced by ``ptrace`` and killed before its n-th system call, for every n. That works wherever Linux lets a
process trace its own child. What a power cut does to a disk is not tried.
"""

import ctypes
import functools
import itertools
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.vec_env import RacerVecEnv
from tests.soak.cases import Budget, Case, Outcome, run_cases
from tests.soak.mutations import BUFFER_SIZE, make_base
from tests.soak.processes import contents
from training.checkpoints.checkpoint import find_checkpoint
from training.checkpoints.data import ModelData
from training.checkpoints.files import buffer_path, model_path
from training.checkpoints.leftovers import find_buffer
from training.checkpoints.loading import load_model
from training.checkpoints.pruning import prune_checkpoints
from training.checkpoints.replay_buffer import fill_buffer, read_buffer
from training.checkpoints.saving import remember, save_unit
from training.checkpoints.vec_normalize import normalised

KIND = "kills in a save"
NEVER = 10**9  # system calls
STEPS = 1000  # of the old model; the new one has as many more
_TRACEME, _SYSCALL, _SETOPTIONS = 0, 24, 0x4200
_GOOD = 0x01  # system calls are told apart from signals
_END_WITH_TRACER = 0x100000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_libc.ptrace.restype = ctypes.c_long


@dataclass(frozen=True)
class Saver:
    """A model that is ready to be saved.

    Attributes:
        name: Name of its algorithm.
        model: The model; of an algorithm with a replay buffer, with some transitions in it.
        env: Its environment, which has its statistics.
        mean: A number of the statistics.
    """

    name: str
    model: Any
    env: VecNormalize
    mean: float

    @property
    def has_buffer(self) -> bool:
        """Whether it is saved with a replay buffer."""
        return isinstance(self.model, OffPolicyAlgorithm)

    def become(self, generation: int) -> None:
        """Change everything that is saved: generation 1 is old, 2 is new."""
        self.model.num_timesteps = STEPS * generation
        remember(self.model, marker=generation)
        self.env.obs_rms.mean[9] = self.mean + generation
        if self.has_buffer:
            self.model.replay_buffer.rewards[:] = generation

    def save(self, folder: Path, tag: str | int) -> None:
        """Save it in a folder, as a run's model."""
        save_unit(self.model, self.env, model_path(folder, "a", tag), self.has_buffer)


def make_saver(base: Path, run: str) -> Saver:
    """Load the model of a run."""
    checkpoint = find_checkpoint(run, base / "models")
    assert checkpoint.statistics is not None
    env = normalised(RacerVecEnv(["track-01"], 4), checkpoint.statistics)
    model = load_model(checkpoint.data, env, "cpu")
    if isinstance(model, OffPolicyAlgorithm):
        fill_buffer(model, read_buffer(buffer_path(checkpoint.data.path), BUFFER_SIZE))
    return Saver(checkpoint.data.algorithm.name, model, env, checkpoint.statistics.obs_mean[9])


def replace(saver: Saver, folder: Path) -> None:
    """Save over the model of the same name."""
    saver.save(folder, "final")


def go_on(saver: Saver, folder: Path) -> None:
    """Save the next checkpoint, and delete the one before."""
    saver.save(folder, STEPS * 2)
    prune_checkpoints(folder, "a", 1)


# What is killed, and the name under which the old model is saved before.
_SAVES: tuple[tuple[Callable[[Saver, Path], None], str | int], ...] = ((replace, "final"), (go_on, STEPS))


def cases(savers: list[Saver], scratch: Path) -> Iterator[Case]:
    """Yield a case for every system call of every save.

    Args:
        savers: Whose saves.
        scratch: Folder for the models.
    """
    for saver, (save, tag) in itertools.product(savers, _SAVES):
        old = scratch / "old"
        shutil.rmtree(old, ignore_errors=True)
        saver.become(1)
        saver.save(old, tag)
        saver.become(2)
        calls = traced(functools.partial(save, saver, _fresh(old, scratch)), NEVER)
        seen: set[str] = set()
        for call in range(calls):
            what = f"{saver.name}, {save.__name__.replace('_', ' ')}, killed before system call {call} of {calls}"
            yield Case(what, functools.partial(_run, call, save, saver, old, scratch, seen))


def run(seed: int, folder: Path, budget: Budget) -> Outcome:
    """Kill the saves of PPO and SAC, in a folder of the soak's."""
    base = make_base(folder / "base")
    savers = [make_saver(base, run) for run in ("a", "b")]
    return run_cases(KIND, seed, cases(savers, folder / "saves"), budget)


def _fresh(old: Path, scratch: Path) -> Path:
    folder = scratch / "now"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(old, folder)
    return folder


def _run(
    call: int, save: Callable[[Saver, Path], None], saver: Saver, old: Path, scratch: Path, seen: set[str]
) -> str | None:
    folder = _fresh(old, scratch)
    traced(functools.partial(save, saver, folder), call)
    state = str(sorted(contents(folder).items()))
    if state in seen:  # most system calls change no file
        return None
    seen.add(state)
    return _fault_in(folder, saver)


def _fault_in(folder: Path, saver: Saver) -> str | None:
    """Return what is wrong with the newest model of a folder, which must be the old or the new one, and whole."""
    try:
        checkpoint = find_checkpoint("a", folder)
        load_model(checkpoint.data, None, "cpu")
        assert checkpoint.statistics is not None
        mean = checkpoint.statistics.obs_mean[9]
    except Exception as error:
        return f"no whole model is left: {type(error).__name__}: {error}"
    generation = checkpoint.data.get("marker", int, 0)
    if generation not in (1, 2) or checkpoint.data.steps != STEPS * generation:
        return f"the model is neither the old nor the new one, but {generation} at {checkpoint.data.steps}"
    if abs(mean - saver.mean - generation) > 1e-9:
        return f"model {generation} has the statistics of another, with {mean}"
    return _buffer_fault(checkpoint.data, generation) if saver.has_buffer else None


def _buffer_fault(data: ModelData, generation: int) -> str | None:
    path = find_buffer(data)
    if path is None:
        return f"the replay buffer of model {generation} is gone"
    found = set(read_buffer(path, BUFFER_SIZE)["rewards"].tolist())
    return None if found == {float(generation)} else f"the replay buffer of model {generation} has the rewards {found}"


def traced(act: Callable[[], None], call: int) -> int:
    """Do something in a child, kill it before its n-th system call, and return how many calls it began.

    Raises:
        RuntimeError: The child failed by itself.
    """
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _libc.ptrace(_TRACEME, 0, None, None)
            os.kill(os.getpid(), signal.SIGSTOP)
            act()
            code = 0
        finally:
            os._exit(code)
    os.waitpid(child, 0)
    _libc.ptrace(_SETOPTIONS, child, None, _GOOD | _END_WITH_TRACER)
    begun, is_inside, deliver = 0, False, 0
    while True:
        _libc.ptrace(_SYSCALL, child, None, deliver)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSTOPPED(status):
            break
        is_call, deliver = os.WSTOPSIG(status) == signal.SIGTRAP | 0x80, 0
        if not is_call:
            deliver = os.WSTOPSIG(status)
            continue
        is_inside = not is_inside
        begun += is_inside
        if is_inside and begun > call:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise RuntimeError(f"the child failed with exit code {os.WEXITSTATUS(status)}")
    return begun
