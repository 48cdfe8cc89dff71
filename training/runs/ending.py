"""The end of a run, early or not: what is saved, and what is reported about it."""

import contextlib
from pathlib import Path

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import ModelError, OwnCodeError, TrainingError
from training.checkpoints.files import BEST, FINAL, INTERRUPTED, newest_model
from training.checkpoints.keeping import keep_replaced
from training.checkpoints.saving import save_unit
from training.console.interruption import Interrupted, Interruption
from training.console.messages import count_of, say
from training.runs.best_model import BestModelCallback
from training.runs.health import check_model, check_statistics
from training.runs.metrics import RacerMetricsCallback
from training.runs.run import Run


def save_final(run: Run, model: BaseAlgorithm, env: VecNormalize) -> None:
    """Save the model of a completed run.

    Raises:
        TrainingError: The model is no longer finite.
        OSError: The model cannot be written.
    """
    _check(model, env)
    _save(run, model, env, run.path(FINAL))


def save_interrupted(run: Run, model: BaseAlgorithm, env: VecNormalize, error: BaseException) -> BaseException:
    """Save what a run has reached when something ended it, and say how to go on.

    Returns:
        What ended the run: ``error``, or something that was found or arrived meanwhile.
    """
    done = model.num_timesteps - run.first_step
    left = run.timesteps - done if done < run.timesteps else None
    broken = _why_broken(model, env, error)
    if broken is not None:
        _say_last_whole(run, left)
        return broken
    path = run.path(INTERRUPTED)
    try:
        _save(run, model, env, path)
    except Interrupted as late:  # held back until everything was saved
        error = late
    except OSError as full:
        say(f"cannot save {path}: {full.strerror or full}")
        _say_last_whole(run, left)
        return error
    say(f"interrupted at {model.num_timesteps:,} steps; saved {path}")
    if left is None:
        say("all of its steps were trained")
        say(f"see it drive: {run.command_to_evaluate(path)}", limit=None)
    else:
        say(f"go on with: {run.command_to_resume(path, left)}", limit=None)
    return error


def say_end(
    run: Run, steps: int, elapsed: float, metrics: RacerMetricsCallback, best: BestModelCallback | None
) -> None:
    """Report what a completed run has trained, saved and found.

    Args:
        run: The run that has completed.
        steps: Environment steps that it trained.
        elapsed: Duration of training without the last evaluation, in seconds.
        metrics: Metrics of the run in training.
        best: Evaluations of the run; None if there were none.
    """
    if best is not None and best.why_ended is not None:
        say(f"ended early: {best.why_ended}")
    laps = "no whole lap within the episodes of training, which may begin anywhere"
    if metrics.best_lap_time is not None:
        laps = f"{count_of(metrics.total_laps, 'lap')} in training, best {metrics.best_lap_time:.2f} s"
    say(f"trained {count_of(steps, 'step')} in {elapsed:.1f} s ({steps / elapsed:,.0f} steps/s): {laps}")
    say(f"saved {run.path(FINAL)}")
    has_best = best is not None and run.path(BEST).is_file()
    if best is not None and has_best:
        if best.last_in_words != best.best_in_words:
            say(f"the last evaluation was {best.last_in_words}")
        say(f"the best one is {run.path(BEST)}: {best.best_in_words}")
    laps_cleanly = best.best[1] > 0 if best is not None and has_best else metrics.best_lap_time is not None
    see = f"see it {'lap' if laps_cleanly else 'drive'}"
    say(f"{see}: {run.command_to_evaluate(run.path(BEST if has_best else FINAL))}", limit=None)


def _save(run: Run, model: BaseAlgorithm, env: VecNormalize, path: Path) -> None:
    """Save a run's last model; one that an earlier stretch of the run has left under that name is kept first."""
    with Interruption.shield():
        keep_replaced(path, with_buffer=not run.with_buffer)
        save_unit(model, env, path, run.with_buffer)


def _check(model: BaseAlgorithm, env: VecNormalize) -> None:
    check_model(model)
    check_statistics(env, model.num_timesteps)


def _why_broken(model: BaseAlgorithm, env: VecNormalize, error: BaseException) -> TrainingError | None:
    """Return why a model is not worth saving, which may also be the cause of ``error``; None if it is."""
    if isinstance(error, TrainingError) and not isinstance(error, OwnCodeError):
        return error
    try:
        _check(model, env)
    except TrainingError as broken:
        broken.__cause__ = error
        return broken
    return None


def _say_last_whole(run: Run, left: int | None) -> None:
    with contextlib.suppress(ModelError):
        path = newest_model(run.models_dir, run.name).path
        say(f"the last whole model is {path}")
        say(f"go on from there with: {run.command_to_resume(path, left)}", limit=None)
