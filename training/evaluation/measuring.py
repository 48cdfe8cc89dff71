"""All measurements of ``training.evaluate``: laps, another driver's laps, the effect of stress, and par times."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racer_env.bridge.bridge import Bridge
from racer_env.config import AiConfig, load_config
from racer_env.tracks import AnyTrack, Track
from racer_env.tracks.names import is_generated
from training.console.bridges import physics_behind
from training.console.messages import count_of, note
from training.console.tracks import note_changed_tracks, track_fingerprints
from training.drivers.driver import Driver
from training.drivers.familiarity import doubt_about
from training.drivers.loading import load_driver
from training.evaluation import par_times
from training.evaluation.course import Course, Evaluation, evaluate, evaluate_all, without_time_for_a_lap
from training.evaluation.options import EvaluationOptions
from training.evaluation.stress import NO_STRESS, STRESSES

STRESS_EPISODES = 4  # episodes from the line; noise makes each one different


@dataclass(frozen=True)
class Measurement:
    """What was measured about a driver.

    Attributes:
        evaluation: Episodes that the driver drove.
        compared: Episodes of the driver to compare with, or None.
        stressed: Episodes under each kind of stress, by its name.
        pars: Par times from its laps, in the form of the file, or None.
    """

    evaluation: Evaluation
    compared: Evaluation | None = None
    stressed: dict[str, Evaluation] = dataclasses.field(default_factory=dict)
    pars: dict[str, Any] | None = None

    @property
    def evaluations(self) -> list[Evaluation]:
        """What the driver drove, and the one to compare with, if any."""
        return [self.evaluation] if self.compared is None else [self.evaluation, self.compared]


def measure(
    options: EvaluationOptions,
    tracks: Sequence[AnyTrack],
    known: Sequence[Track],
    bridge: Bridge | None,
) -> Measurement:
    """Let drivers drive as the options say.

    Args:
        options: Options that say what to measure.
        tracks: Tracks to drive on.
        known: The same tracks, as the simulator can drive on them; used for par times.
        bridge: Bridge to the game; None is the embedded simulator.

    Raises:
        BridgeError: The game cannot be reached, or the connection is lost.
        ConfigError: The reward weights are wrong.
        ModelError: A driver cannot be loaded.
    """
    names = [*(options.model or []), *([options.compared] if options.compared else [])]
    drivers = [_load(options, name, bridge) for name in names]
    course = _course(options, tracks, choose_config(options.config, drivers[0].config, drivers[0].title), bridge)
    stressed = dataclasses.replace(course, episodes=STRESS_EPISODES, keeps_actions=False)
    drives = [(course, NO_STRESS), *((stressed, stress) for stress in STRESSES if options.stress)]
    if options.par_times is not None:
        drives.append((par_course(known, course.config, bridge), par_times.UNSTEADY))
    note_changed_tracks(drivers[0].track_fingerprints, drivers[0].title, tracks)
    first, *others = evaluate_all(drivers[0], drives)
    for sentence in [*_limits(first), *_seen(first)]:
        note(sentence)
    pars = _par_times(others.pop()) if options.par_times is not None else None
    compared = None
    for driver in drivers[1:]:
        note_changed_tracks(driver.track_fingerprints, driver.title, tracks)
        compared = evaluate(driver, course)
    return Measurement(first, compared, dict(zip((s.name for s in STRESSES), others, strict=False)), pars)


def measure_several(options: EvaluationOptions, tracks: Sequence[AnyTrack], bridge: Bridge | None) -> list[Evaluation]:
    """Let several drivers drive the same course, one after the other; see ``measure``.

    Rewards count by the weights that all of them were trained with, or else by those of the project.

    Returns:
        What each one drove, in the order of their names.
    """
    drivers = [_load(options, name, bridge) for name in options.model or []]
    own = next((driver.config for driver in drivers if driver.config is not None), None)
    if any(driver.config not in (None, own) for driver in drivers):
        own = None
        note(f"rewards and limits are those of {options.config or 'ai-config.json'}, as the drivers had different ones")
    config = choose_config(options.config, own, "the drivers")
    course = _course(options, tracks, config, bridge)
    evaluations = []
    for driver in drivers:
        note_changed_tracks(driver.track_fingerprints, driver.title, tracks)
        evaluations.append(evaluate(driver, course))
        for sentence in _seen(evaluations[-1]):
            note(sentence)
    for sentence in _limits(evaluations[0]):
        note(sentence)
    return evaluations


def _course(options: EvaluationOptions, tracks: Sequence[AnyTrack], config: AiConfig, bridge: Bridge | None) -> Course:
    return Course(
        tracks,
        config,
        options.laps,
        episodes=options.episodes,
        random_starts=options.random_starts,
        seed=options.seed,
        bridge=bridge,
        keeps_actions=options.keeps_drives,
    )


def choose_config(path: Path | None, own: AiConfig | None, name: str) -> AiConfig:
    """Return the weights and limits to measure with, and say whose they are if it is not the project's file.

    Args:
        path: File that the user named, or None.
        own: Those that a driver was trained, or recorded, with; None if they are not known.
        name: Name of the driver or the recording.

    Raises:
        ConfigError: The file is missing or wrong.
    """
    usual = load_config(path)
    if path is not None or own is None or own == usual:
        return usual
    note(f"rewards and limits are those of {name}, not of ai-config.json; --config FILE measures by others")
    return own


def _load(options: EvaluationOptions, name: str, bridge: Bridge | None) -> Driver:
    is_first = name in (options.model or [])  # the options about statistics and noise apply to this driver
    return load_driver(
        name,
        physics_behind(bridge),
        models_dir=options.models_dir,
        vecnorm=options.vecnorm if is_first else None,
        normalise=not (options.no_vecnorm and is_first),
        deterministic=options.deterministic or not is_first,
        seed=options.seed,
        device=options.device,
        any_physics=options.any_physics,
    )


def par_course(tracks: Sequence[AnyTrack], config: AiConfig, bridge: Bridge | None = None) -> Course:
    """Return the course on which par times are driven, with ``par_times.UNSTEADY`` as its stress."""
    starts, laps = par_times.STARTS, par_times.LAPS
    return Course(tracks, config, laps=1, random_starts=starts, random_laps=laps, bridge=bridge)


def pars_of(evaluation: Evaluation) -> dict[str, par_times.ParTimes]:
    """Return the par times from what was driven on that course, by track id; say on which tracks there are none."""
    pars = {}
    for track_id, episodes in evaluation.by_track.items():
        par = par_times.par_times(episodes)
        if par is None:
            clean, asked = len(par_times.clean_flying_laps(episodes)), 2 * par_times.STARTS * par_times.LAPS
            note(
                f"no par times for {track_id}: {evaluation.driver.title} drove {clean} of {asked} laps there without "
                f"touching a wall, and {par_times.MIN_CLEAN_SHARE:.0%} are needed"
            )
        else:
            pars[track_id] = par
    return pars


def _par_times(evaluation: Evaluation) -> dict[str, Any]:
    fingerprints = track_fingerprints(evaluation.course.tracks)
    return par_times.as_document(evaluation.driver.name, pars_of(evaluation), fingerprints)


def _limits(evaluation: Evaluation) -> list[str]:
    """Return in words how the limits of an episode affected what was driven."""
    tracks, config = evaluation.course.tracks, evaluation.course.config
    sentences = [f"{text}; here it gives way to --laps" for text in without_time_for_a_lap(tracks, config)]
    cut = [episode for episode in evaluation.episodes if episode.was_cut]
    if cut:
        sentences.append(
            f"the game ended {count_of(len(cut), 'episode')} of {len(evaluation.episodes)} by its own limit, the first "
            f"after {cut[0].steps:,} ticks on {cut[0].track_id}"
        )
    return sentences


def _seen(evaluation: Evaluation) -> list[str]:
    """Return in words what a driver's training says about its results: tracks that it knows, and that it does not."""
    tracks, known = evaluation.course.tracks, evaluation.driver.track_ids
    failed = [track_id for track_id, episodes in evaluation.by_track.items() if not all(e.is_success for e in episodes)]
    doubt = doubt_about(evaluation.driver, failed, evaluation.driver.title, fails=True)
    seen = [track.id for track in tracks if is_generated(track.id) and track.id in known]
    sentences = []
    if doubt is not None:
        hint = "; --preset general trains a driver for any road" if known and not any(map(is_generated, known)) else ""
        sentences.append(doubt + hint)
    if seen:
        these = "this track" if len(tracks) == 1 else f"{len(seen)} of these {len(tracks):,} tracks"
        sentences.append(
            f"{evaluation.driver.title} was trained on {these}; --track-id procedural:8 --track-seed 1, for example, "
            "makes others"
        )
    return sentences
