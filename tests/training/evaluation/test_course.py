"""Measuring a driver: laps, cleanliness, shares, and when an episode ends."""

import contextlib

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.contract import EpisodeLimits
from racer_env.tracks import Track, load_tracks
from tests.runs import drive
from training.drivers.driver import Driver
from training.drivers.scripted import scripted_driver
from training.evaluation.course import SLOWEST_PACE, Course, CourseCars, evaluate, evaluate_all, without_time_for_a_lap
from training.evaluation.episode import LINE, MOVING, STANDING, Episode
from training.evaluation.stress import NO_STRESS, STRESSES, Stress
from training.evaluation.summary import pace_of, summarise


def stand_still(observations: np.ndarray) -> np.ndarray:
    """Drive not at all."""
    return np.zeros((len(observations), 3))


def test_the_scripted_driver_laps_everywhere() -> None:
    """All laps are driven, and their ticks add up to the steps."""
    episodes = drive(scripted_driver, load_tracks(["all"]), config=AiConfig(), laps=2)
    assert [episode.track_id for episode in episodes] == ["track-01", "track-02", "track-03"]
    for episode in episodes:
        assert len(episode.lap_ticks) == 2
        assert sum(episode.lap_ticks) == episode.steps
        assert episode.lap_times[1] < episode.lap_times[0]  # the first is from a standing start
        assert episode.reward > 0.5


def test_a_car_that_stands_still_ends() -> None:
    """The episode ends by the stillness time-out, with nothing completed."""
    (episode,) = drive(stand_still, load_tracks(["track-01"]), config=AiConfig(), laps=1)
    assert episode.steps == 180
    assert summarise([episode])["completion"] == 0.0
    assert summarise([episode])["mean_lap_time_sec"] is None
    assert not episode.is_clean
    assert episode.stalls == 1


@pytest.mark.parametrize(
    ("limits", "stalls"),
    [
        (EpisodeLimits(stillness_timeout_ticks=179), 0),
        (EpisodeLimits(max_steps=180, stillness_timeout_ticks=400), 1),
        (EpisodeLimits(stillness_timeout_ticks=400), 1),
    ],
)
def test_a_car_that_never_moves_stalls_after_three_seconds(limits: EpisodeLimits, stalls: int) -> None:
    """Not a tick before, and once however long it stands."""
    (episode,) = drive(stand_still, load_tracks(["track-01"]), config=AiConfig(episode=limits), laps=1)
    assert episode.stalls == stalls


def test_a_car_that_circles_ends_by_time() -> None:
    """An episode ends when it takes longer than a snail would."""

    def circle(observations: np.ndarray) -> np.ndarray:
        return np.tile([1.0, 0.1, 0.0], (len(observations), 1))

    (track,) = load_tracks(["track-01"])
    (episode,) = drive(circle, [track], config=AiConfig(), laps=1)
    assert episode.steps == int(track.length / SLOWEST_PACE * 60)


def test_summary_of_several_episodes() -> None:
    """Figures are over all laps and steps of the episodes."""
    one = Episode("t", 2, lap_ticks=[600, 540], clean=[True, False], steps=1140, wall_ticks=3, off_track_ticks=57)
    two = Episode("t", 2, lap_ticks=[660], clean=[True], steps=1140, reward=2.0)
    row = summarise([one, two])
    assert row["laps"] == 3
    assert row["clean_laps"] == 2
    assert row["completion"] == 0.75
    assert row["mean_lap_time_sec"] == pytest.approx(10.0)
    assert row["best_lap_time_sec"] == pytest.approx(9.0)
    assert row["std_lap_time_sec"] == pytest.approx(np.std([10.0, 9.0, 11.0]))
    assert row["wall_contact_ticks"] == 3
    assert row["off_track_share"] == pytest.approx(57 / 2280)
    assert row["mean_reward"] == pytest.approx(1.0)


def test_a_lap_that_takes_too_long_ends_the_episode() -> None:
    """The time for a lap begins anew with each lap."""
    (track,) = load_tracks(["track-01"])
    patience, calls = int(track.length / SLOWEST_PACE * 60), 0

    def tired(observations: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        return scripted_driver(observations) if calls < 700 else np.tile([1.0, 0.1, 0.0], (len(observations), 1))

    (episode,) = drive(tired, [track], config=AiConfig(), laps=3)
    assert len(episode.lap_ticks) == 1
    assert episode.steps == episode.lap_ticks[0] + patience


def test_a_course_can_be_driven_again() -> None:
    """Every drive begins anew, and the same driver drives the same."""
    with contextlib.closing(CourseCars(Course(load_tracks(["track-01"]), config=AiConfig(), laps=1))) as cars:
        first, second = cars.drive(scripted_driver), cars.drive(scripted_driver)
    assert first == second
    assert len(first[0].lap_ticks) == 1


def test_a_driver_is_asked_as_often_as_its_actions_hold() -> None:
    """With an action repeat of 4, every fourth tick; lap times are still to the tick."""
    asked = 0

    def policy(observations: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += 1
        return scripted_driver(observations)

    (episode,) = drive(policy, load_tracks(["track-01"]), config=AiConfig(), laps=1, action_repeat=4)
    assert asked == -(-episode.steps // 4)
    assert episode.lap_ticks == [episode.steps]


@pytest.mark.parametrize(("limit", "is_named"), [(300, True), (400, False), (3000, False)])
def test_limits_below_a_lap_are_named(limit: int, is_named: bool) -> None:
    """A lap of track-01 is driven in 380 ticks; nothing can do it in 300."""
    sentences = without_time_for_a_lap(load_tracks(["track-01"]), AiConfig(episode=EpisodeLimits(max_steps=limit)))
    assert bool(sentences) == is_named
    assert not is_named or "maxSteps 300 ends an episode on track-01 before a lap is possible" in sentences[0]


def test_a_driver_is_tried_from_anywhere(tracks: list[Track]) -> None:
    """So often on the move and so often at rest on each track; the same seed tries the same places."""
    two = [tracks[0], tracks[1]]
    episodes = drive(scripted_driver, two, config=AiConfig(), laps=2, random_starts=3, seed=1)
    kinds = [LINE] + 3 * [MOVING, STANDING]
    assert [(episode.track_id, episode.start) for episode in episodes] == [
        *(("track-01", kind) for kind in kinds),
        *(("track-02", kind) for kind in kinds),
    ]
    assert [episode.laps_asked for episode in episodes[:3]] == [2, 1, 1]
    assert all(episode.is_success for episode in episodes[:7])
    row = summarise(episodes[:7])
    assert (row["moving_start_success"], row["standing_start_success"], row["laps"]) == (1.0, 1.0, 2)
    assert episodes == drive(scripted_driver, two, config=AiConfig(), laps=2, random_starts=3, seed=1)
    assert episodes != drive(scripted_driver, two, config=AiConfig(), laps=2, random_starts=3, seed=2)


def test_who_stands_still_gets_nowhere(track: Track) -> None:
    """Neither from rest, nor from where the push of the start ends."""
    row = summarise(drive(stand_still, [track], config=AiConfig(), random_starts=2))
    assert (row["success"], row["moving_start_success"], row["standing_start_success"]) == (0.0, 0.0, 0.0)


def test_a_lap_after_a_start_elsewhere_is_from_line_to_line(track: Track) -> None:
    """The way to the line is no part of it, so it takes what a flying lap takes."""
    line, moving, standing = drive(scripted_driver, [track], config=AiConfig(), laps=3, random_starts=1)
    for episode in (moving, standing):
        assert len(episode.lap_ticks) == 1
        assert 0 < episode.ticks_before < episode.steps
        assert episode.lap_ticks[0] == episode.steps - episode.ticks_before
        assert episode.lap_ticks[0] == pytest.approx(line.lap_ticks[2], abs=3)


def test_a_wall_on_the_way_to_the_line_is_no_success(track: Track) -> None:
    """But the lap after it is clean."""
    ticks = 0

    def clumsy(observations: np.ndarray) -> np.ndarray:
        nonlocal ticks
        ticks += 1
        return np.tile([0.15, 1.0, 0.0], (len(observations), 1)) if ticks < 90 else scripted_driver(observations)

    moving = drive(clumsy, [track], config=AiConfig(), random_starts=1, seed=2)[1]
    assert moving.wall_ticks > 0
    assert moving.clean == [True]
    assert not moving.is_success


def test_pace_is_length_over_lap_time(track: Track) -> None:
    """Of all laps; of no lap there is none, nor where the length is not known."""
    (episode,) = drive(scripted_driver, [track], config=AiConfig(), laps=2)
    assert pace_of([episode]) == pytest.approx(2 * track.length / sum(episode.lap_times))
    assert pace_of([Episode("t", 1, length=1000.0)]) is None
    assert pace_of([Episode("t", 1, lap_ticks=[600], clean=[True])]) is None


def test_stress_reaches_the_car(track: Track) -> None:
    """A tick of delay moves the car off a tick later; the actions that are kept are those that were driven."""
    late = Stress("late", delay=1)
    usual, delayed = (
        drive(
            lambda seen: np.tile([0.0, 1.0, 0.0], (len(seen), 1)), [track], config=AiConfig(), keeps_actions=True, **how
        )
        for how in ({}, {"stress": late})
    )
    assert usual[0].actions[0].tolist() == delayed[0].actions[1].tolist() == [0.0, 1.0, 0.0]
    assert delayed[0].actions[0].tolist() == [0.0, 0.0, 0.0]


def test_a_standing_start_is_the_moving_one_at_rest(track: Track) -> None:
    """In the same place."""
    seen: list[np.ndarray] = []

    def look(observations: np.ndarray) -> np.ndarray:
        seen.append(observations.copy())
        return scripted_driver(observations)

    drive(look, [track], config=AiConfig(), laps=1, random_starts=2)
    line, *pairs = seen[0]
    assert line[9] == 0.0
    for moving, standing in ((pairs[0], pairs[1]), (pairs[2], pairs[3])):
        assert moving[9] > 0.0
        assert standing[9] == 0.0
        assert np.array_equal(moving[:9], standing[:9])


def test_only_drives_from_the_line_keep_their_actions(track: Track) -> None:
    """What is recorded, drawn and replayed starts there."""
    line, *others = drive(scripted_driver, [track], config=AiConfig(), laps=1, random_starts=1, keeps_actions=True)
    assert len(line.actions) == line.steps
    assert [other.actions for other in others] == [[], []]


def test_steering_is_measured_as_it_was_driven(track: Track) -> None:
    """Noise on the actions is part of it."""
    (episode,) = drive(stand_still, [track], config=AiConfig(), laps=1, stress=Stress("shaky", action_noise=0.5))
    assert episode.steering.total_change > 10.0


def test_courses_side_by_side_are_driven_as_apart(tracks: list[Track]) -> None:
    """Under the same noise, though cars that are done are left behind; and in one batch."""
    one = Course([tracks[0], tracks[1]], AiConfig(), 2, episodes=2, random_starts=2, seed=3, keeps_actions=True)
    other = Course(one.tracks, one.config, 1, random_starts=3, random_laps=2, seed=4)
    drives = [(one, NO_STRESS), (one, STRESSES[-1]), (other, STRESSES[0])]
    together, most, fewest = evaluate_all(Driver("scripted", scripted_driver), drives), 0, 1000

    def counting(observations: np.ndarray) -> np.ndarray:
        nonlocal most, fewest
        most, fewest = max(most, len(observations)), min(fewest, len(observations))
        return scripted_driver(observations)

    for evaluation, (course, stress) in zip(together, drives, strict=True):
        alone = evaluate(Driver("scripted", scripted_driver), course, stress).episodes
        assert [vars(episode) | {"actions": np.array(episode.actions).tolist()} for episode in alone] == [
            vars(episode) | {"actions": np.array(episode.actions).tolist()} for episode in evaluation.episodes
        ]
    evaluate_all(Driver("scripted", counting), drives)
    assert (most, fewest) == (2 * (6 + 6 + 7), 1)


def test_a_driver_with_noise_of_its_own_drives_courses_apart(track: Track) -> None:
    """So that its noise is what it was."""
    sizes = set()

    def noisy(observations: np.ndarray) -> np.ndarray:
        sizes.add(len(observations))
        return scripted_driver(observations)

    course = Course([track], AiConfig(), 1)
    evaluate_all(Driver("noisy", noisy, is_reflex=False), [(course, NO_STRESS), (course, STRESSES[0])])
    assert sizes == {1}
