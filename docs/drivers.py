"""Make the tables of drivers.md: ``python docs/drivers.py --output-dir figures``, from the project's folder.

Trains every preset with three seeds, and the README's first drivers with ten, which takes about 45 minutes on two
cores, and prints the rows. Runs that are finished in ``--output-dir`` are not trained again.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

TRACKS = ("track-01", "track-02", "track-03")
SEEDS = ("0", "1", "2")
UNTUNED = 91  # seed of tracks that no setting was chosen on


def main() -> None:
    """Print the rows of the presets that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output-dir", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--table", nargs="+", choices=TABLES, default=[*TABLES], help="which tables (default: all)")
    arguments = parser.parse_args()
    for name in arguments.table:
        print(name, flush=True)
        TABLES[name](arguments.output_dir, name)


def train(folder: Path, name: str, *options: str) -> Path:
    """Train a run, if it is not finished yet, and return its best model, or its last one."""
    models = folder / "models"
    if not (models / f"{name}_final.zip").is_file():
        places = ["--models-dir", models, "--logs-dir", folder / "logs"]
        script = [sys.executable, "-m", "training.train_ppo", "--run-name", name, "--overwrite", *options]
        subprocess.run([*script, *map(str, places)], check=True, stdout=subprocess.DEVNULL)
    best = models / f"{name}_best.zip"  # a short run may end without one
    return best if best.is_file() else models / f"{name}_final.zip"


def evaluate(model: Path, *options: str) -> dict[str, Any]:
    """Return what ``training.evaluate`` measures on each track; no lap is an answer, too."""
    script = [sys.executable, "-m", "training.evaluate", "--model", str(model), "--json", *options]
    tracks: dict[str, Any] = json.loads(subprocess.run(script, stdout=subprocess.PIPE).stdout)["tracks"]
    return tracks


def first_drivers(folder: Path, name: str) -> None:
    """Print how many of ten seeds lap three times without touching a wall, as the README says of its first drivers."""
    for tracks, steps, preset in (("track-01", "100000", ("--preset", "quick")), ("all", "350000", ())):
        clean = 0
        for seed in map(str, range(10)):
            how = ("--track-id", tracks, "--timesteps", steps, "--seed", seed, *preset)
            model = train(folder, f"{name}_{tracks}_{seed}", *how)
            clean += all(seen["clean_laps"] == 3 for seen in evaluate(model, "--track-id", tracks).values())
        print(f"{steps} steps on {tracks}: {clean} of 10 seeds", flush=True)


def one_track(folder: Path, preset: str) -> None:
    """Print a row for each track and seed of a preset that learns one track."""
    for track in TRACKS:
        for seed in SEEDS:
            run = f"{preset}_{track}_{seed}"
            model = train(folder, run, "--preset", preset, "--track-id", track, "--seed", seed)
            seen = evaluate(model, "--track-id", track, "--laps", "2", "--random-starts", "32")[track]
            print(
                f"| `{track}` | {seed} | {in_seconds(seen)} s | {seen['off_track_share']:.1%} "
                f"| {seen['steer_sign_changes_per_sec']:.1f} | {seen['wheel_sign_changes_per_sec']:.1f} "
                f"| {seen['steer_reversals_per_sec']:.1f} | {seen['mean_steer_change']:.3f} "
                f"| {starts([seen])} | {seen['wall_contact_ticks']} ticks at walls |",
                flush=True,
            )


def single_roads(folder: Path, kind: str) -> None:
    """Print a row for each of twelve generated tracks that no setting was chosen on, and medians of the percentages."""
    gains = []
    for track in (f"{kind}-{UNTUNED}-{index}" for index in range(12)):
        whole = train(folder, f"fast_{track}", "--preset", "fast", "--track-id", track)
        tuned = train(folder, f"tune_{track}", "--preset", "tune", "--track-id", track)
        last = whole.with_name(f"fast_{track}_final.zip")
        models = ("pretrained", whole, last, tuned)
        bundled, best, end, tune = (evaluate(model, "--track-id", track)[track] for model in models)
        collapse, gain = (100 * (seconds(other) / seconds(best) - 1) for other in (end, tune))
        gains.append((collapse, gain))
        print(
            f"| `{track}` | {in_seconds(bundled)} | {in_seconds(best)} | {in_seconds(end)}, {collapse:+.1f} % "
            f"| {end['off_track_share']:.1%} | {end['clean_laps']} of 3 | {in_seconds(tune)}, {gain:+.1f} % "
            f"| {tune['off_track_share']:.1%} |",
            flush=True,
        )
    print("medians of the percentages:", *(f"{statistics.median(values):+.1f}" for values in zip(*gains, strict=True)))


def seconds(seen: dict[str, Any]) -> float:
    """Return the best lap time, which is endless without a lap."""
    return float(seen["best_lap_time_sec"] or "inf")


def any_road(folder: Path, preset: str) -> None:
    """Print a row for each seed of a preset that learns any road."""
    for seed in SEEDS:
        model = train(folder, f"{preset}_{seed}", "--preset", preset, "--seed", seed)
        print(f"| {seed} | {unseen(model)} | {shipped(model)} |", flush=True)


def any_road_soon(folder: Path, preset: str) -> None:
    """Also print how many unseen tracks are lapped after 60,000 steps."""
    for seed in SEEDS:
        early = ("--preset", preset, "--seed", seed, "--timesteps", "60000")
        print(f"| 60,000 | {seed} | {unseen(train(folder, f'{preset}_early_{seed}', *early))} |", flush=True)
    any_road(folder, preset)


def unseen(model: Path) -> str:
    """Return how many tracks are lapped that were used neither to train nor to choose the model."""
    counts = []
    for names, seed, laps in (("procedural:100", 77, 2), ("procedural-hard:100", 77, 2), ("procedural:50", 78, 10)):
        seen = evaluate(model, "--track-id", names, "--track-seed", str(seed), "--laps", str(laps))
        whole = sum(track["clean_laps"] == laps for track in seen.values())
        counts.append(f"{whole} of {len(seen)}")
    return " | ".join(counts)


def shipped(model: Path) -> str:
    """Return best laps, shares off the road and random starts on the shipped tracks."""
    seen = list(evaluate(model, "--track-id", "all", "--laps", "2", "--random-starts", "32").values())
    laps = " / ".join(in_seconds(track) for track in seen)
    off = " / ".join(f"{100 * track['off_track_share']:.1f}" for track in seen)
    return f"{laps} s | {off} % | {starts(seen)}"


def in_seconds(seen: dict[str, Any]) -> str:
    """Return the best lap time."""
    return "no lap" if seen["best_lap_time_sec"] is None else f"{seen['best_lap_time_sec']:.2f}"


def starts(seen: list[dict[str, Any]]) -> str:
    """Return how many of 32 random starts on each track succeeded, on the move and at rest."""
    moving, standing = (
        round(sum(32 * track[f"{kind}_start_success"] for track in seen)) for kind in ("moving", "standing")
    )
    return f"{moving}, {standing} of {32 * len(seen)}"


TABLES = {
    "readme": first_drivers,
    "smooth": one_track,
    "fast": one_track,
    "procedural": single_roads,
    "procedural-hard": single_roads,
    "general": any_road_soon,
    "general-long": any_road,
}

if __name__ == "__main__":
    main()
