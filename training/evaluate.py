"""Measure a driver lap by lap: ``python -m training.evaluate --model PATH``."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer_env.errors import ConfigError
from racer_env.rendering import CAMERAS, WHOLE
from training.bridges import add_bridge_argument, open_bridge, physics_behind
from training.cli import (
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
    from racer_env.bridge import AnyTrack, Bridge
    from racer_env.config import AiConfig
    from racer_env.tracks import Track
    from training.driver import Driver
    from training.evaluation import Episode, Successes

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
}
Row = dict[str, float | int | None]


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
    for flag in ("record", "video"):
        path = getattr(arguments, flag)
        if path is not None:
            if path.is_dir():
                raise ConfigError(f"--{flag} takes a file, and {path} is a folder")
            path.parent.mkdir(parents=True, exist_ok=True)


def _drive(
    arguments: argparse.Namespace, config: "AiConfig", own_tracks: Sequence[str], bridge: "Bridge | None"
) -> int:
    from training.loading import Preparation
    from training.model_files import load_tracks_for

    tracks = load_tracks_for(own_tracks, arguments.track_id, arguments.tracks_dir, bridge)
    looks = any(path is not None for path in (arguments.record, arguments.video, arguments.plot))
    known: list[Track] = []
    if looks:
        from racer_env.rendering.shadow import known_track

        known = [known_track(track) for track in tracks]
    with Preparation(None if bridge else tracks[0], quiet=arguments.json):
        from training.evaluation import drive
        from training.run_record import note_changed_tracks

    compared = arguments.compare or (SCRIPTED if arguments.plot is not None and arguments.model != SCRIPTED else None)
    drivers = [_load(arguments, name, bridge) for name in (arguments.model, compared) if name is not None]
    driven = []
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
        )
        driven.append(_by_track(tracks, episodes))
        if len(driven) == 1:
            for sentence in _limits(tracks, config, episodes):
                note(sentence)
    told = list(zip(drivers, driven, strict=True))[: 2 if arguments.compare else 1]
    anywhere = _from_anywhere(arguments, config, drivers[0], tracks, bridge) if arguments.random_starts else {}
    _tell(arguments, told, anywhere)
    if looks:
        from training.showing import driven_by, show

        labels = _apart([driver.label for driver in drivers])
        seen = [driven_by(label, known, by_track) for label, by_track in zip(labels, driven, strict=True)]
        show(arguments, seen, note if arguments.json else say)
    return DONE


def _from_anywhere(
    arguments: argparse.Namespace,
    config: "AiConfig",
    driver: "Driver",
    tracks: Sequence["AnyTrack"],
    bridge: "Bridge | None",
) -> "dict[str, Successes]":
    from racer_env.rendering.shadow import known_track
    from training.evaluation import drive_from_anywhere

    return drive_from_anywhere(
        driver,
        [known_track(track) for track in tracks],
        arguments.random_starts,
        config=config,
        seed=arguments.seed,
        bridge=bridge,
        action_repeat=driver.action_repeat,
    )


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
    anywhere: "dict[str, Successes] | None" = None,
) -> None:
    """Print the figures of one driver or of two, and how the first did from random starts."""
    if arguments.json:
        document = _as_json(*driven[0])
        for track_id, successes in (anywhere or {}).items():
            document["tracks"][track_id]["random_starts"] = vars(successes)
        if len(driven) > 1:
            document["compared_with"] = _as_json(*driven[1])
        print(json.dumps(document, indent=2))
        return
    for driver, by_track in driven:
        holds = f", each action for {driver.action_repeat} ticks" if driver.action_repeat > 1 else ""
        what = f"{count_of(arguments.laps, 'lap')} from a standing start on each track"
        say(f"{Path(driver.name).name}, {'replayed' if arguments.replay else what}{holds}")
        rows = {track_id: _row(episodes) for track_id, episodes in by_track.items()}
        for line in [*format_table(rows), *format_steering(rows)]:
            say(line)
        for track_id, episodes in by_track.items():
            times = [" ".join(f"{lap_time:.2f}" for lap_time in episode.lap_times) or "-" for episode in episodes[:5]]
            say(f"lap times on {track_id} in seconds: {'; '.join(times)}")
    for track_id, successes in (anywhere or {}).items():
        say(
            f"random starts on {track_id}: {successes.moving} of {successes.count} on the move, "
            f"{successes.standing} of {successes.count} at rest"
        )


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


def _row(episodes: Sequence["Episode"]) -> Row:
    from training.evaluation import summarise

    return summarise(episodes)


def _as_json(driver: "Driver", by_track: dict[str, list["Episode"]]) -> dict[str, Any]:
    return {
        "model": driver.name,
        "action_repeat": driver.action_repeat,
        "tracks": {
            track_id: {**_row(driven), "lap_times_sec": [episode.lap_times for episode in driven]}
            for track_id, driven in by_track.items()
        },
    }


def format_table(rows: dict[str, Row]) -> list[str]:
    """Return the lines of a table with one row per track.

    Args:
        rows: Figures as from ``summarise``, by track id.
    """
    width = max(5, *(len(track_id) for track_id in rows))
    lines = [
        f"{'track':<{width}}  {'laps':>9}  {'clean':>5}  {'completion':>10}  {'mean lap':>8}  {'best lap':>8}  "
        f"{'std':>7}  {'wall contact':>12}  {'off track':>9}  {'reward':>8}"
    ]
    for track_id, row in rows.items():
        mean, best, deviation = (
            "-" if row[key] is None else f"{row[key]:.2f} s"
            for key in ("mean_lap_time_sec", "best_lap_time_sec", "std_lap_time_sec")
        )
        laps = f"{row['laps']}/{row['laps_asked']}"
        lines.append(
            f"{track_id:<{width}}  {laps:>9}  {row['clean_laps']:>5}  {row['completion']:>10.0%}  {mean:>8}  "
            f"{best:>8}  {deviation:>7}  {row['wall_contact_ticks']:>6} ticks  {row['off_track_share']:>9.1%}  "
            f"{row['mean_reward']:>8.3f}"
        )
    return lines


def format_steering(rows: dict[str, Row]) -> list[str]:
    """Return the lines of a table of how smoothly a driver steers, with one row per track; see ``format_table``."""
    width = max(5, *(len(track_id) for track_id in rows))
    lines = [
        f"{'track':<{width}}  {'steering: sign changes':>22}  {'of the wheel':>12}  {'reversals':>9}  "
        f"{'change per tick':>15}  {'stalls':>6}"
    ]
    for track_id, row in rows.items():
        command, wheel, reversals = (
            f"{row[key]:.1f}/s"
            for key in ("steer_sign_changes_per_sec", "wheel_sign_changes_per_sec", "steer_reversals_per_sec")
        )
        lines.append(
            f"{track_id:<{width}}  {command:>22}  {wheel:>12}  {reversals:>9}  {row['mean_steer_change']:>15.3f}  "
            f"{row['stalls']:>6}"
        )
    return lines


if __name__ == "__main__":
    leave(main())
