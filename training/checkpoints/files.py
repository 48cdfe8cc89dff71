"""Files of models: their names, and finding a model and the statistics that belong to it.

A model ``models/<run>_<steps>_steps.zip`` holds its normalisation statistics itself. For other programs they are also
beside it, in ``models/<run>_vecnormalize_<steps>_steps.pkl``; those of ``models/<run>_final.zip`` are in
``models/<run>_final_vecnormalize.pkl``, and likewise ``_interrupted`` and ``_best``. The same statistics are beside
them as ``.json``. The newest replay buffer (SAC, TD3) is named with ``replay_buffer`` instead of ``vecnormalize`` and
ends in ``.npz``.
"""

import contextlib
import dataclasses
import re
from pathlib import Path

from racer_env.errors import ModelError
from training.checkpoints.data import ModelData, read_model_data
from training.checkpoints.pickled import read_pickled
from training.checkpoints.statistics import Statistics, parse_statistics
from training.checkpoints.writing import digest_of, move
from training.console.arguments import MODELS_DIR
from training.console.messages import in_short, note

FINAL, INTERRUPTED, BEST = "final", "interrupted", "best"
# Files of an exported driver, in a folder of its own.
MODEL_NAME, STATISTICS_NAME, DRIVER_NAME = "model.onnx", "vecnorm_stats.json", "driver.onnx"
PRETRAINED = "pretrained"  # the driver that comes with the project, unless one of the user's runs has this name

STATISTICS = "vecnormalize"  # attribute of a model that holds its statistics
MAX_LISTINGS = 10  # how often a run's models are listed if training deletes some while they are read

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


def find_model(name: str | Path, models_dir: Path = MODELS_DIR) -> ModelData:
    """Read the model that a user named: a path, with or without ``.zip``, or a run, for its newest whole model.

    A name is also looked up in ``models_dir``, as ``quick_best`` or, of a sweep, ``sweep_1/trial_0003_seed_1_best``.

    Raises:
        ModelError: There is no such file or run, or it is not a model.
    """
    path = Path(name)
    if not path.name:
        raise ModelError(f"expected the path of a model or the name of a run, got {str(name)!r}")
    folders = [models_dir] if path.parent == Path() else [path.parent, models_dir / path.parent]
    for folder in folders:
        _complete_saves_of_before(folder)
    candidates = [path] if path.suffix == ".zip" else [path.with_name(path.name + ".zip"), path]
    candidates += [models_dir / candidate for candidate in candidates]
    for candidate in candidates if path.suffix != ".onnx" else []:
        if candidate.is_file():
            return read_model_data(candidate)
        if candidate.exists() and not candidate.is_dir():
            raise ModelError(f"{candidate} is no model: expected a regular file, and it is a pipe or a device")
    for folder in folders:
        if models_of(folder, path.name):
            return newest_model(folder, path.name)
    if path.suffix == ".onnx":
        raise ModelError(f"{path} is an exported driver; expected a model of training")
    there = next(filter(Path.is_dir, folders), folders[0])
    raise ModelError(f"no model or run {name}; {_what_there_is(path, there, models_dir)}")


def _what_there_is(path: Path, folder: Path, models_dir: Path) -> str:
    """Return what a user may have meant by a name that is neither a model nor a run of a folder."""
    if path == Path(PRETRAINED):
        return "the driver of that name comes with the project, exported; --initialize-from begins a run with it"
    if (path / DRIVER_NAME).is_file():
        return f"{path} is the folder of an exported one, {path / DRIVER_NAME}"
    for sweep in (path, models_dir / path):
        best = _best_in(sweep)
        if best is not None:
            return f"{sweep} is a sweep, or another folder of runs; the best of their models by its score is {best}"
    name = path.name.removesuffix(".zip")
    sweeps = sorted(filter(Path.is_dir, models_dir.iterdir())) if models_dir.is_dir() else []
    elsewhere = [str(sweep / name) for sweep in sweeps if (sweep / f"{name}.zip").is_file() or models_of(sweep, name)]
    if elsewhere:
        return f"there is {in_short(elsewhere)}"
    runs = sorted({run_of(file) for file in _models_in(folder)})
    more = f" and {len(runs) - 8:,} more" if len(runs) > 8 else ""
    return f"in {folder} there are: {', '.join(runs[:8])}{more}" if runs else "python -m training.train_ppo makes one"


def _best_in(folder: Path) -> Path | None:
    """Return the model of a folder with the best score, of those that were the best of their runs; None without any."""
    scores = dict[Path, tuple[float, float, float]]()
    for path in sorted(folder.glob(f"*_{BEST}.zip")):
        with contextlib.suppress(ModelError):
            score = read_model_data(path).score
            if score is not None:
                scores[path] = score
    return max(scores, key=lambda path: scores[path], default=None)


def is_model_or_run(name: str, models_dir: Path) -> bool:
    """Return whether a bare name is that of a model's file or of a run."""
    return any(path.is_file() for path in (Path(f"{name}.zip"), models_dir / f"{name}.zip")) or bool(
        models_of(models_dir, name)
    )


def note_own_pretrained(own: Path, bundled: Path) -> None:
    """Say that the name of the bundled driver stands for a model of the user, and where the bundled one is."""
    instead = f"; the driver that comes with the project is {bundled}" if bundled.is_file() else ""
    note(f"{PRETRAINED} is {own} here, a model of your own{instead}")


def models_of(folder: Path, run: str) -> list[Path]:
    """Return all models of a run, in no particular order."""
    return [file for file in _models_in(folder) if run_of(file) == run != file.stem]


def _models_in(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*.zip") if not file.name.startswith(".")] if folder.is_dir() else []


def readable_models(folder: Path, run: str) -> list[ModelData]:
    """Read what the models of a run say about themselves, oldest first; their contents would fill the memory."""
    found = []
    for path in models_of(folder, run):
        with contextlib.suppress(ModelError):
            found.append(dataclasses.replace(read_model_data(path), content=b""))
    return sorted(found, key=save_order)


def save_order(data: ModelData) -> tuple[int, int, bool]:
    """Return what sorts the models of a run in the order in which they were saved.

    The clock may have been set back meanwhile, so a counter decides. Models of before have none; of two with equal
    steps, the final or interrupted one is the later.
    """
    return data.saves, data.steps, PERIODIC.fullmatch(data.path.stem) is None


def newest_model(folder: Path, run: str) -> ModelData:
    """Read a run's newest model that is whole together with its statistics, and say which ones are not.

    The best model is returned only if there is no other, as it may be far behind. The run may be training: if models
    were deleted between being listed and being read, there are newer ones by now.

    Raises:
        ModelError: No model is whole.
    """
    best = model_path(folder, run, BEST)

    def order(data: ModelData) -> tuple[bool, tuple[int, int, bool]]:
        return data.path != best, save_order(data)

    for _ in range(MAX_LISTINGS):
        newest: ModelData | None = None
        odd: list[ModelError] = []
        are_all_there = True
        for path in models_of(folder, run):
            try:
                data = read_model_data(path)
                find_statistics(data)
            except ModelError as error:
                odd.append(error)
                are_all_there = are_all_there and path.exists()
                continue
            if newest is None or order(newest) < order(data):
                newest = data
        if are_all_there:
            break
    for reason in odd:
        note(f"passing over a file that is not whole: {reason}")
    if newest is None:
        raise ModelError(f"the run {run!r} in {folder} has no model that is whole")
    return newest


# --- Statistics ---


def find_statistics(model: ModelData) -> Statistics:
    """Return the statistics that belong to a model: its own, or those beside a model that has none in its file.

    Raises:
        ModelError: They are missing or damaged, or belong to another model.
    """
    if STATISTICS in model.attributes:
        return parse_statistics(model.attributes[STATISTICS], f"the statistics in {model.path}")
    path = statistics_path(model.path)
    if not path.is_file():
        raise ModelError(
            f"the statistics of {model.path} are missing: expected {path}; put them there, as training wrote them, or "
            "name their file with --vecnorm FILE; a model that was trained without normalisation needs --no-vecnorm"
        )
    return read_statistics(model, path)


def read_statistics(model: ModelData, path: Path) -> Statistics:
    """Read a file of statistics, and refuse those that the model was not saved with; one that does not say takes any.

    Raises:
        ModelError: The statistics are others, missing, or cannot be read.
    """
    if not path.is_file():
        raise ModelError(f"statistics file not found: {path}")
    statistics = read_pickled(path)
    if STATISTICS in model.attributes:
        is_its_own = statistics == find_statistics(model)
    else:
        is_its_own = model.statistics_digest in (None, digest_of(path))
    if not is_its_own:
        raise ModelError(
            f"the statistics {path} are not those that {model.path} was saved with; a driver is nothing without its "
            "own, so put them back as training wrote them"
        )
    return statistics


def _complete_saves_of_before(folder: Path) -> None:
    """Rename models of before whose saving was cut off between two renames: statistics in place, the model not yet.

    A model of today holds its statistics, and is in place or not: one that waits is not looked at.
    """
    for waiting in folder.glob(".*.partial.zip"):
        model = waiting.with_name(waiting.name.removeprefix(".").replace(".partial.zip", ".zip"))
        with contextlib.suppress(ModelError):
            data = read_model_data(waiting)
            if STATISTICS in data.attributes or data.statistics_digest is None:
                continue
            if model.is_file() and read_model_data(model).statistics_digest == data.statistics_digest:
                continue
            read_statistics(data, statistics_path(model))
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
