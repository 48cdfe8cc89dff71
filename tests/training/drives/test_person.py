"""A person who drives: the assist between wish and car, and the drives that are kept."""

import numpy as np

from racer_env.tracks import Track
from training.drivers.scripted import scripted_driver
from training.drives.person import BestDrives, PersonEntrant
from training.drives.race import Race
from training.drives.recording import Recording
from training.drives.steering_assist import SteeringAssist

GO = np.array([0.0, 1.0, 0.0])


class ScriptedPerson(PersonEntrant):
    """A person whose wishes are those of the scripted driver."""

    def act(self, tick: int, observation: np.ndarray) -> np.ndarray:
        """Return what the scripted driver does, as if a person had wished it."""
        self.wish = scripted_driver(observation[None])[0]
        return super().act(tick, observation)


def test_the_assist_knows_the_speed_of_the_car(track: Track) -> None:
    """It steers as the assist does alone; throttle and brake are as wished."""
    person, alone = PersonEntrant(), SteeringAssist()
    person.start_on(track)
    person.wish = np.array([1.0, 0.5, 0.25])
    for tick, share in enumerate((0.0, 0.25, 0.5, 1.0)):
        observation = np.zeros(14)
        observation[9] = share
        assert person.act(tick, observation).tolist() == [alone.step(1.0, 160.0 * share), 0.5, 0.25]


def test_without_the_assist_a_key_is_full_lock(track: Track) -> None:
    """And with it again, the assist is where it would have been."""
    person, alone = PersonEntrant(), SteeringAssist()
    person.start_on(track)
    person.wish = np.array([-1.0, 1.0, 0.0])
    person.is_assisted = False
    expected = [alone.step(-1.0, 0.0) for _ in range(4)]
    assert [person.act(tick, np.zeros(14))[0] for tick in range(3)] == [-1.0] * 3
    person.is_assisted = True
    assert person.act(3, np.zeros(14))[0] == expected[3]


def test_a_new_start_begins_in_the_middle(track: Track) -> None:
    """Whatever key is still held."""
    person = PersonEntrant()
    person.start_on(track)
    person.wish = np.array([1.0, 0.0, 0.0])
    first = [person.act(tick, np.zeros(14))[0] for tick in range(3)]
    assert first[0] < first[1] < first[2]
    assert person.act(0, np.zeros(14))[0] == first[0]


def driven(track: Track, ticks: int, lost_at: int | None = None) -> tuple[Race, Recording]:
    """Return a race that a scripted person has driven, and what was kept of it."""
    best = BestDrives()
    race = Race(track, [ScriptedPerson()], laps=9, best_drives=best)
    for tick in range(ticks):
        if tick == lost_at:
            race.put_back(0)
        race.step()
    return race, best.recordings[track.id]


def test_the_drive_up_to_the_best_lap_is_kept(track: Track) -> None:
    """From its start, so that it can be driven again to the tick; its last lap is the best."""
    race, recording = driven(track, 1800)
    laps = race.cars[0].stopwatch.laps
    assert len(laps) >= 3
    assert laps[0] > min(laps)  # a standing start
    best = recording.drive.best_lap
    assert best is not None
    assert (best.seconds, best.last) == (min(laps), len(recording.actions))
    assert recording.driver == "you"


def test_a_car_that_was_put_back_is_kept_from_there(track: Track) -> None:
    """A drive has no jumps: it begins where the car was put, and its first crossing of the line ends no lap."""
    race, recording = driven(track, 1500, lost_at=300)
    assert recording.start.lap == 0
    best = recording.drive.best_lap
    assert best is not None
    assert best.seconds == race.cars[0].stopwatch.best


def test_a_clean_lap_is_better_than_a_faster_one(track: Track) -> None:
    """And of two alike the faster one."""
    best, start = BestDrives(), Race(track, [PersonEntrant()])._entrants[0].start_on(track)

    def lap(ticks: int, touches_wall: bool) -> None:
        best.begin(track, start)
        for tick in range(ticks):
            best.see(GO, 2 if tick == ticks - 1 else 1, touches_wall)

    for ticks, touches_wall, kept in ((90, True, 90), (120, False, 120), (60, True, 120), (110, False, 110)):
        lap(ticks, touches_wall)
        assert len(best.recordings[track.id].actions) == kept


def test_an_unfinished_lap_is_not_kept(track: Track) -> None:
    """Nor is the way to the line after a start elsewhere."""
    best = BestDrives()
    race = Race(track, [ScriptedPerson()], laps=3, best_drives=best)
    for _ in range(200):
        race.step()
    race.put_back(0)
    while race.cars[0].stopwatch.lap == 0:
        race.step()
    assert best.recordings == {}
