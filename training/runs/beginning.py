"""The model that a run trains: a fresh one, a resumed one, or one that begins with another model's weights."""

import dataclasses
from pathlib import Path
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.config import parse_config
from racer_env.contract import OBSERVED_ARC_LENGTH
from training.algorithms.settings import as_document
from training.checkpoints.data import UNKNOWN_PHYSICS, ModelData
from training.checkpoints.files import buffer_path, readable_models, run_of
from training.checkpoints.leftovers import find_buffer
from training.checkpoints.loading import load_model, prepare
from training.checkpoints.replay_buffer import MAX_BUFFER, Transitions, fill_buffer, read_buffer
from training.checkpoints.saving import remember
from training.checkpoints.statistics import Statistics
from training.console.bridges import physics_behind
from training.console.messages import count_of, note, say
from training.console.tracks import note_changed_tracks, track_fingerprints
from training.runs.branches import is_branch
from training.runs.brought import documents_of, is_same
from training.runs.changes import own_settings
from training.runs.plan import Plan
from training.runs.run import Run
from training.runs.shaping import make_indifferent

LAP_MEAN, LAP_VARIANCE = 1 / 2, 1 / 12  # of the progress of a lap, when all of its parts are driven as often


def check_beginning(plan: Plan) -> Transitions | None:
    """Seed everything, and open what a run begins with, so that damage is found before the run takes its name.

    Returns:
        The replay buffer saved with a resumed model; None if there is none.

    Raises:
        ModelError: Model, statistics or replay buffer are damaged or made for something else, or the device does not
            exist.
    """
    run = plan.run
    prepare(run.draw_seed, run.device)
    if plan.beginning is None:
        return None
    data = plan.beginning.data
    note_changed_tracks(data.get("track_fingerprints", dict, {}), data.path.name, run.tracks)
    load_model(data, None, run.device)
    if not run.algorithm.has_buffer or plan.resumed is None:
        return None
    path = find_buffer(data)
    if path is not None:
        _note_other_steps(data, path, run)
        return read_buffer(path, data.get("buffer_size", int, MAX_BUFFER))
    other = buffer_path(data.path)
    if other.is_file():
        note(f"{other} is not the replay buffer that {data.path.name} was saved with; it is filled again")
    return None


def _note_other_steps(data: ModelData, buffer: Path, run: Run) -> None:
    """Say so if the steps in a replay buffer were driven or paid otherwise than those to come."""
    own, known = data.get("ai_config", dict, None), data.get("track_fingerprints", dict, {})
    now, others = track_fingerprints(run.tracks), []
    if own is not None and parse_config(own, str(data.path)).weights != run.config.weights:
        others.append("with other reward weights")
    if not is_same(data.get("reward", dict, None), run.reward):
        others.append("with another reward")
    if data.track_ids and (set(data.track_ids) != set(now) or any(now[name] != known.get(name) for name in now)):
        others.append("on other tracks")
    if others:
        note(
            f"the steps in {buffer} were driven {' and '.join(others)}, and the run goes on learning from them; move "
            "that file away to fill a new buffer"
        )


def make_model(plan: Plan, run: Run, env: VecNormalize, transitions: Transitions | None) -> BaseAlgorithm:
    """Return the model that a run trains, with the attributes it stores about the run.

    Args:
        plan: Plan that says what the run begins with.
        run: The run, under its final name.
        env: Environment to train on.
        transitions: The replay buffer of a resumed model.
    """
    arguments = run.arguments
    if plan.resumed is not None:
        training_class = run.algorithm.training_class(run.settings)
        model = load_model(plan.resumed, env, run.device, training_class, seed=run.draw_seed, **arguments)
        say(f"resumed {plan.resumed.path} at {model.num_timesteps:,} steps")
        _say_learning_rate(run, model)
        if isinstance(model, OffPolicyAlgorithm):
            _fill_buffer(model, transitions)
    else:
        source = load_model(plan.beginning.data, None, run.device) if plan.beginning is not None else None
        if source is not None:
            arguments |= _network_of(source)
        model = run.algorithm.make_model(env, run.settings, arguments, run.seed, run.device)
        if plan.beginning is not None and source is not None:
            _take_weights(source, model, keeps_noise=not plan.sets_noise)
            say(f"began with the weights and statistics of {plan.beginning.data.path}")
        if run.settings.progress_withheld:
            make_indifferent(model, OBSERVED_ARC_LENGTH)
    if isinstance(model, OffPolicyAlgorithm):
        _warn_of_long_warm_up(run, model)
    physics = physics_behind(run.bridge)
    # Counted on from all that the run has saved, also what became a branch and may be put back.
    names = {run_of(path) for path in run.models_dir.glob("*.zip")} if run.models_dir.is_dir() else set()
    own = [run.name, *(name for name in names if is_branch(name, run.name))]
    saves = max((data.saves for name in own for data in readable_models(run.models_dir, name)), default=0)
    remember(
        model,
        saves=saves,
        algorithm=run.algorithm.name,
        hyperparameters=as_document(run.settings),
        action_repeat=run.settings.action_repeat,
        run_seed=run.seed,
        run_name=run.name,
        physics_fingerprint=UNKNOWN_PHYSICS if physics is None else physics.fingerprint,
        track_ids=[track.id for track in run.tracks],
        track_fingerprints=track_fingerprints(run.tracks),
        ai_config=run.config.to_json(),
        **documents_of(run.brought),
    )
    return model


def _take_weights(source: BaseAlgorithm, model: BaseAlgorithm, keeps_noise: bool) -> None:
    """Give a fresh model the weights of another; ``keeps_noise`` says whether also its exploration noise."""
    weights = source.policy.state_dict()
    if not keeps_noise and "log_std" in weights and not source.use_sde:  # noise of the state is a layer of weights
        fresh = model.policy.state_dict()["log_std"].clone()
        noise, was = ([round(value, 2) for value in values.tolist()] for values in (fresh, weights["log_std"]))
        say(f"log_std is {noise} from here on; it was {was}")
        weights["log_std"] = fresh
    model.policy.load_state_dict(weights)


def statistics_of_beginning(plan: Plan) -> Statistics | None:
    """Return the normalisation statistics that a run begins with; None begins with none.

    A new run may earn otherwise than the one whose weights it begins with, for example on a shorter track. So what is
    known of the rewards counts like one rollout, and the first rollouts replace it. And a driver that was not shown its
    progress in the lap has no statistics of it: where it is shown again, they are those of a whole lap.
    """
    statistics = plan.beginning.statistics if plan.beginning is not None else None
    if plan.beginning is None or statistics is None or plan.resumed is not None:
        return statistics
    run = plan.run
    rollout = float(run.algorithm.rollout_steps(run.settings, run.num_envs))
    statistics = dataclasses.replace(statistics, return_count=min(statistics.return_count, rollout))
    was_withheld = own_settings(plan.beginning.data).get("progress_withheld", 0)
    if not was_withheld or run.settings.progress_withheld or not statistics.norm_obs:
        return statistics
    mean, variance = list(statistics.obs_mean), list(statistics.obs_var)
    mean[OBSERVED_ARC_LENGTH], variance[OBSERVED_ARC_LENGTH] = LAP_MEAN, LAP_VARIANCE
    return dataclasses.replace(statistics, obs_mean=tuple(mean), obs_var=tuple(variance))


def _network_of(model: BaseAlgorithm) -> dict[str, Any]:
    """Return the arguments that make a network which takes a model's weights."""
    noise = {"use_sde": True, "sde_sample_freq": model.sde_sample_freq} if model.use_sde else {}
    return {"policy_kwargs": model.policy_kwargs, **noise}


def _say_learning_rate(run: Run, model: BaseAlgorithm) -> None:
    share = getattr(run.settings, "final_rate_share", 1.0)
    if not isinstance(model, OnPolicyAlgorithm) or share == 1:
        say(f"the learning rate stays at {run.settings.learning_rate:.3g}")
        return
    rollout = run.algorithm.rollout_steps(run.settings, run.num_envs)
    rate = model.lr_schedule(1 - (run.first_step + rollout) / run.last_step)
    end = share * run.settings.learning_rate
    say(
        f"the learning rate falls from {rate:.3g} to {end:.3g}, computed against {run.last_step:,} steps: "
        f"{run.first_step:,} done and {run.steps:,} added"
    )


def _fill_buffer(model: OffPolicyAlgorithm, transitions: Transitions | None) -> None:
    """Load the replay buffer that was saved with a model, or say that it is filled again."""
    if transitions is not None:
        say(f"took over {count_of(fill_buffer(model, transitions), 'step')} of its replay buffer")
        return
    say(f"it has no replay buffer: it drives {count_of(model.learning_starts, 'step')} before it learns on")


def _warn_of_long_warm_up(run: Run, model: OffPolicyAlgorithm) -> None:
    buffer = model.replay_buffer
    missing = model.learning_starts - (buffer.size() * buffer.n_envs if buffer is not None else 0)
    if run.timesteps <= missing:
        say(f"warning: --timesteps {run.timesteps} ends before the first update, after {count_of(missing, 'step')}")
