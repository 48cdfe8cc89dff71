"""Faults of the machine: disks full or read-only, a clock set back, few descriptors, closed streams, an ASCII locale.

A full disk is a small tmpfs in a name space of the case's own. Where Linux allows that to root alone, users go without
these cases.
"""

import ctypes
import functools
import itertools
import json
import os
import random
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.helpers import ring_document
from tests.soak.cases import Budget, Case, Outcome, chance_of, run_cases
from tests.soak.mutations import make_base
from tests.soak.mutators import mutated_bytes
from tests.soak.processes import Ended, fault_of, forked, ran
from training import evaluate, export_onnx, report, train_ppo, train_sac
from training.checkpoints.checkpoint import find_checkpoint
from training.checkpoints.data import read_model_data
from training.checkpoints.files import find_statistics, models_of

KIND = "faults of the machine"
LIMIT_S = 120.0  # seconds for a case; some start Python, or compile the simulator
CODES = (0, 1, 2)
_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000
_READ_ONLY, _REMOUNT, _PRIVATE = 1, 32, 0x4000 | (1 << 18)
_BRIEF = ("--num-envs", "4", "--eval-freq", "0", "--timesteps", "4096", "--checkpoint-freq", "512")
_TRAIN = (*_BRIEF, "--set", "steps_per_car=64", "--keep-checkpoints", "2")

# A script and its arguments, where paths are those of the case's folder.
Command = tuple[Callable[[list[str]], int], list[str]]


def cases(seed: int, base: Path, scratch: Path) -> Iterator[Case]:
    """Yield faults of every kind in turn, without end.

    Args:
        seed: Seed of the cases.
        base: Folder of ``make_base``.
        scratch: Folder for a copy of it, which is thrown away after each case.
    """
    quick = (_full_disk, _read_only, _clock_set_back, _few_descriptors, _small_files)
    slow = (_streams, _locale, _no_folder, _compile_cache)
    for number in itertools.count():
        # Those that start Python take as long as ten of the others.
        turn, left = divmod(number, 11)
        fault = quick[left % len(quick)] if left < 10 else slow[turn % len(slow)]
        what = fault.__name__.strip("_").replace("_", " ")
        yield Case(what, functools.partial(_run, fault, seed, number, base, scratch))


def run(seed: int, folder: Path, budget: Budget) -> Outcome:
    """Make the machine fail, in a folder of the soak's."""
    base = make_base(folder / "base")
    return run_cases(KIND, seed, cases(seed, base, folder / "machine"), budget)


def _run(
    fault: Callable[[Path, random.Random], str | None], seed: int, number: int, base: Path, scratch: Path
) -> str | None:
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(base, scratch)
    return fault(scratch, chance_of(KIND, seed, number))


def _printed(folder: Path) -> Path:
    printed = folder.with_name("printed")
    printed.mkdir(exist_ok=True)
    return printed


def _any_command(chance: random.Random) -> Command:
    """Return a script that writes something."""
    drive = ["--model", chance.choice(["a", "driver.onnx"]), "--config", "short.json", "--laps", "1"]
    commands: list[Command] = [
        (train_ppo.main, ["--run-name", "c", *_TRAIN]),
        (train_ppo.main, ["--resume", "a", *_TRAIN]),
        (train_sac.main, ["--resume", "b", "--timesteps", "100", "--checkpoint-freq", "20", "--eval-freq", "0"]),
        (evaluate.main, ["--model", "scripted", "--laps", "1", "--record", "new/drive.npz", "--par-times", "par.json"]),
        (evaluate.main, [*drive, "--plot", "plots"]),
        (report.main, ["a"]),
    ]
    commands += [(export_onnx.main, ["--model", "a", "--output-dir", "out"])] * (chance.random() < 0.3)
    return chance.choice(commands)


def _broken_in(models: Path, run: str) -> str | None:
    """Return which model of a run is there under its own name and is not whole; None if all are."""
    for path in models_of(models, run):
        try:
            find_statistics(read_model_data(path))
        except Exception as error:
            return f"{path.name} is not whole: {error}"
    return None


# --- Disks ---


def _full_disk(folder: Path, chance: random.Random) -> str | None:
    """Let a disk become full at any moment: what is there under its own name is whole."""
    return _on_disk(folder, chance, spare=chance.choice([0, 4, 16, 64, 150, 300, 600, 1500]), read_only=False)


def _read_only(folder: Path, chance: random.Random) -> str | None:
    return _on_disk(folder, chance, spare=1000, read_only=True)


def _on_disk(folder: Path, chance: random.Random, spare: int, read_only: bool) -> str | None:
    if not has_name_spaces():
        return None
    script, arguments = _any_command(chance)
    after, printed = folder.with_name("after"), _printed(folder)
    shutil.rmtree(after, ignore_errors=True)
    ended = forked(_mounted, script, arguments, folder, after, spare, read_only, folder=printed, limit_s=LIMIT_S)
    return fault_of(ended, codes=CODES) or next(
        filter(None, (_broken_in(after / "models", run) for run in "abc")), None
    )


def _mounted(
    script: Callable[[list[str]], int], arguments: list[str], folder: Path, after: Path, spare: int, read_only: bool
) -> int:
    """Run a script on a disk of its own with the content of a folder, and copy afterwards what is on it."""
    enter_name_space()
    disk = folder.with_name("disk")
    disk.mkdir(exist_ok=True)
    _mount("tmpfs", disk, "tmpfs", 0, "size=64m")
    shutil.copytree(folder, disk, dirs_exist_ok=True)
    used = sum(-(-path.stat().st_size // 4096) * 4 for path in disk.rglob("*") if path.is_file())
    _mount("tmpfs", disk, "tmpfs", _REMOUNT | (_READ_ONLY if read_only else 0), f"size={used + spare}k")
    os.chdir(disk)
    try:
        return script(arguments)
    finally:
        os.chdir("/")
        shutil.copytree(disk, after)


@functools.cache
def has_name_spaces() -> bool:
    """Return whether this user may have disks of their own."""
    child = os.fork()
    if child == 0:
        try:
            enter_name_space()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def enter_name_space() -> None:
    """Give this process mounts of its own, and if it is not root's, a user of its own who may mount.

    Raises:
        OSError: The system does not allow it.
    """
    user, group = os.getuid(), os.getgid()
    _checked(_libc().unshare(_NEW_MOUNTS | (_NEW_USER if user else 0)))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _mount("none", Path("/"), "", _PRIVATE, "")


def _mount(source: str, target: Path, kind: str, flags: int, options: str) -> None:
    texts = [text.encode() for text in (source, str(target), kind)]
    _checked(_libc().mount(*texts, ctypes.c_ulong(flags), options.encode()))


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _small_files(folder: Path, chance: random.Random) -> str | None:
    """Let no file become larger than a limit, as a quota does."""
    limit = chance.choice([0, 100, 5_000, 30_000, 100_000, 200_000])
    script, arguments = _any_command(chance)
    ended = forked(
        _limited, resource.RLIMIT_FSIZE, limit, script, arguments, folder, folder=_printed(folder), limit_s=LIMIT_S
    )
    fault = fault_of(ended, codes=CODES) if limit >= 5_000 else ended.stopped  # else even the error has no room
    return fault or next(filter(None, (_broken_in(folder / "models", run) for run in "abc")), None)


def _few_descriptors(folder: Path, chance: random.Random) -> str | None:
    script, arguments = _any_command(chance)
    count, printed = chance.randrange(16, 64), _printed(folder)
    ended = forked(_limited, resource.RLIMIT_NOFILE, count, script, arguments, folder, folder=printed, limit_s=LIMIT_S)
    return fault_of(ended, codes=CODES) or _broken_in(folder / "models", "a")


def _limited(what: int, limit: int, script: Callable[[list[str]], int], arguments: list[str], folder: Path) -> int:
    os.chdir(folder)
    resource.setrlimit(what, (limit, limit))
    return script(arguments)


# --- The clock ---


def _clock_set_back(folder: Path, chance: random.Random) -> str | None:
    """Set the clock back before and while a run goes on: its newest model is still the one that was saved last."""
    steps = 0
    for _ in range(2):
        before, during = chance.choice([0, 3600, 10**6, 10**9]), chance.choice([0, 60, 86_400])
        arguments = ["--resume", "a", *_TRAIN[:-4], "--keep-checkpoints", "1"]
        printed = _printed(folder)
        ended = forked(_in_the_past, before, during, arguments, folder, folder=printed, limit_s=LIMIT_S)
        fault = fault_of(ended, codes=(0,))
        if fault is not None:
            return fault
        newest = find_checkpoint("a", folder / "models").data
        if newest.steps <= steps:
            return f"the newest model has {newest.steps} steps, and one with more than {steps} was saved"
        steps = newest.steps
    return None


def _in_the_past(before: int, during: int, arguments: list[str], folder: Path) -> int:
    """Train while the clock goes back: by some seconds at the beginning, and by some more now and then."""
    real, calls = time.time, itertools.count()
    time.time = lambda: max(0.0, real() - before - during * (next(calls) // 20))
    time.time_ns = lambda: int(time.time() * 1e9)
    os.chdir(folder)
    return train_ppo.main(arguments)


# --- Streams, locale, folders, caches: in a fresh Python ---

_DRIVE = ("training.evaluate", "--model", "scripted", "--config", "short.json", "--laps", "1")
_STREAMS = ("<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full")
_STREAMS = (*_STREAMS, "| true", "| head -c 1", "2>&1 | true")


def _streams(folder: Path, chance: random.Random) -> str | None:
    """Close streams, fill them up, or let their readers go."""
    scripts = [
        _DRIVE,
        ("training.evaluate", "--help"),
        ("training.train_ppo", "--run-name", "c", *_TRAIN),
        ("training",),
    ]
    command = [sys.executable, "-m", *chance.choice([*scripts, ("training.evaluate", "--model", "missing")])]
    # The exit code of a pipe's first command goes into a file, as a plain shell does not tell it.
    shell = f'{{ "$@"; echo $? >code; }} {chance.choice(_STREAMS)}'
    ended = _ran(["sh", "-c", shell, "sh", *command], folder)
    code = (folder / "code").read_text().strip()
    if code not in map(str, CODES):
        return f"exit code {code or 'lost'} of {shell}"
    return fault_of(Ended(0, ended.output, ended.errors, ended.stopped), codes=CODES)


def _locale(folder: Path, chance: random.Random) -> str | None:
    """Use names that an ASCII terminal cannot show, and some that no encoding can."""
    name = chance.choice(["größe", "\U0001f3ce", "\udcff\udcfe", "a\nb", "\x1b[31m", "-x"])
    place = folder / name
    place.mkdir()
    document = {**ring_document(), "id": "ring", "name": chance.choice(["größe \U0001f3ce", "\x1b[2J", "\u202e"])}
    (place / "ring.json").write_text(json.dumps(document))
    drive = (*_DRIVE, "--tracks-dir", f"./{name}", "--record", f"./{name}/it.npz")
    train = ("training.train_ppo", "--run-name", chance.choice(["größe", "c"]), *_TRAIN, "--models-dir", f"./{name}/m")
    missing = ("training.evaluate", "--model", f"./{name}/none.zip")
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    variables |= chance.choice([{}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "utf-16"}])
    if variables.get("PYTHONIOENCODING") == "utf-16" or name == "a\nb":
        variables.pop("PYTHONIOENCODING", None)  # what a test could read is not what is printed
    return fault_of(_ran([sys.executable, "-m", *chance.choice([drive, train, missing])], folder, variables), CODES)


def _no_folder(folder: Path, chance: random.Random) -> str | None:
    """Delete the working directory, or have no home and no folder for temporary files."""
    command = [sys.executable, "-m", *_DRIVE[:3], "--laps", "1"]
    nowhere = {"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent", "MPLCONFIGDIR": ""}
    if chance.random() < 0.5:
        return fault_of(_ran(command, folder, nowhere), CODES)
    (folder / "gone").mkdir()
    return fault_of(_ran(["sh", "-c", 'cd gone && rmdir ../gone && "$@"', "sh", *command], folder), CODES)


def _compile_cache(folder: Path, chance: random.Random) -> str | None:
    """Damage what Numba keeps compiled."""
    cache, command = folder.with_name("cache"), [sys.executable, "-m", *_DRIVE]
    if not cache.exists():
        _ran(command, folder, {"NUMBA_CACHE_DIR": str(cache)})
    damaged = folder / "cache"
    shutil.copytree(cache, damaged)
    files = [path for path in damaged.rglob("*") if path.is_file()]
    for path in chance.sample(files, k=min(len(files), chance.choice([1, 3, 100]))):
        path.write_bytes(mutated_bytes(path.read_bytes(), chance))
    return fault_of(_ran(command, folder, {"NUMBA_CACHE_DIR": str(damaged)}), CODES)


def _ran(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> Ended:
    """Run a command in a folder, with the project where Python looks for it."""
    project = {"PYTHONPATH": str(Path(__file__).parents[2])}
    options: dict[str, Any] = {"cwd": folder, "limit_s": LIMIT_S, "environment": {**project, **(environment or {})}}
    return ran(command, folder=_printed(folder), **options)
