"""How fast training and evaluation are, beside what they stand on: measured in turns, as other work slows all alike."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecMonitor, VecNormalize
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

from racer_env.bridge.url import EMBEDDED
from racer_env.config import AiConfig
from racer_env.tracks import Track
from racer_env.vec_env import RacerVecEnv
from training.algorithms.inference import make_inference
from training.algorithms.members.ppo import ALGORITHM, PpoSettings
from training.checkpoints.fast_normalize import FastNormalize
from training.checkpoints.loading import prepare
from training.checkpoints.statistics import NONE
from training.drivers.scripted import scripted_driver
from training.evaluation.course import Course, CourseCars
from training.evaluation.driving import Policy
from training.runs.environment import CLIP
from training.runs.health import HealthCallback
from training.runs.metrics import RacerMetricsCallback

TURNS = 12  # rollouts, or evaluations, of each subject
LONG = 1_000_000  # steps of a run that is never finished here
PRODUCT, PLAIN, NULL = "this toolkit", "plain stable-baselines3", "this toolkit without a game"
NUMPY, PYTORCH = "this toolkit", "with PyTorch's forward pass"
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


class _Training:
    """A run that goes on for a rollout and an update at a time."""

    def __init__(self, model: OnPolicyAlgorithm, callbacks: Sequence[BaseCallback]) -> None:
        model.set_logger(Logger(None, []))
        self._model = model
        self._total, self._callback = model._setup_learn(LONG, CallbackList([*callbacks]))
        self._callback.on_training_start({}, {})

    def turn(self) -> dict[str, float]:
        """Return the seconds of collecting and of learning."""
        model, began = self._model, time.perf_counter()
        assert model.env is not None
        model.collect_rollouts(model.env, self._callback, model.rollout_buffer, model.n_steps)
        model._update_current_progress_remaining(model.num_timesteps, self._total)
        collected = time.perf_counter()
        model.train()
        learnt = time.perf_counter()
        return {"collecting": collected - began, "learning": learnt - collected, "both": learnt - began}


def measure_training(track: Track, config: AiConfig, turns: int = TURNS) -> Figures:
    """Train with PPO in turns, and return the steps per second of each subject: collecting, learning, both.

    Args:
        track: Track to train on.
        config: Reward weights and episode limits.
        turns: Rollouts of each subject.
    """
    prepare(0, "cpu")
    settings, cars = PpoSettings(), ALGORITHM.cars
    arguments = ALGORITHM.arguments(settings, cars, LONG)
    with contextlib.ExitStack() as stack:

        def make(wrap: Callable[[VecEnv], VecEnv], normalise: type[VecNormalize]) -> VecNormalize:
            game = RacerVecEnv(track, cars, config, bridge_url=EMBEDDED, random_start_share=settings.random_start_share)
            stack.callback(game.close)
            return normalise(wrap(game), clip_obs=CLIP, clip_reward=CLIP, gamma=settings.gamma)

        subjects = {}
        for name, wrap in ((PRODUCT, VecMonitor), (NULL, lambda game: VecMonitor(Null(game)))):
            env = make(wrap, FastNormalize)
            model: Any = ALGORITHM.make_model(env, settings, arguments, 0, "cpu")
            subjects[name] = _Training(model, [HealthCallback(env), RacerMetricsCallback()])
        env = make(lambda game: game, VecNormalize)
        plain: Any = ALGORITHM.make_model(env, dataclasses.replace(settings, plain_policy=1), arguments, 0, "cpu")
        subjects[PLAIN] = _Training(plain, [])
        steps = ALGORITHM.rollout_steps(settings, cars)
        return _in_turns({name: subject.turn for name, subject in subjects.items()}, turns, lambda _: steps)


def measure_evaluation(track: Track, config: AiConfig, turns: int = TURNS) -> Figures:
    """Let a network drive three laps of a track in turns, and return the ticks per second of one car.

    The network is a fresh one. It is asked on every tick; what is done is what the scripted driver does, which laps.

    Args:
        track: Track to drive on.
        config: Reward weights.
        turns: Evaluations of each subject.
    """
    prepare(0, "cpu")
    game = RacerVecEnv(track, config=config, bridge_url=EMBEDDED)
    model: Any = ALGORITHM.make_model(FastNormalize(game), PpoSettings(), {"n_steps": 64}, 0, "cpu")
    ticks: dict[str, int] = {}
    with contextlib.closing(game), contextlib.closing(CourseCars(Course([track], config, LAPS))) as cars:

        def drive(name: str, infer: Policy) -> Callable[[], dict[str, float]]:
            def policy(observations: np.ndarray) -> np.ndarray:
                infer(NONE(observations))
                return scripted_driver(observations)

            def turn() -> dict[str, float]:
                began = time.perf_counter()
                (episode,) = cars.drive(policy, show=False)
                ticks[name] = episode.steps
                return {"driving": time.perf_counter() - began}

            return turn

        subjects = {
            NUMPY: drive(NUMPY, make_inference(ALGORITHM, model)),
            PYTORCH: drive(PYTORCH, lambda seen: model.predict(seen, deterministic=True)[0]),
        }
        figures = _in_turns(subjects, turns, lambda name: ticks[name])
    for name, count in ticks.items():
        figures[name]["seconds"] = count / figures[name]["driving"]
    return figures


def _in_turns(
    subjects: dict[str, Callable[[], dict[str, float]]], turns: int, steps_of: Callable[[str], int]
) -> Figures:
    """Return the steps per second of each subject, by what it did, in its fastest turns: other work only slows it."""
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in subjects}
    for _ in range(turns):
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
    seconds = evaluation[NUMPY]["seconds"]
    steps = seconds * training[PRODUCT]["both"]
    return f"an evaluation of {LAPS} laps takes {seconds:.3f} s, as long as {steps:,.0f} training steps"
