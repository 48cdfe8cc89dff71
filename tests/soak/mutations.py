"""Damaged and hostile files: whatever one of them holds, a script ends in time with an error of one line."""

import functools
import io
import itertools
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from racer_env.bridge.process import BRIDGE_DIR
from racer_env.config import AiConfig
from racer_env.project import PROJECT_ROOT
from racer_env.tracks import load_track
from tests import runs
from tests.soak.cases import Budget, Case, Outcome, chance_of, run_cases
from tests.soak.mutators import (
    mutated_archive,
    mutated_bytes,
    mutated_json,
    read_members,
    write_members,
)
from tests.soak.pickles import CANARY, mutated_array, mutated_network, mutated_statistics
from tests.soak.processes import contents, fault_of, forked, lost
from training import evaluate, report, train_ppo, train_sac
from training.checkpoints.files import buffer_path, statistics_path
from training.drivers.scripted import scripted_driver
from training.drives.recording import record_episode, save_recording

KIND = "mutations"
BUFFER_SIZE = 1000  # transitions
LIMIT_S = 30.0  # seconds for a case
SHORT = {"weights": {"stillnessSpeedThreshold": 1000}, "episode": {"stillnessTimeoutTicks": 30}}  # half a second
PRETRAINED = PROJECT_ROOT / "models" / "pretrained" / "driver.onnx"

# A script and its arguments, where paths are those of the case's folder.
Command = tuple[Callable[[list[str]], int], list[str]]


def make_base(folder: Path) -> Path:
    """Fill a folder with one whole file of every kind, unless that is done, and return it."""
    if folder.exists():
        return folder
    brief, size = ("--num-envs", "4", "--eval-freq", "0"), ("--set", f"buffer_size={BUFFER_SIZE}")
    assert runs.ppo(folder, "--run-name", "a", "--timesteps", "256", *brief, "--set", "steps_per_car=64") == 0
    assert runs.sac(folder, "--run-name", "b", "--timesteps", "80", *runs.SMALL_SAC, *size) == 0
    track = load_track("track-01")
    (episode,) = runs.drive(scripted_driver, [track], config=AiConfig(), laps=1, keeps_actions=True)
    save_recording(record_episode("scripted", track, episode), folder / "drive.npz")
    shutil.copy(PRETRAINED, folder / "driver.onnx")
    shutil.copy(PROJECT_ROOT / "tracks" / "track-01.json", folder / "track.json")
    shutil.copy(PROJECT_ROOT / "ai-config.json", folder / "config.json")
    (folder / "preset.json").write_text((PROJECT_ROOT / "training" / "presets" / "smooth.json").read_text())
    (folder / "short.json").write_text(json.dumps(SHORT))
    return folder


def cases(seed: int, base: Path, scratch: Path) -> Iterator[Case]:
    """Yield damaged files of every kind in turn, without end.

    Args:
        seed: Seed of the damage.
        base: Folder of ``make_base``.
        scratch: Folder for a copy of it, which is thrown away after each case.
    """
    kinds = (
        _model,
        _model_to_resume,
        _statistics,
        _track,
        _network,
        _buffer,
        _recording,
        _configuration,
        _preset,
        _log,
        _file_of_the_bridge,
    )
    for number in itertools.count():
        damage = kinds[number % len(kinds)]
        what = damage.__name__.strip("_").replace("_", " ")
        yield Case(what, functools.partial(_run, damage, seed, number, base, scratch))


def run(seed: int, folder: Path, budget: Budget) -> Outcome:
    """Damage files, in a folder of the soak's."""
    base = make_base(folder / "base")
    return run_cases(KIND, seed, cases(seed, base, folder / "damaged"), budget)


def _run(
    damage: Callable[[Path, random.Random], Command], seed: int, number: int, base: Path, scratch: Path
) -> str | None:
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(base, scratch)
    script, arguments = damage(scratch, chance_of(KIND, seed, number))
    before, printed = contents(scratch), scratch.with_name("printed")
    printed.mkdir(exist_ok=True)
    ended = forked(_in_folder, script, arguments, scratch, folder=printed, limit_s=LIMIT_S)
    if (scratch / CANARY).exists():
        return "it ran what was in the file"
    has_trained = ended.code == 0 and "saved " in ended.output  # and has gone on with files of its own
    kept = {name: digest for name, digest in before.items() if not name.startswith("logs") and not has_trained}
    return fault_of(ended, codes=(0, 1, 2)) or lost(kept, scratch)


def _in_folder(script: Callable[[list[str]], int], arguments: list[str], folder: Path) -> int:
    os.chdir(folder)
    return script(arguments)


# --- What is damaged, and which script reads it ---


def _driven(model: str, *more: str) -> Command:
    return evaluate.main, ["--model", model, "--config", "short.json", "--laps", "1", *more]


def _resumed(model: str) -> list[str]:
    folders = ["--models-dir", "new", "--logs-dir", "new-logs"]
    return ["--resume", model, "--run-name", "c", "--timesteps", "8", "--num-envs", "2", "--eval-freq", "0", *folders]


def _damage_model(path: Path, chance: random.Random) -> None:
    def inner(name: str, content: bytes, chance: random.Random) -> bytes:
        return mutated_json(json.loads(content), chance) if name == "data" else mutated_bytes(content, chance)

    whole = path.rename(path.with_suffix(".whole"))
    if chance.random() < 0.5:  # what a file says about itself, most of all
        members = read_members(whole)
        write_members({**members, "data": inner("data", members["data"], chance)}, path)
    else:
        mutated_archive(whole, path, chance, inner)
    whole.unlink()


def _model(folder: Path, chance: random.Random) -> Command:
    _damage_model(folder / "models" / "a_final.zip", chance)
    return _driven(*chance.choice([("models/a_final",), ("a",), ("models/a_final.zip", "--any-physics")]))


def _model_to_resume(folder: Path, chance: random.Random) -> Command:
    run, script = chance.choice([("a", train_ppo.main), ("b", train_sac.main)])
    _damage_model(folder / "models" / f"{run}_final.zip", chance)
    arguments = _resumed(f"models/{run}_final.zip")
    if chance.random() < 0.3:
        arguments[0] = "--initialize-from"
    return script, arguments


def _statistics(folder: Path, chance: random.Random) -> Command:
    """Damage statistics of a model that does not know which ones are its own, so that they are read."""
    model = folder / "models" / "a_final.zip"
    path = statistics_path(model)
    path.write_bytes(mutated_statistics(path.read_bytes(), chance))
    if chance.random() < 0.9:
        members = read_members(model)
        document = json.loads(members["data"])
        for name in ("statistics_digest", "vecnormalize"):
            document.pop(name, None)
        write_members({**members, "data": json.dumps(document).encode()}, model)
    return _driven("models/a_final") if chance.random() < 0.5 else (train_ppo.main, _resumed("models/a_final.zip"))


def _buffer(folder: Path, chance: random.Random) -> Command:
    model = folder / "models" / "b_final.zip"
    path = buffer_path(model)
    whole = path.rename(path.with_suffix(".whole"))
    mutated_archive(whole, path, chance, lambda name, content, chance: mutated_array(content, chance))
    whole.unlink()
    members = read_members(model)
    document = json.loads(members["data"])
    document.pop("buffer_digest", None)
    write_members({**members, "data": json.dumps(document).encode()}, model)
    return train_sac.main, _resumed("models/b_final.zip")


def _recording(folder: Path, chance: random.Random) -> Command:
    def inner(name: str, content: bytes, chance: random.Random) -> bytes:
        if name != "card.npy":
            return mutated_array(content, chance)
        card = json.loads(str(np.load(io.BytesIO(content))))
        target = io.BytesIO()
        np.save(target, np.array(mutated_json(card, chance).decode("utf-8", "replace")))
        return target.getvalue()

    path = folder / "drive.npz"
    whole = path.rename(folder / "whole.npz")
    mutated_archive(whole, path, chance, inner)
    whole.unlink()
    return evaluate.main, ["--replay", "drive.npz"]


def _network(folder: Path, chance: random.Random) -> Command:
    path = folder / "driver.onnx"
    path.write_bytes(mutated_network(path.read_bytes(), chance))
    return _driven("driver.onnx", *chance.choice([[], ["--any-physics"]]))


def _damage_json(path: Path, chance: random.Random) -> None:
    path.write_bytes(mutated_json(json.loads(path.read_bytes()), chance))


def _track(folder: Path, chance: random.Random) -> Command:
    _damage_json(folder / "track.json", chance)
    if chance.random() < 0.7:
        return _driven("scripted", "--track-id", "track.json")
    (folder / "tracks").mkdir()
    (folder / "track.json").rename(folder / "tracks" / "any.json")
    return _driven("scripted", "--tracks-dir", "tracks")


def _configuration(folder: Path, chance: random.Random) -> Command:
    document = json.loads((folder / "config.json").read_bytes())
    document["episode"] = {"maxSteps": 40, "stillnessTimeoutTicks": 20}
    (folder / "config.json").write_bytes(mutated_json(document, chance))
    return evaluate.main, ["--model", "scripted", "--config", "config.json", "--laps", "1"]


def _preset(folder: Path, chance: random.Random) -> Command:
    document = json.loads((folder / "preset.json").read_bytes())
    document["arguments"], inner = {}, document["hyperparameters"]
    document = chance.choice([document, inner])
    (folder / "preset.json").write_bytes(mutated_json(document, chance))
    begin = ["--run-name", "c", "--timesteps", "64", "--num-envs", "2", "--eval-freq", "0", "--set", "steps_per_car=32"]
    return train_ppo.main, [*begin, "--hyperparams", "preset.json", "--models-dir", "new", "--logs-dir", "new-logs"]


def _log(folder: Path, chance: random.Random) -> Command:
    """Damage a file of a run's logs, and make a page of them or go on with the run."""
    path = chance.choice(sorted(path for path in (folder / "logs" / "a").rglob("*") if path.is_file()))
    if path.suffix == ".json":
        _damage_json(path, chance)
    else:
        path.write_bytes(mutated_bytes(path.read_bytes(), chance))
    if chance.random() < 0.5:
        return report.main, ["a", "--output", "page.html"]
    return train_ppo.main, ["--resume", "a", "--timesteps", "8", "--eval-freq", "0"]


def _file_of_the_bridge(folder: Path, chance: random.Random) -> Command:
    """Damage a file that the bridge reads at its start; with its standard input closed, it ends at once."""
    (folder / "tracks").mkdir()
    (folder / "track.json").rename(folder / "tracks" / "any.json")
    shutil.copy(PROJECT_ROOT / "physics.json", folder)
    flag, name, damaged = chance.choice(
        [
            ("--tracks-dir", "tracks", "tracks/any.json"),
            ("--config", "config.json", "config.json"),
            ("--physics", "physics.json", "physics.json"),
        ]
    )
    _damage_json(folder / damaged, chance)
    return _serve, [flag, name, "--port", "0", "--until-stdin-closes"]


def _serve(arguments: list[str]) -> int:
    """Become the bridge, where there is one."""
    program = BRIDGE_DIR / "dist" / "src" / "main.js"
    if shutil.which("node") is None or not program.is_file():
        return 0
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.execvp("node", ["node", str(program), *arguments])
    raise AssertionError("a process that has become another one does not return")
