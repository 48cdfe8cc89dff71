"""Environments that draw: the same pictures on either engine, with or without a display, and for nothing when off."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pygame
import pytest
from stable_baselines3.common.vec_env import VecMonitor, VecVideoRecorder

from racer_env.env import RacerEnv
from racer_env.errors import ClosedError, ConfigError, RenderError
from racer_env.project import PROJECT_ROOT
from racer_env.rendering import style
from racer_env.rendering.scene import View
from racer_env.rendering.shadow import Shadow
from racer_env.rendering.window import Window
from racer_env.tracks import Track, UnseenTrack, known_track
from racer_env.vec_env import RacerVecEnv
from tests.helpers import FakeClock, with_limits

pytestmark = pytest.mark.timeout(30)

VIEW = View(size=(480, 300))
FORWARD = np.array([0.1, 1.0, 0.0])


def drive(env: RacerEnv, ticks: int = 60, **options: Any) -> np.ndarray:
    """Drive an episode and return the picture at its end."""
    env.reset(seed=3, options=options)
    for _ in range(ticks):
        env.step(FORWARD)
    picture = env.render()
    assert picture is not None
    return picture


@pytest.mark.parametrize(
    "options", [{}, {"start": "random"}, {"start": {"arc_length": 300.0, "lateral": 5.0}}, {"track_id": "track-03"}]
)
def test_both_engines_draw_the_same(engine_url: str, options: dict[str, Any]) -> None:
    """A bridge does not tell where its car is, and it is drawn there all the same."""
    env, expected = (RacerEnv(url, render_mode="rgb_array", view=VIEW) for url in (engine_url, "embedded"))
    picture = drive(env, **options)
    assert picture.shape == (300, 480, 3)
    assert picture.dtype == np.uint8
    assert np.array_equal(picture, drive(expected, **options))
    start = drive(env, 0, **options)
    assert not np.array_equal(picture, start)
    env.close()
    expected.close()


def test_pictures_need_no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window does, and says so."""
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("racer_env.rendering.window.sys.platform", "linux")
    env = RacerEnv(render_mode="rgb_array", view=VIEW)
    assert drive(env, 5).any()
    env.close()
    shown = RacerEnv(render_mode="human", view=VIEW)
    with pytest.raises(RenderError, match="there is no display to open a window on"):
        shown.reset()
    shown.close()


def test_a_display_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """SDL would draw into nothing, unseen."""
    monkeypatch.delenv("SDL_VIDEODRIVER")
    monkeypatch.setenv("DISPLAY", ":4242")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("racer_env.rendering.window.sys.platform", "linux")
    with pytest.raises(RenderError, match="the display cannot be opened|cannot open a window"):
        Window("test", (64, 64))


def test_many_tracks_are_drawn_once_each(ring: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are in a picture, with either camera."""
    from racer_env.rendering import scenery
    from tests.helpers import ring_track

    drawn = []
    real = scenery.Scenery.__init__

    def count(self: scenery.Scenery, track: Track, scale: float, palette: style.Palette) -> None:
        drawn.append(track)
        real(self, track, scale, palette)

    monkeypatch.setattr(scenery.Scenery, "__init__", count)
    tracks = [ring_track(id=str(number)) for number in range(12)]
    env = RacerVecEnv(tracks, 12, render_mode="rgb_array", view=View(size=(640, 480), camera="follow"))
    env.reset()
    env.render()
    env.render()
    assert len(drawn) == 12
    env.close()


def test_human_shows_every_step_in_a_window() -> None:
    """Until the user closes it; the environment goes on without."""
    env = RacerEnv(render_mode="human", view=VIEW)
    env.reset()
    screen = pygame.display.get_surface()
    assert screen is not None
    before = pygame.surfarray.array3d(screen)
    for _ in range(5):
        env.step(FORWARD)
    after = pygame.surfarray.array3d(screen)
    assert not np.array_equal(before, after)
    assert env.render() is None
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    for _ in range(5):
        env.step(FORWARD)
    assert np.array_equal(pygame.surfarray.array3d(screen), after)
    env.close()
    assert not pygame.display.get_init()


def test_drawing_costs_nothing_when_it_is_off() -> None:
    """Nothing of it is even imported."""
    script = """
import sys
import gymnasium, racer_env
from racer_env.vec_env import RacerVecEnv
env = gymnasium.make("TopDownRacer-v0")
env.reset()
env.step(env.action_space.sample())
RacerVecEnv(["track-01"], 2).reset()
sys.exit("pygame" in sys.modules or any(name.startswith("racer_env.rendering.") for name in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", script], cwd=PROJECT_ROOT).returncode == 0


def test_render_before_reset_and_after_close() -> None:
    """Both are said, and rendering without a mode is warned about."""
    env = RacerEnv(render_mode="rgb_array", view=VIEW)
    with pytest.raises(ClosedError, match=r"render\(\) before reset"):
        env.render()
    env.reset()
    env.close()
    with pytest.raises(ClosedError, match="closed"):
        env.render()


def test_a_track_that_only_the_bridge_knows_cannot_be_drawn() -> None:
    """What to do about it is said."""
    with pytest.raises(RenderError, match="give its file: track_id='PATH/secret.json', or tracks_dir="):
        known_track(UnseenTrack("secret"))


def test_a_game_that_drives_differently_is_named(ring: Track) -> None:
    """Where its cars are is not known, and nothing is drawn in a wrong place."""
    shadow = Shadow([ring], 1)
    shadow.place([0], [None])
    shadow.step(np.array([[0.0, 1.0, 0.0]]))
    shadow.check(shadow.simulator.observations)
    with pytest.raises(RenderError, match=r"drives differently from the simulator \(an observation differs by 0.01\)"):
        shadow.check(shadow.simulator.observations + 0.01)
    with pytest.raises(RenderError, match="drives differently"):
        shadow.check(np.full((1, 14), np.nan))


# --- Many cars ---


def drive_many(engine_url: str, **more: Any) -> tuple[RacerVecEnv, list[np.ndarray]]:
    """Drive some cars through several episodes, with pictures on the way."""
    env = RacerVecEnv(["track-01", "track-02"], 6, with_limits(50), render_mode="rgb_array", view=VIEW, **more)
    env.seed(5)
    env.reset()
    pictures = []
    for step in range(60):
        env.step(np.tile([0.3 * np.sin(step / 5), 1.0, 0.0], (6, 1)))
        if step % 15 == 14:
            picture = env.render()
            assert picture is not None
            pictures.append(picture)
    return env, pictures


@pytest.mark.parametrize("action_repeat", [1, 3])
def test_many_cars_are_drawn_the_same_on_both_engines(engine_url: str, action_repeat: int) -> None:
    """Through ends of episodes, random starts and repeated actions."""
    more = {"random_start_share": 0.5, "action_repeat": action_repeat}
    env, pictures = drive_many(engine_url, bridge_url=engine_url, **more)
    other, expected = drive_many("embedded", bridge_url="embedded", **more)
    for one, two in zip(pictures, expected, strict=True):
        assert one.shape == (300, 480, 3)
        assert np.array_equal(one, two)
    assert not np.array_equal(pictures[0], pictures[1])
    env.close()
    other.close()


def test_cars_are_where_the_simulator_has_them() -> None:
    """What is drawn is the state after the step, of a car that has just begun anew too."""
    env = RacerVecEnv(["track-01"], 3, with_limits(40), random_start_share=1.0, render_mode="rgb_array", view=VIEW)
    env.seed(1)
    env.reset()
    for _ in range(90):
        env.step(np.tile(FORWARD, (3, 1)))
        assert env._fleet.scene is not None
        for car, state in zip(env._fleet.scene.cars, env.simulator.cars, strict=True):
            assert (car.x, car.y, car.heading) == (state["x"], state["y"], state["heading"])
            assert len(car.trail) <= 41
    assert len(env.get_images()) == 1
    env.close()


def test_many_cars_can_be_shown_in_a_window() -> None:
    """Whenever render is called."""
    env = RacerVecEnv(["track-01"], 2, render_mode="human", view=VIEW)
    assert env.render_mode == "human"
    env.reset()
    assert env.render() is None
    assert pygame.display.get_surface().get_size() == VIEW.size
    env.close()


def test_pictures_of_held_actions_come_as_the_game_goes() -> None:
    """A picture shows a whole step: with an action repeat of 4, fifteen make a second, in videos and in the window."""
    env = RacerVecEnv(["track-01"], 1, render_mode="human", view=VIEW, action_repeat=4)
    assert env.metadata["render_fps"] == 15
    assert RacerEnv.metadata["render_fps"] == 60
    clock = FakeClock()
    env.reset()
    env.render()
    env._fleet.scene._window.metronome = clock.metronome()  # type: ignore[union-attr]
    for _ in range(16):
        env.step(np.array([FORWARD]))
        env.render()
    assert clock.time == pytest.approx(1.0)
    env.close()


@pytest.mark.parametrize("action_repeat", [1, 4])
def test_a_video_of_stable_baselines3_plays_in_real_time(tmp_path: Path, action_repeat: int) -> None:
    """Its recorder reads the rate below other wrappers; half a second of the game takes half a second."""
    pytest.importorskip("moviepy", reason="VecVideoRecorder needs moviepy")
    steps = 30 // action_repeat
    cars = VecMonitor(RacerVecEnv("track-01", 2, render_mode="rgb_array", view=VIEW, action_repeat=action_repeat))
    recorder = VecVideoRecorder(cars, str(tmp_path), lambda step: step == 0, steps)
    recorder.reset()
    for _ in range(steps):
        recorder.step(np.array([FORWARD] * 2))
    recorder.close()
    (video,) = tmp_path.iterdir()
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(video))
    assert frames >= steps
    assert seconds == pytest.approx(frames * action_repeat / 60, abs=0.02)


def test_many_cars_without_a_render_mode() -> None:
    """Asking for a picture says what is missing; no such mode is named."""
    with pytest.raises(ConfigError, match="make the environment with render_mode='rgb_array'"):
        RacerVecEnv(["track-01"], 2).render()
    with pytest.raises(ConfigError, match="render_mode must be None, 'human' or 'rgb_array', got 'ansi'"):
        RacerVecEnv(["track-01"], 2, render_mode="ansi")


def test_there_is_one_window_at_a_time() -> None:
    """A second one takes the place of the first, which is as if closed; closing that one leaves the second open."""
    first, second = Window("first", (64, 64)), Window("second", (80, 60))
    first.show(pygame.Surface((64, 64)), fps=60)
    assert not first.is_open
    first.close()
    second.show(pygame.Surface((80, 60)), fps=60)
    assert second.is_open
    second.close()
    assert not pygame.display.get_init()


def test_keys_are_taken_as_they_go_down_and_up() -> None:
    """Held keys are known, also when the window loses them."""
    window = Window("test", (64, 64))
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_UP, scancode=pygame.KSCAN_UP))
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_LEFT, scancode=pygame.KSCAN_LEFT))
    pygame.event.post(pygame.event.Event(pygame.KEYUP, key=pygame.K_LEFT, scancode=pygame.KSCAN_LEFT))
    assert [*window.pressed()] == [(pygame.K_UP, pygame.KSCAN_UP), (pygame.K_LEFT, pygame.KSCAN_LEFT)]
    assert window.held == {pygame.KSCAN_UP}
    pygame.event.post(pygame.event.Event(pygame.WINDOWFOCUSLOST))
    assert [*window.pressed()] == []
    assert window.held == set()
    window.close()
    window.close()
