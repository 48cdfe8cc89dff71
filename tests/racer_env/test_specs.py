"""The specification that Gymnasium keeps of an environment, as JSON and back."""

import dataclasses
import json
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

from racer_env import ENV_ID, RacerEnv
from racer_env.config import AiConfig
from racer_env.contract import RewardWeights
from racer_env.errors import ConfigError, TrackError
from racer_env.physics import Physics
from racer_env.project import DEFAULT_CONFIG_PATH, DEFAULT_PHYSICS_PATH
from racer_env.project import DEFAULT_TRACKS_DIR as TRACKS
from racer_env.rendering.scene import View
from racer_env.specs import plain
from racer_env.tracks import Track
from tests.helpers import ring_document

THROTTLE = np.array([0.0, 1.0, 0.0], np.float32)
SPEEDY = {"weights": {"speedBonus": 1.0}}


def again(env: Any) -> EnvSpec:
    """Return the environment's specification after it was written and read as JSON."""
    return EnvSpec.from_json(env.spec.to_json())


@pytest.mark.parametrize(
    "arguments",
    [
        {"track_id": "all", "config": SPEEDY, "render_mode": None, "bridge_url": "embedded"},
        {"track_id": ("track-02", "procedural-oval:1"), "config": AiConfig(RewardWeights(speed_bonus=1.0))},
        {"track_id": [TRACKS / "track-02.json"], "config_path": DEFAULT_CONFIG_PATH, "tracks_dir": TRACKS},
        {"view": View(size=(96, 64), trails=False), "render_mode": "rgb_array"},
    ],
)
def test_every_argument_comes_back(arguments: dict[str, Any]) -> None:
    """As a value that means the same: both environments see, earn and draw the same."""
    first = gymnasium.make(ENV_ID, **arguments)
    second = gymnasium.make(again(first))
    for env in (first, second):
        env.reset(seed=0)
        env.reset(options={"start": "random"})
    assert repr(first.step(THROTTLE)) == repr(second.step(THROTTLE))
    if arguments.get("render_mode"):
        assert np.array_equal(first.render(), second.render())


def test_tracks_come_back_whatever_they_were(track: Track) -> None:
    """The track itself, and what can be iterated over only once."""
    own = plain({"track": [track]})["track"][0]
    assert own == track.to_json()
    env = gymnasium.make(ENV_ID, track_id=(each for each in (track, "track-02")))
    assert json.loads(env.spec.to_json())["kwargs"]["track_id"] == [own, "track-02"]  # type: ignore[union-attr]
    assert gymnasium.make(again(env)).unwrapped.track.fingerprint == track.fingerprint


def test_physics_of_one_s_own_are_not_lost_in_silence(track: Track) -> None:
    """A track's file would not tell them, so JSON refuses such a track."""
    document = json.loads(DEFAULT_PHYSICS_PATH.read_text(encoding="utf-8"))
    document["rays"]["maxDistance"] *= 0.5
    env = gymnasium.make(ENV_ID, track_id=dataclasses.replace(track, physics=Physics(document)))
    with pytest.raises(TypeError, match="not JSON serializable"):
        env.spec.to_json()  # type: ignore[union-attr]


def test_many_cars_come_back() -> None:
    """With their number, numbers of NumPy and the mode of their resets."""
    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    share = np.float32(0.5)
    envs = gymnasium.make_vec(ENV_ID, num_envs=2, track_id=["track-02"], random_start_share=share, autoreset_mode=mode)
    other = gymnasium.make_vec(again(envs))
    assert (other.num_envs, other.metadata["autoreset_mode"]) == (2, mode)
    assert other.get_attr("track_id") == ("track-02", "track-02")


def test_the_content_of_a_track_file_is_a_track() -> None:
    """As an argument, in a list, and in a reset."""
    document = {**ring_document(), "id": "ring"}
    env = RacerEnv(track_id=[document, "track-01"])
    assert env.track.id == "ring"
    env.reset(options={"track_id": document})
    assert RacerEnv(track_id=document).track.id == "ring"
    with pytest.raises(TrackError, match="track_id: .*lacks the key 'name'"):
        RacerEnv(track_id={"id": "ring"})


def test_a_view_of_unknown_keys_is_refused() -> None:
    """The allowed ones are named."""
    with pytest.raises(ConfigError, match="view: unknown key 'sise'; allowed: size, camera, rays, trails"):
        RacerEnv(render_mode="rgb_array", view={"sise": (320, 200)})
