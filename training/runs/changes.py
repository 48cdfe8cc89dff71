"""What a run that goes on changes against what it was, in words: nothing changes in silence."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from racer_env.config import AiConfig, load_config, parse_config
from racer_env.errors import ConfigError
from training.algorithms.settings import Settings, as_document
from training.checkpoints.data import UNKNOWN_PHYSICS, ModelData
from training.console.bridges import physics_behind
from training.console.messages import in_short
from training.runs.options import TrainingOptions
from training.runs.run import Run


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
        "seed": resumed.get("run_seed", int, None),
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
    yield from _changes(known, now)
    yield from _changes(as_document(before), as_document(run.settings))
    if "hyperparameters" not in resumed.attributes:
        yield from _changes_of_arguments(resumed, run)
    yield from _changes_of_config(resumed, run.config)
    yield from _changes(*(_without_none(values) for values in (options.recorded, vars(options))))


def changes_of_beginning(beginning: ModelData, before: Settings, options: TrainingOptions, run: Run) -> Iterator[str]:
    """Yield a sentence about each weight and limit of a new run that is not the one of the model it begins with.

    Args:
        beginning: The model whose weights the run begins with.
        before: Its hyper-parameters, as far as a new run takes them over.
        options: Options of the run; what they name is not told.
        run: The run as it begins.
    """
    brought = [name for name in run.algorithm.set_anew if name != "log_std"]  # noise is told once the weights are read
    yield from _changes(*({name: getattr(settings, name) for name in brought} for settings in (before, run.settings)))
    own = beginning.get("ai_config", dict, None)
    if own is None or options.config is not None:
        return
    with contextlib.suppress(ConfigError):  # nothing of it is used
        was = parse_config(own, str(beginning.path))
        if was != run.config:
            yield f"a new run begins with the weights and limits of ai-config.json, not of {beginning.path} (--config)"
            yield from _changes_between(was, run.config)


def own_settings(data: ModelData) -> dict[str, Any]:
    """Return the hyper-parameters that a model was trained with, by whatever means, as far as its file tells them."""
    own: dict[str, Any] | None = data.get("hyperparameters", dict, None)
    if own is not None:
        return own
    return {**data.algorithm.settings_in(data.attributes), "action_repeat": data.action_repeat}


def _unknown(resumed: ModelData, options: TrainingOptions, run: Run) -> Iterator[str]:
    """Yield a sentence about what neither the model nor the user says, and what is taken instead."""
    taken = {}
    if not resumed.track_ids and not options.track_id:
        taken["tracks"] = in_short([track.id for track in run.tracks])
    if resumed.get("run_seed", int, None) is None and options.seed is None:
        taken["seed"] = f"seed {run.seed}"
    if resumed.get("ai_config", dict, None) is None and options.config is None:
        taken["reward weights"] = "the weights of ai-config.json"
    if taken:
        what, instead = _listed(taken), _listed(taken.values())
        yield f"the model does not say with which {what} it was trained; the run goes on with {instead}"


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _changes_of_arguments(resumed: ModelData, run: Run) -> Iterator[str]:
    """Yield sentences about a model that was trained by other means: what no hyper-parameter here can express."""
    arguments = run.algorithm.arguments(run.settings, run.num_envs, run.last_step)
    if callable(arguments["learning_rate"]):
        del arguments["learning_rate"]  # it is said when the model is loaded
        yield "the learning rate falls to 0 over the run from here on; the model does not say whether it fell before"
    for name in sorted(set(arguments) & set(resumed.pickled)):
        yield f"{name} is {arguments[name]} from here on; what it was is a pickle in the file, which stays closed"
    plain = {name: value for name, value in resumed.attributes.items() if name not in resumed.pickled}
    yield from _changes(plain, arguments)
    if "action_repeat" not in resumed.attributes:
        yield "the model does not say how many ticks it holds an action; it is taken to be 1"


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
