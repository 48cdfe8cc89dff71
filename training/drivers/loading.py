"""Finding and loading the driver that a user names."""

from dataclasses import replace
from pathlib import Path

from racer_env.errors import ModelError
from racer_env.physics import Physics
from racer_env.project import PRETRAINED_DRIVER
from training.checkpoints.checkpoint import find_checkpoint
from training.checkpoints.data import check_physics
from training.checkpoints.files import PRETRAINED, find_model, is_model_or_run, note_own_pretrained
from training.console.arguments import MODELS_DIR
from training.drivers.driver import Driver
from training.drivers.scripted import scripted_driver

SCRIPTED = "scripted"


def tracks_of(name: str | Path, models_dir: Path = MODELS_DIR) -> list[str]:
    """Return the ids of the tracks that a driver was trained on, before it is loaded; empty if it does not say.

    Raises:
        ModelError: There is no such driver, or it cannot be read.
    """
    if str(name) == SCRIPTED:
        return []
    exported = exported_path(name, models_dir)
    if exported is not None:
        from training.drivers.card import read_card  # onnxruntime takes 0.1 s to load

        card = read_card(exported)
        return [] if card is None else list(card.track_ids)
    return find_model(name, models_dir).track_ids


def load_driver(
    name: str | Path,
    physics: Physics | None,
    *,
    models_dir: Path = MODELS_DIR,
    vecnorm: Path | None = None,
    normalise: bool = True,
    deterministic: bool = True,
    seed: int = 0,
    device: str = "cpu",
    any_physics: bool = False,
) -> Driver:
    """Load a model with the statistics that belong to it, an ``.onnx`` file, or the scripted driver.

    Args:
        name: Path of a model, with or without ``.zip``; a run, for its newest model; an ``.onnx`` file;
            "pretrained"; "scripted".
        physics: Physics that it is going to drive on; None skips the check, as they are not known.
        models_dir: Folder in which runs are looked up.
        vecnorm: Path of its statistics, if they are neither in it nor beside it.
        normalise: Whether the model was trained on normalised observations.
        deterministic: Whether it drives without exploration noise.
        seed: Seed of the exploration noise.
        device: PyTorch device, such as ``"cpu"``.
        any_physics: Whether a driver trained on other physics is accepted.

    Raises:
        ModelError: Model or statistics are missing, unreadable, or made for something else.
    """
    exported = exported_path(name, models_dir)
    if str(name) == SCRIPTED:
        if vecnorm is not None or not normalise:
            raise ModelError("the scripted driver has no statistics; leave out --vecnorm and --no-vecnorm")
        return Driver(SCRIPTED, scripted_driver, given=SCRIPTED)
    if exported is not None:
        from training.drivers.exported import load_onnx_driver

        if not deterministic:
            raise ModelError(f"{name} was exported without its exploration noise: it drives deterministically only")
        checked = None if any_physics else physics
        driver = load_onnx_driver(exported, checked, statistics=vecnorm, normalises=normalise)
        return replace(driver, given=str(name))
    checkpoint = find_checkpoint(name, models_dir, statistics=vecnorm, normalises=normalise)
    if str(name) == PRETRAINED:
        note_own_pretrained(checkpoint.data.path, PRETRAINED_DRIVER)
    algorithm = checkpoint.data.algorithm
    if not deterministic and not algorithm.is_stochastic:
        raise ModelError(f"{name} is a {algorithm.name} model, whose policy has no noise; leave out --no-deterministic")
    check_physics(checkpoint.data.path, checkpoint.data.physics, None if any_physics else physics)
    from training.drivers.trained import load_trained_driver  # PyTorch takes 2 s to load

    driver = load_trained_driver(checkpoint, deterministic=deterministic, seed=seed, device=device)
    return replace(driver, given=str(name))


def exported_path(name: str | Path, models_dir: Path) -> Path | None:
    """Return the file of the exported driver that a name stands for; None if it stands for none."""
    if str(name) == PRETRAINED and not is_model_or_run(PRETRAINED, models_dir):
        return PRETRAINED_DRIVER
    return Path(name) if Path(name).suffix == ".onnx" else None
