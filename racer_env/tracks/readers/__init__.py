"""Roads from elsewhere: a game's data or source, lines of racetrack databases, drawings; and tracks made of them."""

from racer_env.tracks.readers.files import read_roads
from racer_env.tracks.readers.fitting import make_track
from racer_env.tracks.readers.road import FULL, HALF, Reading, SourceRoad

__all__ = ["FULL", "HALF", "Reading", "SourceRoad", "make_track", "read_roads"]
