"""What a killed run has left under temporary names."""

import re
from pathlib import Path

from racer_env.errors import ModelError
from training.checkpoints.data import ModelData, read_model_data
from training.checkpoints.files import buffer_path, document_path, read_statistics, run_of, statistics_path
from training.checkpoints.writing import beside, digest_of, move


def clear_leftovers(models_dir: Path, run: str) -> None:
    """Put in place what waits to be beside a model of a run, and delete what its killed process had not finished."""
    for waiting in models_dir.glob(f".{run}_*.partial.*"):
        name = waiting.name[1:].partition(".partial.")[0]
        model = models_dir / (re.sub("_(vecnormalize|replay_buffer)(?=_|$)", "", name) + ".zip")
        if run_of(model) == run:
            _complete(model)
            waiting.unlink(missing_ok=True)


def find_buffer(model: ModelData) -> Path | None:
    """Return the replay buffer that was saved with a model, whether or not it has got its own name; None if none."""
    place = buffer_path(model.path)
    digest = model.get("buffer_digest", str, None)
    for path in (place, beside(place)) if digest is not None else (place,):
        if path.is_file() and digest in (None, digest_of(path)):
            return path
    return None


def _complete(model: Path) -> None:
    """Rename the companions of a model that were written, but not renamed, when its process was killed."""
    try:
        data = read_model_data(model)
    except ModelError:
        return
    buffer, statistics, document = buffer_path(model), statistics_path(model), document_path(model)
    if find_buffer(data) == beside(buffer):
        move(beside(buffer), buffer)
    try:
        read_statistics(data, beside(statistics))
    except ModelError:
        return
    if beside(document).is_file():  # it is renamed first
        move(beside(document), document)
    move(beside(statistics), statistics)
