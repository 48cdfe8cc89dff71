"""RacerEnv and RacerVecEnv are one environment: arguments, defaults, tracks and rewards."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import racer_env
from racer_env import RacerEnv, RacerVecEnv
from racer_env.errors import ConfigError, TrackError
from racer_env.simulator.car import MAX_TRACKS_KEPT
from racer_env.tracks import Track

FULL_THROTTLE = np.array([0.0, 1.0, 0.0], np.float32)


def test_they_take_the_same_arguments() -> None:
    """What both have has the same default; RacerVecEnv has more, RacerEnv has nothing of its own."""
    one, many = (inspect.signature(kind).parameters for kind in (RacerEnv, RacerVecEnv))
    assert set(one) <= set(many)
    assert {name: one[name].default for name in one} == {name: many[name].default for name in one}


def test_they_earn_the_same_by_the_same_file(tmp_path: Path) -> None:
    """A speed bonus of a file reaches both."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"weights": {"speedBonus": 1.0}}))
    one, many = RacerEnv(config_path=path), RacerVecEnv(config_path=path)
    one.reset()
    many.reset()
    for _ in range(30):
        reward = one.step(FULL_THROTTLE)[1]
        rewards = many.step(FULL_THROTTLE[None])[1]
        assert rewards[0] == pytest.approx(reward, rel=1e-6)
    assert reward > 0.1


def test_they_earn_the_same_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By the project's ai-config.json, whatever stands in it."""
    path = tmp_path / "ai-config.json"
    path.write_text(json.dumps({"weights": {"progress": 5.0}}))
    monkeypatch.setattr("racer_env.config.DEFAULT_CONFIG_PATH", path)
    one, many = RacerEnv(), RacerVecEnv()
    one.reset()
    many.reset()
    for _ in range(60):
        info = one.step(FULL_THROTTLE)[4]
        infos = many.step(FULL_THROTTLE[None])[3]
    assert infos[0]["progress"] == info["progress"]
    assert info["progress"] > 5.0 * 1e-4


@pytest.mark.parametrize(
    ("track_id", "ids"),
    [
        ("track-02", ["track-02"]),
        ("all", ["track-01", "track-02", "track-03"]),
        ("procedural:2", ["procedural-0-0", "procedural-0-1"]),
        (["track-03", "procedural-oval:1"], ["track-03", "procedural-oval-0-0"]),
    ],
)
def test_both_know_names_sets_and_all(track_id: str | list[str], ids: list[str]) -> None:
    """One car for each in RacerVecEnv, one after the other in RacerEnv, and then again from the first."""
    many = RacerVecEnv(track_id)
    assert many.get_attr("track_id") == ids
    one = RacerEnv(track_id=track_id)
    driven = []
    for _ in range(len(ids) + 1):
        one.reset()
        driven.append(one.track.id)
    assert driven == [*ids, ids[0]]


def test_a_named_track_does_not_take_a_turn(track: Track) -> None:
    """A reset that names its track leaves the order of the others as it is."""
    env = RacerEnv(track_id=["track-01", "track-02"])
    driven = []
    for options in (None, {"track_id": "track-03"}, None):
        env.reset(options=options)
        driven.append(env.track.id)
    assert driven == ["track-01", "track-03", "track-02"]


def test_only_some_tracks_are_kept() -> None:
    """A driver that sees a new track at every reset does not fill the memory; one that comes again drives the same."""
    env = RacerEnv()
    first, _ = env.reset(options={"track_id": "procedural-0-0"})
    for number in range(1, MAX_TRACKS_KEPT + 3):
        env.reset(options={"track_id": f"procedural-0-{number}"})
    assert len(env._car._simulators) == MAX_TRACKS_KEPT  # type: ignore[union-attr]
    assert np.array_equal(env.reset(options={"track_id": "procedural-0-0"})[0], first)


def test_tracks_of_a_folder_are_known_to_both(tmp_path: Path, track: Track) -> None:
    """By their id, as on the command line."""
    (tmp_path / "mine.json").write_text(json.dumps({**track.to_json(), "id": "mine"}))
    assert RacerVecEnv("mine", tracks_dir=tmp_path).get_attr("track_id") == ["mine"]
    assert RacerEnv(track_id="mine", tracks_dir=tmp_path).track.id == "mine"
    assert RacerVecEnv("all", tracks_dir=tmp_path).get_attr("track_id") == ["mine"]


def test_files_and_any_kind_of_list_are_taken(tmp_path: Path, track: Track) -> None:
    """Paths as well as text, tuples and generators as well as lists."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({**track.to_json(), "id": "mine"}))
    assert RacerEnv(track_id=path).track.id == "mine"
    assert RacerVecEnv(name for name in ("track-01", path)).get_attr("track_id") == ["track-01", "mine"]
    env = RacerEnv()
    env.reset(options={"track_id": path})
    assert env.track.id == "mine"


def test_tracks_with_the_same_road_are_told_apart(tmp_path: Path, track: Track) -> None:
    """By their ids."""
    for name in ("mine-a", "mine-b"):
        (tmp_path / f"{name}.json").write_text(json.dumps({**track.to_json(), "id": name}))
    env = RacerEnv(track_id="all", tracks_dir=tmp_path)
    driven = []
    for _ in range(2):
        env.reset()
        driven.append(env.track.id)
    assert driven == ["mine-a", "mine-b"]


@pytest.mark.parametrize("odd", [None, 5, [["track-01"]], {"track-01": 1.0}.values()])
def test_what_cannot_be_a_track_is_refused_in_one_line(odd: object) -> None:
    """As an argument of both, and as an option of a reset."""
    for call in (
        lambda: RacerEnv(track_id=odd),  # type: ignore[arg-type]
        lambda: RacerVecEnv(odd),  # type: ignore[arg-type]
        lambda: RacerEnv().reset(options={"track_id": odd}),
    ):
        with pytest.raises(ConfigError, match="track_id must be a track's name, its file or the track itself"):
            call()


@pytest.mark.parametrize("kind", [RacerEnv, RacerVecEnv])
def test_what_is_no_track_is_refused_by_both(kind: type) -> None:
    """With the same words."""
    with pytest.raises(TrackError, match="no track 'nowhere'"):
        kind(track_id="nowhere")
    with pytest.raises(ConfigError, match="at least one track is needed"):
        kind(track_id=[])


def test_another_name_is_no_attribute_of_the_package() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="has no attribute 'RacerEnvironment'"):
        _ = racer_env.RacerEnvironment
