"""Corners of tracks: where the road turns, in the order of driving."""

import math

import numpy as np
import pytest

from racer_env.tracks import Track, parse_track
from training.drives.corners import corners_of


def ring(points: list[tuple[float, float]]) -> Track:
    """Return a track through points."""
    control = [{"x": x, "y": y, "halfWidth": 15.0} for x, y in points]
    return parse_track({"id": "ring", "name": "Ring", "checkpointCount": 8, "controlPoints": control}, "ring.json")


def circle(radius: float, begin: float = 0.0) -> Track:
    """Return a round track that is driven to the left, from an angle on."""
    angles = begin + np.arange(24) / 24 * 2 * math.pi
    return ring([(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles.tolist()])


@pytest.mark.parametrize(("index", "count", "first_is_left"), [(0, 2, True), (1, 8, False), (2, 9, True)])
def test_corners_of_the_shipped_tracks(tracks: list[Track], index: int, count: int, first_is_left: bool) -> None:
    """Numbered in the order of driving, none within another."""
    corners = corners_of(tracks[index])
    assert [corner.number for corner in corners] == list(range(1, count + 1))
    ends = [end for corner in corners for end in (corner.first, corner.last)]
    assert ends == sorted(ends)
    assert corners[0].is_left is first_is_left


def test_a_corner_ends_where_the_road_is_straight(tracks: list[Track]) -> None:
    """On the Gauntlet: the long straight with the line in its middle lies in none."""
    corners = corners_of(tracks[2])
    assert 250 < corners[0].first < 400
    assert tracks[2].length - 300 < corners[-1].last < tracks[2].length


def test_a_circle_is_one_corner() -> None:
    """Without a beginning; one that turns too little anywhere has none."""
    track = circle(120.0)
    (corner,) = corners_of(track)
    assert (corner.number, corner.is_left) == (1, True)
    assert corner.last - corner.first == pytest.approx(track.length, abs=4)
    assert corners_of(circle(400.0)) == []


def test_a_corner_around_the_line_is_the_first() -> None:
    """If its middle is past the line: it then begins below 0."""
    side, bend, angles = 300.0, 60.0, np.linspace(-math.pi / 2, math.pi / 2, 7)
    right = [(side + bend * math.cos(angle), bend * math.sin(angle)) for angle in angles.tolist()]
    left = [(-x, -y) for x, y in right]
    straight = [(x, -bend) for x in (-200.0, -100.0, 0.0, 100.0, 200.0)]
    points = [*right, *((-x, -y) for x, y in straight), *left, *straight]
    corners = corners_of(ring([*points[2:], *points[:2]]))  # the line is in the first half of a bend
    assert corners[0].first < 0 < corners[0].middle
    assert len(corners) == 2
