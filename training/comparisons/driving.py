"""The best drivers of a comparison, side by side on tracks that none of them was trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.config import load_config
from racer_env.errors import ModelError
from racer_env.physics import load_physics
from racer_env.tracks import Track
from training.comparisons.comparison import Comparison, is_better
from training.comparisons.finding import FoundRun
from training.comparisons.measures import Measure
from training.console.messages import note
from training.drivers.loading import load_driver
from training.evaluation.course import Course, Evaluation, evaluate
from training.evaluation.options import DEFAULT_LAPS

MAX_DRIVERS = 4  # most settings whose best driver drives


@dataclass(frozen=True)
class Driven:
    """What the best driver of a setting drove.

    Attributes:
        label: Name of the setting.
        model: Path of the driver.
        evaluation: What it drove.
        known: Ids of those of the tracks that it was trained or chosen on.
    """

    label: str
    model: Path
    evaluation: Evaluation
    known: tuple[str, ...]


def drive_best(comparison: Comparison, tracks: Sequence[Track]) -> list[Driven]:
    """Let the best driver of each of the best settings drive; one that cannot be loaded is told, and left out."""
    course = Course(tracks, load_config(), DEFAULT_LAPS, keeps_actions=True)
    driven = []
    for each in comparison.settings[:MAX_DRIVERS]:
        run = best_run(each.setting.runs, comparison.rank)
        try:
            driver = load_driver(run.best_model.absolute(), load_physics())
        except ModelError as error:
            note(f"{each.label} does not drive: {error}")
            continue
        known = tuple(track.id for track in tracks if track.id in driver.track_ids)
        driven.append(Driven(each.label, run.best_model, evaluate(driver, course), known))
    return driven


def best_run(runs: Sequence[FoundRun], measure: Measure) -> FoundRun:
    """Return the run that is best by a measure; of equal ones, the first."""
    best = runs[0]
    for run in runs[1:]:
        if is_better(measure.of(run.evaluations), measure.of(best.evaluations), measure):
            best = run
    return best
