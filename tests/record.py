"""Make the project's own recordings again: ``python -m tests.record`` from the repository root.

The recordings pin the game's definition down: every model ever trained is worth something only as long as they
replay. So never make them anew to get a failing test to pass. Do it only when the definition itself is meant to
change (``physics.json``, a rule, a shipped track), say so in the commit, and expect every model to be lost.

A recording holds the actions with what the simulator made of them, in the columns of ``helpers.COLUMNS``. Numbers
are rounded to multiples of 2^-33, a tenth of what the test tolerates, because that halves the files.
"""

import json
import sys
from pathlib import Path

import numpy as np

from racer_env.config import AiConfig
from racer_env.physics import load_physics
from racer_env.project import PRETRAINED_DRIVER
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track, load_track
from tests.helpers import RECORDING_CONFIG, RECORDINGS, TRACK_IDS, FloatArray, drive_actions, replay
from tests.runs import drive
from training.drivers.loading import load_driver
from training.drives.recording import record_episode, save_recording

RESOLUTION = 2.0**-33
RANDOM_TICKS = 60
# Phases of an episode: ticks, speed in units/s, lateral offset from the centre line in half-widths, plus units,
# and direction.
PHASES = (
    (130, 95.0, 0.0, 0.0, 1),  # drive
    (60, 70.0, 1.0, 45.0, 1),  # scrape the left wall
    (45, 60.0, 1.0, 10.0, 1),  # on the shoulder
    (60, 80.0, -1.0, -45.0, 1),  # scrape the right wall
    (65, -20.0, 0.0, 0.0, 1),  # brake
    (25, -20.0, 0.0, 0.0, 1),  # stand still
    (70, 40.0, 0.0, 0.0, -1),  # turn round, drive against the direction
    (85, 110.0, 0.0, 0.0, 1),  # and back again
)


def episode_actions(track: Track, seed: int) -> FloatArray:
    """Drive through the phases, then at random, and return the actions (T, 3), each exact in float32."""
    simulator = Simulator([track], 1, RECORDING_CONFIG)
    actions = []
    for ticks, speed, half_widths, units, direction in PHASES:
        for _ in range(ticks):
            lateral = half_widths * track.geometry.centre_line.half_width_at(simulator.cars["arc_length"]) + units
            action = drive_actions(track, simulator.cars, speed, lateral, direction).astype(np.float32)
            simulator.step(action)
            actions.append(action)
    random = np.random.default_rng(seed).uniform([-1.2, -0.5, -0.5], [1.2, 1.2, 1.2], (RANDOM_TICKS, 3))
    return np.concatenate([*actions, random.astype(np.float32)]).astype(np.float64)


def write_browser_lap() -> Path:
    """Write a lap as a browser writes it, driven with inputs of two decimals, and return its path."""
    driver, track = load_driver(PRETRAINED_DRIVER, load_physics()), load_track("track-01")
    (episode,) = drive(
        lambda seen: np.round(driver(seen).astype(np.float64), 2) + 0.0,
        [track],
        laps=1,
        config=AiConfig(),
        keeps_actions=True,
    )
    path = RECORDINGS / "browser_lap.json"
    save_recording(record_episode("you", track, episode), path)
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["ai_config"]  # which a browser does not know
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def main() -> int:
    """Write a recording per shipped track, and one that looks like a browser's."""
    for seed, track_id in enumerate(TRACK_IDS):
        track = load_track(track_id)
        simulator = Simulator([track], 1, RECORDING_CONFIG)
        actions = episode_actions(track, seed)
        first_observation, ticks = replay(simulator, actions)
        rounded = np.round(ticks / RESOLUTION) * RESOLUTION
        rounded[:, :3] = actions
        path = RECORDINGS / f"{track_id}.npz"
        np.savez_compressed(
            path,
            track_fingerprint=track.fingerprint,
            physics_fingerprint=track.physics.fingerprint,
            first_observation=first_observation,
            ticks=np.asfortranarray(rounded),
        )
        print(f"{path.name}: {len(ticks)} ticks, {path.stat().st_size / 1024:.0f} KB")
    print(f"{write_browser_lap().name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
