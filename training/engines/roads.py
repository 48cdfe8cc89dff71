"""Whether a bridge's roads are those of the track files here, which a game may have read wrongly, or not at all."""

import contextlib
from collections.abc import Iterable

import numpy as np

from racer_env.bridge.bridge import Bridge
from racer_env.bridge.client import BridgeClient
from racer_env.config import AiConfig
from racer_env.contract import DT, OBSERVATION_NAMES, RAY_COUNT
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import AnyTrack
from racer_env.tracks.starts import standing_start
from training.console.messages import note
from training.console.tracks import counterpart

PROBE_TICKS = 40  # ticks at full throttle from the line, to estimate a track's length
SAME_LENGTH = 1e-3  # relative; larger than the error of that estimate
SAME_VIEW = 1e-3  # largest difference of an observation on the same road; rounding makes far less
MAX_PROBED = 16  # tracks that a game is asked about by driving there
SIDES = {0: "to the right", RAY_COUNT // 2: "ahead", RAY_COUNT - 1: "to the left"}  # rays by index


def note_other_roads(bridge: Bridge | None, tracks: Iterable[AnyTrack]) -> None:
    """Say which of a bridge's tracks are other roads than the files of their names here.

    A game of version 2 of the protocol describes its tracks. In one of version 1, a car drives from the line for less
    than a second. Tracks that have no file here are passed over.

    Args:
        bridge: The bridge; None is the embedded simulator, whose roads are those of the files.
        tracks: The bridge's tracks.

    Raises:
        BridgeError: The bridge fails, or has no such track.
    """
    if bridge is None:
        return
    differences = _described_differences if bridge.has_extensions else _driven_differences
    for track_id, difference in differences(bridge, tracks).items():
        note(
            f"the game's {track_id} is another road than its file here: {difference}; what is driven now is the game's "
            f"road. If that is not meant, look at the widths (halfWidth is half of the road) and points in the game"
        )


def _described_differences(bridge: Bridge, tracks: Iterable[AnyTrack]) -> dict[str, str]:
    found = {}
    for track in tracks:
        file = counterpart(bridge, track)
        difference = bridge.difference_from(file) if file is not None else None
        if difference is not None:
            found[track.id] = difference
    return found


def _driven_differences(bridge: Bridge, tracks: Iterable[AnyTrack]) -> dict[str, str]:
    files = {track.id: file for track in tracks if (file := counterpart(bridge, track)) is not None}
    found, config = {}, AiConfig()
    with contextlib.closing(bridge.connect()) as client:
        for track_id, file in list(files.items())[:MAX_PROBED]:
            difference = seen_difference(client, Simulator([file], 1, config), config, SAME_VIEW)
            if difference is not None:
                found[track_id] = difference
    return found


def seen_difference(client: BridgeClient, simulator: Simulator, config: AiConfig, tolerance: float) -> str | None:
    """Return how a bridge's track differs from a simulator's as far as driving shows; None if it does not.

    Args:
        client: A connection to the bridge.
        simulator: A simulator with one car.
        config: Its reward weights and limits; the bridge gets the same.
        tolerance: Largest difference of an observation on the line that is none.

    Raises:
        BridgeError: The bridge fails, or has no such track.
    """
    track = simulator.tracks[0]
    throttle = np.array([0.0, 1.0, 0.0])
    first_there, _ = client.reset(track.id, config)
    simulator.place([0], [standing_start(track.geometry)])
    first_here = simulator.observations[0].copy()
    moved = np.zeros(2)  # embedded, bridge
    progress = np.zeros(2)
    for _ in range(PROBE_TICKS):
        simulator.step(throttle[None])
        there, here = client.step(throttle).info, simulator.infos[0]
        moved += np.array([here["rawSpeed"], there["rawSpeed"]]) * DT
        progress += np.array([here["progress"], there["progress"]])
    if (progress > 0).all():
        # Distance driven per distance along the centre line is nearly the same on both.
        length = track.length * (moved[1] / progress[1]) / (moved[0] / progress[0])
        if abs(length / track.length - 1) > SAME_LENGTH:
            return f"total length about {length:,.0f} against {track.length:,.0f} units, estimated from a drive"
    wrong = np.flatnonzero(~(np.abs(first_there - first_here) <= tolerance)).tolist()
    if not wrong:
        return None
    index = next((side for side in SIDES if side in wrong), wrong[0])
    seen = np.array([first_there[index], first_here[index]])
    if index >= RAY_COUNT:
        return f"on the start line, {OBSERVATION_NAMES[index].replace('_', ' ')} is {seen[0]:.6g} against {seen[1]:.6g}"
    seen *= track.physics.ray_max_distance
    side = SIDES.get(index, f"along ray {index}")
    return f"from the start line, the wall {side} is {seen[0]:.6g} units away against {seen[1]:.6g}"
