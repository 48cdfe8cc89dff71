"""Export a driver for the game: ``python -m training.export_onnx --model PATH``."""

import argparse
import contextlib
import json
import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from racer_env.bridge.url import EMBEDDED
from racer_env.config import AiConfig
from racer_env.errors import ModelError
from racer_env.contract import TICKS_PER_SECOND
from racer_env.spaces import make_action_space, make_observation_space
from training.cli import (
    ANSWER_IS_NO,
    DONE,
    MAX_SEED,
    MODELS_DIR,
    Parser,
    add_track_arguments,
    command_line,
    in_short,
    leave,
    run_script,
    say,
    track_flags,
    whole_number,
)
from training.model_data import ModelData, read_model_data
from training.model_files import DRIVER_NAME, check_statistics, find_model, find_statistics, load_tracks_for
from training.onnx_driver import (
    CARD_KEY,
    INPUT,
    OUTPUT,
    STATISTICS_NAME,
    open_session,
    read_normalisation,
    run,
    statistics_digest,
)
from training.run_record import note_changed_tracks

if TYPE_CHECKING:
    import torch
    from gymnasium.spaces import Box
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecNormalize

    from racer_env.tracks import AnyTrack
    from training.evaluation import Episode

Observations = npt.NDArray[np.float32]

MODEL_NAME = "model.onnx"
OPSET = 18
TOLERANCE = 1e-5  # of an action, between the model and what is exported
CHECKED_OBSERVATIONS = 1000

OBSERVATION_NAMES = (*(f"ray_{ray}" for ray in range(9)), "speed", "yaw_rate", "steer", "arc_length", "centre_distance")
ACTION_NAMES = ("steer", "throttle", "brake")


def make_parser() -> Parser:
    """Return the command line."""
    parser = Parser(
        prog="python -m training.export_onnx",
        description=f"Export a driver as ONNX: {MODEL_NAME} with {STATISTICS_NAME}, which the game loads, and "
        f"{DRIVER_NAME}, which takes the raw observation. All are checked against the model before they are written.",
        epilog="Model files contain pickles. They are left closed: only JSON, tensors and checked statistics are read.",
    )
    parser.add_argument(
        "--model", required=True, metavar="MODEL", help="a model's path, or a run's name: its newest one, not its best"
    )
    parser.add_argument(
        "--vecnorm", type=Path, metavar="FILE", help="the model's statistics (default: as training names them)"
    )
    parser.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="where the three files go (default: a folder named as the model)"
    )
    parser.add_argument(
        "--seed", type=whole_number(0, MAX_SEED), default=0, help="of the observations to check it on (default: 0)"
    )
    parser.add_argument(
        "--models-dir", type=Path, default=MODELS_DIR, help="where runs are looked for (default: models/)"
    )
    add_track_arguments(parser, "those that the model was trained on", has_config=False)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_export, make_parser().parse_args(argv))


def _export(arguments: argparse.Namespace) -> int:
    data = read_model_data(find_model(arguments.model, arguments.models_dir))
    if arguments.vecnorm is not None:
        check_statistics(data, arguments.vecnorm)
    statistics_path = arguments.vecnorm or find_statistics(data)
    tracks = load_tracks_for(data.track_ids, arguments.track_id, arguments.tracks_dir)
    note_changed_tracks(data.get("track_fingerprints", dict, {}), data.path.name, tracks)
    folder = arguments.output_dir or data.path.with_suffix("")
    for name in (MODEL_NAME, STATISTICS_NAME, DRIVER_NAME):
        if (folder / name).is_dir():
            raise ModelError(f"{folder / name} is a folder; name another --output-dir")
    folder.mkdir(parents=True, exist_ok=True)
    say(f"exporting {data.path} ...")

    from training.model_loading import load_model, prepare
    from training.statistics import load_statistics

    prepare(arguments.seed, "cpu")
    model, statistics = load_model(data, None, "cpu"), load_statistics(statistics_path)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:  # nothing takes its place before it was checked
        beside = Path(temporary)
        write_files(beside, data, model, statistics)
        differences = check_files(beside, data, model, statistics, tracks, arguments.seed)
        for what, difference in differences.items():
            if not difference <= TOLERANCE:
                say(f"{what}: differs from the model by up to {difference:.3g}, more than {TOLERANCE:g}")
        if not all(difference <= TOLERANCE for difference in differences.values()):
            say("nothing was written")
            return ANSWER_IS_NO
        for name in (MODEL_NAME, STATISTICS_NAME, DRIVER_NAME):
            (beside / name).replace(folder / name)
    for what, difference in differences.items():
        say(f"{what}: equals the model, largest difference of an action {difference:.1e}")
    for name, meaning in (
        (MODEL_NAME, f"takes observations normalised with {STATISTICS_NAME}"),
        (STATISTICS_NAME, "mean and variance of the observations"),
        (DRIVER_NAME, "takes raw observations"),
    ):
        say(f"saved {folder / name} ({(folder / name).stat().st_size / 1024:.1f} KB), {meaning}")
    if data.action_repeat > 1:
        say(f"each of its actions has to be held for {data.action_repeat} ticks; the files say so")
    see = ["python", "-m", "training.evaluate", "--model", str(folder / DRIVER_NAME), *track_flags(arguments)]
    say(f"see it lap: {command_line(see)}")
    return DONE


# --- Writing ---


def write_files(folder: Path, data: ModelData, model: "BaseAlgorithm", statistics: "VecNormalize") -> None:
    """Write the three files into a folder.

    Args:
        folder: Where.
        data: What the model says about itself.
        model: The model.
        statistics: Its normalisation.
    """
    from training.networks import DeterministicPolicy, NormalisingPolicy
    from training.statistics import statistics_document

    policy = DeterministicPolicy(data.algorithm, model.policy)
    document = statistics_document(statistics)
    keys = ("obs_mean", "obs_var", "clip_obs", "epsilon")
    stats = {**{key: document[key] for key in keys}, "action_repeat": data.action_repeat}
    (folder / STATISTICS_NAME).write_text(json.dumps(stats, indent=2) + "\n", encoding="utf-8")
    _write_onnx(policy, folder / MODEL_NAME, _metadata(data, normalises=False, stats=stats))
    _write_onnx(NormalisingPolicy(policy, stats), folder / DRIVER_NAME, _metadata(data, normalises=True, stats=stats))


def _metadata(data: ModelData, normalises: bool, stats: dict[str, Any]) -> dict[str, str]:
    """Return the metadata of an exported driver, each value JSON."""
    observations, actions = make_observation_space(), make_action_space()
    card = {
        "normalises": normalises,
        "action_repeat": data.action_repeat,
        "statistics": statistics_digest(stats),
        "track_ids": data.track_ids,
        "track_fingerprints": data.get("track_fingerprints", dict, {}),
        "physics_fingerprint": data.get("physics_fingerprint", str, None),
        "algorithm": data.algorithm,
        "steps": data.steps,
        "ticks_per_second": TICKS_PER_SECOND,
        "observation": _ranges(OBSERVATION_NAMES, observations),
        "actions": _ranges(ACTION_NAMES, actions),
    }
    return {CARD_KEY: json.dumps(card)}


def _ranges(names: Sequence[str], space: "Box") -> list[dict[str, Any]]:
    bounds = zip(names, space.low.tolist(), space.high.tolist(), strict=True)
    return [{"name": name, "low": low, "high": high} for name, low, high in bounds]


def _write_onnx(network: "torch.nn.Module", path: Path, metadata: dict[str, str]) -> None:
    """Write a network as one file: by the exporter that follows torch.export, with opset OPSET and any batch size."""
    import onnx
    import torch

    with _quiet():
        program = torch.onnx.export(
            network,
            (torch.zeros(2, len(OBSERVATION_NAMES)),),
            dynamo=True,
            opset_version=OPSET,
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_shapes=({0: torch.export.Dim("batch")},),
            external_data=False,
            verbose=False,
        )
    assert program is not None
    document = program.model_proto
    for part in (*document.graph.node, *document.graph.input, *document.graph.output, *document.graph.initializer):
        part.ClearField("doc_string")  # where in whose files it was exported: of no use, and larger than the network
        del part.metadata_props[:]
    del document.graph.value_info[:], document.graph.metadata_props[:], document.metadata_props[:]
    document.graph.name = path.stem
    onnx.helper.set_model_props(document, metadata)
    onnx.checker.check_model(document, full_check=True)
    onnx.save_model(document, path)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide what the exporter says about itself."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


# --- Checking ---


def check_files(
    folder: Path,
    data: ModelData,
    model: "BaseAlgorithm",
    statistics: "VecNormalize",
    tracks: "Sequence[AnyTrack]",
    seed: int = 0,
) -> dict[str, float]:
    """Compare the exported files with the model, in onnxruntime.

    Args:
        folder: Where the files are.
        data: What the model says about itself.
        model: The model.
        statistics: Its normalisation.
        tracks: Where to drive.
        seed: Of where the observations are made.

    Returns:
        The largest difference of an action, by what was compared.
    """
    from training.evaluation import Course

    network, driver = open_session(folder / MODEL_NAME), open_session(folder / DRIVER_NAME)
    normalise = read_normalisation(folder / STATISTICS_NAME)

    def act(observations: Observations) -> Any:
        normalised: Any = statistics.normalize_obs(observations)
        return model.predict(normalised, deterministic=True)[0]

    seen = real_observations(act, tracks, CHECKED_OBSERVATIONS, seed)
    what = f"on {len(seen):,} real observations"
    differences = {
        f"{MODEL_NAME} {what}": _difference(run(network, normalise(seen)), act(seen)),
        f"{DRIVER_NAME} {what}": _difference(run(driver, seen), act(seen)),
    }
    along: list[float] = []

    def compared(observations: Observations) -> Any:
        actions = run(driver, observations)
        along.append(_difference(actions, act(observations)))
        along.append(_difference(run(network, normalise(observations)), actions))
        return actions

    with contextlib.closing(Course(tracks, config=AiConfig(), laps=1)) as course:
        episodes = course.drive(compared, data.action_repeat, show=False)
    names = in_short([f"{episode.track_id} ({_lap_in_words(episode)})" for episode in episodes])
    differences[f"both over a lap of {names}"] = max(along)
    return differences


def _lap_in_words(episode: "Episode") -> str:
    return f"{episode.lap_times[0]:.2f} s" if episode.lap_ticks else f"not completed, {episode.steps:,} ticks"


def real_observations(
    act: Callable[[Observations], Any], tracks: "Sequence[AnyTrack]", count: int, seed: int
) -> Observations:
    """Return observations (count, 14) of a driver that starts all over the tracks."""
    from racer_env.vec_env import RacerVecEnv

    cars = max(20, len(tracks))
    env = RacerVecEnv(tracks, cars, random_start_share=1.0, bridge_url=EMBEDDED)
    env.seed(seed)
    seen: list[Any] = [env.reset()]
    while len(seen) * cars < count:
        seen.append(env.step(act(seen[-1]))[0])
    env.close()
    return np.concatenate(seen)[:count].astype(np.float32)


def _difference(one: Any, other: Any) -> float:
    """Return the largest difference; infinity where anything is no number."""
    difference = float(np.max(np.abs(np.asarray(one, np.float64) - np.asarray(other, np.float64))))
    return difference if np.isfinite(difference) else float("inf")


if __name__ == "__main__":
    leave(main())
