"""Carrying out a plan: the run takes its name, trains with its callbacks, and is saved however it ends."""

import contextlib
import dataclasses
import shutil
import time
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecNormalize
from tqdm.contrib.logging import logging_redirect_tqdm

from racer_env.errors import ModelError
from racer_env.tracks.names import VALIDATION_SEED
from training.algorithms.settings import as_document
from training.checkpoints.files import BEST, FINAL, model_path
from training.checkpoints.replay_buffer import Transitions, size_of
from training.checkpoints.saving import try_saving
from training.console.interruption import Interrupted, Interruption
from training.console.messages import count_of, in_short, say
from training.console.parser import DONE
from training.engines.roads import note_other_roads
from training.evaluation.course import Course, CourseCars
from training.runs.beginning import check_beginning, make_model, statistics_of_beginning
from training.runs.best_model import BestModelCallback, best_score_of
from training.runs.branches import keep_later, set_aside
from training.runs.brought import KINDS
from training.runs.checkpointing import CheckpointPairCallback
from training.runs.doubts import doubts_about
from training.runs.ending import save_final, save_interrupted, say_end
from training.runs.environment import make_training_env
from training.runs.evaluations import EvaluationLog
from training.runs.fastest_laps import FastestLaps
from training.runs.folders import choose_run_name, claim_folders, hold_run, remove_run
from training.runs.follower import Follower
from training.runs.health import HealthCallback
from training.runs.history import EpisodeCounter
from training.runs.metrics import RacerMetricsCallback
from training.runs.options import name_prefix
from training.runs.own_reward import OwnRewardCallback
from training.runs.plan import Plan
from training.runs.progress import ProgressCallback
from training.runs.provenance import write_record
from training.runs.run import Run
from training.runs.schedules import schedules_for
from training.runs.tensorboard import RunTensorBoard


def carry_out(plan: Plan, follower: Follower | None = None) -> int:
    """Train according to a plan, and return the script's exit code.

    Args:
        plan: What to do.
        follower: Is told of every evaluation, and may end the run; None is nobody.

    Raises:
        ModelError: What the run begins with is damaged, or another process holds its name.
        TrainingError: Numbers are no longer finite.
    """
    transitions = check_beginning(plan)
    is_new = plan.overwrites or not plan.may_exist or not plan.run.log_dir.exists()
    with contextlib.ExitStack() as stack:
        run, model = _claim(plan, stack), None
        try:
            model, env = _begin(plan, run, transitions)
            return train(run, model, env, follower)
        except BaseException:  # whatever ended it
            is_trained = model is not None and model.num_timesteps > run.first_step
            if not is_trained and is_new:  # its name stays free
                shutil.rmtree(run.log_dir, ignore_errors=True)
            raise


def _begin(plan: Plan, run: Run, transitions: Transitions | None) -> tuple[BaseAlgorithm, VecNormalize]:
    """Return the model to train and its environment, once what the run has is in order and the new has room."""
    if plan.may_exist and plan.resumed is not None and not plan.overwrites:
        keep_later(plan.resumed, run.logs_dir)
    write_record(plan, run)
    for doubt in doubts_about(run.config, run.tracks):
        say(f"warning: {doubt}")
    note_other_roads(run.bridge, [*run.tracks, *run.eval_tracks])
    env = make_training_env(run, statistics_of_beginning(plan))
    model = make_model(plan, run, env, transitions)
    _check_room(run, model)
    names = [track.id if track.name == track.id else f"{track.id} ({track.name})" for track in run.tracks]
    cars, steps = count_of(run.num_envs, "car"), run.steps
    asked = "" if steps == run.timesteps else f", as rollouts are whole; --timesteps asked for {run.timesteps:,}"
    say(f"training run {run.name!r} on {in_short(names)} with {cars} for {count_of(steps, 'step')}{asked}")
    return model, env


def _claim(plan: Plan, stack: contextlib.ExitStack) -> Run:
    """Take the run's name on disk; if an automatic name has just been taken by another run, take the next one."""
    run, taken = plan.run, set[str]()
    while True:
        try:
            with contextlib.ExitStack() as attempt:
                attempt.enter_context(hold_run(run.name, run.models_dir, run.logs_dir))
                if plan.overwrites:
                    remove_run(run.name, run.models_dir, run.logs_dir)
                claim_folders(run.name, run.models_dir, run.logs_dir, plan.may_exist)
                stack.enter_context(attempt.pop_all())
                return run
        except ModelError:
            if not plan.has_own_name:
                raise
        taken.add(run.name)
        name = choose_run_name(None, name_prefix(run.algorithm), run.models_dir, run.logs_dir, plan.may_exist, taken)
        run = dataclasses.replace(run, name=name)


def _check_room(run: Run, model: BaseAlgorithm) -> None:
    """Refuse to train what cannot be saved.

    Raises:
        ModelError: There is no room for a model.
    """
    path = run.path(FINAL)
    try:
        try_saving(model, path)
    except OSError as error:
        why = error.strerror or error
        raise ModelError(
            f"cannot save {path}: {why}; make room for models there, or name another --models-dir"
        ) from error
    if run.with_buffer and isinstance(model, OffPolicyAlgorithm) and model.replay_buffer is not None:
        needed = size_of(model.replay_buffer, run.last_step)
        free = shutil.disk_usage(run.models_dir).free
        if needed > free:
            say(
                f"warning: the replay buffer grows to {needed / 1e6:,.0f} MB, and {run.models_dir} has room for "
                f"{free / 1e6:,.0f} MB; --no-save-replay-buffer leaves it out"
            )


def train(run: Run, model: BaseAlgorithm, env: VecNormalize, follower: Follower | None = None) -> int:
    """Train, show progress, save checkpoints and the best model, and save the result however the run ends.

    Returns:
        The script's exit code.
    """
    board = RunTensorBoard(run.log_dir, run.first_step)
    board.describe(described(run))
    model.set_logger(Logger(str(run.log_dir), [board]))
    metrics = RacerMetricsCallback()
    progress = ProgressCallback(metrics, run.steps)
    is_off_policy = isinstance(model, OffPolicyAlgorithm)
    began, updates = time.monotonic(), model._n_updates
    with contextlib.ExitStack() as stack:
        stack.enter_context(Interruption())
        stack.callback(env.close)
        best = _make_best(run, env, stack, follower)
        callbacks: list[BaseCallback] = [
            HealthCallback(env),
            EpisodeCounter(run.log_dir),
            *([OwnRewardCallback()] if run.reward is not None else []),
            metrics,
            *schedules_for(run.settings, is_off_policy),
            _make_checkpointing(run, env),
            *([best] if best is not None else []),
            progress,
        ]
        try:
            with logging_redirect_tqdm():  # a bridge's log messages must not break the progress bar
                model.learn(
                    run.steps,
                    callback=CallbackList(callbacks),
                    log_interval=None if is_off_policy else 1,  # type: ignore[arg-type]
                    reset_num_timesteps=not run.first_step,
                )
                save_final(run, model, env)
        except BaseException as error:
            progress.close()
            if model.num_timesteps == run.first_step:  # nothing was trained yet
                raise
            ended_by = save_interrupted(run, model, env, error)
            if isinstance(ended_by, Interrupted):
                return ended_by.exit_code
            raise ended_by from ended_by.__cause__
    progress.close()
    elapsed = time.monotonic() - began - (best.closing_seconds if best is not None else 0.0)
    say_end(run, model.num_timesteps - run.first_step, elapsed, metrics, best)
    if model._n_updates == updates:
        say("warning: nothing was learned, as the run ended before its first update; train for more --timesteps")
    return DONE


def described(run: Run) -> dict[str, Any]:
    """Return what distinguishes a run from others, under the same names for all runs of an algorithm."""
    tracks = in_short([track.id for track in run.tracks])
    named = {"algorithm": run.algorithm.name, "tracks": tracks, "num_envs": run.num_envs, "seed": run.seed}
    code = {kind: without if (own := run.brought[kind]) is None else own.name for kind, (_, without) in KINDS.items()}
    rewards = {name: value for part in run.config.to_json().values() for name, value in part.items()}
    return {**named, "timesteps": run.timesteps, **as_document(run.settings), **rewards, **code}


def _make_checkpointing(run: Run, env: VecNormalize) -> CheckpointPairCallback:
    return CheckpointPairCallback(
        run.checkpoint_freq,
        run.models_dir,
        run.name,
        env,
        keep=run.keep_checkpoints,
        with_buffer=run.with_buffer,
    )


def _make_best(
    run: Run, env: VecNormalize, stack: contextlib.ExitStack, follower: Follower | None
) -> BestModelCallback | None:
    if not run.eval_freq:
        return None
    course = Course(
        run.eval_tracks,
        run.config,
        run.eval_laps,
        random_starts=run.eval_random_starts,
        seed=VALIDATION_SEED,
        bridge=run.bridge,
        keeps_actions=True,
    )
    cars = stack.enter_context(contextlib.closing(CourseCars(course)))
    log = stack.enter_context(contextlib.closing(EvaluationLog(run.log_dir, run.first_step)))
    best = run.path(BEST)
    if best_score_of(best)[0] != best_score_of(best, course.in_words())[0]:
        other = set_aside([best], run.name, run.logs_dir)
        kept = model_path(run.models_dir, other, BEST)
        say(f"{best.name} was measured on other laps or tracks; it is kept as {kept}")
    return BestModelCallback(
        run.algorithm,
        cars,
        env,
        best,
        frequency=run.eval_freq,
        reversal_cost=run.settings.reversal_cost,
        action_repeat=run.settings.action_repeat,
        stop_when_competent=run.stop_when_competent,
        stop_when_lap_time=run.stop_when_lap_time,
        records=FastestLaps(run.log_dir, run.name),
        log=log,
        follower=follower,
    )
