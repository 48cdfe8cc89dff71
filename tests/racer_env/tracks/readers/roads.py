"""Files of roads from elsewhere for the tests: all of them a ring."""

import math
from pathlib import Path

Row = tuple[float, ...]


def ring(radius: float = 200.0, count: int = 24) -> list[tuple[float, float]]:
    """Return points of a ring, counter-clockwise from the right."""
    angles = [2 * math.pi * index / count for index in range(count)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def csv_text(rows: list[Row], header: str = "# x_m,y_m,w_tr_right_m,w_tr_left_m", mark: str = ",") -> str:
    """Return the lines of a racetrack database."""
    return "\n".join([*([header] if header else []), *(mark.join(map(str, row)) for row in rows)]) + "\n"


def ring_rows(right: float = 14.0, left: float = 14.0, radius: float = 200.0, count: int = 24) -> list[Row]:
    """Return the rows of a ring, with the distances of its edges."""
    return [(x, y, right, left) for x, y in ring(radius, count)]
