"""Comparing exported files with the model they come from, in onnxruntime."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.base_class import BaseAlgorithm

from racer_env.bridge.url import EMBEDDED
from racer_env.config import AiConfig
from racer_env.tracks import AnyTrack
from racer_env.vec_env import RacerVecEnv
from training.checkpoints.data import ModelData
from training.checkpoints.files import DRIVER_NAME, MODEL_NAME, STATISTICS_NAME
from training.checkpoints.statistics import Normalisation
from training.console.messages import in_short
from training.drivers.beside import read_beside
from training.drivers.network import Network
from training.evaluation.course import Course, CourseCars
from training.evaluation.episode import Episode

Observations = npt.NDArray[np.float32]

TOLERANCE = 1e-5  # largest difference of an action between the model and its export
CHECKED_OBSERVATIONS = 1000


def check_files(
    folder: Path,
    data: ModelData,
    model: BaseAlgorithm,
    normalise: Normalisation,
    tracks: Sequence[AnyTrack],
    seed: int = 0,
) -> dict[str, float]:
    """Compare the exported files with the model, in onnxruntime.

    Args:
        folder: Folder with the exported files.
        data: What the model file says about itself.
        model: Model that was exported.
        normalise: How the observations are normalised that the model takes.
        tracks: Tracks to drive on.
        seed: Seed of the places from which observations are made.

    Returns:
        Largest difference of an action, by a description of what was compared.
    """
    network, driver = Network(folder / MODEL_NAME), Network(folder / DRIVER_NAME)
    as_written = read_beside(folder / STATISTICS_NAME).normalise

    def act(observations: Observations) -> Any:
        return model.predict(normalise(observations), deterministic=True)[0]

    seen = real_observations(act, tracks, CHECKED_OBSERVATIONS, seed)
    what = f"on {len(seen):,} real observations"
    differences = {
        f"{MODEL_NAME} {what}": _difference(network(as_written(seen)), act(seen)),
        f"{DRIVER_NAME} {what}": _difference(driver(seen), act(seen)),
    }
    along: list[float] = []

    def compared(observations: Observations) -> Any:
        actions = driver(observations)
        along.append(_difference(actions, act(observations)))
        along.append(_difference(network(as_written(observations)), actions))
        return actions

    with contextlib.closing(CourseCars(Course(tracks, AiConfig(), laps=1))) as cars:
        episodes = cars.drive(compared, data.action_repeat, show=False)
    names = in_short([f"{episode.track_id} ({_lap_in_words(episode)})" for episode in episodes])
    differences[f"both over a lap of {names}"] = max(along)
    return differences


def _lap_in_words(episode: Episode) -> str:
    return f"{episode.lap_times[0]:.2f} s" if episode.lap_ticks else f"not completed, {episode.steps:,} ticks"


def real_observations(
    act: Callable[[Observations], Any], tracks: Sequence[AnyTrack], count: int, seed: int
) -> Observations:
    """Return observations (count, 14) of a driver that starts all over the tracks."""
    cars = max(20, len(tracks))
    env = RacerVecEnv(tracks, cars, AiConfig(), random_start_share=1.0, bridge_url=EMBEDDED)
    env.seed(seed)
    seen: list[Any] = [env.reset()]
    while len(seen) * cars < count:
        seen.append(env.step(act(seen[-1]))[0])
    env.close()
    return np.concatenate(seen)[:count].astype(np.float32)


def _difference(one: Any, other: Any) -> float:
    """Return the largest difference; infinity if anything is NaN."""
    difference = float(np.max(np.abs(np.asarray(one, np.float64) - np.asarray(other, np.float64))))
    return difference if np.isfinite(difference) else float("inf")
