"""Files of models: their names, and finding a model and the statistics that belong to it.

A model ``models/<run>_<steps>_steps.zip`` has its normalisation statistics in
``models/<run>_vecnormalize_<steps>_steps.pkl``; the finished ``models/<run>_final.zip`` in
``models/<run>_final_vecnormalize.pkl``, and likewise ``_interrupted`` and ``_best``. The same statistics are beside
them as ``.json``. The newest replay buffer (SAC, TD3) is named with ``replay_buffer`` instead of ``vecnormalize`` and
ends in ``.npz``.
"""

import re
import zipfile
from pathlib import Path

from racer_env.errors import ModelError
from training.checkpoints.data import ModelData, read_model_data
from training.checkpoints.writing import beside, digest_of, move
from training.console.arguments import MODELS_DIR
from training.console.messages import note

FINAL, INTERRUPTED, BEST = "final", "interrupted", "best"
# Files of an exported driver, in a folder of its own.
MODEL_NAME, STATISTICS_NAME, DRIVER_NAME = "model.onnx", "vecnorm_stats.json", "driver.onnx"
PRETRAINED = "pretrained"  # the driver that comes with the project, unless one of the user's runs has this name

PERIODIC = re.compile(r"(?P<run>.+)_(?P<steps>\d+)_steps")
TAGGED = re.compile(rf"(?P<run>.+)_({FINAL}|{INTERRUPTED}|{BEST})")


def model_path(models_dir: Path, run: str, tag: str | int) -> Path:
    """Return the path of a run's model; ``tag`` is a step count, or ``final``, ``interrupted``, ``best``."""
    return models_dir / (f"{run}_{tag}_steps.zip" if isinstance(tag, int) else f"{run}_{tag}.zip")


def statistics_path(model: Path) -> Path:
    """Return the path of a model's statistics, derived from the model's name."""
    return _companion(model, "vecnormalize", ".pkl")


def document_path(model: Path) -> Path:
    """Return the path of a model's statistics as JSON."""
    return _companion(model, "vecnormalize", ".json")


def buffer_path(model: Path) -> Path:
    """Return the path that the model's replay buffer would have."""
    return _companion(model, "replay_buffer", ".npz")


# Paths of the files that belong to a model.
COMPANIONS = (document_path, statistics_path, buffer_path)


def _companion(model: Path, what: str, suffix: str) -> Path:
    periodic = PERIODIC.fullmatch(model.stem)
    if periodic:
        return model.with_name(f"{periodic['run']}_{what}_{periodic['steps']}_steps{suffix}")
    return model.with_name(f"{model.stem}_{what}{suffix}")


def run_of(model: Path) -> str:
    """Return the name of a model's run, derived from the model's name."""
    match = PERIODIC.fullmatch(model.stem) or TAGGED.fullmatch(model.stem)
    return match["run"] if match else model.stem


# --- Finding ---


def find_model(name: str | Path, models_dir: Path = MODELS_DIR) -> Path:
    """Return the model file that a user named: a path, with or without ``.zip``, or a run's newest whole model.

    A bare file name is also looked up in ``models_dir``.

    Raises:
        ModelError: There is no such file or run, or it is not a model.
    """
    path = Path(name)
    if not path.name:
        raise ModelError(f"expected the path of a model or the name of a run, got {str(name)!r}")
    candidates = [path] if path.suffix == ".zip" else [path.with_name(path.name + ".zip"), path]
    if path.parent == Path():
        candidates += [models_dir / candidate for candidate in candidates]
    for candidate in candidates if path.suffix != ".onnx" else []:
        settle(candidate)
        if candidate.is_file():
            if not zipfile.is_zipfile(candidate):
                raise ModelError(f"{candidate} is no model: expected a zip file as stable-baselines3 writes it")
            return candidate
        if candidate.exists() and not candidate.is_dir():
            raise ModelError(f"{candidate} is no model: expected a regular file, and it is a pipe or a device")
    folder = path.parent if path.parent != Path() else models_dir
    if models_of(folder, path.name):
        return newest_model(folder, path.name)
    if path.suffix == ".onnx":
        raise ModelError(f"{path} is an exported driver; expected a model of training")
    runs = sorted({run_of(file) for file in folder.glob("*.zip")}) if folder.is_dir() else []
    more = f" and {len(runs) - 8:,} more" if len(runs) > 8 else ""
    hint = f"in {folder} there are: {', '.join(runs[:8])}{more}" if runs else "python -m training.train_ppo makes one"
    if (path / DRIVER_NAME).is_file():
        hint = f"{path} is the folder of an exported one, {path / DRIVER_NAME}"
    if str(name) == PRETRAINED:
        hint = "the driver of that name is an exported one, which can drive and no more"
    raise ModelError(f"no model or run {name}; {hint}")


def is_model_or_run(name: str, models_dir: Path) -> bool:
    """Return whether a bare name is that of a model's file or of a run."""
    return any(path.is_file() for path in (Path(f"{name}.zip"), models_dir / f"{name}.zip")) or bool(
        models_of(models_dir, name)
    )


def models_of(folder: Path, run: str) -> list[Path]:
    """Return all models of a run, in no particular order."""
    files = folder.glob("*.zip") if folder.is_dir() else iter(())
    return [file for file in files if not file.name.startswith(".") and run_of(file) == run != file.stem]


def newest_model(folder: Path, run: str) -> Path:
    """Return a run's newest model that is whole together with its statistics, and say which ones are not.

    The best model is returned only if there is no other, as it may be far behind.

    Raises:
        ModelError: No model is whole.
    """
    found: list[ModelData] = []
    for path in models_of(folder, run):
        settle(path)
        try:
            data = read_model_data(path)
            find_statistics(data)
        except ModelError as error:
            note(f"passing over a file that is not whole: {error}")
        else:
            found.append(data)
    if not found:
        raise ModelError(f"the run {run!r} in {folder} has no model that is whole")
    best = model_path(folder, run, BEST)
    return max(found, key=lambda data: (data.path != best, data.saved_at, data.steps)).path


def find_statistics(model: ModelData) -> Path:
    """Return the statistics file that belongs to a model.

    Raises:
        ModelError: The file is missing, or belongs to another model.
    """
    path = statistics_path(model.path)
    if not path.is_file():
        raise ModelError(
            f"the statistics of {model.path} are missing: expected {path}; put them there, as training wrote them"
        )
    check_statistics(model, path)
    return path


def check_statistics(model: ModelData, path: Path) -> None:
    """Refuse statistics that the model was not saved with; a model that does not say accepts any.

    Raises:
        ModelError: The statistics are others, or cannot be read.
    """
    if not path.is_file():
        raise ModelError(f"statistics file not found: {path}")
    if model.statistics_digest not in (None, digest_of(path)):
        raise ModelError(
            f"the statistics {path} are not those that {model.path} was saved with; a driver is nothing without its "
            "own, so put them back as training wrote them"
        )


def settle(model: Path) -> None:
    """Complete a save that was cut off between its two renames: the statistics are new, the model not yet.

    Before that moment the old pair is whole, after it the new one; other leftovers are for the next save to replace.
    """
    waiting = beside(model)
    if not waiting.is_file():
        return
    try:
        digest = read_model_data(waiting).statistics_digest
        if digest is None:
            return
        check_statistics(read_model_data(waiting), statistics_path(model))
    except ModelError:
        return
    try:
        is_whole = model.is_file() and read_model_data(model).statistics_digest == digest
    except ModelError:
        is_whole = False
    if not is_whole:
        move(waiting, model)
        note(f"completed {model}, whose saving had been cut off")


def check_export_folder(folder: Path) -> None:
    """Make the folder that a driver is exported to, and refuse one that cannot hold it.

    Raises:
        ModelError: A folder has the name of a file to be written.
        OSError: The folder cannot be made.
    """
    for name in (MODEL_NAME, STATISTICS_NAME, DRIVER_NAME):
        if (folder / name).is_dir():
            raise ModelError(f"{folder / name} is a folder; name another --output-dir")
    folder.mkdir(parents=True, exist_ok=True)
