"""Settings under which a driver can hardly learn are said."""

import pytest

from racer_env.config import AiConfig, load_config
from racer_env.contract import EpisodeLimits, RewardWeights
from racer_env.tracks import Track, UnseenTrack
from training.runs.doubts import doubts_about


@pytest.mark.parametrize(
    ("config", "doubt"),
    [
        (AiConfig(episode=EpisodeLimits(stillness_timeout_ticks=1)), "stillnessTimeoutTicks 1 ends an episode after"),
        (AiConfig(episode=EpisodeLimits(max_steps=100)), "maxSteps 100 ends an episode on track-01 before a lap"),
        (AiConfig(episode=EpisodeLimits(max_steps=100)), "at top speed; no lap can be completed there in training"),
        (AiConfig(RewardWeights(stillness_speed_threshold=160.0)), "stillnessSpeedThreshold 160 is not below the top"),
        (AiConfig(RewardWeights(progress=-1.0)), "progress -1 is negative: driving backwards is paid for"),
        (AiConfig(RewardWeights(0, 0, 0, 0, 0, 0)), "nothing pays for driving"),
        (AiConfig(RewardWeights(wall_penalty=0.5)), "wallPenalty 0.5 is positive: it pays for what it is against"),
        (AiConfig(RewardWeights(stillness_penalty=0.5)), "stillnessPenalty 0.5 is positive"),
    ],
)
def test_each_doubt_has_its_sentence(track: Track, config: AiConfig, doubt: str) -> None:
    """And no other one."""
    (sentence,) = doubts_about(config, [track])
    assert doubt in sentence


def test_there_is_none_about_what_is_usual(tracks: list[Track]) -> None:
    """The shipped configuration, paying for speed alone, and a track that only a bridge knows."""
    assert doubts_about(load_config(), tracks) == []
    assert doubts_about(AiConfig(RewardWeights(progress=0.0, speed_bonus=0.01)), tracks) == []
    assert doubts_about(load_config(), [UnseenTrack("far")]) == []
