"""Tracks: files, geometry, checks, generation, and where on them an episode starts."""

from racer_env.tracks.catalogue import available_tracks, load_track, load_tracks
from racer_env.tracks.checks import check_track
from racer_env.tracks.files import parse_track
from racer_env.tracks.names import ALL_TRACKS
from racer_env.tracks.track import AnyTrack, Track, UnseenTrack, known_track

__all__ = [
    "ALL_TRACKS",
    "AnyTrack",
    "Track",
    "UnseenTrack",
    "available_tracks",
    "check_track",
    "known_track",
    "load_track",
    "load_tracks",
    "parse_track",
]
