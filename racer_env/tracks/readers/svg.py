"""Closed paths of SVG drawings, each the centre line of a road."""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from fontTools.misc.transform import Identity, Transform
from fontTools.pens.recordingPen import RecordingPen
from fontTools.svgLib.path.parser import parse_path

from racer_env.errors import TrackError
from racer_env.json_files import Checker, shown
from racer_env.tracks.readers.road import MAX_NUMBER, MAX_ROADS, Reading, SourceRoad, make_road, read_bytes
from racer_env.tracks.track import FloatArray

SAMPLES = 800  # points of a path, evenly along it
CURVE_STEPS = 32  # straight pieces that a curve of the path is measured with
MAX_TEXT = 500_000  # characters of all paths of a drawing
MAX_PIECES = 20_000  # of all paths of a drawing
CLOSED_SHARE = 1e-3  # of a path's length: ends that are nearer meet
_PATH = re.compile(r"[MmZzLlHhVvCcSsQqTtAaEe0-9+\-.,\s]*")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_NOT_SHOWN = ("defs", "clipPath", "symbol", "marker", "mask", "pattern")


@dataclass
class _Path:
    """A path as the drawing has it."""

    id: str | None
    data: str
    transform: Transform
    stroke_width: float | None


@dataclass
class _Drawing:
    """Collects the paths of a drawing; what surrounds them moves, turns and scales them."""

    check: Checker
    paths: list[_Path] = field(default_factory=list)
    around: list[tuple[Transform, float | None, bool]] = field(default_factory=lambda: [(Identity, None, True)])
    characters: int = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        transform, stroke, is_shown = self.around[-1]
        transform = _transformed(self.check, transform, attributes.get("transform", ""))
        stroke = _stroke_width(attributes) or stroke
        is_shown = is_shown and name not in _NOT_SHOWN
        self.around.append((transform, stroke, is_shown))
        if name == "path" and is_shown and attributes.get("d", "").strip():
            self.characters += len(attributes["d"])
            self.paths.append(_Path(attributes.get("id"), attributes["d"], transform, stroke))
            if len(self.paths) > MAX_ROADS:
                raise self.check.fail(f"expected at most {MAX_ROADS} paths; keep those that are roads")
            if self.characters > MAX_TEXT:
                raise self.check.fail(
                    f"expected paths of at most {MAX_TEXT:,} characters in all; keep those that are roads, simplified"
                )

    def end(self, name: str) -> None:
        self.around.pop()

    def refuse_entities(self, *declaration: Any) -> None:
        raise self.check.fail("it declares entities, which may be endless; save it as plain SVG")


def read_svg(path: Path, reading: Reading) -> list[SourceRoad]:
    """Read the closed paths of a drawing, each as a road.

    Raises:
        TrackError: The file cannot be read, or has no closed path.
    """
    check = Checker(TrackError, str(path))
    paths = _paths(check, read_bytes(path))
    if not paths:
        raise check.fail("it has no <path>; draw the centre line of the road as one closed path")
    roads, gaps, pieces = [], [], 0
    for number, one in enumerate(paths, 1):
        label = f"path {one.id!r}" if one.id else f"path {number}"
        own = Checker(TrackError, f"{path}, {label}" if len(paths) > 1 else str(path))
        commands = _commands(own, one)
        pieces += len(commands)
        if pieces > MAX_PIECES:
            raise check.fail(f"expected paths of at most {MAX_PIECES:,} pieces in all; simplify them")
        points, gap = _points(own, commands, one.transform)
        if gap:
            gaps.append(f"{label} is open, {gap:.4g} between its ends")
            continue
        road = _road(own, points, one, reading)
        road.id = one.id if len(paths) > 1 else None
        roads.append(road)
    if not roads:
        raise check.fail(f"{gaps[0]}; close it with Z, as a road is a loop")
    if len(paths) > 1:
        roads[0].said.insert(0, f"{len(paths)} paths, of which {len(roads)} closed: a track is made of each closed one")
    return roads


def _paths(check: Checker, content: bytes) -> list[_Path]:
    drawing, parser = _Drawing(check), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = drawing.begin, drawing.end
    parser.EntityDeclHandler = drawing.refuse_entities
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, UnicodeError, LookupError) as broken:
        raise check.fail(f"it is no valid SVG: {broken}") from broken
    return drawing.paths


def _commands(check: Checker, path: _Path) -> list[tuple[str, Any]]:
    """Return the pieces of a path, each by its kind and its points; the first one says where it begins."""
    if not _PATH.fullmatch(path.data):
        wrong = _PATH.sub("", path.data, count=1)
        raise check.fail(f"its d holds {shown(wrong[:20])}, which is no part of a path")
    pen = RecordingPen()
    try:
        parse_path(" ".join(path.data.split()), pen)
    except (ValueError, IndexError, OverflowError, ZeroDivisionError) as broken:
        raise check.fail(f"its d cannot be read: {str(broken)[:80]}") from broken
    if any(abs(value) > MAX_NUMBER for _, ends in pen.value for end in ends for value in end):
        raise check.fail(f"its coordinates must be within {MAX_NUMBER:,.0f} of 0")
    parts = sum(name == "moveTo" for name, _ in pen.value)
    if parts != 1:
        raise check.fail(
            f"the path has {parts} parts; draw the centre line of the road as one closed line, not its edges"
        )
    commands: list[tuple[str, Any]] = pen.value
    return commands


def _points(check: Checker, commands: list[tuple[str, Any]], transform: Transform) -> tuple[FloatArray, float]:
    """Return points evenly along a path, and the gap between its ends; 0 if it is closed."""
    line = np.concatenate([np.zeros((0, 2)), *map(_piece, commands, commands[1:])])
    xx, xy, yx, yy, dx, dy = transform
    line = np.stack([xx * line[:, 0] + yx * line[:, 1] + dx, xy * line[:, 0] + yy * line[:, 1] + dy], axis=1)
    if not np.abs(line).max(initial=0.0) <= MAX_NUMBER:
        raise check.fail("its transforms move it out of sight")
    steps = np.hypot(*np.diff(line, axis=0).T)
    length = float(steps.sum())
    if not length > 0:
        raise check.fail("the path has no length; a road needs at least three points")
    gap = float(np.hypot(*(line[-1] - line[0])))
    if commands[-1][0] == "closePath" or gap <= CLOSED_SHARE * length:
        gap = 0.0
    along, wanted = np.concatenate([[0.0], np.cumsum(steps)]), np.arange(SAMPLES) * length / SAMPLES
    return np.stack([np.interp(wanted, along, line[:, axis]) for axis in (0, 1)], axis=1), gap


def _piece(before: tuple[str, Any], piece: tuple[str, Any]) -> FloatArray:
    """Return points along a piece of a path, without the first one, which is where the piece before has ended."""
    name, ends = piece
    if name in ("closePath", "endPath"):
        return np.zeros((0, 2))
    corners = np.array([before[1][-1], *ends], dtype=np.float64)
    if before[0] == "moveTo" and name == "lineTo":
        return corners
    degree = len(corners) - 1
    t = (
        np.linspace(0.0, 1.0, CURVE_STEPS + 1)[0 if before[0] == "moveTo" else 1 :, None]
        if degree > 1
        else np.ones((1, 1))
    )
    shares = [math.comb(degree, k) * t**k * (1 - t) ** (degree - k) for k in range(degree + 1)]  # Bernstein's
    line: FloatArray = sum(share * corner for share, corner in zip(shares, corners, strict=True))
    return line


def _road(check: Checker, points: FloatArray, path: _Path, reading: Reading) -> SourceRoad:
    rows = [{"x": ("x", float(x)), "y": ("y", float(y))} for x, y in points]
    width: dict[str, tuple[str, Any]] = {}
    if reading.half_width is None:
        if path.stroke_width is None:
            raise check.fail(
                "the path has no stroke-width that could be the road's; give half of it in units with --half-width"
            )
        stretch = math.sqrt(abs(path.transform[0] * path.transform[3] - path.transform[1] * path.transform[2]))
        width = {"half": ("stroke-width", path.stroke_width * stretch / 2)}
    road = make_road(check, [row | width for row in rows], reading, y_is_down=True)
    if width:
        road.said[0] = f"stroke-width, {path.stroke_width:g}, is taken as the road's full width"
    road.is_line = True
    return road


def _stroke_width(attributes: dict[str, str]) -> float | None:
    """Return an element's own stroke width in the drawing's units; None if it has none, or one in other units."""
    style = re.search(r"(?:^|;)\s*stroke-width\s*:\s*([^;]+)", attributes.get("style", ""))
    text = (style[1] if style else attributes.get("stroke-width", "")).strip().removesuffix("px")
    return float(text) or None if _NUMBER.fullmatch(text) else None


def _transformed(check: Checker, transform: Transform, text: str) -> Transform:
    """Return a transform with those of an element's attribute applied before it."""
    for call in text.split(")"):
        name, is_call, arguments = call.partition("(")
        if not is_call:
            continue
        name = name.strip(" ,\t\r\n")
        values = [float(value) for value in _NUMBER.findall(arguments)]
        counts = {"matrix": (6,), "translate": (1, 2), "scale": (1, 2), "rotate": (1, 3), "skewX": (1,), "skewY": (1,)}
        if len(values) not in counts.get(name, ()):
            raise check.fail(f"transform {name[:40]}({arguments[:40]}) cannot be read")
        if any(abs(value) > MAX_NUMBER for value in values):
            raise check.fail(f"the numbers of transform {name}({arguments[:40]}) must be within {MAX_NUMBER:,.0f} of 0")
        if name == "matrix":
            transform = transform.transform(values)
        elif name == "translate":
            transform = transform.translate(*values)
        elif name == "scale":
            transform = transform.scale(values[0], values[-1])
        elif name == "rotate":
            x, y = values[1:] or (0.0, 0.0)
            transform = transform.translate(x, y).rotate(math.radians(values[0])).translate(-x, -y)
        else:
            angle = math.radians(values[0])
            transform = transform.skew(angle if name == "skewX" else 0.0, angle if name == "skewY" else 0.0)
    return transform
