"""A training run, whatever the algorithm: callbacks, interruption, and what is saved and said at its end."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecNormalize
from tqdm.contrib.logging import logging_redirect_tqdm

from racer_env.tracks import AnyTrack
from racer_env.bridge.bridge import Bridge
from racer_env.config import AiConfig
from racer_env.errors import ModelError, TrainingError
from racer_env.tracks.names import VALIDATION_SEED
from training.best_model import BestModelCallback, best_score_of, course_in_words
from training.bridges import physics_behind
from training.callbacks import (
    CheckpointPairCallback,
    LogRhythmCallback,
    ProgressCallback,
    QuieterCallback,
    RacerMetricsCallback,
    RefillCallback,
    SmootherCallback,
)
from training.cli import DONE, MAX_SEED, command_line, count_of, in_short, say
from training.evaluation import Course
from training.health import HealthCallback, check_model, check_statistics
from training.hyperparameters import as_document
from training.interruption import Interrupted, Interruption
from training.model_files import BEST, FINAL, INTERRUPTED, model_path, newest_model
from training.model_loading import UNKNOWN_PHYSICS
from training.record_laps import RecordLaps
from training.run_files import set_aside
from training.run_record import track_fingerprints
from training.saving import remember, save_unit
from training.tensorboard import RunTensorBoard

LOG_FREQUENCY = 1_000  # environment steps between the points of an off-policy algorithm in TensorBoard


@dataclass(frozen=True)
class Run:
    """What a training run needs to know, apart from its algorithm.

    Attributes:
        name: Of its files.
        tracks: Where it trains.
        config: Reward weights and episode limits.
        settings: Hyper-parameters.
        num_envs: Cars.
        timesteps: Environment steps to train, on top of what a resumed model has.
        seed: Of everything random.
        first_step: The step counter of the model that the run goes on with; 0 begins.
        models_dir, logs_dir: Where files go.
        checkpoint_freq: Environment steps between checkpoints.
        keep_checkpoints: How many of them stay.
        with_buffer: Whether a replay buffer is saved with the model.
        eval_freq: Environment steps between evaluations; 0 never evaluates.
        eval_laps: Laps of an evaluation.
        eval_tracks: Where evaluations drive; empty is where training does.
        eval_random_starts: Places on each of them that they start from too, on the move and at rest.
        stop_when_competent, stop_when_lap_time: See ``BestModelCallback``.
        resume_command: How to call the script again, without the model to resume.
        track_flags: How to find the tracks again on the command line, where their ids are not enough.
        bridge: Where the game is; None is the embedded simulator.
    """

    name: str
    tracks: list[AnyTrack]
    config: AiConfig
    settings: Any
    num_envs: int
    timesteps: int
    seed: int
    models_dir: Path
    logs_dir: Path
    checkpoint_freq: int
    keep_checkpoints: int = 5
    with_buffer: bool = False
    first_step: int = 0
    eval_freq: int = 0
    eval_laps: int = 3
    eval_tracks: Sequence[AnyTrack] = ()
    eval_random_starts: int = 0
    stop_when_competent: bool = False
    stop_when_lap_time: float | None = None
    resume_command: Sequence[str] = ()
    track_flags: Sequence[str] = ()
    bridge: Bridge | None = None

    @property
    def bridge_flags(self) -> list[str]:
        """How to name the bridge on the command line."""
        return ["--bridge-url", *self.bridge.names] if self.bridge is not None else []

    @property
    def draw_seed(self) -> int:
        """The seed of what is drawn from now on: the same starts and noise once more would teach a driver nothing."""
        return (self.seed + self.first_step) % (MAX_SEED + 1)

    @property
    def log_dir(self) -> Path:
        """The folder of this run's TensorBoard events and monitor file."""
        return self.logs_dir / self.name

    def path(self, tag: str | int) -> Path:
        """Return the path of one of its models, see ``model_path``."""
        return model_path(self.models_dir, self.name, tag)


def train(run: Run, model: BaseAlgorithm, env: VecNormalize) -> int:
    """Train, show progress, save checkpoints and the best model, and save the end whatever it is.

    Returns:
        The script's exit code.
    """
    physics = physics_behind(run.bridge)
    remember(
        model,
        physics_fingerprint=UNKNOWN_PHYSICS if physics is None else physics.fingerprint,
        track_ids=[track.id for track in run.tracks],
        track_fingerprints=track_fingerprints(run.tracks),
        run_name=run.name,
        ai_config=run.config.to_json(),
    )
    first_step = run.first_step
    board = RunTensorBoard(run.log_dir, first_step)
    board.describe(_described(run, model), [track.id for track in run.eval_tracks or run.tracks])
    model.set_logger(Logger(str(run.log_dir), [board]))
    metrics = RacerMetricsCallback()
    progress = ProgressCallback(metrics, run.timesteps)
    is_off_policy = isinstance(model, OffPolicyAlgorithm)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.enter_context(Interruption())
        stack.callback(env.close)
        best = _make_best(run, env, stack)
        callbacks: list[BaseCallback] = [
            HealthCallback(env),
            metrics,
            *([RefillCallback(), LogRhythmCallback(LOG_FREQUENCY)] if is_off_policy else _schedules(run)),
            CheckpointPairCallback(
                run.checkpoint_freq,
                run.models_dir,
                run.name,
                env,
                keep=run.keep_checkpoints,
                with_buffer=run.with_buffer,
            ),
            *([best] if best is not None else []),
            progress,
        ]
        try:
            with logging_redirect_tqdm():  # what a bridge logs must not break the progress bar
                model.learn(
                    run.timesteps,
                    callback=CallbackList(callbacks),
                    log_interval=None if is_off_policy else 1,  # type: ignore[arg-type]
                    reset_num_timesteps=not first_step,
                )
                _check(model, env)
                save_unit(model, env, run.path(FINAL), run.with_buffer)
        except BaseException as error:
            progress.close()
            return _end_early(run, model, env, first_step, error)
    progress.close()
    _say_end(run, model.num_timesteps - first_step, time.monotonic() - began, metrics, best)
    return DONE


def _schedules(run: Run) -> list[BaseCallback]:
    """Return what changes hyper-parameters over the run."""
    schedules: list[BaseCallback] = []
    settings = run.settings
    if settings.final_log_std < min(settings.log_std):
        schedules.append(QuieterCallback(settings.log_std, settings.final_log_std))
    if settings.steer_change_penalty and settings.final_steer_change_penalty:
        schedules.append(SmootherCallback(settings.steer_change_penalty, settings.final_steer_change_penalty))
    return schedules


def _described(run: Run, model: BaseAlgorithm) -> dict[str, Any]:
    """Return what a run differs by from others."""
    tracks = in_short([track.id for track in run.tracks])
    algorithm = {"algorithm": type(model).__name__, "tracks": tracks, "num_envs": run.num_envs, "seed": run.seed}
    return {**algorithm, **as_document(run.settings)}


def _make_best(run: Run, env: VecNormalize, stack: contextlib.ExitStack) -> BestModelCallback | None:
    if not run.eval_freq:
        return None
    best = run.path(BEST)
    tracks = run.eval_tracks or run.tracks
    course = Course(
        tracks,
        config=run.config,
        laps=run.eval_laps,
        bridge=run.bridge,
        keeps_actions=True,
        random_starts=run.eval_random_starts,
        seed=VALIDATION_SEED,
    )
    stack.callback(course.close)
    if best_score_of(best)[0] != best_score_of(best, course_in_words(course))[0]:
        other = set_aside([best], run.name, run.logs_dir)
        kept = model_path(run.models_dir, other, BEST)
        say(f"{best.name} was measured on other laps or tracks; it is kept as {kept}")
    return BestModelCallback(
        course,
        env,
        best,
        frequency=run.eval_freq,
        reversal_cost=run.settings.reversal_cost,
        action_repeat=run.settings.action_repeat,
        stop_when_competent=run.stop_when_competent,
        stop_when_lap_time=run.stop_when_lap_time,
        records=RecordLaps(run.log_dir, run.name),
    )


def _check(model: BaseAlgorithm, env: VecNormalize) -> None:
    check_model(model)
    check_statistics(env, model.num_timesteps)


def _end_early(run: Run, model: BaseAlgorithm, env: VecNormalize, first_step: int, error: BaseException) -> int:
    """Save what there is, say how to go on, and return the exit code of an interruption; anything else is raised."""
    done = model.num_timesteps - first_step
    if not done:  # nothing to lose
        raise error
    left = ["--timesteps", str(run.timesteps - done)] if done < run.timesteps else None
    try:
        if isinstance(error, TrainingError):
            raise error
        _check(model, env)  # it may be why something else failed
    except TrainingError as broken:
        _say_last_whole(run, left)
        if broken is error:
            raise
        raise broken from error
    path = run.path(INTERRUPTED)
    try:
        save_unit(model, env, path, run.with_buffer)
    except Interrupted as late:  # held back until all was saved
        error = late
    except OSError as full:
        say(f"cannot save {path}: {full.strerror or full}")
        _say_last_whole(run, left)
        raise error from full
    say(f"interrupted at {model.num_timesteps:,} steps; saved {path}")
    if left is None:
        say("all of its steps were trained")
        say(f"see it lap: {_evaluate(run, path)}")
    else:
        say(f"go on with: {_resume(run, path, left)}")
    if isinstance(error, Interrupted):
        return error.exit_code
    raise error


def _say_last_whole(run: Run, more: Sequence[str] | None) -> None:
    with contextlib.suppress(ModelError):
        path = newest_model(run.models_dir, run.name)
        say(f"the last whole model is {path}")
        say(f"go on from there with: {_resume(run, path, more or [])}")


def _resume(run: Run, path: Path, more: Sequence[str]) -> str:
    return command_line([*run.resume_command, "--resume", str(path), *more, *run.bridge_flags])


def _say_end(
    run: Run, steps: int, elapsed: float, metrics: RacerMetricsCallback, best: BestModelCallback | None
) -> None:
    if best is not None and best.why_ended is not None:
        say(f"ended early: {best.why_ended}")
    laps = "no lap was completed within a training episode"
    if metrics.best_lap_time is not None:
        laps = f"{count_of(metrics.total_laps, 'lap')} in training, best {metrics.best_lap_time:.2f} s"
    say(f"trained {count_of(steps, 'step')} in {elapsed:.1f} s ({steps / elapsed:,.0f} steps/s): {laps}")
    say(f"saved {run.path(FINAL)}")
    has_best = best is not None and run.path(BEST).is_file()
    if best is not None and has_best:
        if best.last_in_words != best.best_in_words:
            say(f"the last evaluation was {best.last_in_words}")
        say(f"the best one is {run.path(BEST)}: {best.best_in_words}")
    say(f"see it lap: {_evaluate(run, run.path(BEST if has_best else FINAL))}")


def _evaluate(run: Run, path: Path) -> str:
    see = ["python", "-m", "training.evaluate", "--model", str(path), *run.track_flags, *run.bridge_flags]
    return command_line(see)
