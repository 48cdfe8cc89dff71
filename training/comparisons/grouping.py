"""Settings: runs that were trained alike in everything but the seed, and names that tell the settings apart."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.comparisons.finding import FoundRun
from training.console.messages import in_short, note

MAX_LABEL = 48  # characters
TRACKS = "tracks"

# What a record has that says where, when and by which words a run was trained, or that follows from the rest.
_BESIDES = {
    *("run", "algorithm", "command", "started", "python", "platform", "packages", "commit", "seed", "first_step"),
    *("algorithm_arguments", "timesteps", "begins_with", "begins_with_digest"),
}
_BESIDES_OF_ARGUMENTS = {
    *("run_name", "overwrite", "timesteps", "seed", "models_dir", "logs_dir", "resume", "initialize_from"),
    *("track_id", "tracks_dir", "config", "vecnorm", "num_envs", "preset", "hyperparams", "assignments"),
    *("checkpoint_freq", "keep_checkpoints", "save_replay_buffer"),
}


@dataclass(frozen=True)
class Setting:
    """Runs that agree in everything but the seed.

    Attributes:
        label: Short name, different from those of all other settings.
        about: What differs from the other settings of its algorithm; empty where the label says so.
        values: All that they were trained with, by name.
        runs: The runs, by seed; no two with the same seed.
    """

    label: str
    about: str
    values: Mapping[str, Any]
    runs: tuple[FoundRun, ...]

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self.runs[0].algorithm

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the runs."""
        return tuple(run.seed for run in self.runs)

    @property
    def course(self) -> str:
        """What its evaluations drove: tracks, laps and random starts."""
        named, seed = self.values.get("eval_track_id"), self.values.get("track_seed")
        tracks = [named, seed if ":" in str(named) else None] if named else [self.values.get(TRACKS), None]
        return str([*tracks, self.values.get("eval_laps"), self.values.get("eval_random_starts")])


def group(runs: Sequence[FoundRun]) -> list[Setting]:
    """Return the settings of runs, in the order of their first runs; of two equal runs, say which is left out."""
    groups: dict[str, tuple[dict[str, Any], dict[int, FoundRun]]] = {}
    for run in runs:
        values = trained_with(run)
        key = json.dumps([run.algorithm, values], sort_keys=True, default=str)
        _, by_seed = groups.setdefault(key, (values, {}))
        if run.seed in by_seed:
            same = f"trained alike and with the same seed, {run.seed}"
            note(f"left out: {run.folder} and {by_seed[run.seed].folder} were {same}; the latter counts")
        else:
            by_seed[run.seed] = run
    settings = [
        Setting("", "", values, tuple(by_seed[seed] for seed in sorted(by_seed))) for values, by_seed in groups.values()
    ]
    _note_versions(runs)
    return _named(settings)


def differing(settings: Sequence[Setting]) -> list[str]:
    """Return the names of what differs between settings of one algorithm, in the order of their records."""
    names: dict[str, None] = {}
    for algorithm in dict.fromkeys(setting.algorithm for setting in settings):
        alike = [setting.values for setting in settings if setting.algorithm == algorithm]
        names |= dict.fromkeys(_differing(alike))
    return list(names)


def trained_with(run: FoundRun) -> dict[str, Any]:
    """Return all that a run was trained with but its seed, flat, by names as people know them."""
    first, *later = run.records
    before = dict(_flat(first))
    values = {"begins_with": _beginning(first), "timesteps": run.timesteps, **before}
    for record in later:  # a run that went on in the same way is one that never paused
        now, begin = dict(_flat(record)), record.get("first_step")
        changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        values |= {f"{name} from {begin} steps on": now.get(name) for name in changed}
        before = now
    return values


def _beginning(record: Mapping[str, Any]) -> str | None:
    """Return the model that a run began with, by its content: on another machine it lies elsewhere."""
    path, digest = record.get("begins_with"), record.get("begins_with_digest")
    return path if path is None or digest is None else f"{Path(path).name} {digest[:8]}"


def shown(value: Any) -> str:
    """Return a value as it stands in a label or a table."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return in_short([shown(each) for each in value]).replace(", ", ",")
    return str(value)


def _flat(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a stretch was trained with, by name."""
    for name, value in record.items():
        if name in _BESIDES:
            continue
        if name == "track_fingerprints" and isinstance(value, dict):
            yield TRACKS, list(value)
            yield name, value
        elif name in ("reward", "wrapper") and isinstance(value, dict):
            yield name, f"{str(value.get('name')).rpartition(':')[2]} {str(value.get('digest'))[:8]}"
        elif name == "ai_config" and isinstance(value, dict):
            for part in value.values():
                yield from part.items() if isinstance(part, dict) else ()
        elif name in ("hyperparameters", "arguments") and isinstance(value, dict):
            yield from ((key, one) for key, one in value.items() if name == "hyperparameters" or _is_told(key))
        else:
            yield name, value


def _is_told(argument: str) -> bool:
    return argument not in _BESIDES_OF_ARGUMENTS


def _differing(alike: Sequence[Mapping[str, Any]]) -> list[str]:
    names = dict.fromkeys(name for values in alike for name in values)
    found = [name for name in names if any(values.get(name) != alike[0].get(name) for values in alike[1:])]
    return [name for name in found if name != "track_fingerprints" or TRACKS not in found]


def _named(settings: Sequence[Setting]) -> list[Setting]:
    """Return the settings with their names: what differs, or where that is much for one of them, names of runs."""
    names = {
        algorithm: _differing([setting.values for setting in settings if setting.algorithm == algorithm])
        for algorithm in {setting.algorithm for setting in settings}
    }
    differs = [
        [f"{name}={shown(setting.values.get(name))}" for name in names[setting.algorithm]] for setting in settings
    ]
    labels = [" ".join([setting.algorithm, *own]) for setting, own in zip(settings, differs, strict=True)]
    abouts = [""] * len(settings)
    if any(len(label) > MAX_LABEL for label in labels):
        are_several = len({run.sweep for setting in settings for run in setting.runs}) > 1
        labels = [_name_of_runs(setting.runs, are_several) for setting in settings]
        if len(names) > 1:
            labels = [f"{setting.algorithm} {label}" for setting, label in zip(settings, labels, strict=True)]
        abouts = [", ".join(own) for own in differs]
    counts: dict[str, int] = {}
    for index, label in enumerate(labels):
        counts[label] = counts.get(label, 0) + 1
        labels[index] = label if counts[label] == 1 else f"{label} ({counts[label]})"
    return [
        replace(setting, label=label, about=about)
        for setting, label, about in zip(settings, labels, abouts, strict=True)
    ]


def _name_of_runs(runs: Sequence[FoundRun], with_sweep: bool) -> str:
    """Return what the names of a setting's runs have in common, after that of the sweep of the first one if asked."""
    name = _common_name([run.name for run in runs])
    return f"{runs[0].sweep}/{name}" if with_sweep and runs[0].sweep else name


def _common_name(names: Sequence[str]) -> str:
    """Return what the names of a setting's runs have in common, without their numbers or seeds."""
    return re.sub(r"_seed_\d+$" if len(names) == 1 else r"(_seed)?[_-]?\d+$", "", names[0]) or names[0]


def _note_versions(runs: Sequence[FoundRun]) -> None:
    commits = {str(run.records[0].get("commit")) for run in runs}
    if len(commits) > 1:
        note(f"the runs were trained by {len(commits)} versions of the project: a difference may come from that")
