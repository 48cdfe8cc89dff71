"""Measure a driver lap by lap, or several in one table: ``python -m training.evaluate --model PATH``."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from training.console.bridges import open_bridge
from training.console.messages import note, say
from training.console.parser import ANSWER_IS_NO, DONE, leave, run_script
from training.console.tracks import known_tracks, load_tracks_for, simulated_track
from training.console.warm_up import WarmUp
from training.drivers.loading import tracks_of
from training.evaluation.options import EvaluationOptions, check_options, make_parser, parse_options
from training.evaluation.par_times import write_par_times

__all__ = ["main", "make_parser"]

KERNELS = ("training.algorithms.forward", "training.evaluation.counting")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_evaluate, parse_options(argv))


def _evaluate(options: EvaluationOptions) -> int:
    check_options(options)
    return _drive(options) if options.model is not None else _replay(options)


def _drive(options: EvaluationOptions) -> int:
    assert options.model is not None
    own_tracks = list(dict.fromkeys(chain(*(tracks_of(name, options.models_dir) for name in options.model))))
    with open_bridge(options, quiet=options.json) as bridge:
        tracks = load_tracks_for(own_tracks, options.track_id, options.tracks_dir, bridge)
        needs_known = options.keeps_drives or options.random_starts > 0 or options.par_times is not None
        known = known_tracks(tracks) if needs_known else []
        with WarmUp(simulated_track(bridge, tracks[0]), options.json, later=KERNELS):
            from training.engines.roads import note_other_roads
            from training.evaluation import measuring, printing  # Numba takes 1 s to load, while the warm-up works
        note_other_roads(bridge, tracks)
        pars = None
        if options.has_several:
            evaluations = measuring.measure_several(options, tracks, bridge)
            printing.print_several(options, evaluations)
        else:
            found = measuring.measure(options, tracks, known, bridge)
            printing.print_measurement(options, found)
            evaluations, pars = found.evaluations, found.pars
    tell = note if options.json else say
    if options.par_times not in (None, Path()) and pars is not None:
        write_par_times(options.par_times, pars)
        tell(f"saved {options.par_times}")
    if options.keeps_drives:
        from training.drives import output  # pygame and Matplotlib take 1 s to load

        output.show_evaluations(options, evaluations, known, tell)
    return DONE if pars is None or len(pars["tracks"]) == len(tracks) else ANSWER_IS_NO


def _replay(options: EvaluationOptions) -> int:
    """Replay a recording, and treat it as any other drive."""
    from training.drives import output
    from training.evaluation import printing

    assert options.replay is not None
    found, driven = output.replay(options.replay, options.config)
    printing.print_measurement(options, found)
    output.show(options, [driven], note if options.json else say)
    return DONE


if __name__ == "__main__":
    leave(main())
