"""How fast training and evaluation are, beside what they stand on: measured in turns, as other work slows all alike."""

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecNormalize
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
from tqdm import tqdm

from racer_env.bridge.url import EMBEDDED
from racer_env.config import AiConfig
from racer_env.tracks import Track
from racer_env.vec_env import RacerVecEnv
from training.algorithms.algorithm import Algorithm
from training.algorithms.inference import make_inference
from training.algorithms.members.ppo import ALGORITHM, PpoSettings
from training.algorithms.registry import algorithm_named
from training.algorithms.settings import Settings
from training.checkpoints.fast_normalize import FastNormalize
from training.checkpoints.loading import prepare
from training.checkpoints.statistics import NONE
from training.drivers.scripted import scripted_driver
from training.evaluation.course import Course, CourseCars
from training.evaluation.driving import Policy
from training.runs.environment import CLIP
from training.runs.health import HealthCallback
from training.runs.metrics import RacerMetricsCallback
from training.runs.monitor import Monitor

TURNS = 12  # of each subject; a turn is a rollout, or an evaluation
SHORT_ROLLOUTS = 16  # of one step of every car each, which are a turn where there is a replay buffer
LONG = 1_000_000  # steps of a run that is never finished here
PRODUCT, PLAIN, NULL = "this toolkit", "plain stable-baselines3", "this toolkit without a game"
PYTORCH = "with PyTorch's forward pass"
LAPS = 3

Figures = dict[str, dict[str, float]]


class Null(VecEnvWrapper):
    """A game that costs nothing: every step ends as the first one did."""

    def reset(self) -> VecEnvObs:
        """Begin, and drive the only step."""
        observations = self.venv.reset()
        self._step = self.venv.step(np.zeros((self.num_envs, 3), np.float32))
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Ignore the actions."""

    def step_wait(self) -> VecEnvStepReturn:
        """Return the only step."""
        observations, rewards, dones, infos = self._step
        return observations, rewards, dones, [*infos]


class Training:
    """A run that goes on for a turn at a time.

    Attributes:
        model: The model that learns.
        steps: Environment steps of a turn.
    """

    def __init__(
        self,
        env: VecNormalize,
        settings: Settings,
        callbacks: Sequence[BaseCallback],
        algorithm: Algorithm = ALGORITHM,
    ) -> None:
        arguments = algorithm.arguments(settings, env.num_envs, LONG)
        model: Any = algorithm.make_model(env, settings, arguments, 0, "cpu")
        model.set_logger(Logger(None, []))
        self.model = model
        self._has_buffer = algorithm.has_buffer
        self._rollouts = SHORT_ROLLOUTS if self._has_buffer else 1
        self.steps = algorithm.rollout_steps(settings, env.num_envs) * self._rollouts
        self._total, self._callback = self.model._setup_learn(LONG, CallbackList([*callbacks]))
        self._callback.on_training_start({}, {})
        while self._has_buffer and self.model.num_timesteps <= self.model.learning_starts:
            self._collect()

    @classmethod
    def on(cls, game: VecEnv, settings: Settings, algorithm: Algorithm = ALGORITHM) -> "Training":
        """Return a run as this toolkit trains, from the monitor on."""
        env = FastNormalize(Monitor(game), clip_obs=CLIP, clip_reward=CLIP, gamma=settings.gamma)
        return cls(env, settings, [HealthCallback(env), RacerMetricsCallback()], algorithm)

    def turn(self) -> dict[str, float]:
        """Return the seconds of collecting and of learning."""
        collecting = learning = 0.0
        for _ in range(self._rollouts):
            began = time.perf_counter()
            self._collect()
            collected = time.perf_counter()
            self._learn()
            collecting += collected - began
            learning += time.perf_counter() - collected
        return {"collecting": collecting, "learning": learning, "both": collecting + learning}

    def _collect(self) -> None:
        """Drive a rollout."""
        model: Any = self.model
        if self._has_buffer:
            given = (model.train_freq, model.replay_buffer, model.action_noise, model.learning_starts)
            model.collect_rollouts(model.env, self._callback, *given)
        else:
            model.collect_rollouts(model.env, self._callback, model.rollout_buffer, model.n_steps)
            model._update_current_progress_remaining(model.num_timesteps, self._total)

    def _learn(self) -> None:
        """Learn as much as follows a rollout."""
        self.model.train(*((self.model.gradient_steps, self.model.batch_size) if self._has_buffer else ()))


class Evaluation:
    """Laps of one car from the line, which drives them as often as it is told.

    The network is asked on every tick; what is done is what the scripted driver did, which laps.

    Attributes:
        ticks: Ticks of the laps.
    """

    def __init__(self, course: Course, infer: Policy) -> None:
        """Prepare.

        Args:
            course: The laps; it must keep actions.
            infer: The network; it sees raw observations.
        """
        self._cars, self._infer = CourseCars(course), infer
        (driven,) = self._cars.drive(scripted_driver, show=False)
        self._actions = [action[None] for action in driven.actions]
        self._tick = itertools.count()
        self.ticks = len(self._actions)

    def turn(self) -> dict[str, float]:
        """Return the seconds of driving."""
        self._tick = itertools.count()
        began = time.perf_counter()
        self._cars.drive(self._policy, show=False)
        return {"driving": time.perf_counter() - began}

    def _policy(self, observations: np.ndarray) -> np.ndarray:
        self._infer(observations)
        return self._actions[next(self._tick)]


def measure_training(track: Track, config: AiConfig, turns: int = TURNS, name: str = ALGORITHM.name) -> Figures:
    """Train in turns, and return the steps per second of each subject: collecting, learning, both.

    Args:
        track: Track to train on.
        config: Reward weights and episode limits.
        turns: Turns of each subject.
        name: Name of the algorithm, whose defaults are taken.
    """
    prepare(0, "cpu")
    algorithm = algorithm_named(name)
    settings = algorithm.settings()
    plain = dataclasses.replace(settings, plain_policy=1)
    with contextlib.ExitStack() as stack:

        def game() -> VecEnv:
            share, repeat = settings.random_start_share, settings.action_repeat
            made = RacerVecEnv(
                track, algorithm.cars, config, bridge_url=EMBEDDED, random_start_share=share, action_repeat=repeat
            )
            stack.callback(made.close)
            return made

        def as_plain(cars: VecEnv) -> VecNormalize:
            return VecNormalize(cars, clip_obs=CLIP, clip_reward=CLIP, gamma=plain.gamma)

        subjects = {
            PRODUCT: Training.on(game(), settings, algorithm),
            NULL: Training.on(Null(game()), settings, algorithm),
            PLAIN: Training(as_plain(game()), plain, [], algorithm),
        }
        turn_of = {name: subject.turn for name, subject in subjects.items()}
        return _in_turns(turn_of, turns, lambda name: subjects[name].steps)


def measure_evaluation(track: Track, config: AiConfig, turns: int = TURNS) -> Figures:
    """Let a fresh network drive three laps of a track in turns, and return the ticks per second of one car.

    Args:
        track: Track to drive on.
        config: Reward weights.
        turns: Evaluations of each subject.
    """
    prepare(0, "cpu")
    game = RacerVecEnv(track, config=config, bridge_url=EMBEDDED)
    model: Any = ALGORITHM.make_model(FastNormalize(game), PpoSettings(), {"n_steps": 64}, 0, "cpu")
    course = Course([track], config, LAPS, keeps_actions=True)
    with contextlib.closing(game):
        subjects = {
            PRODUCT: Evaluation(course, make_inference(ALGORITHM, model, NONE.scaling)),
            PYTORCH: Evaluation(course, lambda seen: model.predict(NONE(seen), deterministic=True)[0]),
        }
        turn_of = {name: subject.turn for name, subject in subjects.items()}
        figures = _in_turns(turn_of, turns, lambda name: subjects[name].ticks)
    for name, subject in subjects.items():
        figures[name]["seconds"] = subject.ticks / figures[name]["driving"]
    return figures


def _in_turns(
    subjects: dict[str, Callable[[], dict[str, float]]], turns: int, steps_of: Callable[[str], int]
) -> Figures:
    """Return the steps per second of each subject, by what it did, in its fastest turns: other work only slows it."""
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in subjects}
    # A bar of turns that have ended costs nothing while one runs.
    for _ in tqdm(range(turns), desc="measuring", unit="turn", leave=False, disable=None):
        for name, turn in subjects.items():
            taken[name].append(turn())
    return {
        name: {what: steps_of(name) / min(turn[what] for turn in seconds) for what in seconds[0]}
        for name, seconds in taken.items()
    }


def in_lines(title: str, figures: Figures) -> list[str]:
    """Return a table of steps per second, and of how many times those of the toolkit the others are."""
    kinds = [what for what in figures[PRODUCT] if what != "seconds"]
    lines = [f"{title:<30}" + "".join(f"  {what + ', steps/s':>21}" for what in kinds)]
    for name, row in figures.items():
        cells = [f"{row[what]:>12,.0f} ({row[what] / figures[PRODUCT][what]:.2f}x)" for what in kinds]
        lines.append(f"{name:<30}" + "".join(f"  {cell:>21}" for cell in cells))
    return lines


def price_in_words(training: Figures, evaluation: Figures) -> str:
    """Return what an evaluation costs, in steps of training."""
    seconds = evaluation[PRODUCT]["seconds"]
    steps = seconds * training[PRODUCT]["both"]
    return f"an evaluation of {LAPS} laps takes {seconds:.3f} s, as long as {steps:,.0f} training steps"
