"""Bridges that offer the same game: where they are, what they speak, which tracks they have."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from racer_env.bridge.client import BridgeClient
from racer_env.bridge.peer import Peer
from racer_env.bridge.process import BridgeProcess
from racer_env.bridge.url import AUTO, bridge_urls
from racer_env.contract import Placement
from racer_env.errors import BridgeError, ConfigError, TrackError
from racer_env.physics import Physics, load_physics
from racer_env.tracks import ALL_TRACKS, AnyTrack, Track, UnseenTrack, load_track, load_tracks, parse_track
from racer_env.tracks.names import expand_names, is_generated
from racer_env.tracks.starts import STANDING, make_placement

VERSION_WITH_EXTENSIONS = 2

TrackId = str | AnyTrack  # a name, or a track itself


class Bridge:
    """One or more bridges with the same game behind them.

    Attributes:
        names: What they were called by: URLs, or ``"auto"``.
        processes: Those that were started here.
        peer: What they offer: of several, the least.
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
        """Start those that are to be started, and ask every one what it speaks.

        Args:
            names: URLs, or ``"auto"`` for a bundled bridge, which ends with ``close`` or with this process.
            say: Told about what takes some seconds.
            tracks: What bundled bridges have besides the shipped tracks; one with the same id takes its place.
            physics: That they must have, as far as they tell; None is the project's.
            any_physics: Whether they may have others.

        Raises:
            BridgeError: One cannot be started or reached, or is no bridge.
            ConfigError: A URL is wrong, a bridge has other physics, or bridges differ.
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
            self.peer = self._ask(any_physics)
            stack.pop_all()  # only bridges that are of no use are ended

    def __enter__(self) -> "Bridge":
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """End the bridges that were started here; twice is fine."""
        for process in self.processes:
            process.stop()

    @property
    def urls(self) -> list[str]:
        """Where they are."""
        return [*(process.url for process in self.processes), *self._others]

    @property
    def has_extensions(self) -> bool:
        """Whether they speak version 2: training starts, many cars on a connection, tracks that can be learned."""
        return self.peer.protocol >= VERSION_WITH_EXTENSIONS

    def track(self, name: str | Track, tracks_dir: str | Path | None = None) -> AnyTrack:
        """Return a track of the bridge.

        Args:
            name: Its id; or a track, or a path that ends in ``.json``, that the bridge must have too.
            tracks_dir: A folder with track files of one's own; what is there under the same id must be the same.

        Raises:
            TrackError: The bridge has no such track, or another one under that id.
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
            raise TrackError(
                f"the bridge at {self.urls[0]} has no track {track_id!r}; it has: {', '.join(sorted(self.peer.tracks))}"
            )
        theirs = self.peer.tracks[track_id]
        if own is not None and own.fingerprint != theirs.fingerprint:
            raise TrackError(
                f"the bridge's {track_id} is another track than yours: total length {theirs.length:,.1f} against "
                f"{own.length:,.1f} units; give one of them another id"
            )
        return own if own is not None else self._learn(track_id)

    def tracks(self, names: Sequence[str], tracks_dir: str | Path | None = None) -> list[AnyTrack]:
        """Return several tracks; the name ``all`` stands for every track of the bridge, in order of id.

        Raises:
            TrackError: As for ``track``; also when a track is named twice, or the bridge cannot list its tracks.
        """
        wanted: list[str] = []
        for name in names:
            if name == ALL_TRACKS and not self.has_extensions:
                raise TrackError(f"the bridge at {self.urls[0]} cannot list its tracks; name them instead of {name!r}")
            wanted.extend(sorted(self.peer.tracks) if name == ALL_TRACKS else [name])
        tracks = [self.track(name, tracks_dir) for name in wanted]
        for index, track in enumerate(tracks):
            if track.id in [other.id for other in tracks[:index]]:
                raise TrackError(f"the track {track.id!r} is named twice; name every track once")
        return tracks

    def placement(
        self, track: AnyTrack, start: str | Mapping[str, float], random: np.random.Generator
    ) -> Placement | None:
        """Make the placement that a reset option asks for, see ``make_placement``.

        Raises:
            ConfigError: It is wrong, or the bridge knows standing starts only.
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
        """Start the bridges that have ended again, if they were all started here; all of them if none has.

        Raises:
            BridgeError: ``error`` itself if it has not; otherwise they cannot be started, or died too often.
        """
        if self._others:
            raise error
        ended = [process for process in self.processes if not process.is_running]
        for process in ended or self.processes:
            process.restart(error)

    def _ask(self, any_physics: bool) -> Peer:
        peers = []
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
        return min(peers, key=lambda peer: peer.max_envs)

    def _learn(self, track_id: str) -> Track:
        if track_id not in self._tracks:
            with BridgeClient(self.urls[0]) as client:
                document = client.track(track_id)
            where = f"{track_id} of the bridge at {self.urls[0]}"
            # What the game itself drives on is taken as it is.
            track = parse_track(document, where, self._physics, must_be_drivable=False)
            if track.fingerprint != self.peer.tracks[track_id].fingerprint:
                raise TrackError(f"{where} has another fingerprint than the bridge says")
            self._tracks[track_id] = track
        return self._tracks[track_id]


def bridge_at(
    stack: contextlib.ExitStack,
    bridge_url: str | Sequence[str] | Bridge | None,
    tracks: Sequence[TrackId] = (),
    tracks_dir: str | Path | None = None,
) -> Bridge | None:
    """Return the bridges that an environment's argument means; None is the embedded simulator.

    Args:
        stack: Closes them at the end, unless they were there before.
        bridge_url: See ``RacerEnv``.
        tracks, tracks_dir: What is going to be driven on; a bundled bridge gets those that are the user's own.
    """
    if isinstance(bridge_url, Bridge):
        return bridge_url
    urls = bridge_urls(bridge_url)
    if not urls:
        return None
    own = own_tracks(tracks, tracks_dir) if AUTO in urls else []
    return stack.enter_context(Bridge(urls, tracks=own))


def own_tracks(tracks: Sequence[TrackId], tracks_dir: str | Path | None) -> list[Track]:
    """Return those tracks that a bundled bridge has to be given: loaded ones, files, generated ones, all of a folder.

    Raises:
        TrackError: One of them is wrong.
    """
    own = [track for track in tracks if isinstance(track, Track)]
    names = expand_names([track for track in tracks if isinstance(track, str)], seed=0)
    own += [load_track(name) for name in names if name.endswith(".json") or is_generated(name)]
    return own + ([] if tracks_dir is None else load_tracks([ALL_TRACKS], tracks_dir))


def track_on(bridge: Bridge | None, track: TrackId, tracks_dir: str | Path | None = None) -> AnyTrack:
    """Return a track of a bridge, or of the embedded simulator.

    Raises:
        TrackError: There is no such track, or the bridge has another one under that id.
    """
    if isinstance(track, UnseenTrack):
        return track
    if bridge is not None:
        return bridge.track(track, tracks_dir)
    return track if isinstance(track, Track) else load_track(track, tracks_dir)


def tracks_on(
    bridge: Bridge | None, track_id: TrackId | Sequence[TrackId], tracks_dir: str | Path | None = None
) -> list[AnyTrack]:
    """Return the tracks that an environment's ``track_id`` means.

    Args:
        bridge: Where they are; None is the embedded simulator.
        track_id: A track or a name, or several of them. A name is an id, a path that ends in ``.json``, ``all``, or a
            set of generated tracks such as ``procedural:8``.
        tracks_dir: A folder with track files of one's own.

    Raises:
        ConfigError: No track is named.
        TrackError: One does not exist, or the bridge has another one under its id.
    """
    tracks: list[AnyTrack] = []
    for item in several(track_id):
        if isinstance(item, str):
            names = expand_names([item], seed=0)
            tracks += bridge.tracks(names, tracks_dir) if bridge is not None else load_tracks(names, tracks_dir)
        else:
            tracks.append(track_on(bridge, item))
    if not tracks:
        raise ConfigError("at least one track is needed, got none")
    return tracks


def several(track_id: TrackId | Sequence[TrackId]) -> Sequence[TrackId]:
    """Return an environment's ``track_id`` as a list, also where it is a single one."""
    return [track_id] if isinstance(track_id, str | Track | UnseenTrack) else track_id
