"""What the trials of a sweep stand on: an algorithm with a preset and the options of its runs, checked up front."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from racer_env.bridge.url import EMBEDDED
from racer_env.errors import ConfigError, RunError
from racer_env.json_files import shown
from training.algorithms.algorithm import Algorithm
from training.algorithms.registry import algorithm_named
from training.algorithms.settings import as_document, named_settings
from training.checkpoints.writing import digest_of
from training.console.tracks import track_fingerprints
from training.runs.brought import documents_of
from training.runs.options import TrainingOptions, make_options, make_parser
from training.runs.plan import make_plan
from training.runs.run import Run
from training.sweeps.objective import Objective
from training.sweeps.options import SweepOptions
from training.sweeps.search_space import SearchSpace, parse_space, read_space, shipped_space


@dataclass(frozen=True)
class Base:
    """What trials have in common that differ only in what is searched.

    Attributes:
        label: Algorithm and preset, for people.
        algorithm: The algorithm.
        arguments: Command line of its training script, without what differs between trials.
        options: The same, completed by presets.
        run: The run that it would be.
        space: What is searched; empty without a search.
    """

    label: str
    algorithm: Algorithm
    arguments: tuple[str, ...]
    options: TrainingOptions
    run: Run
    space: SearchSpace

    def named_settings(self) -> dict[str, Any]:
        """Return the hyper-parameters that presets, files and --set give a value, by name, in the form of documents."""
        named = named_settings(self.options.hyperparameters, self.options.assignments)
        return {name: value for name, value in as_document(self.run.settings).items() if name in named}

    def as_document(self) -> dict[str, Any]:
        """Return what a trial of it is, in the form that JSON has; a sweep that goes on must find the same."""
        run, beginning = self.run, self.options.beginning
        document = {
            "label": self.label,
            "algorithm": self.algorithm.name,
            "arguments": self.arguments,
            "steps": run.steps,
            "num_envs": run.num_envs,
            "hyperparameters": as_document(run.settings),
            "ai_config": run.config.to_json(),
            "begins_with": digest_of(beginning.data.path) if beginning is not None else None,
            **documents_of(run.brought),
            "track_fingerprints": track_fingerprints(run.tracks),
            "eval_track_fingerprints": track_fingerprints(run.eval_tracks),
            **{name: getattr(run, name) for name in ("eval_freq", "eval_laps", "eval_random_starts")},
            "search_space": self.space.document,
        }
        found: dict[str, Any] = json.loads(json.dumps(document))
        return found


def make_bases(options: SweepOptions, objective: Objective, spaces: dict[str, Any] | None = None) -> list[Base]:
    """Return the bases of a sweep, each with what is searched there.

    Args:
        options: Options of the sweep.
        objective: What its runs are judged by.
        spaces: Contents of search spaces by label, of a sweep that goes on; None reads the files.

    Raises:
        RacerError: A setting, a track, a model or a search space is wrong or missing.
        SystemExit: Options of the training scripts are wrong, or a sweep cannot have them.
    """
    documents = {str(path): read_space(path) for path in options.search or ()}
    named = {document.get("algorithm") for document in documents.values()} - {None}
    strange = sorted(named - {*options.algorithm}, key=str)
    if strange:
        file = next(path for path, document in documents.items() if document.get("algorithm") == strange[0])
        raise ConfigError(f"{file} is for {shown(strange[0])}, which is not among --algorithm; add it, or leave it out")
    bases = []
    presets: list[str | None] = [*options.preset] or [None]
    for algorithm in map(algorithm_named, options.algorithm):
        for preset in presets:
            label = algorithm.name if preset is None else f"{algorithm.name} {preset}"
            base = _make_base(options, objective, algorithm, label, preset)
            if spaces is not None:
                where, document = f"the search space of {label}", spaces.get(label, {})
            else:
                where, document = _space_for(options, algorithm, documents)
            space = parse_space(document, base.run.settings, where)
            _check_assignments(base, space)
            bases.append(dataclasses.replace(base, space=space))
    return bases


def _make_base(
    options: SweepOptions, objective: Objective, algorithm: Algorithm, label: str, preset: str | None
) -> Base:
    parser = make_parser(algorithm)
    arguments = [*options.training, *(["--preset", preset] if preset is not None else [])]
    parsed = parser.parse_args([*arguments, "--models-dir", str(options.models_dir)])
    if parsed.run_name is not None or parsed.overwrite:
        parser.error("the runs of a sweep have names of their own; leave out --run-name and --overwrite, or use --name")
    if parsed.bridge_url not in (None, [EMBEDDED]):
        parser.error("runs side by side cannot share a game; leave out --bridge-url: sweeps train on the embedded one")
    if objective.needs_laps and parsed.stop_when_competent is None:
        arguments.append("--stop-when-competent")  # there is nothing more to find out
        parsed.stop_when_competent = True
    training = make_options(algorithm, parsed)
    if not training.eval_freq:
        parser.error("a sweep judges runs by their evaluations, got --eval-freq 0")
    if training.beginning is not None:  # a name would be looked for among the models of the sweep
        arguments += ["--initialize-from", str(training.beginning.data.path)]
    run = make_plan(algorithm, training, None).run
    return Base(label, algorithm, (*arguments, "--bridge-url", EMBEDDED), training, run, SearchSpace())


def _space_for(
    options: SweepOptions, algorithm: Algorithm, documents: dict[str, dict[str, Any]]
) -> tuple[str, dict[str, Any]]:
    """Return the search space of an algorithm, after the name of its file."""
    if options.search is None:
        return "no search space", {}
    if not options.search:
        path = shipped_space(algorithm)
        return str(path), read_space(path)
    fitting = [place for place, space in documents.items() if space.get("algorithm") in (None, algorithm.name)]
    if len(fitting) != 1:
        found = f"names {' and '.join(fitting)}" if fitting else "names none"
        raise ConfigError(f"--search takes one search space for {algorithm.name}, and {found}; see --algorithm")
    return fitting[0], documents[fitting[0]]


def _check_assignments(base: Base, space: SearchSpace) -> None:
    assigned = {text.partition("=")[0].strip() for text in base.options.assignments}
    both = sorted(assigned & {*space.hyperparameters})
    if both:
        raise ConfigError(f"{both[0]} is set by --set and searched too; take it out of one of them")


def check_unchanged(before: Any, bases: list[Base]) -> None:
    """Refuse to go on with a sweep whose trials would be others than those before.

    Args:
        before: What the sweep's file says of its bases.
        bases: What they are now.

    Raises:
        RunError: Something differs.
    """
    now = [base.as_document() for base in bases]
    for old, new in zip(before, now, strict=True):
        for name, value in new.items():
            if old.get(name) != value:
                raise RunError(
                    f"{new['label']}: {name} was {shown(old.get(name))} when the sweep began, and now is "
                    f"{shown(value)}; put it back, or begin another sweep"
                )
