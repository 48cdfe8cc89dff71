"""Watching: races of drivers, recordings and a person, and what the keys of the window do."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest

from racer_env.rendering import style
from racer_env.rendering.window import Window
from racer_env.tracks import Track
from tests.helpers import FakeClock
from training import evaluate, watch
from training.drivers.driver import Driver
from training.drivers.scripted import scripted_driver
from training.drives import entrants as gathering
from training.drives import options, race_window
from training.drives.gamepad import PAUSE
from training.drives.person import PersonEntrant
from training.drives.race import DriverEntrant, Race, ReplayEntrant
from training.drives.race_window import COUNTDOWN, RaceWindow
from training.drives.recording import load_recording, record, save_recording

pytestmark = pytest.mark.timeout(60)

SCRIPTED = Driver("scripted", scripted_driver)
SLOW = Driver("slow", lambda seen: scripted_driver(seen) * (1.0, 0.9, 1.0))
ASLEEP = Driver("asleep", lambda seen: np.zeros((len(seen), 3)))


def entrant(driver: Driver) -> DriverEntrant:
    """Return a driver as an entrant."""
    return DriverEntrant(driver, driver.name)


def finish(race: Race, cars: int) -> None:
    """Drive until so many cars have finished."""
    while len(race.finished) < cars:
        race.step()


# --- Races ---


def test_a_race_is_won_by_the_first(track: Track) -> None:
    """By the difference of the times at which they complete the last lap."""
    race = Race(track, [entrant(SLOW), entrant(SCRIPTED)], laps=1)
    assert race.result() == ""
    finish(race, 1)
    assert race.result() == "scripted won\nslow still drives"
    finish(race, 2)
    lead = (race.finished[0] - race.finished[1]) / 60
    assert lead > 0
    assert race.result() == f"scripted won by {lead:.2f} s\nbefore slow"
    assert race.cars[1].stopwatch.best == race.finished[1] / 60
    race.restart()
    assert (race.tick, race.finished, race.result()) == (0, {}, "")


def test_cars_drive_as_if_alone(track: Track) -> None:
    """Equal drivers tie; one alone has its time."""
    both = Race(track, [entrant(SCRIPTED), entrant(SCRIPTED)], laps=1)
    finish(both, 2)
    assert both.result() == "a tie\nscripted and scripted"
    alone = Race(track, [entrant(SCRIPTED)], laps=1)
    finish(alone, 1)
    assert alone.finished[0] == both.finished[0]
    assert alone.result() == f"{alone.finished[0] / 60:.2f} s"


def test_an_action_is_held_as_long_as_it_was_trained(track: Track) -> None:
    """A driver with a repeat of 4 is asked every fourth tick."""
    asked = []

    def act(seen: Any) -> Any:
        asked.append(len(asked))
        return scripted_driver(seen)

    race = Race(track, [DriverEntrant(Driver("it", act, action_repeat=4), "it")])
    for _ in range(9):
        race.step()
    assert len(asked) == 3


def test_a_recording_drives_as_it_was_driven(track: Track) -> None:
    """State by state; then it coasts."""
    recording = record("it", track, [np.array([0.1, 1.0, 0.0])] * 50)
    race = Race(track, [ReplayEntrant(recording)])
    for state in recording.drive.states[1:]:
        race.step()
        assert (race.cars[0].x, race.cars[0].speed) == (state["x"], state["speed"])
    throttle = race.cars[0].throttle
    race.step()
    assert race.cars[0].throttle < throttle


def test_recordings_begin_again_together(track: Track) -> None:
    """A second after the end of the longest, however long the others have stood."""
    short, long = (record(name, track, [np.array([0.0, 1.0, 0.0])] * ticks) for name, ticks in (("a", 20), ("b", 400)))
    race = Race(track, [ReplayEntrant(short), ReplayEntrant(long)])
    for _ in range(459):
        race.step()
    assert race.tick == 459
    race.step()
    assert race.tick == 0
    assert race.cars[0].x == race.cars[1].x


def test_who_stands_still_begins_anew(track: Track) -> None:
    """Where nobody races; in a race, and a person, stand as long as they like."""
    cases = [(None, entrant(ASLEEP), True), (1, entrant(ASLEEP), False), (None, PersonEntrant(), False)]
    for laps, driver, restarts in cases:
        race = Race(track, [driver], laps)
        for _ in range(200):
            race.step()
        assert (len(race.cars[0].trail) < 100) == restarts


def test_a_person_drives_against_a_model(track: Track) -> None:
    """From the same start, with what the keys say."""
    person = PersonEntrant()
    race = Race(track, [person, entrant(ASLEEP)], laps=1)
    assert (race.cars[0].x, race.cars[0].y) == (race.cars[1].x, race.cars[1].y)
    person.wish = np.array([0.0, 1.0, 0.0])
    for _ in range(60):
        race.step()
    assert race.cars[0].speed > 50
    assert race.cars[1].speed == 0


def test_a_car_is_put_back_on_the_road(track: Track) -> None:
    """At rest on the centre line, along it; the lap does not count, and the race is as long as before."""
    person = PersonEntrant()
    race = Race(track, [person, entrant(ASLEEP)], laps=1)
    person.wish = np.array([1.0, 1.0, 0.0])
    person.is_assisted = False
    for _ in range(90):
        race.step()
    race.put_back(0)
    car, (place, tangent) = race.cars[0], nearest_on_line(track, race.cars[0].x, race.cars[0].y)
    assert (car.x, car.y) == pytest.approx(tuple(place), abs=1e-3)
    assert (math.cos(car.heading), math.sin(car.heading)) == pytest.approx(tuple(tangent), abs=1e-3)
    assert (car.speed, car.stopwatch.lap, car.stopwatch.current, len(car.trail)) == (0.0, 0, None, 1)
    person.act = lambda tick, seen: scripted_driver(seen[None])[0]  # type: ignore[method-assign]
    while car.stopwatch.lap == 0:
        race.step()
    assert race.finished == {}
    line = race.tick
    finish(race, 1)
    laps = [(race.finished[0] - line) / 60]
    assert race.cars[0].stopwatch.laps == laps
    for _ in range(60):
        race.step()
    come = race._progress[0].distance
    race.put_back(0)
    assert race.cars[0].stopwatch.laps == laps  # those before are kept
    assert race._progress[0].distance == pytest.approx(come - track.length, abs=0.1)


def nearest_on_line(track: Track, x: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the point of the centre line nearest to a place, to a hundredth of a unit, and its tangent."""
    line = track.geometry.centre_line
    points, tangents = line.point_and_tangent_at(np.arange(0.0, track.length, 0.01))
    index = int(np.hypot(*(points - (x, y)).T).argmin())
    return points[index], tangents[index]


def test_gaps_are_seconds_at_one_place(track: Track) -> None:
    """Those ahead have negative ones; nobody is behind oneself."""
    race = Race(track, [entrant(SLOW), entrant(SCRIPTED)], laps=2)
    finish(race, 2)
    lead = (race.finished[0] - race.finished[1]) / 60
    assert race.gaps(0) == [pytest.approx(0.0, abs=0.05), pytest.approx(-lead, abs=0.1)]
    assert race.gaps(1) == [pytest.approx(lead, abs=0.1), pytest.approx(0.0, abs=0.05)]
    race.restart()
    race.step()
    assert race.gaps(0)[1] == pytest.approx(0.0, abs=0.05)


# --- The window ---


@pytest.fixture
def window() -> Iterator[Window]:
    """A real window, in SDL's memory, that does not wait."""
    window = Window("test", (640, 400))
    window.metronome = FakeClock().metronome()
    yield window
    window.close()


def press(watching: RaceWindow, key: int, kind: int = pygame.KEYDOWN, place: int = 0) -> None:
    """Press a key, or let it go, and show a frame."""
    pygame.event.post(pygame.event.Event(kind, key=key, scancode=place))
    watching.frame()


def screen() -> np.ndarray:
    """Return what the window shows."""
    shown: np.ndarray = pygame.surfarray.array3d(pygame.display.get_surface())
    return shown


def test_a_frame_is_a_tick(window: Window, tracks: list[Track]) -> None:
    """At the usual speed; the window shows what the painter draws."""
    watching = RaceWindow(window, [entrant(SCRIPTED)], tracks, "track", None)
    watching.frame()
    before = screen()
    for _ in range(30):
        watching.frame()
    assert watching.race.tick == 31
    assert not np.array_equal(before, screen())
    assert window.is_open


def test_keys_for_time(window: Window, tracks: list[Track]) -> None:
    """Pause, slower down to a quarter, faster up to eight times, and again from the start."""
    watching = RaceWindow(window, [entrant(SCRIPTED)], tracks, "track", None)
    press(watching, pygame.K_SPACE)
    watching.frame()
    assert watching.race.tick == 0
    press(watching, pygame.K_p)
    assert watching.race.tick == 1
    for _ in range(5):
        press(watching, pygame.K_MINUS)
    assert watching.speed == 0.25
    before = watching.race.tick
    for _ in range(8):
        watching.frame()
    assert watching.race.tick - before == 2
    for _ in range(9):
        press(watching, pygame.K_PLUS)
    before = watching.race.tick
    watching.frame()
    assert (watching.speed, watching.race.tick - before) == (8.0, 8)
    press(watching, pygame.K_RETURN)
    assert watching.race.tick == 8


def test_keys_for_the_picture(window: Window, tracks: list[Track]) -> None:
    """Camera, rays, trails, the next car and the next track; what was switched stays so."""
    watching = RaceWindow(window, [entrant(SCRIPTED), entrant(SLOW)], tracks, "track", None)
    press(watching, pygame.K_SPACE)
    for key in (pygame.K_c, pygame.K_v, pygame.K_n):
        before = screen()
        press(watching, key)
        assert not np.array_equal(before, screen()), key
    assert (watching.painter.camera, watching.painter.rays, watching.focus) == ("heading", False, 1)
    press(watching, pygame.K_t)
    assert not watching.painter.trails
    for track_id in ("track-02", "track-03", "track-01"):
        press(watching, pygame.K_m)
        assert watching.race.track.id == watching.painter.track.id == track_id
    assert (watching.painter.camera, watching.painter.rays, watching.painter.trails) == ("heading", False, False)
    press(watching, pygame.K_TAB)
    assert watching.focus == 0


def test_a_key_goes_through_the_cameras(window: Window, tracks: list[Track]) -> None:
    """In the order of the page: following with the heading up, then with north up, then all of the track."""
    watching = RaceWindow(window, [entrant(SCRIPTED)], tracks, "heading", None)
    cameras = []
    for _ in range(3):
        press(watching, pygame.K_c)
        cameras.append(watching.painter.camera)
    assert cameras == ["follow", "track", "heading"]


def test_the_window_is_dark_or_light(window: Window, tracks: list[Track]) -> None:
    """Also on the next track, and after its size has changed."""
    watching = RaceWindow(window, [entrant(SCRIPTED)], tracks, "track", None, colours="light")
    panel = style.PALETTES["light"].panel
    watching.frame()
    assert tuple(screen()[3, 3]) == panel
    press(watching, pygame.K_m)
    pygame.event.post(pygame.event.Event(pygame.VIDEORESIZE, size=(900, 500), w=900, h=500))
    watching.frame()
    assert watching.painter.size == (900, 500)
    assert tuple(screen()[3, 3]) == panel


@pytest.mark.parametrize("key", [pygame.K_q, pygame.K_ESCAPE])
def test_keys_to_end(window: Window, tracks: list[Track], key: int) -> None:
    """The window closes, and so does watching."""
    watching = RaceWindow(window, [entrant(SCRIPTED)], tracks, "track", None)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key, scancode=0))
    assert watching.run() == ""


ARROWS = (pygame.KSCAN_UP, pygame.KSCAN_RIGHT, pygame.KSCAN_DOWN)
LETTERS = (pygame.KSCAN_W, pygame.KSCAN_D, pygame.KSCAN_S)


@pytest.mark.parametrize("places", [ARROWS, LETTERS])
def test_a_person_drives_with_the_keyboard(window: Window, tracks: list[Track], places: tuple[int, ...]) -> None:
    """After the countdown, for as long as the keys are down, whatever letters they have."""
    person = PersonEntrant()
    watching = RaceWindow(window, [person, entrant(SCRIPTED)], tracks, "track", 3)
    for _ in range(COUNTDOWN * 60):
        watching.frame()
    assert watching.race.tick == 0
    for place in places[:2]:
        press(watching, pygame.K_z, place=place)
    assert person.wish.tolist() == [1.0, 1.0, 0.0]
    press(watching, pygame.K_z, pygame.KEYUP, places[0])
    press(watching, pygame.K_z, place=places[2])
    assert person.wish.tolist() == [1.0, 0.0, 1.0]
    assert watching.race.tick == 4


def test_the_assist_is_on_until_a_key_switches_it_off(window: Window, tracks: list[Track]) -> None:
    """And on again; the line of help says which."""
    person = PersonEntrant()
    watching = RaceWindow(window, [person], tracks, "follow", None)
    assert person.is_assisted
    assert "H assist on" in watching._footer()
    press(watching, pygame.K_h)
    assert not person.is_assisted
    assert "H assist off" in watching._footer()
    press(watching, pygame.K_h)
    assert person.is_assisted


@pytest.mark.parametrize("key", [pygame.K_r, pygame.K_BACKSPACE])
def test_a_key_puts_the_car_back(window: Window, tracks: list[Track], key: int) -> None:
    """Once the race has begun, and only that of a person."""
    watching = RaceWindow(window, [entrant(SCRIPTED), PersonEntrant()], tracks, "follow", 3)
    press(watching, key)
    assert watching.race.cars[1].stopwatch.lap == 1
    watching._wait = 0
    press(watching, key)
    assert [car.stopwatch.lap for car in watching.race.cars] == [1, 0]
    watching = RaceWindow(window, [entrant(SCRIPTED)], tracks, "follow", None)
    press(watching, key)
    assert watching.race.cars[0].stopwatch.lap == 1


def test_a_gamepad_drives_beside_the_keys(window: Window, tracks: list[Track], monkeypatch: pytest.MonkeyPatch) -> None:
    """The wish is what both ask for, and no more than everything; its buttons do what keys do."""
    person = PersonEntrant()
    watching = RaceWindow(window, [person], tracks, "follow", None)
    assert watching._devices is not None
    monkeypatch.setattr(watching._devices, "wish", lambda: np.array([0.5, 0.75, 0.0]))
    watching.frame()
    assert person.wish.tolist() == [0.5, 0.75, 0.0]
    for place in (pygame.KSCAN_RIGHT, pygame.KSCAN_UP):
        press(watching, pygame.K_z, place=place)
    assert person.wish.tolist() == [1.0, 1.0, 0.0]
    monkeypatch.setattr(watching._devices, "pressed", lambda: iter([PAUSE]))
    watching.frame()
    assert watching.is_paused


@pytest.mark.parametrize("pressed", [{"key": pygame.K_F1}, {"key": pygame.K_SLASH, "unicode": "?"}])
def test_a_key_shows_all_keys(window: Window, tracks: list[Track], pressed: dict[str, Any]) -> None:
    """Over the map, until it is pressed again; it may be the one that types a question mark."""
    watching = RaceWindow(window, [PersonEntrant()], tracks, "follow", 3)
    watching.frame()
    before = screen()
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, scancode=0, **pressed))
    watching.frame()
    assert (before != screen()).any(axis=2).mean() > 0.1
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, scancode=0, **pressed))
    watching.frame()
    assert (before != screen()).any(axis=2).mean() < 0.1


def test_the_picture_is_as_large_as_the_window(window: Window, tracks: list[Track]) -> None:
    """Also after the user has changed its size; what was switched stays so. Too small a window is cut."""
    watching = RaceWindow(window, [entrant(SCRIPTED)], tracks, "follow", None)
    for key in (pygame.K_v, pygame.K_t):
        press(watching, key)
    for size, expected in (((900, 500), (900, 500)), ((40, 300), (64, 300)), ((640, 400), (640, 400))):
        pygame.event.post(pygame.event.Event(pygame.VIDEORESIZE, size=size, w=size[0], h=size[1]))
        watching.frame()
        assert watching.painter.size == expected
        assert (watching.painter.camera, watching.painter.rays, watching.painter.trails) == ("follow", False, False)


def test_a_key_that_drives_does_nothing_else(window: Window, tracks: list[Track]) -> None:
    """On AZERTY, Q is at the place of A: it steers, and the line of help names Escape; watching, it ends."""
    person = PersonEntrant()
    watching = RaceWindow(window, [person], tracks, "track", None)
    press(watching, pygame.K_q, place=pygame.KSCAN_A)
    assert (window.is_open, person.wish[0]) == (True, -1.0)
    assert "Esc quit" in watching._footer()
    watching = RaceWindow(window, [entrant(SCRIPTED)], tracks, "track", None)
    assert "Q quit" in watching._footer()
    press(watching, pygame.K_q, place=pygame.KSCAN_A)
    assert not window.is_open


def test_the_game_keeps_real_time(window: Window, tracks: list[Track]) -> None:
    """Frames that take longer drive more ticks; where even that is too slow, the window says so."""
    clock = FakeClock()
    window.metronome = clock.metronome()
    watching = RaceWindow(window, [entrant(ASLEEP)], tracks, "track", None)
    for _ in range(40):
        clock.time += 0.05
        watching.frame()
    assert watching.race.tick == pytest.approx(40 * 0.05 * 60, abs=5)
    assert "real time" not in watching._footer()
    for _ in range(20):
        clock.time += 0.25
        watching.frame()
    assert "67% of real time" in watching._footer()
    assert "67% of real time" in pygame.display.get_caption()[0]


def test_a_race_ends_with_its_result(window: Window, tracks: list[Track]) -> None:
    """Across the picture, and as what watching returns."""
    watching = RaceWindow(window, [entrant(SLOW), entrant(SCRIPTED)], tracks[:1], "track", 1)
    watching._wait = 0
    finish(watching.race, 1)
    before = screen()
    watching.frame()
    assert not np.array_equal(before, screen())
    assert watching._message() == "scripted won\nslow still drives\nEnter starts again"
    watching._quit()
    assert watching.run() == "scripted won\nslow still drives"


def test_a_track_that_is_new_to_a_driver_is_said(
    window: Window, tracks: list[Track], capsys: pytest.CaptureFixture[str]
) -> None:
    """On the console once, and in the window of the car in focus; so is that a driver says nothing of its tracks."""
    knows = Driver("models/knows.zip", scripted_driver, track_ids=("track-01",))
    silent = Driver("theirs/silent.onnx", scripted_driver)
    racers = [DriverEntrant(driver, driver.label) for driver in (knows, silent, SCRIPTED)]
    watching = RaceWindow(window, racers, tracks[:2], "track", None)
    unsaid = "theirs/silent.onnx does not say on which tracks it was trained"
    assert capsys.readouterr().err == f"note: {unsaid}\n"
    assert "trained" not in watching._footer()
    press(watching, pygame.K_m)
    assert capsys.readouterr().err == "note: knows was not trained on track-02\n"
    assert "knows was not trained on track-02   Q quit" in watching._footer()
    press(watching, pygame.K_TAB)
    assert unsaid in watching._footer()
    for key in (pygame.K_TAB, pygame.K_m, pygame.K_m):
        press(watching, key)
        assert "trained" not in watching._footer()
    assert capsys.readouterr().err == ""


# --- The script ---


def close_after(monkeypatch: pytest.MonkeyPatch, frames: int) -> list[int]:
    """Let the window close after some frames; return a list that counts them."""
    real, shown = Window.show, []

    def show(self: Window, picture: pygame.Surface, fps: float, most: int = 1) -> int:
        shown.append(len(shown))
        due = real(self, picture, 100_000, most)
        if len(shown) == frames:
            self.close()
        return due

    monkeypatch.setattr(Window, "show", show)
    return shown


def test_several_models_drive_as_ghosts(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the window is closed; the exit code is 0."""
    shown = close_after(monkeypatch, 30)
    models = [str(trained / "models" / "lap_final"), "scripted"]
    assert watch.main(["--model", *models, "--track-id", "track-02", "--camera", "heading", "--colours", "light"]) == 0
    assert len(shown) == 30
    entrants, _ = gathering.gather(options.parse_options(["--model", models[0], "--model", models[1]]))
    assert [entrant.name for entrant in entrants] == ["lap_final", "scripted"]


def test_recordings_are_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tracks: list[Track]) -> None:
    """On their own track, which is in the file; on two different ones they are refused."""
    for name, where in (("a", tracks[0]), ("b", tracks[1])):
        save_recording(record(name, where, [np.array([0.0, 1.0, 0.0])] * 20), tmp_path / f"{name}.npz")
    close_after(monkeypatch, 5)
    assert watch.main(["--replay", str(tmp_path / "a.npz"), "--model", "scripted"]) == 0
    assert watch.main(["--replay", str(tmp_path / "a.npz"), str(tmp_path / "b.npz")]) == 2


def test_a_person_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Needs no model."""
    shown = close_after(monkeypatch, 5)
    assert watch.main(["--drive", "--laps", "1"]) == 0
    assert len(shown) == 5


def drive_in_the_window(monkeypatch: pytest.MonkeyPatch, ticks: int) -> None:
    """Let the scripted driver be the person, without a countdown, and close the window after so many ticks."""
    monkeypatch.setattr(PersonEntrant, "act", lambda self, tick, seen: scripted_driver(seen[None])[0])

    def frame(self: RaceWindow) -> None:
        for _ in range(ticks):
            self.race.step()
        self._quit()

    monkeypatch.setattr(RaceWindow, "frame", frame)


def test_a_driven_lap_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a recording that watching and evaluating take."""
    drive_in_the_window(monkeypatch, 700)
    path = tmp_path / "laps" / "mine.npz"
    assert watch.main(["--drive", "--record", str(path)]) == 0
    assert f"saved {path}: " in capsys.readouterr().out
    (lap,) = load_recording(path).drive.laps
    assert evaluate.main(["--replay", str(path)]) == 0
    assert f"{lap.seconds:.2f} s" in capsys.readouterr().out
    monkeypatch.undo()
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    close_after(monkeypatch, 5)
    assert watch.main(["--replay", str(path)]) == 0


def test_an_interruption_loses_no_lap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C saves as closing the window does."""
    drive_in_the_window(monkeypatch, 700)

    def interrupt(self: RaceWindow) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(RaceWindow, "_quit", interrupt)
    assert watch.main(["--drive", "--record", str(tmp_path / "mine.npz")]) == 130
    assert len(load_recording(tmp_path / "mine.npz").drive.laps) == 1


def test_without_a_lap_nothing_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which is said; the exit code is 1."""
    drive_in_the_window(monkeypatch, 100)
    path = tmp_path / "mine.npz"
    assert watch.main(["--drive", "--record", str(path)]) == 1
    assert capsys.readouterr().err == f"note: you have completed no lap, so {path} was not written\n"
    assert not path.exists()


def test_a_record_has_a_driver_and_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Models are recorded elsewhere, and another ending is refused before anybody drives."""
    with pytest.raises(SystemExit) as stop:
        watch.main(["--model", "scripted", "--record", "it.npz"])
    assert stop.value.code == 2
    assert "--record saves what you drive yourself; add --drive" in capsys.readouterr().err
    assert watch.main(["--drive", "--record", str(tmp_path / "it.zip")]) == 2
    assert "--record takes a file that ends in .npz or .json" in capsys.readouterr().err


def test_who_drives_is_followed() -> None:
    """By the camera, unless another one is named; who watches sees all of the track."""
    cases = ((["--drive"], "heading"), (["--drive", "--camera", "track"], "track"), (["--model", "scripted"], "track"))
    for arguments, camera in cases:
        assert options.parse_options(arguments).camera == camera


def test_how_it_looks_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Camera and colours reach the window, which is dark otherwise."""
    shown = []
    monkeypatch.setattr(race_window, "show_race", lambda *arguments: shown.append((arguments[2], arguments[-1])) or "")
    assert watch.main(["--model", "scripted", "--camera", "heading", "--colours", "light"]) == 0
    assert watch.main(["--model", "scripted"]) == 0
    assert shown == [("heading", "light"), ("track", "dark")]


def test_without_a_display_video_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 2."""
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("racer_env.rendering.window.sys.platform", "linux")
    assert watch.main(["--model", "scripted"]) == 2
    error = capsys.readouterr().err
    assert (
        "there is no display to open a window on; python -m training.evaluate --model MODEL --video lap.mp4 " in error
    )
    assert error.count("\n") == 1


def test_nobody_to_watch(capsys: pytest.CaptureFixture[str]) -> None:
    """An argument error that names what there is."""
    with pytest.raises(SystemExit) as stop:
        watch.main([])
    assert stop.value.code == 2
    assert "expected --model, --replay or --drive" in capsys.readouterr().err


def test_laps_are_those_of_a_race(capsys: pytest.CaptureFixture[str]) -> None:
    """Drivers alone drive on until the window is closed."""
    with pytest.raises(SystemExit) as end:
        watch.main(["--model", "scripted", "--laps", "2"])
    assert end.value.code == 2
    assert "--laps are those of a race with --drive" in capsys.readouterr().err
