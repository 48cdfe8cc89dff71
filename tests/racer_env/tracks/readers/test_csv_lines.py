"""Lines of racetrack databases."""

from pathlib import Path

import numpy as np
import pytest

from racer_env.errors import TrackError
from racer_env.tracks.readers import Reading, read_roads
from tests.racer_env.tracks.readers.roads import csv_text, ring, ring_rows, write


@pytest.mark.parametrize(
    ("header", "mark"),
    [
        ("# x_m,y_m,w_tr_right_m,w_tr_left_m", ","),
        ("x_m;y_m;w_tr_right_m;w_tr_left_m", ";"),
        ("# drawn by hand\n# X [m]\tY [m]\tw_right\tw_left", "\t"),
        ("", ", "),
    ],
)
def test_rows_are_points_with_their_edges(header: str, mark: str, tmp_path: Path) -> None:
    """With comma, semicolon or tab, and with and without a first line."""
    (road,) = read_roads(write(tmp_path, "ring.csv", csv_text(ring_rows(14.0, 11.0), header, mark)), Reading())
    assert road.id == "ring"
    assert road.is_line
    assert road.left is not None
    assert road.right is not None
    assert np.allclose(road.points, ring())
    assert (road.left[0], road.right[0]) == (11.0, 14.0)


def test_the_first_line_says_the_order(tmp_path: Path) -> None:
    """Columns that do not shape the road are named; a decimal comma is understood between semicolons."""
    rows = [(i, f"{x:.3f}".replace(".", ","), f"{y:.3f}".replace(".", ","), 9, 12) for i, (x, y) in enumerate(ring())]
    text = csv_text(rows, "s_m;x_m;y_m;w_tr_left_m;w_tr_right_m", ";")  # type: ignore[arg-type]
    (road,) = read_roads(write(tmp_path, "ring.csv", text), Reading())
    assert np.allclose(road.points, ring(), atol=1e-3)
    assert road.left is not None
    assert road.left[0] == 9
    assert "left out: s_m" in road.said[-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("# x_m,y_m,w_tr_right_m,w_tr_left_m\n", "holds no rows of numbers"),
        ("1,2,3,4,5,6,7\n" * 5, "line 1: expected x, y, w_right, w_left, got 7 columns"),
        ("speed,time\n1,2\n", "line 1: expected numbers, or names of columns with x and y, got 'speed,time'"),
        ("1,2,3,4\n1,2,3\n", "line 2: expected 4 columns .x, y, w_right, w_left., got 3"),
        ("1,2,3,4\n1,2,x,4\n", "line 2: w_right must be a number, got 'x'"),
        ("1,2,3,4\n1,nan,3,4\n", r"line 2\.y must be a finite number, got nan"),
        ("1,2,3,4\ninf,2,3,4\n", r"line 2\.x must be a finite number, got inf"),
        ("1,2,3,4\n1e300,2,3,4\n", r"line 2\.x must be within 10,000,000 of 0, got 1e\+300"),
        ("1,2,3,4\n1,2,-3,4\n", r"line 2\.w_right must not be negative, got -3"),
        ("1,2,3,4\n1,2,0,0\n", "point 2 has no width: w_right and w_left are both 0"),
        ("1,2\n2,3\n", "nothing says how wide the road is; .* --half-width"),
        ("1,2,3\n2,3,3\n", "width may be half of the road's width, .* say --width-is half or --width-is full"),
        ("x,y,width,w\n1,2,3,4\n", "two columns are the road's width: width and w"),
    ],
)
def test_wrong_rows_are_refused(text: str, message: str, tmp_path: Path) -> None:
    """With the line and the column."""
    with pytest.raises(TrackError, match=message):
        read_roads(write(tmp_path, "road.csv", text), Reading())
