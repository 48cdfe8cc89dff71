"""From a training script's options to a plan: what the run begins with, where and how it trains, and its name.

Everything that can be refused is refused here, before the run takes its name on disk. Nothing is written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racer_env.bridge.bridge import Bridge
from racer_env.config import AiConfig, load_config, parse_config
from racer_env.errors import ConfigError, ModelError
from racer_env.tracks import AnyTrack
from racer_env.tracks.names import VALIDATION_SEED, expand_names
from training.algorithms.algorithm import Algorithm
from training.algorithms.registry import all_algorithms
from training.algorithms.settings import Settings, as_document, named_settings, overridden, override
from training.checkpoints.checkpoint import Checkpoint
from training.checkpoints.data import ModelData, check_physics
from training.checkpoints.files import models_of, run_of, statistics_path
from training.console.bridges import physics_behind
from training.console.tracks import load_tracks_for
from training.runs.brought import changes_of_code
from training.runs.changes import changes_of, changes_of_beginning, own_settings, seed_of
from training.runs.folders import check_removable, choose_run_name
from training.runs.options import TrainingOptions, name_prefix
from training.runs.run import Run


@dataclass(frozen=True)
class Plan:
    """What a training script is about to do.

    Attributes:
        run: The run to train.
        beginning: Checkpoint that it begins with; None begins with a fresh model.
        resumed: The model to resume; None if a new run begins.
        sets_noise: Whether the user, or a preset, sets PPO's exploration noise.
        may_exist: Whether files of the run may already exist.
        overwrites: Whether these files are deleted first.
        has_own_name: Whether the name was chosen automatically, so that another will do as well.
        sentences: Sentences that tell the user about the plan.
        options: The options, for the run's record.
    """

    run: Run
    beginning: Checkpoint | None
    resumed: ModelData | None
    sets_noise: bool
    may_exist: bool
    overwrites: bool
    has_own_name: bool
    sentences: tuple[str, ...]
    options: dict[str, Any]


def make_plan(algorithm: Algorithm, options: TrainingOptions, bridge: Bridge | None) -> Plan:
    """Return the plan for what a user asks for.

    Args:
        algorithm: Algorithm of the training script.
        options: Options that the user gave.
        bridge: Bridge to the game; None is the embedded simulator.

    Raises:
        ConfigError: A setting or the configuration is wrong.
        ModelError: The model to begin with is missing, damaged, or made for something else; the name is in use.
        TrackError: A track does not exist or is wrong.
    """
    beginning, resumed = options.beginning, options.resumed
    if beginning is not None:
        _check_beginning(algorithm, options, beginning.data, bridge)
    before, settings = _settings(algorithm, options)
    tracks, eval_tracks = _tracks(options, bridge)
    name, may_exist = _name(algorithm, options)
    run = Run(
        name=name,
        algorithm=algorithm,
        tracks=tracks,
        config=_config(resumed, options),
        settings=settings,
        num_envs=_num_envs(algorithm, options, resumed, len(tracks), bridge),
        timesteps=options.timesteps,
        seed=_seed(options, resumed),
        first_step=resumed.steps if resumed else 0,
        device=options.device,
        models_dir=options.models_dir,
        logs_dir=options.logs_dir,
        checkpoint_freq=options.checkpoint_freq,
        keep_checkpoints=options.keep_checkpoints,
        with_buffer=options.save_replay_buffer,
        eval_freq=options.eval_freq,
        eval_laps=options.eval_laps,
        eval_tracks=eval_tracks,
        eval_random_starts=options.eval_random_starts,
        stop_when_competent=options.stop_when_competent,
        stop_when_lap_time=options.stop_when_lap_time,
        resume_command=options.resume_command(algorithm),
        track_flags=options.track_flags,
        bridge=bridge,
        reward=options.reward,
        wrapper=options.wrapper,
        kept=algorithm.kept(resumed.attributes) if resumed else {},
    )
    return Plan(
        run,
        beginning,
        resumed,
        "log_std" in named_settings(options.hyperparameters, options.assignments),
        may_exist,
        overwrites=options.overwrite,
        has_own_name=options.run_name is None and options.resume is None,
        sentences=tuple(_sentences(options, before, run)),
        options=options.as_record(),
    )


def _check_beginning(algorithm: Algorithm, options: TrainingOptions, data: ModelData, bridge: Bridge | None) -> None:
    if not data.algorithm.trains:
        *others, last = all_algorithms()
        raise ModelError(
            f"{data.path} is a model of {data.algorithm.name}: it drives here (training.evaluate, training.watch) and "
            f"cannot be trained; models of {', '.join(others)} and {last} can"
        )
    if data.algorithm.name != algorithm.name:
        what = "go on with it" if options.resumed is not None else "begin a run with it"
        raise ModelError(f"{data.path} is a {data.algorithm.name} model; {what} by python -m {data.algorithm.script}")
    check_physics(data.path, data.physics, None if options.any_physics else physics_behind(bridge))


def _settings(algorithm: Algorithm, options: TrainingOptions) -> tuple[Settings, Settings]:
    """Return the hyper-parameters before the options: the defaults, overridden by the model's. And after them."""
    settings, beginning, resumes = algorithm.settings(), options.beginning, options.resumed is not None
    if beginning is None:
        return settings, overridden(settings, options.hyperparameters, options.assignments)
    own, brought = own_settings(beginning.data), algorithm.carried(resumes)
    carried = [name for name in as_document(settings) if name in own and (resumes or name in brought)]
    before = override(settings, {name: own[name] for name in carried}, str(beginning.data.path))
    after = overridden(before, options.hyperparameters, options.assignments)
    for name in algorithm.fixed(resumes):
        if getattr(before, name) != getattr(after, name):
            instead = "begin a new run for it" if resumes else "leave out --initialize-from to begin with another"
            raise ConfigError(
                f"{name} of {beginning.data.path} began as {as_document(before)[name]} and cannot change; {instead}"
            )
    return before, after


def _tracks(options: TrainingOptions, bridge: Bridge | None) -> tuple[list[AnyTrack], list[AnyTrack]]:
    """Return the tracks of training, and those of the evaluations."""
    own = options.beginning.data.track_ids if options.beginning is not None else []
    tracks = load_tracks_for(own, options.track_id, options.tracks_dir, bridge)
    names = expand_names(options.eval_track_id, options.track_seed + VALIDATION_SEED)
    return tracks, load_tracks_for([], names, options.tracks_dir, bridge) if names else tracks


def _config(resumed: ModelData | None, options: TrainingOptions) -> AiConfig:
    """Return weights and limits, from the command line, a preset, the model or the project."""
    own = resumed.get("ai_config", dict, None) if resumed is not None else None
    if options.config is None and options.ai_config is not None:
        return parse_config(options.ai_config, "ai_config of the preset")
    if options.names_config or resumed is None or own is None:
        return load_config(options.config)
    return parse_config(own, str(resumed.path))


def _num_envs(
    algorithm: Algorithm, options: TrainingOptions, resumed: ModelData | None, num_tracks: int, bridge: Bridge | None
) -> int:
    is_version_1 = bridge is not None and not bridge.has_extensions
    own = resumed.get("n_envs", int, 0) if resumed is not None and not is_version_1 else 0
    if options.num_envs is None:
        return int(own) if own >= num_tracks else algorithm.num_envs(num_tracks, is_version_1)
    if options.num_envs < num_tracks:
        raise ConfigError(f"--num-envs must be at least the number of tracks, {num_tracks}; got {options.num_envs}")
    return options.num_envs


def _name(algorithm: Algorithm, options: TrainingOptions) -> tuple[str, bool]:
    """Return the run's name, and whether its files may already exist.

    Raises:
        ModelError: The name is in use or cannot be a run's, or more would be deleted than the run's own files.
    """
    models_dir, logs_dir = options.models_dir, options.logs_dir
    wanted, goes_on, needed = options.run_name, False, [*_files_needed(options)]
    if options.resumed is not None:
        own, folder = run_of(options.resumed.path), options.resumed.path.parent
        wanted = wanted or own
        goes_on = wanted == own and folder.resolve() == models_dir.resolve()
        if wanted == own and not goes_on and (logs_dir / own).exists() and not options.overwrite:
            raise _elsewhere(options.resumed.path, own, models_dir)
        needed.append(logs_dir / own)  # its curves
    if options.overwrite and wanted is not None:
        check_removable(wanted, models_dir, logs_dir, needed)
    may_exist = options.overwrite or goes_on
    return choose_run_name(wanted, name_prefix(algorithm), models_dir, logs_dir, may_exist), may_exist


def _elsewhere(model: Path, run: str, models_dir: Path) -> ModelError:
    """Return why a run that has logs cannot go on from a model that lies in another folder than its models do."""
    if models_of(models_dir, run):
        name = models_dir / run if Path(f"{run}.zip").is_file() else run  # which means the file before the run
        return ModelError(
            f"a run {run!r} exists now, with its models in {models_dir}, and may have gone on from {model} already; go "
            f"on with it by --resume {name}, or go on from the file as another run by adding --run-name NAME"
        )
    return ModelError(
        f"{model} is not in {models_dir}, where the models of its run go; name its folder with "
        f"--models-dir {model.parent}, or begin a new run with another --run-name"
    )


def _sentences(options: TrainingOptions, before: Settings, run: Run) -> Iterator[str]:
    if options.beginning is not None and options.resumed is None:
        yield from changes_of_beginning(options.beginning.data, before, options, run)
    elif options.resumed is not None:
        yield from changes_of(options.resumed, before, options, run)
    yield from changes_of_code(options.resumed, run.brought)


def _files_needed(options: TrainingOptions) -> Sequence[Path]:
    if options.beginning is None:
        return ()
    model = options.beginning.data.path
    return model, statistics_path(model)


def _seed(options: TrainingOptions, resumed: ModelData | None) -> int:
    if options.seed is not None:
        return options.seed
    return (seed_of(resumed) if resumed is not None else None) or 0
