"""What a bridge says about itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Peer:
    """What a bridge says about itself.

    Attributes:
        protocol: Highest version of the protocol that it speaks.
        physics: Fingerprint of its physics; None if it speaks version 1.
        max_envs: Largest number of cars on one connection.
        tracks: Tracks it offers, by id; empty if it speaks version 1.
    """

    protocol: int = 1
    physics: str | None = None
    max_envs: int = 1
    tracks: Mapping[str, "PeerTrack"] = field(default_factory=dict)


@dataclass(frozen=True)
class PeerTrack:
    """A track that a bridge offers.

    Attributes:
        id: Track id used in the protocol.
        name: Display name of the track.
        length: Length of a lap, in units.
        fingerprint: SHA-256 of the road, as ``Track.fingerprint``.
    """

    id: str
    name: str
    length: float
    fingerprint: str
