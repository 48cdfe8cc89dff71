"""Measure a trained driver lap by lap: ``python -m training.evaluate --model PATH``."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.bridges import add_bridge_argument, open_bridge
from training.cli import DONE, MAX_SEED, add_track_arguments, run_script, say, whole_number

if TYPE_CHECKING:
    from racer_env.bridge import Bridge
    from racer_env.config import AiConfig
    from training.evaluation import Episode


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m training.evaluate",
        description="Let a trained driver drive from the standing start, and measure it lap by lap.",
        epilog="Model files contain pickles: load only files that you trust.",
    )
    parser.add_argument("--model", required=True, metavar="PATH", help="the model, with or without .zip")
    add_bridge_argument(parser)
    add_track_arguments(parser, "those that the model was trained on, or all of --tracks-dir, or track-01")
    parser.add_argument("--laps", type=whole_number(1, 1000), default=3, help="laps per episode (default: 3)")
    parser.add_argument(
        "--episodes",
        type=whole_number(1, 1000),
        default=1,
        help="episodes per track; a deterministic driver repeats itself, so one tells all (default: 1)",
    )
    parser.add_argument(
        "--deterministic",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="drive without exploration noise (default: yes)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0, MAX_SEED), default=0, help="of the exploration noise (default: 0)"
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda or auto (default: cpu)")
    parser.add_argument(
        "--any-physics", action="store_true", help="load a model that was trained on other physics all the same"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_evaluate, make_parser().parse_args(argv))


def _evaluate(arguments: argparse.Namespace) -> int:
    from racer_env.config import load_config
    from training.model_files import find_model, find_statistics

    config = load_config(arguments.config)
    path = find_model(arguments.model)
    find_statistics(path)
    with open_bridge(arguments, quiet=arguments.json) as bridge:
        return _drive(arguments, config, path, bridge)


def _drive(arguments: argparse.Namespace, config: "AiConfig", path: Path, bridge: "Bridge | None") -> int:
    from training.loading import Preparation
    from training.model_files import load_tracks_for

    tracks = load_tracks_for(path, arguments.track_id, arguments.tracks_dir, bridge)
    with Preparation(None if bridge else tracks[0], quiet=arguments.json):
        from training.driver import load_driver
        from training.evaluation import drive, summarise
        from training.session import physics_behind, prepare

    prepare(arguments.seed, arguments.device)
    driver = load_driver(
        path,
        physics_behind(bridge),
        deterministic=arguments.deterministic,
        device=arguments.device,
        any_physics=arguments.any_physics,
    )
    driver.model.set_random_seed(arguments.seed)  # loading has seeded with the seed of training
    episodes = drive(driver, tracks, config=config, laps=arguments.laps, episodes=arguments.episodes, bridge=bridge)
    by_track = {track.id: [episode for episode in episodes if episode.track_id == track.id] for track in tracks}
    if arguments.json:
        print(json.dumps(_as_json(driver.path.as_posix(), by_track), indent=2))
        return DONE
    say(f"{driver.path.name}, {arguments.laps} laps from a standing start on each track")
    rows = {track_id: summarise(driven) for track_id, driven in by_track.items()}
    for line in format_table(rows, arguments.laps * arguments.episodes):
        say(line)
    for track_id, driven in by_track.items():
        times = [" ".join(f"{lap_time:.2f}" for lap_time in episode.lap_times) or "-" for episode in driven[:5]]
        say(f"lap times on {track_id} in seconds: {'; '.join(times)}")
    return DONE


def _as_json(model: str, by_track: dict[str, list["Episode"]]) -> dict[str, Any]:
    from training.evaluation import summarise

    return {
        "model": model,
        "tracks": {
            track_id: {**summarise(driven), "lap_times_sec": [episode.lap_times for episode in driven]}
            for track_id, driven in by_track.items()
        },
    }


def format_table(rows: dict[str, dict[str, float | int | None]], laps_asked: int) -> list[str]:
    """Return the lines of a table with one row per track.

    Args:
        rows: Figures as from ``summarise``, by track id.
        laps_asked: Laps that each row could have.
    """
    width = max(5, *(len(track_id) for track_id in rows))
    lines = [
        f"{'track':<{width}}  {'laps':>7}  {'clean':>5}  {'completion':>10}  {'mean lap':>8}  {'best lap':>8}  "
        f"{'wall contact':>12}  {'off track':>9}  {'reward':>8}"
    ]
    for track_id, row in rows.items():
        mean, best = (
            "-" if row[key] is None else f"{row[key]:.2f} s" for key in ("mean_lap_time_sec", "best_lap_time_sec")
        )
        lines.append(
            f"{track_id:<{width}}  {row['laps']:>3}/{laps_asked:<3}  {row['clean_laps']:>5}  "
            f"{row['completion']:>10.0%}  {mean:>8}  {best:>8}  "
            f"{row['wall_contact_ticks']:>6} ticks  {row['off_track_share']:>9.1%}  {row['mean_reward']:>8.3f}"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
