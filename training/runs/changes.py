"""What a run that goes on changes against what it was, in words: nothing changes in silence."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from racer_env.config import AiConfig, load_config, parse_config
from racer_env.errors import ConfigError
from training.algorithms.members.ppo import MAX_LOG_STD
from training.algorithms.settings import Settings, as_document, named_settings, within_range
from training.checkpoints.data import UNKNOWN_PHYSICS, ModelData
from training.console.bridges import physics_behind
from training.console.messages import in_short
from training.runs.brought import KINDS
from training.runs.options import TrainingOptions
from training.runs.run import Run

_WITHOUT = "observations and rewards stay as they are, as the model was trained without normalisation (--no-vecnorm)"
_CLOSED = "what it was is a pickle in the file, which stays closed"
# What training adds where nothing asks for it: models that do not name it were trained without.
_UNSHAPED: dict[str, Any] = {
    "standing_share": 0.0,
    "steer_change_penalty": 0.0,
    "final_steer_change_penalty": 0.0,
    "off_track_cost": 0.0,
    "final_off_track_cost": 0.0,
    "extra_off_track_penalty": 0.0,
    "episode_ticks": 1_000_000,
    "progress_withheld": 0,
    "final_log_std": MAX_LOG_STD,
    "plain_policy": 0,
}
_NOISE = ("log_std", "final_log_std")
_BUFFERS = "stable_baselines3.common.buffers"
# What training here leaves as it is by default, whatever a model that was trained by other means was given.
_LEFT_OUT: dict[str, Any] = {
    "action_noise": None,
    "clip_range_vf": None,
    "optimize_memory_usage": False,
    "replay_buffer_kwargs": {},
    "rollout_buffer_kwargs": {},
}


def changes_of(resumed: ModelData, before: Settings, options: TrainingOptions, run: Run) -> Iterator[str]:
    """Yield a sentence about each thing that changes; what a model or a record does not say is not compared.

    Args:
        resumed: The model that the run goes on with.
        before: Its hyper-parameters.
        options: How it was evaluated and saved, and how it will be.
        run: The run as it goes on.
    """
    known = {
        "track_id": resumed.track_ids or None,
        "num_envs": resumed.get("n_envs", int, None),
        "seed": seed_of(resumed),
        "physics": None if resumed.physics == UNKNOWN_PHYSICS else resumed.physics,
    }
    physics = physics_behind(run.bridge)
    now = {
        "track_id": [track.id for track in run.tracks],
        "num_envs": run.num_envs,
        "seed": run.seed,
        "physics": UNKNOWN_PHYSICS if physics is None else physics.fingerprint,
    }
    yield from _unknown(resumed, options, run)
    if options.no_vecnorm:
        yield _WITHOUT
    yield from _changes(known, now)
    yield from _changes_of_settings(resumed, before, options, run)
    statistics, gamma = options.beginning.statistics if options.beginning else None, run.settings.gamma
    if statistics is not None and statistics.norm_reward and statistics.gamma not in (before.gamma, gamma):
        yield f"rewards are scaled as gamma={gamma:g} asks from here on; they were for {statistics.gamma:g}"
    if "hyperparameters" not in resumed.attributes:
        yield from _changes_of_arguments(resumed, run)
    yield from _changes_of_config(resumed, run.config)
    yield from _changes(*(_without_none(values) for values in (options.recorded, vars(options))))


def changes_of_beginning(beginning: ModelData, before: Settings, options: TrainingOptions, run: Run) -> Iterator[str]:
    """Yield a sentence about each weight, limit and reward of a new run that is not that of the model it begins with.

    Args:
        beginning: The model whose weights the run begins with.
        before: Its hyper-parameters, as far as a new run takes them over.
        options: Options of the run; what they name is not told.
        run: The run as it begins.
    """
    if options.no_vecnorm:
        yield _WITHOUT
    taken = [name for name in run.algorithm.set_anew if name != "log_std"]  # noise is told once the weights are read
    yield from _changes(*({name: getattr(settings, name) for name in taken} for settings in (before, run.settings)))
    yield from _noise_without_effect(beginning, options)
    for kind, (_, without) in KINDS.items():
        was = beginning.get(kind, dict, None)
        if was is not None and run.brought[kind] is None:
            yield f"the {kind} is {without}; {beginning.path} was trained with {was['name']} (--{kind})"
    own = beginning.get("ai_config", dict, None)
    if own is None or options.names_config:
        return
    with contextlib.suppress(ConfigError):  # nothing of it is used
        was = parse_config(own, str(beginning.path))
        if was != run.config:
            yield f"a new run begins with the weights and limits of ai-config.json, not of {beginning.path} (--config)"
            yield from _changes_between(was, run.config)


def own_settings(data: ModelData) -> dict[str, Any]:
    """Return the hyper-parameters that a model was trained with, by whatever means, as far as its file tells them."""
    network = data.algorithm.network_in(data.attributes)
    own: dict[str, Any] | None = data.get("hyperparameters", dict, None)
    if own is not None:
        attributes = {name: data.attributes.get(key) for name, key in data.algorithm.stored.items()}
        stored = {name: value for name, value in attributes.items() if type(value) in (int, float)}
        return {**_UNSHAPED, "action_repeat": data.action_repeat, **stored, **own, **network}
    told = within_range(data.algorithm.settings, data.algorithm.settings_in(data.attributes))
    return {**_UNSHAPED, **told, **network, "action_repeat": data.action_repeat}


def seed_of(data: ModelData) -> int | None:
    """Return the seed that a model was trained with, by whatever means; None if it does not say."""
    seed: int | None = data.get("run_seed", int, data.get("seed", int, None))
    return seed


def _unknown(resumed: ModelData, options: TrainingOptions, run: Run) -> Iterator[str]:
    """Yield a sentence about what neither the model nor the user says, and what is taken instead."""
    taken = {}
    if not resumed.track_ids and not options.track_id:
        taken["tracks"] = in_short([track.id for track in run.tracks])
    if seed_of(resumed) is None and options.seed is None:
        taken["seed"] = f"seed {run.seed}"
    if resumed.get("ai_config", dict, None) is None and not options.names_config:
        taken["reward weights"] = "the weights of ai-config.json"
    share = run.settings.random_start_share
    if "random_start_share" not in {*own_settings(resumed), *_named(options)}:
        taken["starts"] = f"{share:.0%} of the episodes begun anywhere (random_start_share={share:g})"
    if taken:
        what, instead = _listed(taken), _listed(taken.values())
        yield f"the model does not say with which {what} it was trained; the run goes on with {instead}"


def _changes_of_settings(resumed: ModelData, before: Settings, options: TrainingOptions, run: Run) -> Iterator[str]:
    """Yield sentences about hyper-parameters that change, that the model lacks, or that mean nothing for it."""
    known, now = own_settings(resumed), as_document(run.settings)
    without_effect = _NOISE if resumed.get("use_sde", bool, False) else ()
    was = {name: value for name, value in as_document(before).items() if name in known and name not in without_effect}
    yield from _changes(was, now)
    yield from _noise_without_effect(resumed, options)
    if "hyperparameters" not in resumed.attributes:
        return
    lacking = [name for name in now if name not in {*known, *_named(options), "random_start_share"}]
    if lacking:
        today = ", ".join(f"{name}={_in_words(now[name])}" for name in lacking)
        yield f"the model does not say all of its hyper-parameters; the run goes on with the defaults of today: {today}"
    strange = sorted(known.keys() - now.keys() - _UNSHAPED.keys())
    if strange:
        yield f"the model has hyper-parameters that are not known here and left out: {in_short(strange)}"


def _noise_without_effect(data: ModelData, options: TrainingOptions) -> Iterator[str]:
    """Yield a sentence about exploration noise that is named for a model whose noise is a part of its network."""
    named = [name for name in _NOISE if name in _named(options)]
    if named and data.get("use_sde", bool, False):
        have = "have" if len(named) > 1 else "has"
        yield f"{_listed(named)} {have} no effect: the noise of {data.path} depends on what it sees (use_sde)"


def _named(options: TrainingOptions) -> set[str]:
    """Return the names of the hyper-parameters that the user, or a preset, gives a value."""
    return named_settings(options.hyperparameters, options.assignments)


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _changes_of_arguments(resumed: ModelData, run: Run) -> Iterator[str]:
    """Yield sentences about a model that was trained by other means: what no hyper-parameter here can express."""
    now = {**_LEFT_OUT, **run.arguments}
    if callable(now["learning_rate"]):
        del now["learning_rate"]
        yield from _falling_rate(resumed, run.settings)
    if "action_noise" in run.arguments:  # an object; that of all cars holds that of one
        now["action_noise"] = str(now["action_noise"].base_noise)
    for name in sorted(set(now) & set(resumed.pickled)):
        yield f"{name} is {now[name]} from here on; {_CLOSED}"
    was = {name: value for name, value in resumed.attributes.items() if name not in resumed.pickled}
    if isinstance(was.get("replay_buffer_kwargs"), dict):  # returns of several steps are made again
        made_again = ("n_steps", "gamma")
        was["replay_buffer_kwargs"] = {k: v for k, v in was["replay_buffer_kwargs"].items() if k not in made_again}
    yield from _changes(was, now)
    for name in ("replay_buffer_class", "rollout_buffer_class"):
        module = resumed.get(name, dict, {}).get("__module__", _BUFFERS)
        if module != _BUFFERS:
            yield f"{name} is one of {_BUFFERS} from here on; it was one of {in_short([str(module)])}"
    if "action_repeat" not in resumed.attributes:
        yield "the model does not say how many ticks it holds an action; it is taken to be 1"


def _falling_rate(resumed: ModelData, now: Any) -> Iterator[str]:
    """Yield a sentence about a learning rate that falls from here on; what it is now is said when training begins."""
    was, falls = resumed.attributes.get("learning_rate"), f"falls to {now.final_rate_share * now.learning_rate:g}"
    if "learning_rate" in resumed.pickled:
        yield f"the learning rate of {now.learning_rate:g} {falls} over the run from here on; {_CLOSED}"
    elif not isinstance(was, int | float):
        before = "the model does not say what it was" if was is None else f"it was {was}"
        yield f"the learning rate {falls} over the run from here on; {before}"
    elif now.final_rate_share < 1:
        yield f"the learning rate {falls} over the run from here on; it was {was} throughout"


def _changes_of_config(resumed: ModelData, config: AiConfig) -> Iterator[str]:
    own = resumed.get("ai_config", dict, None)
    if own is None:
        return
    was = parse_config(own, str(resumed.path))
    if was == config != load_config():
        yield "going on with the model's own weights and limits, which are not those of ai-config.json (--config)"
    yield from _changes_between(was, config)


def _changes_between(was: AiConfig, now: AiConfig) -> Iterator[str]:
    for section, values in now.to_json().items():
        yield from _changes(was.to_json()[section], values)


def _changes(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name, value in now.items():
        if was.get(name) not in (None, value):
            yield f"{name} is {_in_words(value)} from here on; it was {_in_words(was[name])}"


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of options, where None is known to be none."""
    return {name: "none" if value is None else value for name, value in values.items()}


def _in_words(value: Any) -> str:
    return in_short([str(part) for part in value]) or "none" if isinstance(value, list) else str(value)
