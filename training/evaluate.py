"""Measure a driver lap by lap: ``python -m training.evaluate --model PATH``."""

import argparse
import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer_env.errors import ConfigError
from racer_env.rendering import CAMERAS, WHOLE
from training.bridges import add_bridge_argument, open_bridge, physics_behind
from training.cli import (
    ANSWER_IS_NO,
    DONE,
    Parser,
    add_driver_arguments,
    add_track_arguments,
    count_of,
    leave,
    note,
    run_script,
    say,
    whole_number,
)

if TYPE_CHECKING:
    from racer_env.tracks import AnyTrack
    from racer_env.bridge.bridge import Bridge
    from racer_env.config import AiConfig
    from racer_env.tracks import Track
    from training.driver import Driver
    from training.evaluation import Episode

SCRIPTED = "scripted"
# The arguments that a replay has no use for, with their defaults.
_ABOUT_DRIVING: dict[str, Any] = {
    "compare": None,
    "vecnorm": None,
    "no_vecnorm": False,
    "track_id": [],
    "laps": 3,
    "episodes": 1,
    "deterministic": True,
    "bridge_url": None,
    "random_starts": 0,
    "stress": False,
    "par_times": None,
}
STRESS_EPISODES = 4  # from the line, as noise makes each one different


def make_parser() -> Parser:
    """Return the command line."""
    parser = Parser(
        prog="python -m training.evaluate",
        description="Let a driver drive from the standing start, and measure it lap by lap.",
        epilog="Model files contain pickles. They are left closed: only JSON, tensors and checked statistics are read; "
        "an .onnx file contains none.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--model",
        metavar="MODEL",
        help="a model's path, with or without .zip; a run's name, for its newest model, not its best; an exported "
        f"driver.onnx, or model.onnx with vecnorm_stats.json beside it; '{SCRIPTED}' is a simple driver by rule",
    )
    what.add_argument("--replay", type=Path, metavar="FILE.npz", help="instead of a model, a drive saved by --record")
    parser.add_argument("--compare", metavar="MODEL", help="another driver on the same tracks, to compare with")
    statistics = parser.add_mutually_exclusive_group()
    statistics.add_argument(
        "--vecnorm", type=Path, metavar="FILE", help="the model's statistics (default: as training names them)"
    )
    statistics.add_argument(
        "--no-vecnorm", action="store_true", help="the model was trained without normalisation: it has no statistics"
    )
    add_bridge_argument(parser)
    add_track_arguments(parser, "those that the model was trained on, or all of --tracks-dir, or track-01")
    parser.add_argument("--laps", type=whole_number(1, 1000), default=3, help="laps per episode (default: 3)")
    parser.add_argument(
        "--episodes",
        type=whole_number(1, 1000),
        default=1,
        help="episodes per track; a deterministic driver repeats itself, so one tells all (default: 1)",
    )
    add_driver_arguments(parser)
    parser.add_argument("--device", default="cpu", help="cpu, cuda or auto (default: cpu)")
    parser.add_argument(
        "--any-physics", action="store_true", help="load a model that was trained on other physics all the same"
    )
    parser.add_argument(
        "--random-starts",
        type=whole_number(0, 1000),
        default=0,
        metavar="N",
        help="drive also from N places on each track on the move, and from as many at rest (default: 0)",
    )
    parser.add_argument(
        "--stress",
        action="store_true",
        help="drive also with noise on the actions, with noise on the observations, with actions a tick late, and with "
        "all of these",
    )
    parser.add_argument(
        "--par-times",
        nargs="?",
        type=Path,
        const=Path(),
        metavar="FILE.json",
        help="print lap times for gold, silver and bronze on each track, and write them to FILE.json if one is named",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    look = parser.add_argument_group("to look at (with several tracks, each has its id in the file's name)")
    look.add_argument("--record", type=Path, metavar="FILE.npz", help="save the drive with the best lap, for --replay")
    look.add_argument("--video", type=Path, metavar="FILE", help="write the best lap as a video, .mp4 or .gif")
    look.add_argument("--fps", type=int, choices=(60, 30), help="frames a second (default: 60, of a .gif 30)")
    look.add_argument("--camera", choices=CAMERAS, default=WHOLE, help=f"of the video (default: {WHOLE})")
    look.add_argument(
        "--plot",
        type=Path,
        metavar="DIR",
        help="draw racing line, telemetry and lap times, and how far ahead of --compare, or the scripted driver, it is",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_evaluate, make_parser().parse_args(argv))


def _evaluate(arguments: argparse.Namespace) -> int:
    if arguments.video is not None:
        from training.video import check_video

        check_video(arguments.video, arguments.fps)  # before anything is driven for it
    elif arguments.fps is not None or arguments.camera != WHOLE:
        raise ConfigError("--fps and --camera are about a video; name its file with --video, or leave them out")
    _check_targets(arguments)
    if arguments.replay is not None:
        named = [flag for flag, value in _ABOUT_DRIVING.items() if getattr(arguments, flag) != value]
        if named:
            raise ConfigError(f"--replay drives what was recorded; leave out --{named[0].replace('_', '-')}")
        return _replay(arguments)
    from racer_env.config import load_config
    from training.driver import tracks_of

    config = load_config(arguments.config)
    own = tracks_of(arguments.model, arguments.models_dir)
    with open_bridge(arguments, quiet=arguments.json) as bridge:
        return _drive(arguments, config, own, bridge)


def _check_targets(arguments: argparse.Namespace) -> None:
    """Refuse places that nothing can be written to, before anything is driven for it.

    Raises:
        ConfigError: A file is where a folder should be, or the other way round.
        OSError: A folder cannot be made.
    """
    if arguments.plot is not None:
        if arguments.plot.exists() and not arguments.plot.is_dir():
            raise ConfigError(f"--plot takes a folder, and {arguments.plot} is a file")
        arguments.plot.mkdir(parents=True, exist_ok=True)
    for flag, suffix in (("record", ".npz"), ("par_times", ".json")):
        path = getattr(arguments, flag)
        if path not in (None, Path()) and path.suffix != suffix:
            raise ConfigError(f"--{flag.replace('_', '-')} takes a file that ends in {suffix}, got {path}")
    if arguments.par_times is not None and arguments.par_times.is_file():
        from training.par_times import holds_par_times

        if not holds_par_times(arguments.par_times):
            raise ConfigError(f"--par-times: {arguments.par_times} exists and holds no par times; name another file")
    for flag in ("record", "video", "par_times"):
        path = getattr(arguments, flag)
        if path is not None and path != Path():
            if path.is_dir():
                raise ConfigError(f"--{flag.replace('_', '-')} takes a file, and {path} is a folder")
            path.parent.mkdir(parents=True, exist_ok=True)


def _drive(
    arguments: argparse.Namespace, config: "AiConfig", own_tracks: Sequence[str], bridge: "Bridge | None"
) -> int:
    from training.loading import Preparation
    from training.model_files import load_tracks_for

    tracks = load_tracks_for(own_tracks, arguments.track_id, arguments.tracks_dir, bridge)
    looks = any(path is not None for path in (arguments.record, arguments.video, arguments.plot))
    known: list[Track] = []
    if looks or arguments.random_starts or arguments.par_times is not None:
        from racer_env.tracks import known_track

        known = [known_track(track) for track in tracks]
    with Preparation(None if bridge else tracks[0], quiet=arguments.json):
        from training.evaluation import LINE, drive
        from training.run_record import note_changed_tracks

    compared = arguments.compare or (SCRIPTED if arguments.plot is not None and arguments.model != SCRIPTED else None)
    drivers = [_load(arguments, name, bridge) for name in (arguments.model, compared) if name is not None]
    driven: list[dict[str, list[Episode]]] = []
    for driver in drivers:
        note_changed_tracks(driver.track_fingerprints, Path(driver.name).name, tracks)
        episodes = drive(
            driver,
            tracks,
            config=config,
            laps=arguments.laps,
            episodes=arguments.episodes,
            bridge=bridge,
            action_repeat=driver.action_repeat,
            keeps_actions=looks,
            random_starts=arguments.random_starts,
            seed=arguments.seed,
        )
        driven.append(_by_track(tracks, episodes))
        if len(driven) == 1:
            for sentence in [*_limits(tracks, config, episodes), *_seen(tracks, driver)]:
                note(sentence)
    told = list(zip(drivers, driven, strict=True))[: 2 if arguments.compare else 1]
    stressed = _under_stress(arguments, config, drivers[0], tracks, bridge) if arguments.stress else {}
    pars = _par_times(config, drivers[0], known, bridge) if arguments.par_times is not None else None
    _tell(arguments, told, stressed, pars)
    if arguments.par_times not in (None, Path()) and pars is not None:
        from training.par_times import write_par_times

        write_par_times(arguments.par_times, pars)
        (note if arguments.json else say)(f"saved {arguments.par_times}")
    if looks:
        from training.showing import driven_by, show

        labels = _apart([driver.label for driver in drivers])
        from_line = [
            {track_id: [e for e in episodes if e.start == LINE] for track_id, episodes in by_track.items()}
            for by_track in driven
        ]
        seen = [driven_by(label, known, by_track) for label, by_track in zip(labels, from_line, strict=True)]
        show(arguments, seen, note if arguments.json else say)
    return DONE if pars is None or len(pars["tracks"]) == len(tracks) else ANSWER_IS_NO


def _under_stress(
    arguments: argparse.Namespace,
    config: "AiConfig",
    driver: "Driver",
    tracks: Sequence["AnyTrack"],
    bridge: "Bridge | None",
) -> dict[str, list["Episode"]]:
    """Drive once more under each kind of stress, and return the episodes by its name."""
    from training.evaluation import drive
    from training.stress import STRESSES

    return {
        stress.name: drive(
            driver,
            tracks,
            config=config,
            laps=arguments.laps,
            episodes=STRESS_EPISODES,
            bridge=bridge,
            action_repeat=driver.action_repeat,
            random_starts=arguments.random_starts,
            seed=arguments.seed,
            stress=stress,
        )
        for stress in STRESSES
    }


def _par_times(
    config: "AiConfig", driver: "Driver", tracks: Sequence["Track"], bridge: "Bridge | None"
) -> dict[str, Any]:
    from training.evaluation import drive
    from training.par_times import LAPS, MIN_CLEAN_SHARE, STARTS, UNSTEADY, as_document, clean_flying_laps, par_times
    from training.run_record import track_fingerprints

    driven = drive(
        driver,
        tracks,
        config=config,
        laps=1,
        bridge=bridge,
        action_repeat=driver.action_repeat,
        random_starts=STARTS,
        random_laps=LAPS,
        stress=UNSTEADY,
    )
    pars = {}
    for track_id, episodes in _by_track(tracks, driven).items():
        par = par_times(episodes)
        if par is None:
            clean, asked = len(clean_flying_laps(episodes)), 2 * STARTS * LAPS
            note(
                f"no par times for {track_id}: {Path(driver.name).name} drove {clean} of {asked} laps there without "
                f"touching a wall, and {MIN_CLEAN_SHARE:.0%} are needed"
            )
        else:
            pars[track_id] = par
    return as_document(driver.name, pars, track_fingerprints(tracks))


def _load(arguments: argparse.Namespace, name: str, bridge: "Bridge | None") -> "Driver":
    from training.driver import load_driver

    is_first = name == arguments.model  # the arguments about statistics and noise are about it
    return load_driver(
        name,
        physics_behind(bridge),
        models_dir=arguments.models_dir,
        vecnorm=arguments.vecnorm if is_first else None,
        normalise=not (arguments.no_vecnorm and is_first),
        deterministic=arguments.deterministic or not is_first,
        seed=arguments.seed,
        device=arguments.device,
        any_physics=arguments.any_physics,
    )


def _replay(arguments: argparse.Namespace) -> int:
    """Drive a recording again, and treat it as any other drive."""
    from training.driver import Driver, scripted_driver
    from training.recording import load_recording
    from training.showing import Driven, episode_of, show

    recording = load_recording(arguments.replay)
    name, track_id = recording.driver, recording.track.id
    episodes = {track_id: [episode_of(recording.drive)]}
    _tell(arguments, [(Driver(name, scripted_driver), episodes)])
    show(arguments, [Driven(name, episodes, {track_id: recording})], note if arguments.json else say)
    return DONE


def _apart(labels: list[str]) -> list[str]:
    """Return names that differ, where two drivers are the same."""
    return [label if label not in labels[:index] else f"{label} (2)" for index, label in enumerate(labels)]


def _by_track(tracks: Sequence["AnyTrack"], episodes: Sequence["Episode"]) -> dict[str, list["Episode"]]:
    return {track.id: [episode for episode in episodes if episode.track_id == track.id] for track in tracks}


def _tell(
    arguments: argparse.Namespace,
    driven: Sequence[tuple["Driver", dict[str, list["Episode"]]]],
    stressed: dict[str, list["Episode"]] | None = None,
    pars: dict[str, Any] | None = None,
) -> None:
    """Print the figures of one driver or of two, how the first did under stress, and its par times."""
    from training.evaluation_tables import described, successes

    if arguments.json:
        from training.evaluation import summarise

        document = _as_json(*driven[0])
        if stressed:
            document["stress"] = {name: summarise(episodes) for name, episodes in stressed.items()}
        if pars is not None:
            document["par_times"] = pars
        if len(driven) > 1:
            document["compared_with"] = _as_json(*driven[1])
        print(json.dumps(document, indent=2))
        return
    for driver, by_track in driven:
        holds = f", each action for {driver.action_repeat} ticks" if driver.action_repeat > 1 else ""
        what = f"{count_of(arguments.laps, 'lap')} from a standing start on each track"
        say(f"{Path(driver.name).name}, {'replayed' if arguments.replay else what}{holds}")
        for line in described(by_track):
            say(line)
    if stressed:
        say("under stress" + (f", on {count_of(len(driven[0][1]), 'track')} together" if len(driven[0][1]) > 1 else ""))
        for line in successes({"none": list(chain(*driven[0][1].values())), **stressed}, "stress"):
            say(line)
    if pars is not None and pars["tracks"]:
        from training.par_times import format_par_times

        for line in format_par_times(pars):
            say(line)


def _seen(tracks: Sequence["AnyTrack"], driver: "Driver") -> list[str]:
    """Return in words how many generated tracks a driver knows, as what it does there says little about others."""
    from racer_env.tracks.names import is_generated

    seen = [track.id for track in tracks if is_generated(track.id) and track.id in driver.track_ids]
    if not seen:
        return []
    return [
        f"it was trained on {len(seen)} of these {count_of(len(tracks), 'track')}; --track-id "
        "procedural:8 --track-seed 1, for example, makes others"
    ]


def _limits(tracks: Sequence["AnyTrack"], config: "AiConfig", episodes: Sequence["Episode"]) -> list[str]:
    """Return in words what the limits of an episode have to do with what was driven."""
    from training.evaluation import without_time_for_a_lap

    sentences = [f"{text}; here it gives way to --laps" for text in without_time_for_a_lap(tracks, config)]
    cut = [episode for episode in episodes if episode.was_cut]
    if cut:
        sentences.append(
            f"the game ended {count_of(len(cut), 'episode')} of {len(episodes)} by its own limit, the first after "
            f"{cut[0].steps:,} ticks on {cut[0].track_id}"
        )
    return sentences


def _as_json(driver: "Driver", by_track: dict[str, list["Episode"]]) -> dict[str, Any]:
    from training.evaluation import LINE, summarise

    return {
        "model": driver.name,
        "action_repeat": driver.action_repeat,
        "tracks": {
            track_id: {**summarise(driven), "lap_times_sec": [e.lap_times for e in driven if e.start == LINE]}
            for track_id, driven in by_track.items()
        },
    }


if __name__ == "__main__":
    leave(main())
