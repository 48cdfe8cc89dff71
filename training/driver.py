"""Drivers: a trained model with its statistics, an exported one, and a scripted one, as functions of observations."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.errors import ModelError
from racer_env.physics import Physics
from training.cli import MODELS_DIR, note
from training.model_data import read_model_data
from training.model_files import check_statistics, find_model, find_statistics
from training.model_files import statistics_path as own_statistics

SCRIPTED = "scripted"

Observations = npt.NDArray[np.float32]
Actions = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Driver:
    """Something that drives.

    Attributes:
        name: Its file, or what it is.
        act: From raw observations (N, 14) to actions (N, 3) steer, throttle, brake.
        action_repeat: Ticks that each action holds.
        track_ids: The tracks that it was trained on; none if it does not say.
        track_fingerprints: Of these tracks as they were then.
    """

    name: str
    act: Callable[[Observations], Actions]
    action_repeat: int = 1
    track_ids: tuple[str, ...] = ()
    track_fingerprints: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """A short name; an export's is that of its folder too."""
        path = Path(self.name)
        return f"{path.parent.name}/{path.name}" if path.suffix == ".onnx" else path.stem

    def __call__(self, observations: Observations) -> Actions:
        """Return actions (N, 3) for raw observations (N, 14)."""
        return self.act(observations)


def tracks_of(name: str | Path, models_dir: Path = MODELS_DIR) -> list[str]:
    """Return the tracks that a driver was trained on, before it is loaded; none if it does not say.

    Raises:
        ModelError: There is no such driver, or it cannot be read.
    """
    if str(name) == SCRIPTED:
        return []
    if Path(name).suffix == ".onnx":
        from training.onnx_driver import read_card

        return list(read_card(Path(name)).track_ids)
    return read_model_data(find_model(name, models_dir)).track_ids


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
    """Load a model with the statistics that belong to it, an exported ``.onnx`` file, or the scripted driver.

    Args:
        name: A model's file, with or without ``.zip``; a run, whose newest model it is; an ``.onnx`` file; "scripted".
        physics: What it is going to drive on; None is not known, and not checked.
        models_dir: Where runs are looked for.
        vecnorm: Its statistics, where they are not beside it.
        normalise: Whether it was trained on normalised observations.
        deterministic: Whether it drives without exploration noise.
        seed: Of that noise.
        device: Of PyTorch.
        any_physics: Load it although it was trained on other physics.

    Raises:
        ModelError: Model or statistics are missing, unreadable, or made for something else.
    """
    if (str(name) == SCRIPTED or Path(name).suffix == ".onnx") and (vecnorm is not None or not normalise):
        raise ModelError(f"--vecnorm and --no-vecnorm are about models of training, not about {name}; leave them out")
    if str(name) == SCRIPTED:
        return Driver(SCRIPTED, scripted_driver)
    if Path(name).suffix == ".onnx":
        from training.onnx_driver import load_onnx_driver

        if not deterministic:
            raise ModelError(f"{name} was exported without its exploration noise: it drives deterministically only")
        return load_onnx_driver(Path(name), None if any_physics else physics)
    data = read_model_data(find_model(name, models_dir))
    if vecnorm is not None:
        check_statistics(data, vecnorm)
    statistics_path = (vecnorm or find_statistics(data)) if normalise else None
    if not normalise and own_statistics(data.path).is_file():
        note(f"--no-vecnorm leaves out {own_statistics(data.path)}, with which {data.path.name} was trained")
    from training.model_loading import check_physics, load_model, prepare
    from training.statistics import load_statistics

    if not any_physics:
        check_physics(data, physics)
    prepare(seed, device)
    model = load_model(data, None, device)
    model.set_random_seed(seed)  # loading has seeded with the seed of training
    statistics = None if statistics_path is None else load_statistics(statistics_path)

    def act(observations: Observations) -> Actions:
        seen: Any = observations if statistics is None else statistics.normalize_obs(observations)
        actions, _ = model.predict(seen, deterministic=deterministic)
        return actions

    tracks = data.get("track_fingerprints", dict, {})
    return Driver(data.path.as_posix(), act, data.action_repeat, tuple(data.track_ids), tracks)


def scripted_driver(observations: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Drive by rule: steer to the side with more room, as fast as the view ahead allows.

    Args:
        observations: (N, 14).

    Returns:
        Actions (N, 3).
    """
    left = observations[:, 5] + 0.5 * observations[:, 6]
    right = observations[:, 3] + 0.5 * observations[:, 2]
    ahead, speed = observations[:, 4] * 200.0, observations[:, 9] * 160.0
    target = 20.0 + 0.75 * ahead
    actions = np.empty((len(observations), 3))
    actions[:, 0] = np.clip(4.0 * (right - left), -1.0, 1.0)
    actions[:, 1] = speed < target
    actions[:, 2] = speed > target + 10.0
    return actions
