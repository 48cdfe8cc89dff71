"""Closed paths of drawings."""

from pathlib import Path

import numpy as np
import pytest

from racer_env.errors import TrackError
from racer_env.tracks.readers import Reading, read_roads
from tests.racer_env.tracks.readers.roads import write

RING = "M 200 0 A 200 200 0 0 0 -200 0 A 200 200 0 0 0 200 0 Z"  # upwards on a screen: counter-clockwise


def svg(content: str) -> str:
    """Return a drawing."""
    return f'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">{content}</svg>'


@pytest.mark.parametrize(
    ("content", "radius", "half_width"),
    [
        (f'<path d="{RING}" stroke-width="30"/>', 200, 15),
        (f'<g style="fill:none; stroke-width: 30px" transform="scale(2)"><path d="{RING}"/></g>', 400, 30),
        (
            f'<g transform="matrix(0 1 -1 0 0 0)"><path d="{RING}" stroke-width="30" transform="rotate(270 0 0)"/></g>',
            200,
            15,
        ),
    ],
)
def test_a_path_is_the_centre_line(content: str, radius: float, half_width: float, tmp_path: Path) -> None:
    """With its stroke as the road, moved as the drawing moves it, and y turned upwards."""
    (road,) = read_roads(write(tmp_path, "ring.svg", svg(content)), Reading())
    assert np.allclose(np.hypot(*road.points.T), radius, rtol=2e-3)
    assert road.points[0] == pytest.approx([radius, 0], abs=1e-6)
    assert road.points[1, 1] > 0
    assert road.left is not None
    assert np.allclose(road.left, half_width)
    assert "is taken as the road's full width" in road.said[0]
    assert "y is taken to grow downwards" in road.said[1]


def test_every_closed_path_is_a_track(tmp_path: Path) -> None:
    """Which is said; what only other elements use is none."""
    paths = f'<path id="a" d="{RING}"/><path d="M0 0L9 9"/><path id="b" d="{RING}"/><defs><path d="{RING}"/></defs>'
    roads = read_roads(write(tmp_path, "two.svg", svg(paths)), Reading(half_width=15))
    assert [road.id for road in roads] == ["a", "b"]
    assert roads[0].said[0] == "3 paths, of which 2 closed: a track is made of each closed one"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<path", "it is no valid SVG: "),
        (svg("<circle r='9'/>"), "it has no <path>; draw the centre line"),
        (svg('<path d="M0 0L300 0L300 400"/>'), "path 1 is open, 500 between its ends; close it with Z"),
        (
            svg(f'<path d="{RING} {RING}"/>'),
            "the path has 2 parts; draw the centre line of the road as one closed line",
        ),
        (svg(f'<path d="{RING}"/>'), "the path has no stroke-width .* --half-width"),
        (svg('<path d="M0 0 L nan 5 Z"/>'), "its d holds 'n.*', which is no part of a path"),
        (svg('<path d="M0 0 L 5 Z"/>'), "its d cannot be read"),
        (svg('<path d="M0 0 A 5 Z"/>'), "its d cannot be read"),
        (svg('<path d="M0 0 L1e999 5 L 5 5Z"/>'), "its coordinates must be within 10,000,000 of 0"),
        (svg(f'<path d="{RING}" transform="scale(1e6) scale(1e6)"/>'), "its transforms move it out of sight"),
        (svg('<path d="M0 0Z"/>'), "the path has no length"),
        (svg(f'<path d="{RING}" transform="spin(3)"/>'), r"transform spin\(3\) cannot be read"),
        (svg(f'<path d="{RING}" transform="rotate(1e999)"/>'), "transform rotate.1e999. must be within 10,000,000"),
        (svg(f'<path d="{RING}"/>' * 101), "expected at most 100 paths; keep those that are roads"),
        (svg(f'<path d="M0 0{"L1 1" * 130_000}Z"/>'), "expected paths of at most 500,000 characters in all"),
        (svg(f'<path d="M0 0{"L1 1" * 20_000}Z"/>'), "expected paths of at most 20,000 pieces in all"),
        (f'<!DOCTYPE svg [<!ENTITY a "aaaa">]>{svg("&a;")}', "it declares entities, which may be endless"),
    ],
)
def test_a_wrong_drawing_is_refused(content: str, message: str, tmp_path: Path) -> None:
    """In one line."""
    with pytest.raises(TrackError, match=message):
        read_roads(write(tmp_path, "a.svg", content), Reading())


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "content",
    [
        "<g>" * 100_000 + "</g>" * 100_000,
        f'<g stroke-width="{"1" * 200_000}x"/>',
        f'<g transform="{"a(" * 200_000}"/>',
        f'<g transform="{"a" * 200_000}"/>',
    ],
)
def test_reading_takes_time_in_step_with_the_file(content: str, tmp_path: Path) -> None:
    """However deep it is nested, and however long its attributes are."""
    with pytest.raises(TrackError, match=r"it has no <path>|transform a\(.* cannot be read"):
        read_roads(write(tmp_path, "a.svg", svg(content)), Reading())
