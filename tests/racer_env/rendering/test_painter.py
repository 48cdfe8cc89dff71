"""Pictures: what is drawn is where it should be, and nothing else changes."""

import math
from collections import deque
from typing import Any

import numpy as np
import pytest

from racer_env.errors import ConfigError
from racer_env.physics import load_physics
from racer_env.rendering import style
from racer_env.rendering.car_view import CarView
from racer_env.rendering.grain import mown
from racer_env.rendering.painter import Painter
from racer_env.simulator.simulator import Simulator
from racer_env.tracks import Track

Frame = np.ndarray
DARK, LIGHT = style.PALETTES["dark"], style.PALETTES["light"]
SIZE = (640, 400)
ON_ROAD = (200.0, 0.0)  # of the ring: at the right, on its centre line


def make_car(x: float, y: float, heading: float = math.pi / 2, **more: Any) -> CarView:
    """Return a car that is drawn in a colour that nothing else has."""
    return CarView("it", (255, 0, 255), x=x, y=y, heading=heading, **more)


def make_painter(track: Track, **more: Any) -> Painter:
    """Return a painter of the bare map."""
    return Painter(track, SIZE, **{"rays": False, "trails": False, "readout": False, **more})


def frame_of(painter: Painter, *cars: CarView) -> Frame:
    """Return a frame, (height, width, 3) of whole numbers."""
    painter.draw(cars)
    return painter.pixels().astype(int)


def changed(one: Frame, other: Frame) -> np.ndarray:
    """Return the pixels (n, 2) x, y at which two frames differ."""
    return np.argwhere((one != other).any(axis=2))[:, ::-1]


def pixel_at(painter: Painter, frame: Frame, point: tuple[float, float]) -> tuple[int, ...]:
    """Return the colour at a point of the world."""
    x, y = np.round(painter.camera_on(None).to_pixels(point)).astype(int)
    return tuple(frame[y, x])


def test_a_car_is_drawn_where_it_is(ring: Track) -> None:
    """Its pixels lie around its place and nowhere else; the body's colour is there."""
    painter = make_painter(ring)
    empty = frame_of(painter)
    for angle in np.linspace(0, 2 * math.pi, 7):
        place = (200 * math.cos(angle), 200 * math.sin(angle))
        with_car = frame_of(painter, make_car(*place))
        pixels = changed(empty, with_car)
        middle = painter.camera_on(None).to_pixels(place)
        assert len(pixels) > 100
        assert pixels.mean(axis=0) == pytest.approx(middle, abs=2.0)
        assert np.abs(pixels - middle).max() < 20
        assert (with_car == (255, 0, 255)).all(axis=2).any()


def test_only_a_moved_car_changes_a_frame(ring: Track) -> None:
    """Between two frames, pixels change around its old and its new place only."""
    painter = make_painter(ring)
    places = [(200.0, 0.0), (0.0, 200.0)]
    pixels = changed(*(frame_of(painter, make_car(*place)) for place in places))
    middles = painter.camera_on(None).to_pixels(places)
    nearest = np.min([np.abs(pixels - middle).max(axis=1) for middle in middles], axis=0)
    assert nearest.max() < 20


def test_a_car_points_where_it_is_heading(ring: Track) -> None:
    """The body of a car that heads the other way is the same upside down; its lights are at the rear."""
    painter = make_painter(ring)
    middle = np.round(painter.camera_on(None).to_pixels((0.0, 0.0))).astype(int)  # off the road: one colour all around

    def crop(heading: float) -> Frame:
        frame = frame_of(painter, make_car(0.0, 0.0, heading, brake=1.0))
        x, y = middle
        return frame[y - 18 : y + 18, x - 18 : x + 18]

    east, west, north = crop(0.0), crop(math.pi), crop(math.pi / 2)
    bodies = [picture[..., 2] > 200 for picture in (east, west[::-1, ::-1], np.rot90(north, -1))]
    assert bodies[0].sum() > 50
    for other in bodies[1:]:
        assert (bodies[0] != other).sum() < 0.1 * bodies[0].sum()
    lights = np.argwhere((east[..., 0] > 150) & (east[..., 2] < 100))
    assert len(lights) > 5
    assert lights[:, 1].max() < 8


def test_a_shadow_falls_to_the_south_east(ring: Track) -> None:
    """Wherever the car heads: the ground there is darker, and not black."""
    painter = make_painter(ring)
    empty = frame_of(painter)
    x, y = np.round(painter.camera_on(None).to_pixels((0.0, 0.0))).astype(int)
    for heading in np.linspace(0, 2 * math.pi, 9):
        frame = frame_of(painter, make_car(0.0, 0.0, heading))
        shade = (np.abs(frame - 0.65 * empty).max(axis=2) < 2).astype(int)
        pixels = np.argwhere(shade)[:, ::-1] - (x, y)
        assert len(pixels) > 10
        assert (pixels.mean(axis=0) > 2).all()


def test_cars_at_one_place_have_one_shadow(ring: Track) -> None:
    """Those of many would make a black spot."""
    painter = make_painter(ring)
    empty = frame_of(painter)

    def shade(*places: float) -> int:
        frame = frame_of(painter, *(make_car(x, 0.0, 0.0) for x in places))
        grounds = np.array([DARK.outside, mown(DARK.outside)])
        shades = [ground * (1 - 0.35 * opacity) for ground in grounds for opacity in (1.0, 0.75)]  # of a ghost, too
        is_new = (frame != empty).any(axis=2)  # walls have shadows, too
        return sum(int((is_new & (np.abs(frame - colour).max(axis=2) < 2)).sum()) for colour in shades)

    one = shade(0.0)
    assert shade(0.0, 0.0, 2.0) == pytest.approx(one, abs=0.25 * one)
    assert shade(0.0, 60.0, -60.0) == pytest.approx(3 * one, abs=0.5 * one)


def test_front_wheels_turn(ring: Track) -> None:
    """What changes with the wheel angle lies in the front half of the car."""
    painter = make_painter(ring)
    straight, turned = (frame_of(painter, make_car(0.0, 0.0, 0.0, wheel_angle=angle)) for angle in (0.0, 0.6))
    pixels = changed(straight, turned)
    assert 4 <= len(pixels) < 200
    assert pixels[:, 0].min() > painter.camera_on(None).to_pixels((0.0, 0.0))[0]


def test_surfaces_have_colours_of_their_own(ring: Track) -> None:
    """Road, shoulder, runoff, wall and outside, from the inside out, as the game has them."""
    painter = Painter(ring, (1600, 1600), rays=False, trails=False, readout=False)
    frame = frame_of(painter)
    for radius, colour in ((210, DARK.road), (232, DARK.shoulder), (246, DARK.runoff), (257, DARK.outside)):
        point = (radius * math.cos(1.1), radius * math.sin(1.1))  # no speck, and no lighter stripe
        assert pixel_at(painter, frame, point) == pytest.approx(colour, abs=6)
    assert pixel_at(painter, frame, (-8.0, 0.0)) == DARK.outside
    wall = painter.camera_on(None).to_pixels(ring.geometry.outer_wall[:-1]).round().astype(int)
    on_wall = frame[wall[:, 1], wall[:, 0]]
    assert (np.abs(on_wall - DARK.wall).max(axis=1) < 40).mean() > 0.9
    assert len({DARK.road, DARK.shoulder, DARK.runoff, DARK.outside, DARK.wall}) == 5


def test_up_is_north_and_right_is_east(tracks: list[Track]) -> None:
    """On a track that looks different the other way round, the road is where its centre line is."""
    painter = make_painter(tracks[2])
    camera = painter.camera_on(None)
    origin = camera.to_pixels((0.0, 0.0))
    assert camera.to_pixels((10.0, 0.0))[0] > origin[0]
    assert camera.to_pixels((0.0, 10.0))[1] < origin[1]
    frame = frame_of(painter)
    line = tracks[2].geometry.centre_line.point_at(np.linspace(50, tracks[2].length - 50, 200))
    x, y = camera.to_pixels(line).round().astype(int).T
    assert (np.abs(frame[y, x] - DARK.road).max(axis=1) < 40).all()


def test_the_start_line_is_chequered(ring: Track) -> None:
    """Black and white squares, across the road at the start and nowhere else."""
    painter = Painter(ring, (1280, 800), rays=False, trails=False, readout=False)
    frame = frame_of(painter)
    x, y = painter.camera_on(None).to_pixels(ON_ROAD).astype(int)
    around = frame[y - 12 : y + 3, x - 24 : x + 24].reshape(-1, 3).sum(axis=1)
    assert (around < 90).sum() > 50
    assert (around > 700).sum() > 50
    elsewhere = pixel_at(painter, frame, (-212.0, 0.0))
    assert elsewhere == pytest.approx(DARK.road, abs=6)


def test_curves_have_kerbs(tracks: list[Track]) -> None:
    """Red and white along the road's edges; straights have none."""
    track, painter = tracks[1], make_painter(tracks[1])
    line, frame = track.geometry.centre_line, frame_of(make_painter(tracks[1]))
    distances = np.arange(0.0, track.length, 4.0)
    points, tangents = line.point_and_tangent_at(distances)
    normals = np.stack([-tangents[:, 1], tangents[:, 0]], axis=1)
    edges = points + normals * (line.half_width_at(distances) + 1.3)[:, None]
    x, y = painter.camera_on(None).to_pixels(edges).round().astype(int).T
    red = frame[y, x, 0] - frame[y, x, 1] > 60
    before, after = (line.unit_tangent_at(distances + side) for side in (-24.0, 24.0))
    curvature = np.abs(np.arccos(np.clip((before * after).sum(axis=1), -1.0, 1.0))) / 48
    assert red[curvature > 1 / 100].mean() > 0.25
    assert red[curvature < 1 / 300].mean() == 0


def test_the_camera_follows(ring: Track) -> None:
    """The car stays in the middle while the road moves by what it has driven."""
    painter = make_painter(ring, camera="follow")
    middle = np.array(SIZE) / 2
    for place in ((200.0, 0.0), (0.0, 200.0), (-150.0, 140.0)):
        car = make_car(*place)
        pixels = np.argwhere((frame_of(painter, car) == (255, 0, 255)).all(axis=2))[:, ::-1]
        assert pixels.mean(axis=0) == pytest.approx(middle, abs=6)
        camera = painter.camera_on(car)
        beside = camera.to_pixels((place[0] + 10, place[1])) - middle
        assert beside == pytest.approx((10 * camera.scale, 0), abs=1e-9)
        assert camera.scale > 2 * painter.camera_on(None).scale


def test_the_camera_that_follows_looks_ahead(ring: Track) -> None:
    """By as much as the car has driven just before, so that a fast car sees more of the road before it."""
    painter = make_painter(ring, camera="follow")
    car = make_car(*ON_ROAD)
    car.trail = deque((200.0, -30.0 + tick, 60.0) for tick in range(31))
    x, y = painter.camera_on(car).to_pixels((car.x, car.y)) - np.array(SIZE) / 2
    assert x == pytest.approx(0, abs=1e-9)
    assert y == pytest.approx(17 * painter.camera_on(car).scale)  # the way of 17 ticks
    car.trail = deque([(200.0, 0.0, 0.0)])
    assert painter.camera_on(car).y == 0.0


def test_a_camera_has_the_heading_up(ring: Track) -> None:
    """The car points upward in the lower part of the map, and road, rays and shadow are turned with the world."""
    painter = make_painter(ring, camera="heading", rays=True)
    for place, heading in (((200.0, 0.0), math.pi / 2), ((0.0, 200.0), math.pi), ((-200.0, 0.0), -math.pi / 2)):
        car = make_car(*place, heading, brake=1.0, rays=np.full(9, 30.0))
        frame, camera = frame_of(painter, car), painter.camera_on(car)
        body = np.argwhere((frame == (255, 0, 255)).all(axis=2))[:, ::-1]
        assert body.mean(axis=0) == pytest.approx((SIZE[0] / 2, 0.7 * SIZE[1]), abs=6)
        x, y = (np.array(SIZE) * (0.5, 0.7)).astype(int)
        lights = np.argwhere((frame[y : y + 40, x - 20 : x + 20] == style.BRAKE_LIGHT).all(axis=2))
        assert len(lights) > 5
        ahead = camera.to_pixels(np.array(place) + 30 * np.array([math.cos(heading), math.sin(heading)]))
        assert ahead == pytest.approx((SIZE[0] / 2, 0.7 * SIZE[1] - 30 * SIZE[1] / 150))
        assert frame[int(ahead[1]), int(ahead[0])] == pytest.approx(DARK.ray, abs=60)
        behind = np.array(place) * 0.93 - 5 * np.array([math.cos(heading), math.sin(heading)])
        left = camera.to_pixels(behind).round().astype(int)  # the inside of a left turn, beside the ray
        assert left[0] < SIZE[0] / 2 - 20
        assert frame[left[1], left[0]] == pytest.approx(DARK.road, abs=8)


def test_a_camera_with_the_heading_up_follows_smoothly(ring: Track) -> None:
    """It turns with the car, a little late, and at a start it is there at once."""
    simulator, physics = Simulator([ring], 1), load_physics()
    painter, car = make_painter(ring, camera="heading"), make_car(0, 0)
    car.begin(simulator.cars[0], simulator.observations[0], physics)
    begin = math.pi / 2 - car.heading
    assert painter.camera_on(car).turn == pytest.approx(begin)
    simulator.cars[0]["heading"] += 0.5
    car.see(simulator.cars[0], simulator.observations[0], physics)
    assert begin - 0.1 < painter.camera_on(car).turn < begin - 0.01
    car.put_back(simulator.cars[0], simulator.observations[0], physics)
    assert painter.camera_on(car).turn == pytest.approx(begin - 0.5)


def test_rays_end_where_the_car_sees_a_wall(ring: Track) -> None:
    """Nine of them, as observed; they can be switched off."""
    simulator = Simulator([ring], 1)
    car = make_car(0, 0)
    car.begin(simulator.cars[0], simulator.observations[0], ring.physics)
    assert len(car.rays) == 9
    painter = make_painter(ring, rays=True)
    frame = frame_of(painter, car)
    for index, distance in enumerate(car.rays):
        angle = car.heading - math.pi / 2 + index * math.pi / 8
        end = (car.x + distance * math.cos(angle), car.y + distance * math.sin(angle))
        assert pixel_at(painter, frame, end) == pytest.approx(DARK.ray, abs=60)
    painter.rays = False
    assert not (frame_of(painter, car) == DARK.ray).all(axis=2).any()


def test_the_trail_has_the_colours_of_the_speed(ring: Track) -> None:
    """Red where it was slow, blue where it was fast; it can be switched off."""
    painter = make_painter(ring, trails=True)
    angles = np.linspace(0.2, 1.2, 60)
    car = make_car(-200, 0)
    car.trail = deque((205 * math.cos(a), 205 * math.sin(a), 160.0 * (a - 0.2)) for a in angles)
    frame = frame_of(painter, car)
    slow = pixel_at(painter, frame, car.trail[1][:2])
    fast = pixel_at(painter, frame, car.trail[-2][:2])
    assert slow[0] > slow[2] + 80
    assert fast[2] > fast[0] + 80
    painter.trails = False
    assert len(changed(frame, frame_of(painter, car))) > 100


def test_the_read_out_tells_speed_and_inputs(ring: Track) -> None:
    """It changes with them, and the map beside it does not."""
    painter = make_painter(ring, readout=True)
    left = painter.map_area[0]
    assert 0 < left < 300
    before = frame_of(painter, make_car(*ON_ROAD))
    for change in ({"speed": 88.0}, {"throttle": 0.7}, {"brake": 0.2}, {"steer": -0.5}):
        pixels = changed(before, frame_of(painter, make_car(*ON_ROAD, **change)))
        assert len(pixels) > 20, change
        assert pixels[:, 0].max() < left
    other = make_car(*ON_ROAD)
    other.stopwatch.see(2, 400)
    assert other.stopwatch.last == pytest.approx(400 / 60)
    pixels = changed(before, frame_of(painter, other))
    assert len(pixels) > 50
    assert pixels[:, 0].max() < left


def test_several_cars_are_in_one_picture(ring: Track) -> None:
    """Each in its colour at its place, and each in the read-out."""
    painter = make_painter(ring, readout=True)
    cars = [CarView(f"car {i}", style.car_colour(i), x=200 * math.cos(i), y=200 * math.sin(i)) for i in range(4)]
    frame = frame_of(painter, *cars)
    for index, car in enumerate(cars):
        x, y = np.round(painter.camera_on(None).to_pixels((car.x, car.y))).astype(int)
        around = frame[y - 10 : y + 10, x - 10 : x + 10]
        nearest = np.abs(around - car.colour).max(axis=2).min()
        assert nearest < 12 if index == 0 else 12 < nearest < 60  # those that are not in focus can be seen through
        assert (np.abs(frame[:, : painter.map_area[0]] - car.colour).max(axis=2) < 12).any()


def test_many_cars_fit_the_read_out(ring: Track) -> None:
    """Those that have no room are counted."""
    cars = [CarView("a name that is far too long for the panel", style.car_colour(i)) for i in range(64)]
    painter = Painter(ring, (480, 200))
    assert frame_of(painter, *cars).shape == (200, 480, 3)


def test_colours_are_dark_or_light(ring: Track) -> None:
    """Ground, panel and small map have those of the scheme, and none of the other."""
    for colours, own, other in (("dark", DARK, LIGHT), ("light", LIGHT, DARK)):
        painter = Painter(ring, (900, 700), camera="follow", trails=False, colours=colours)
        painter.draw([make_car(*ON_ROAD)])
        painter.draw_footer("it")
        shown = {tuple(colour) for colour in painter.pixels().reshape(-1, 3).tolist()}
        for name in ("outside", "panel", "panel_line", "text", "text_dim"):
            assert getattr(own, name) in shown, (colours, name)
            assert getattr(other, name) not in shown, (colours, name)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"camera": "bird"}, "camera must be 'heading' or 'follow' or 'track', got 'bird'"),
        ({"colours": "grey"}, "colours must be 'dark' or 'light', got 'grey'"),
        ({"size": (10, 400)}, r"whole numbers within \[64, 4096\], got \(10, 400\)"),
        ({"size": (640, 99999)}, "size must be width and height"),
        ({"size": (640.5, 400)}, "size must be width and height"),
        ({"size": (640,)}, "size must be width and height"),
        ({"size": 5}, "size must be width and height"),
    ],
)
def test_what_cannot_be_drawn(ring: Track, more: dict[str, Any], message: str) -> None:
    """It is named with what there is."""
    with pytest.raises(ConfigError, match=message):
        Painter(ring, **more)


def panel_of(painter: Painter, *cars: CarView, **more: Any) -> Frame:
    """Return what a frame shows beside the map."""
    painter.draw(cars, **more)
    return painter.pixels().astype(int)[:, : painter.map_area[0]]


@pytest.mark.parametrize(("colours", "palette"), [("dark", DARK), ("light", LIGHT)])
def test_a_car_of_the_panels_colour_is_seen_on_it(ring: Track, colours: str, palette: style.Palette) -> None:
    """Its square beside the name has an outline."""
    painter = Painter(ring, rays=False, trails=False, colours=colours)
    panel = panel_of(painter, CarView("", palette.panel))
    square = panel[45:65, 10:35]
    assert (square == palette.text_dim).all(axis=2).sum() > 20


def test_the_panel_lists_the_laps(ring: Track) -> None:
    """From the second one on, the latest first."""
    painter = Painter(ring, rays=False, trails=False)
    car = make_car(*ON_ROAD)
    rows = []
    for lap in range(2, 7):
        car.stopwatch.see(lap, 400 * lap)
        rows.append((panel_of(painter, car)[375:600, :-1] != DARK.panel).any(axis=(1, 2)).sum())
    assert rows[0] < 5  # one lap stands above the list
    assert rows[1] < rows[2] < rows[3] < rows[4]


def test_the_panel_shows_gaps(ring: Track) -> None:
    """In the colours of those ahead and behind; none where nobody can know."""
    painter = Painter(ring, rays=False, trails=False)
    cars = [CarView("a", style.CARS[0]), CarView("b", style.CARS[1])]

    def has(colour: style.Colour, gap: float | None) -> bool:
        panel = panel_of(painter, *cars, gaps=[0.0, gap])
        return bool((np.abs(panel - colour).max(axis=2) < 8).any())

    assert (has(DARK.ahead, -1.5), has(DARK.behind, -1.5)) == (True, False)
    assert (has(DARK.ahead, 1.5), has(DARK.behind, 1.5)) == (False, True)
    assert (has(DARK.ahead, None), has(DARK.behind, None)) == (False, False)


def test_a_small_map_shows_where_the_cars_are(ring: Track) -> None:
    """While the camera follows: east is right and north is up, and a panel too low has no room for it."""
    painter = Painter(ring, camera="follow", rays=False, trails=False)
    magenta = []
    for place in ((200.0, 0.0), (-200.0, 0.0), (0.0, 200.0)):
        panel = panel_of(painter, make_car(*place))[400:650]
        magenta.append(np.argwhere((panel == (255, 0, 255)).all(axis=2)).mean(axis=0)[::-1])
    east, west, north = magenta
    assert east[0] > west[0] + 50
    assert east[1] == pytest.approx(west[1], abs=1.5)
    assert north[1] < east[1] - 25
    painter.camera = "track"
    assert not (panel_of(painter, make_car(*ON_ROAD))[400:650] == (255, 0, 255)).all(axis=2).any()
    low = Painter(ring, (800, 260), camera="follow", rays=False, trails=False)
    panel = panel_of(low, make_car(*ON_ROAD))
    assert (panel[:100] == (255, 0, 255)).all(axis=2).any()  # beside its name
    assert not (panel[120:] == (255, 0, 255)).all(axis=2).any()


def test_the_footer_is_cut_where_it_has_no_room(ring: Track) -> None:
    """At its end, and only there, however many characters it has."""
    painter = Painter(ring, (1280, 200), footer=26)
    frames = []
    for middle, end in (("a", "a"), ("x", "a"), ("a", "x")):
        frame_of(painter)
        painter.draw_footer("i" * 90 + middle + "i" * 30 + end + "i" * 400)
        frames.append(painter.pixels().astype(int))
    assert len(changed(frames[0], frames[1])) > 5
    assert len(changed(frames[0], frames[2])) > 5
    right = painter.map_area[0] + painter.map_area[2]
    assert (frames[0][-26:, right - 12 :] == DARK.panel).all()


def test_help_lies_over_the_map(ring: Track) -> None:
    """And nowhere else; it fits small pictures."""
    for size in ((1280, 720), (480, 200)):
        painter = Painter(ring, size)
        before = frame_of(painter)
        painter.draw_help([("F1", "this help"), ("Escape", "quit")])
        pixels = changed(before, painter.pixels().astype(int))
        assert len(pixels) > 1000
        assert pixels[:, 0].min() >= painter.map_area[0]


def test_small_pictures_are_all_map(ring: Track) -> None:
    """Below 480 pixels there is no room for a read-out."""
    assert Painter(ring, (320, 200)).map_area == (0, 0, 320, 200)


def test_wheel_angle_follows_the_steering_and_the_speed(ring: Track) -> None:
    """As the simulation's page has it: to the right is negative, and less at speed."""
    simulator, physics = Simulator([ring], 1), load_physics()
    car = make_car(0, 0)
    for speed in (0.0, 100.0):
        simulator.cars[0]["steer"], simulator.cars[0]["speed"] = 0.5, speed
        car.see(simulator.cars[0], simulator.observations[0], physics)
        assert car.wheel_angle == pytest.approx(-0.5 * 0.37 / (1 + 0.025 * speed))
