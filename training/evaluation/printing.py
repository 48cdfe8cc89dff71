"""Printing measurements, for people and as JSON."""

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

from training.console.messages import count_of, say
from training.evaluation.course import Evaluation
from training.evaluation.episode import LINE
from training.evaluation.measuring import Measurement
from training.evaluation.options import EvaluationOptions
from training.evaluation.par_times import format_par_times
from training.evaluation.summary import summarise
from training.evaluation.tables import described, side_by_side, successes


def print_measurement(options: EvaluationOptions, found: Measurement) -> None:
    """Print the figures of one driver or of two, the first one's results under stress, and its par times."""
    compared = found.compared if options.compare else None  # a driver that is only plotted has no table
    if options.json:
        print(json.dumps(_document(found, compared), indent=2))
        return
    for evaluation in (found.evaluation, compared):
        if evaluation is not None:
            _print_evaluation(options, evaluation)
    by_track = found.evaluation.by_track
    if found.stressed:
        say("under stress" + (f", on {count_of(len(by_track), 'track')} together" if len(by_track) > 1 else ""))
        under = {name: evaluation.episodes for name, evaluation in found.stressed.items()}
        for line in successes({"none": list(chain(*by_track.values())), **under}, "stress"):
            say(line)
    if found.pars is not None and found.pars["tracks"]:
        for line in format_par_times(found.pars):
            say(line)


def print_several(options: EvaluationOptions, evaluations: Sequence[Evaluation]) -> None:
    """Print the figures of several drivers in one table, or as one document."""
    if options.json:
        print(json.dumps({"drivers": [_as_json(evaluation) for evaluation in evaluations]}, indent=2))
        return
    say(f"{count_of(options.laps, 'lap')} from a standing start on each track")
    for line in side_by_side([(evaluation.driver.title, evaluation.by_track) for evaluation in evaluations]):
        say(line)


def _print_evaluation(options: EvaluationOptions, evaluation: Evaluation) -> None:
    driver = evaluation.driver
    holds = f", each action for {driver.action_repeat} ticks" if driver.action_repeat > 1 else ""
    what = f"{count_of(options.laps, 'lap')} from a standing start on each track"
    say(f"{driver.title}, {'replayed' if options.replay else what}{holds}")
    for line in described(evaluation.by_track):
        say(line)


def _document(found: Measurement, compared: Evaluation | None) -> dict[str, Any]:
    document = _as_json(found.evaluation)
    if found.stressed:
        document["stress"] = {name: summarise(evaluation.episodes) for name, evaluation in found.stressed.items()}
    if found.pars is not None:
        document["par_times"] = found.pars
    if compared is not None:
        document["compared_with"] = _as_json(compared)
    return document


def _as_json(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "model": evaluation.driver.name,
        "action_repeat": evaluation.driver.action_repeat,
        "tracks": {
            track_id: {**summarise(driven), "lap_times_sec": [e.lap_times for e in driven if e.start == LINE]}
            for track_id, driven in evaluation.by_track.items()
        },
    }
