"""Bridges on the command line: --bridge-url, and the bundled bridge that a script starts itself."""

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from racer_env.bridge.url import AUTO, BRIDGE_URL_VARIABLE, DEFAULT_URL, EMBEDDED, bridge_urls
from training.cli import say

if TYPE_CHECKING:
    from racer_env.bridge.bridge import Bridge
    from racer_env.physics import Physics


def add_bridge_argument(parser: argparse._ActionsContainer, default: str = "the embedded simulator") -> None:
    """Add --bridge-url; ``default`` words what no --bridge-url means."""
    parser.add_argument(
        "--bridge-url",
        nargs="+",
        metavar="URL",
        help=f"where the game's bridge listens, {DEFAULT_URL} for example, or several; '{AUTO}' starts the bundled one "
        f"for as long as the script runs, '{EMBEDDED}' is the embedded simulator (default: {BRIDGE_URL_VARIABLE} "
        f"if set, else {default})",
    )


@contextlib.contextmanager
def open_bridge(
    arguments: argparse.Namespace, *, default: str = EMBEDDED, any_physics: bool = False, quiet: bool = False
) -> Iterator["Bridge | None"]:
    """Reach the bridges that a user named, before anything else is done, and end those that were started for it.

    Args:
        arguments: Of the command line: --bridge-url, and --track-id and --tracks-dir for the bundled bridge.
        default: What no --bridge-url means where the environment variable is not set either.
        any_physics: Whether bridges may have other physics.
        quiet: Whether to say nothing.

    Yields:
        The bridges, or None for the embedded simulator.

    Raises:
        BridgeError: One cannot be reached, started, or is none.
        ConfigError: A URL is wrong, or a bridge has other physics.
        TrackError: A track for the bundled bridge is wrong.
    """
    wanted = bridge_urls(arguments.bridge_url, default)
    if not wanted:
        yield None
        return
    from racer_env.bridge.bridge import Bridge, own_tracks

    tracks = own_tracks(arguments.track_id, arguments.tracks_dir) if AUTO in wanted else []
    told = (lambda text: None) if quiet else say
    with Bridge(wanted, say=told, tracks=tracks, any_physics=any_physics) as bridge:
        if not quiet and not bridge.has_extensions:
            say("it speaks version 1 of the protocol: a connection for each car, every episode starts on the line")
        yield bridge


def physics_behind(bridge: "Bridge | None") -> "Physics | None":
    """Return the physics that cars drive on; None if a bridge does not tell."""
    from racer_env.physics import load_physics

    return load_physics() if bridge is None or bridge.peer.physics is not None else None
