"""What speed.py measures: the rows of its tables, each in a process of its own."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from docs.speed import LEAST_CARS, Figures
from racer_env.bridge.url import EMBEDDED
from racer_env.config import AiConfig
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track, load_track, load_tracks
from racer_env.tracks.names import expand_names
from racer_env.vec_env import RacerVecEnv
from training.algorithms.inference import make_inference
from training.algorithms.members.ppo import ALGORITHM, PpoSettings
from training.checkpoints.loading import prepare
from training.checkpoints.statistics import NONE
from training.drivers.scripted import scripted_driver
from training.evaluation.course import Course
from training.runs.training_speed import LAPS, Evaluation, Training

try:
    import resource
except ImportError:  # Windows has none
    resource = None

TRACK = "track-01"
TIMED_STEPS = 200_000  # of all cars of a simulator, in a turn
TIMED_TICKS = (50, 5_000)  # least and most of each car

Actions = np.ndarray


def serve(table: str, value: int) -> None:
    """Measure a turn of a row for each line that comes in, and print its figures."""
    prepare(0, "cpu")
    measured = MEASURED[table](value)
    for _ in sys.stdin:
        print(json.dumps(next(measured) | peak_memory()), flush=True)


def peak_memory() -> Figures:
    """Return the most bytes that this process has held in memory, where the system tells."""
    if resource is None:
        return {}
    unit = 1 if sys.platform == "darwin" else 1024
    return {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}


def cars_on_a_track(count: int) -> Iterator[Figures]:
    """Yield the steps per second of so many cars: in the simulator, in the environment, and in training."""
    track = load_track(TRACK)
    game, training = make_game([track], count), Training.on(make_game([track], count), PpoSettings())
    game.reset()
    actions = record(game.simulator)
    while True:
        game.seed(0)
        game.reset()  # to where the actions begin
        rates = {"simulator": rate_of(copy_of(game.simulator).step, actions)}
        rates["environment"] = rate_of(game.step, actions)
        yield rates | rates_of(training)


def tracks(count: int) -> Iterator[Figures]:
    """Yield the seconds of making so many tracks and their tables, and the steps per second on them."""
    Simulator([load_track(TRACK)])  # compiles, or loads what is compiled
    began = time.perf_counter()
    roads = load_tracks(expand_names([f"procedural:{count}"], seed=0))
    made = time.perf_counter()
    game = make_game(roads, max(count, LEAST_CARS))
    making = {"tracks": made - began, "tables": time.perf_counter() - made}
    training = Training.on(game, PpoSettings())  # places the cars
    placed = copy_of(game.simulator)
    actions = record(placed)
    while True:
        yield making | {"simulator": rate_of(copy_of(placed).step, actions)} | rates_of(training)


def width(units: int) -> Iterator[Figures]:
    """Yield the steps per second of training a network with two hidden layers of so many units, and of its laps."""
    track = load_track(TRACK)
    training = Training.on(make_game([track], ALGORITHM.cars), PpoSettings(hidden=(units, units)))
    course = Course([track], AiConfig(), LAPS, keeps_actions=True)
    evaluation = Evaluation(course, make_inference(ALGORITHM, training.model, NONE.scaling))
    while True:
        rates, seconds = rates_of(training), evaluation.turn()["driving"]
        yield rates | {"evaluation": evaluation.ticks / seconds}


MEASURED: dict[str, Callable[[int], Iterator[Figures]]] = {"cars": cars_on_a_track, "tracks": tracks, "width": width}


def make_game(roads: Sequence[Track], cars: int) -> RacerVecEnv:
    """Return an environment whose cars start as in training."""
    share = PpoSettings().random_start_share
    game = RacerVecEnv(roads, cars, AiConfig(), bridge_url=EMBEDDED, random_start_share=share)
    game.seed(0)
    return game


def copy_of(simulator: Simulator) -> Simulator:
    """Return a simulator that goes on from the same state; the tables are shared."""
    return simulator.only(np.arange(len(simulator.cars)))


def record(simulator: Simulator) -> list[Actions]:
    """Return the actions of the scripted driver on the ticks to be timed; the simulator stays as it is."""
    driven, (least, most) = copy_of(simulator), TIMED_TICKS
    actions = []
    for _ in range(min(max(TIMED_STEPS // len(driven.cars), least), most)):
        actions.append(scripted_driver(driven.observations))
        driven.step(actions[-1])
    return actions


def rate_of(step: Callable[[Actions], object], actions: Sequence[Actions]) -> float:
    """Return the steps per second of all cars under some actions."""
    began = time.perf_counter()
    for each in actions:
        step(each)
    return len(actions) * len(actions[0]) / (time.perf_counter() - began)


def rates_of(training: Training) -> Figures:
    """Return the steps per second of collecting a rollout, of learning from it, and of both."""
    return {what: training.steps / seconds for what, seconds in training.turn().items()}
