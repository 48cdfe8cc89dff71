"""Bridges that offer the same game: their URLs, protocol version and tracks."""

import contextlib
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from racer_env.bridge.checks import one_line
from racer_env.bridge.client import BridgeClient
from racer_env.bridge.peer import Peer
from racer_env.bridge.process import BridgeProcess
from racer_env.bridge.url import AUTO, bridge_urls, unused_bridge
from racer_env.contract import Placement
from racer_env.errors import BridgeError, BridgeProtocolError, ConfigError, TrackError
from racer_env.physics import Physics, load_physics
from racer_env.tracks import (
    ALL_TRACKS,
    AnyTrack,
    Track,
    UnseenTrack,
    available_tracks,
    load_track,
    load_tracks,
    parse_track,
)
from racer_env.tracks.names import expand_names, is_generated
from racer_env.tracks.starts import STANDING, make_placement

VERSION_WITH_EXTENSIONS = 2
MAX_LISTED = 2000  # characters of a list of tracks in a message
MAKERS = ("racer_env", "gymnasium")  # packages whose functions make an environment

TrackId = str | Path | AnyTrack | Mapping[str, Any]  # a name, a file, a track itself, or the content of its file


class Bridge:
    """One or more bridges to the same game.

    Attributes:
        names: The names the caller gave: URLs, or ``"auto"``.
        processes: The bridge processes started here.
        peer: What all of them offer; where they differ, the least.
    """

    def __init__(
        self,
        names: str | Sequence[str],
        *,
        say: Callable[[str], None] = lambda text: None,
        tracks: Sequence[Track] = (),
        physics: Physics | None = None,
        any_physics: bool = False,
    ) -> None:
        """Start the bridges that need starting, and ask each one which protocol it speaks.

        Args:
            names: URLs, or ``"auto"`` for a bundled bridge, which ends with ``close`` or with this process.
            say: Called with a message before anything that takes some seconds.
            tracks: Tracks for bundled bridges besides the shipped ones; they replace shipped ones of the same id.
            physics: Physics that the bridges must have, as far as they report it; None is the project's.
            any_physics: Whether bridges with other physics are accepted.

        Raises:
            BridgeError: A bridge cannot be started or reached, or the peer is not a bridge.
            ConfigError: A URL is wrong, a bridge has other physics, or the bridges differ.
        """
        self.names = [names] if isinstance(names, str) else list(names)
        if not self.names:
            raise ConfigError("a bridge needs at least one URL, got none")
        self._others = [name for name in self.names if name != AUTO]
        self._physics = load_physics() if physics is None else physics
        self._tracks: dict[str, Track] = {}
        self.processes: list[BridgeProcess] = []
        with contextlib.ExitStack() as stack:
            stack.callback(self.close)
            for _ in range(self.names.count(AUTO)):
                self.processes.append(BridgeProcess(say, tracks))
            say(f"reaching {' and '.join(self.urls)} ...")
            self._peers = self._ask(any_physics)
            self.peer = min(self._peers, key=lambda peer: peer.max_envs)
            stack.pop_all()  # on failure, the bridges started so far are stopped

    def __enter__(self) -> "Bridge":
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __getstate__(self) -> NoReturn:
        raise ConfigError(
            "what drives over a bridge cannot be copied or pickled, as the game keeps its state to itself; make "
            "another environment, or use the embedded simulator (without bridge_url)"
        )

    def close(self) -> None:
        """Stop the bridges that were started here; safe to call twice."""
        for process in self.processes:
            process.stop()

    @property
    def urls(self) -> list[str]:
        """The URLs of all bridges."""
        return [*(process.url for process in self.processes), *self._others]

    @property
    def has_extensions(self) -> bool:
        """Whether all speak version 2: starts anywhere, many cars on a connection, tracks that can be queried."""
        return self.peer.protocol >= VERSION_WITH_EXTENSIONS

    def connect(self, number: int = 0) -> BridgeClient:
        """Open a connection to a bridge, counted modulo their number; it must still be the game that it was.

        Raises:
            BridgeError: The bridge cannot be reached, or another game is there now.
        """
        index = number % len(self.urls)
        client = BridgeClient(self.urls[index])
        with contextlib.ExitStack() as stack:
            stack.callback(client.close)
            if self.has_extensions:  # version 1 does not tell
                _check_same(client.url, self._peers[index], client.hello())
            stack.pop_all()  # only a connection that is of no use is closed
        return client

    def track(self, name: str | Track, tracks_dir: str | Path | None = None) -> AnyTrack:
        """Return a track of the bridge.

        Args:
            name: Track id; or a track, or a path ending in ``.json``, that the bridge must have too.
            tracks_dir: Folder of the user's own track files; they must equal the bridge's tracks of the same id.

        Raises:
            TrackError: The bridge has no such track, or a different one under that id.
        """
        own = name if isinstance(name, Track) else None
        if isinstance(name, str) and name.endswith(".json"):
            own = load_track(name)
        elif isinstance(name, str) and tracks_dir is not None and (Path(tracks_dir) / f"{name}.json").is_file():
            own = load_track(name, tracks_dir)
        track_id = own.id if own is not None else str(name)
        if not self.has_extensions:
            return UnseenTrack(track_id) if own is None else own
        if track_id not in self.peer.tracks:
            raise TrackError(f"the bridge at {self.urls[0]} has no track {track_id!r}; it has: {_listed(self.peer)}")
        difference = self.difference_from(own) if own is not None else None
        if difference is not None:
            raise TrackError(
                f"the bridge's {track_id} is another track than yours: {difference}; give one of them another id"
            )
        return own if own is not None else self._learn(track_id)

    def difference_from(self, own: Track) -> str | None:
        """Return how the bridge's track of an id differs from one's own, in words; None if both are the same.

        Args:
            own: One's own; the bridge must describe a track of its id.
        """
        if own.fingerprint == self.peer.tracks[own.id].fingerprint:
            return None
        return self._learn(own.id).difference_from(own)

    def is_learned(self, track: AnyTrack) -> bool:
        """Whether a track is known by the bridge's description alone, and not from a file here."""
        return self._tracks.get(track.id) is track

    def tracks(self, names: Sequence[str], tracks_dir: str | Path | None = None) -> list[AnyTrack]:
        """Return several tracks; the name ``all`` stands for every track of the folder, or of the bridge.

        Raises:
            TrackError: As for ``track``; also when a track is named twice, or nobody can list the tracks.
        """
        wanted: list[str] = []
        for name in names:
            wanted.extend(self._all_tracks(tracks_dir) if name == ALL_TRACKS else [name])
        tracks = [self.track(name, tracks_dir) for name in wanted]
        for index, track in enumerate(tracks):
            if track.id in [other.id for other in tracks[:index]]:
                raise TrackError(f"the track {track.id!r} is named twice; name every track once")
        return tracks

    def placement(
        self, track: AnyTrack, start: str | Mapping[str, float], random: np.random.Generator
    ) -> Placement | None:
        """Return the placement that a reset option asks for, see ``make_placement``.

        Raises:
            ConfigError: The option is wrong, or the bridge only knows standing starts.
        """
        if start == STANDING:
            return None
        if not self.has_extensions or isinstance(track, UnseenTrack):
            raise ConfigError(
                f"start is {start!r}, but the bridge at {self.urls[0]} speaks version 1 of the protocol, "
                f"which has standing starts only; use {STANDING!r}"
            )
        return make_placement(track, start, random)

    def restart(self, error: BridgeError) -> None:
        """Restart the bridges that have ended, provided all were started here; if none has ended, restart all.

        Raises:
            BridgeError: ``error`` itself if not all were started here; else they cannot be started, or died too often.
        """
        if self._others:
            raise error
        ended = [process for process in self.processes if not process.is_running]
        for process in ended or self.processes:
            process.restart(error)

    def _ask(self, any_physics: bool) -> list[Peer]:
        peers: list[Peer] = []
        for url in self.urls:
            with BridgeClient(url) as client:
                peer = client.hello()
            if not any_physics and peer.physics not in (None, self._physics.fingerprint):
                raise ConfigError(
                    f"the bridge at {url} has other physics: {peer.physics} against {self._physics.fingerprint} here; "
                    "a driver trained on one is worth nothing on the other, so give both the same physics.json"
                )
            peers.append(peer)
        for url, peer in zip(self.urls, peers, strict=True):
            if (peer.protocol >= VERSION_WITH_EXTENSIONS) != (peers[0].protocol >= VERSION_WITH_EXTENSIONS):
                raise ConfigError(
                    f"the bridges at {self.urls[0]} and {url} speak different versions of the protocol; use one of them"
                )
            if peer.tracks != peers[0].tracks:
                raise ConfigError(f"the bridges at {self.urls[0]} and {url} have different tracks")
        return peers

    def _all_tracks(self, tracks_dir: str | Path | None) -> list[str]:
        if tracks_dir is not None:
            return available_tracks(tracks_dir)
        if not self.has_extensions:
            raise TrackError(
                f"the bridge at {self.urls[0]} cannot list its tracks; name them instead of {ALL_TRACKS!r}, or the "
                "folder with their files as --tracks-dir (tracks_dir=)"
            )
        return sorted(self.peer.tracks)

    def _learn(self, track_id: str) -> Track:
        if track_id not in self._tracks:
            with BridgeClient(self.urls[0]) as client:
                document = client.track(track_id)
            where = f"{track_id} of the bridge at {self.urls[0]}"
            # The game already drives on this track, so it is taken as it is.
            track = parse_track(document, where, self._physics, must_be_drivable=False)
            if track.fingerprint != self.peer.tracks[track_id].fingerprint:
                raise TrackError(f"{where} has another fingerprint than the bridge says")
            self._tracks[track_id] = track
        return self._tracks[track_id]


def _check_same(url: str, before: Peer, now: Peer) -> None:
    for what, was, is_now in (
        ("protocol", before.protocol, now.protocol),
        ("physics", before.physics, now.physics),
        ("list of tracks", _listed(before), _listed(now)),
        ("roads", before.tracks, now.tracks),
    ):
        if was != is_now:
            change = "changed" if what == "roads" else f"was {was} and is {is_now}"
            raise BridgeProtocolError(
                f"the bridge at {url} is another game than it was at the start: its {what} {change}"
            )


def _listed(peer: Peer) -> str:
    return one_line(", ".join(sorted(peer.tracks)), MAX_LISTED) or "nothing"


def bridge_at(
    stack: contextlib.ExitStack,
    bridge_url: str | Sequence[str] | Bridge | None,
    tracks: Sequence[str | AnyTrack] = (),
    tracks_dir: str | Path | None = None,
) -> Bridge | None:
    """Return the bridges that an environment's argument stands for; None is the embedded simulator.

    Args:
        stack: Closes bridges that are opened here.
        bridge_url: URLs or bridges, as in ``RacerEnv``.
        tracks, tracks_dir: Tracks that will be driven on; a bundled bridge is given those that are the user's own.
    """
    if isinstance(bridge_url, Bridge):
        return bridge_url
    urls = bridge_urls(bridge_url)
    if not urls:
        unused = unused_bridge(bridge_url)
        if unused is not None:
            warnings.warn(unused, stacklevel=_level_of_caller())
        return None
    own = own_tracks(tracks, tracks_dir) if AUTO in urls else []
    return stack.enter_context(Bridge(urls, tracks=own))


def _level_of_caller() -> int:
    """Return the stack level, seen from who calls this, of the script that makes an environment in whatever way."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in MAKERS:
        level, frame = level + 1, frame.f_back
    return level


def own_tracks(tracks: Sequence[str | AnyTrack], tracks_dir: str | Path | None) -> list[Track]:
    """Return the tracks that a bundled bridge must be given: loaded, from files, generated, and a whole folder's.

    Raises:
        TrackError: One of them is wrong.
    """
    own = [track for track in tracks if isinstance(track, Track)]
    names = expand_names([track for track in tracks if isinstance(track, str)], seed=0)
    own += [load_track(name) for name in names if name.endswith(".json") or is_generated(name)]
    return own + ([] if tracks_dir is None else load_tracks([ALL_TRACKS], tracks_dir))


def track_on(bridge: Bridge | None, track: str | AnyTrack, tracks_dir: str | Path | None = None) -> AnyTrack:
    """Return a track of a bridge, or of the embedded simulator.

    Raises:
        TrackError: There is no such track, or the bridge has a different one under that id.
    """
    if isinstance(track, UnseenTrack):
        return track
    if bridge is not None:
        return bridge.track(track, tracks_dir)
    return track if isinstance(track, Track) else load_track(track, tracks_dir)


def tracks_on(
    bridge: Bridge | None, track_id: Sequence[str | AnyTrack], tracks_dir: str | Path | None = None
) -> list[AnyTrack]:
    """Return the tracks that an environment's ``track_id`` stands for.

    Args:
        bridge: The bridges that have them; None is the embedded simulator.
        track_id: Tracks and names, see ``several``. A name is an id, a path ending in ``.json``, ``all``, or a set
            of generated tracks such as ``procedural:8``.
        tracks_dir: Folder of the user's own track files.

    Raises:
        ConfigError: No track is named.
        TrackError: A track does not exist, or the bridge has a different one under its id.
    """
    tracks: list[AnyTrack] = []
    for item in track_id:
        if isinstance(item, str):
            names = expand_names([item], seed=0)
            tracks += bridge.tracks(names, tracks_dir) if bridge is not None else load_tracks(names, tracks_dir)
        else:
            tracks.append(track_on(bridge, item))
    if not tracks:
        raise ConfigError("at least one track is needed, got none")
    return tracks


def several(track_id: TrackId | Iterable[TrackId]) -> list[str | AnyTrack]:
    """Return an environment's ``track_id`` as a list of names and tracks, even if it is a single one.

    Raises:
        ConfigError: Something in it is neither a name nor a track.
    """
    if isinstance(track_id, str | Path | Track | UnseenTrack | Mapping) or not isinstance(track_id, Iterable):
        return [one_track(track_id)]
    return [one_track(item) for item in track_id]


def one_track(track_id: Any) -> str | AnyTrack:
    """Return a name, a path, a track or the content of its file as a name or a track.

    Raises:
        ConfigError: It is none of them.
        TrackError: The content of a file is wrong.
    """
    if isinstance(track_id, str | Path):
        return str(track_id)
    if isinstance(track_id, Track | UnseenTrack):
        return track_id
    if isinstance(track_id, Mapping):
        return parse_track(track_id, "track_id")
    raise ConfigError(f"track_id must be a track's name, its file or the track itself, got {str(track_id)[:60]!r}")
