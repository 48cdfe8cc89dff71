"""From the options of a training script to a plan: what it begins with, where and how it trains, and its name.

Whatever can be refused is refused here, before the run takes its name on disk. Nothing is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racer_env.bridge.bridge import Bridge
from racer_env.config import AiConfig, load_config, parse_config
from racer_env.errors import ConfigError, ModelError
from racer_env.tracks.names import VALIDATION_SEED, expand_names
from training.algorithms.algorithm import Algorithm
from training.algorithms.settings import Settings, as_document, overridden, override
from training.checkpoints.data import ModelData, read_model_data
from training.checkpoints.files import find_model, find_statistics, run_of
from training.checkpoints.physics import check_physics
from training.console.arguments import track_flags
from training.console.bridges import physics_behind
from training.console.tracks import load_tracks_for
from training.runs.folders import check_removable, choose_run_name
from training.runs.options import TrainingOptions, as_record, flags_to_resume, name_prefix
from training.runs.run import Run


@dataclass(frozen=True)
class Beginning:
    """A model to begin with.

    Attributes:
        data: What it says about itself.
        statistics: Its statistics file.
        resumes: Whether its run goes on; otherwise a new one begins with its weights.
    """

    data: ModelData
    statistics: Path
    resumes: bool


@dataclass(frozen=True)
class Plan:
    """What a training script is going to do.

    Attributes:
        run: The run.
        beginning: The model that it begins with; None begins with a fresh one.
        may_exist: Whether files of the run may be there already.
        overwrites: Whether they are to be deleted first.
        has_own_name: Whether the name was chosen for the run, so that another will do as well.
        sentences: What the user is told about it.
        options: The options, for the run's record.
    """

    run: Run
    beginning: Beginning | None
    may_exist: bool
    overwrites: bool
    has_own_name: bool
    sentences: tuple[str, ...]
    options: dict[str, Any]

    @property
    def resumed(self) -> ModelData | None:
        """The model whose run goes on; None where a new one begins."""
        return self.beginning.data if self.beginning is not None and self.beginning.resumes else None


def make_plan(algorithm: Algorithm, options: TrainingOptions, bridge: Bridge | None) -> Plan:
    """Return the plan for what a user asks for.

    Args:
        algorithm: Whose script it is.
        options: What the user asks for.
        bridge: Where the game is; None is the embedded simulator.

    Raises:
        ConfigError: A setting or the configuration is wrong.
        ModelError: The model to begin with is missing, damaged, or made for something else; the name is in use.
        TrackError: A track does not exist or is wrong.
    """
    beginning = _find_beginning(algorithm, options)
    resumed = beginning.data if beginning is not None and beginning.resumes else None
    settings, changes = _settings(algorithm, beginning, options)
    config, differences = _config(resumed, options.config)
    own = beginning.data.track_ids if beginning is not None else []
    tracks = load_tracks_for(own, options.track_id, options.tracks_dir, bridge)
    eval_names = expand_names(options.eval_track_id, options.track_seed + VALIDATION_SEED)
    name, may_exist = _name(algorithm, options, beginning)
    run = Run(
        name=name,
        algorithm=algorithm,
        tracks=tracks,
        config=config,
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
        eval_tracks=load_tracks_for([], eval_names, options.tracks_dir, bridge) if eval_names else tracks,
        eval_random_starts=options.eval_random_starts,
        stop_when_competent=options.stop_when_competent,
        stop_when_lap_time=options.stop_when_lap_time,
        resume_command=_resume_command(algorithm, options),
        track_flags=track_flags(options.track_id, options.tracks_dir),
        bridge=bridge,
    )
    if beginning is not None:
        check_physics(beginning.data, physics_behind(bridge))
    has_own_name = options.run_name is None and options.resume is None
    sentences = (*changes, *differences)
    return Plan(run, beginning, may_exist, options.overwrite, has_own_name, sentences, as_record(options))


def _find_beginning(algorithm: Algorithm, options: TrainingOptions) -> Beginning | None:
    named = options.initialize_from if options.resume is None else options.resume
    if named is None:
        return None
    data = read_model_data(find_model(named, options.models_dir))
    if data.algorithm.name != algorithm.name:
        raise ModelError(
            f"{data.path} is a {data.algorithm.name} model; what goes on with it is python -m {data.algorithm.script}"
        )
    return Beginning(data, find_statistics(data), resumes=options.resume is not None)


def _settings(
    algorithm: Algorithm, beginning: Beginning | None, options: TrainingOptions
) -> tuple[Settings, Sequence[str]]:
    """Return the hyper-parameters: defaults, then the model's, then those of files, then single ones.

    Also what is said about those of a run that goes on that change.
    """
    settings = algorithm.settings()
    if beginning is None:
        return overridden(settings, options.hyperparameters, options.assignments), ()
    own, fixed = beginning.data.get("hyperparameters", dict, {}), algorithm.fixed(beginning.resumes)
    carried = [name for name in as_document(settings) if name in own and (beginning.resumes or name in fixed)]
    before = override(settings, {name: own[name] for name in carried}, str(beginning.data.path))
    after = overridden(before, options.hyperparameters, options.assignments)
    for name in fixed:
        if getattr(before, name) != getattr(after, name):
            raise ConfigError(
                f"{name} of {beginning.data.path} began as {getattr(before, name)} and cannot change; begin a new run "
                "for it"
            )
    was = as_document(before)
    changed = {name: value for name, value in as_document(after).items() if beginning.resumes and value != was[name]}
    return after, [f"{name} is {value} from here on; it was {was[name]}" for name, value in changed.items()]


def _config(resumed: ModelData | None, path: Path | None) -> tuple[AiConfig, Sequence[str]]:
    """Return weights and limits, and what is said about them: the command line's, the model's, or the project's."""
    own = resumed.get("ai_config", dict, None) if resumed is not None else None
    if path is not None or resumed is None or own is None:
        return load_config(path), ()
    config = parse_config(own, str(resumed.path))
    if config == load_config():
        return config, ()
    return config, [
        "going on with the model's own weights and limits, which are not those of ai-config.json (--config)"
    ]


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


def _name(algorithm: Algorithm, options: TrainingOptions, beginning: Beginning | None) -> tuple[str, bool]:
    """Return the run's name, and whether its files may be there already."""
    wanted, goes_on = options.run_name, False
    if beginning is not None:
        own, folder = run_of(beginning.data.path), beginning.data.path.parent
        if beginning.resumes:
            wanted = wanted or own
        is_own = wanted == own and folder.resolve() == options.models_dir.resolve()
        goes_on = is_own and beginning.resumes
    if options.overwrite and wanted is not None:
        needed = [beginning.data.path, beginning.statistics] if beginning is not None else []
        check_removable(wanted, options.models_dir, options.logs_dir, needed)
    may_exist = options.overwrite or goes_on
    prefix = name_prefix(algorithm)
    return choose_run_name(wanted, prefix, options.models_dir, options.logs_dir, may_exist), may_exist


def _seed(options: TrainingOptions, resumed: ModelData | None) -> int:
    if options.seed is not None:
        return options.seed
    return int(resumed.get("run_seed", int, 0)) if resumed is not None else 0


def _resume_command(algorithm: Algorithm, options: TrainingOptions) -> list[str]:
    tracks = track_flags(options.track_id, options.tracks_dir)
    return ["python", "-m", algorithm.script, *tracks, *flags_to_resume(algorithm, options)]
