"""Bridges on the command line: --bridge-url, and the bundled bridge that a script starts itself."""

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from racer_env.bridge.bridge import Bridge, own_tracks
from racer_env.bridge.url import AUTO, BRIDGE_URL_VARIABLE, DEFAULT_URL, EMBEDDED, bridge_urls, unused_bridge
from racer_env.errors import ConfigError
from racer_env.physics import Physics, load_physics
from training.console.equal_bridges import were_equal
from training.console.messages import note, say


class GameOptions(Protocol):
    """A script's options for the game: see ``add_bridge_argument`` and ``add_track_arguments``."""

    @property
    def bridge_url(self) -> Sequence[str] | None:
        """URLs of the game's bridges."""

    @property
    def track_id(self) -> Sequence[str]:
        """Names of tracks, with sets expanded."""

    @property
    def tracks_dir(self) -> Path | None:
        """Folder of the user's own track files."""


def add_bridge_argument(parser: argparse._ActionsContainer, default: str = "the embedded simulator") -> None:
    """Add --bridge-url; ``default`` says what omitting --bridge-url means."""
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
    options: GameOptions, *, default: str = EMBEDDED, any_physics: bool = False, quiet: bool = False
) -> Iterator[Bridge | None]:
    """Connect to the bridges that a user named, before anything else is done, and end those started for it.

    Args:
        options: The bridges' URLs, and the tracks that a bundled bridge needs.
        default: What omitting --bridge-url means if the environment variable is not set either.
        any_physics: Whether bridges with other physics are accepted.
        quiet: Whether the script prints no messages.

    Yields:
        The bridges, or None for the embedded simulator.

    Raises:
        BridgeError: A bridge cannot be reached or started, or the peer is not a bridge.
        ConfigError: A URL is wrong, or a bridge has other physics.
        TrackError: A track for the bundled bridge is wrong.
    """
    wanted = bridge_urls(options.bridge_url, default)
    if not wanted:
        unused = unused_bridge(options.bridge_url) if default == EMBEDDED else None
        if unused is not None:
            note(unused)
        yield None
        return
    tracks = own_tracks(options.track_id, options.tracks_dir) if AUTO in wanted else []
    told = (lambda text: None) if quiet else say
    with Bridge(wanted, say=told, tracks=tracks, any_physics=any_physics) as bridge:
        if not quiet and not bridge.has_extensions:
            say("it speaks version 1 of the protocol: a connection for each car, every episode starts on the line")
        yield bridge


def physics_behind(bridge: Bridge | None) -> Physics | None:
    """Return the physics that cars drive on; None if a bridge does not report them and was not found equal."""
    physics = load_physics()
    is_known = bridge is None or bridge.peer.physics is not None or were_equal(bridge.urls, physics.fingerprint)
    return physics if is_known else None


def only_one(bridge: Bridge | None) -> Bridge:
    """Return the single bridge that is compared with the embedded simulator.

    Raises:
        ConfigError: There is no bridge, or there are several.
    """
    if bridge is None or len(bridge.urls) != 1:
        raise ConfigError("--bridge-url must be one bridge, which is compared with the embedded simulator")
    return bridge
