"""A track: its control points and everything derived from them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.errors import RenderError
from racer_env.physics import Physics, fingerprint_of
from racer_env.tracks.geometry import TrackGeometry

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Track:
    """A checked track.

    Attributes:
        id: Id used on the command line and in the protocol.
        name: Display name of the track.
        checkpoint_count: Number of checkpoint gates.
        points: (n, 2) control points, in units.
        half_widths: (n,) half of the road's width at each point, in units.
        physics: Physics that the track is built for.
    """

    id: str
    name: str
    checkpoint_count: int
    points: FloatArray
    half_widths: FloatArray
    physics: Physics

    @cached_property
    def geometry(self) -> TrackGeometry:
        """Centre line, walls, gates and start."""
        return TrackGeometry(self.points, self.half_widths, self.checkpoint_count, self.physics.wall_offset)

    @property
    def length(self) -> float:
        """Length of the centre line, in units."""
        return self.geometry.total_length

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what shapes the road: gates and control points, but neither id nor name."""
        return fingerprint_of(
            {"checkpointCount": self.checkpoint_count, "controlPoints": self.to_json()["controlPoints"]}
        )

    def difference_from(self, other: "Track") -> str | None:
        """Return how this road differs from another one, in words and units; None if they are the same.

        Args:
            other: The road to compare with.
        """
        if self.fingerprint == other.fingerprint:
            return None
        mine, others = self._measures(), other._measures()
        differing = [f"{what} {mine[what]} against {others[what]}" for what in mine if mine[what] != others[what]]
        return ", ".join(differing) or "control points at other places"

    def _measures(self) -> dict[str, str]:
        return {
            "total length": f"{self.length:,.1f}",
            "half-widths": f"{self.half_widths.min():,.1f} to {self.half_widths.max():,.1f}",
            "number of gates": f"{self.checkpoint_count}",
        }

    def __deepcopy__(self, memo: dict[int, Any]) -> "Track":
        return self  # nothing changes it

    def to_json(self) -> dict[str, Any]:
        """Return the content of a file of this track."""
        return {
            "id": self.id,
            "name": self.name,
            "checkpointCount": self.checkpoint_count,
            "controlPoints": [
                {"x": float(x), "y": float(y), "halfWidth": float(half_width)}
                for (x, y), half_width in zip(self.points, self.half_widths, strict=True)
            ],
        }


@dataclass(frozen=True)
class UnseenTrack:
    """A track of a bridge that speaks version 1 of the protocol, which cannot describe tracks.

    Attributes:
        id: Track id used in the protocol.
    """

    id: str

    @property
    def name(self) -> str:
        """The id; there is no other name."""
        return self.id


AnyTrack = Track | UnseenTrack


def known_track(track: AnyTrack) -> Track:
    """Return a track, which must be known here so that it can be drawn.

    Raises:
        RenderError: Only the bridge knows the track.
    """
    if not isinstance(track, Track):
        raise RenderError(
            f"the bridge does not tell how its track {track.id!r} looks, so it cannot be drawn; give its file: "
            f"track_id='PATH/{track.id}.json', or tracks_dir= with the folder that holds it (--tracks-dir)"
        )
    return track
