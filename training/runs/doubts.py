"""What makes learning impossible or unlikely, in words: it may be meant, so it is said and not refused."""

from collections.abc import Sequence

from racer_env.config import AiConfig
from racer_env.contract import TICKS_PER_SECOND
from racer_env.tracks import AnyTrack, Track
from training.evaluation.course import without_time_for_a_lap

MIN_STILL_TICKS = 15  # a car at full throttle needs some before it counts as moving


def doubts_about(config: AiConfig, tracks: Sequence[AnyTrack]) -> list[str]:
    """Return a sentence about each setting under which a driver can hardly learn to lap.

    Args:
        config: Reward weights and episode limits.
        tracks: The tracks of the run.
    """
    weights, episode = config.weights, config.episode
    doubts = [
        f"{sentence}; no lap can be completed there in training" for sentence in without_time_for_a_lap(tracks, config)
    ]
    if episode.stillness_timeout_ticks < MIN_STILL_TICKS:
        seconds = episode.stillness_timeout_ticks / TICKS_PER_SECOND
        doubts.append(
            f"stillnessTimeoutTicks {episode.stillness_timeout_ticks} ends an episode after {seconds:.2f} s at rest, "
            "before a car that starts on the line gets going"
        )
    top_speed = min((track.physics.max_speed for track in tracks if isinstance(track, Track)), default=float("inf"))
    if weights.stillness_speed_threshold >= top_speed:
        doubts.append(
            f"stillnessSpeedThreshold {weights.stillness_speed_threshold:g} is not below the top speed of "
            f"{top_speed:g} units/s: a car counts as standing still however fast it drives"
        )
    if weights.progress < 0:
        doubts.append(f"progress {weights.progress:g} is negative: driving backwards is paid for")
    elif weights.progress == 0 and weights.speed_bonus <= 0:
        doubts.append("progress and speedBonus are 0 or less: nothing pays for driving")
    penalties = {
        "wallPenalty": weights.wall_penalty,
        "offTrackPenalty": weights.off_track_penalty,
        "backwardPenalty": weights.backward_penalty,
        "stillnessPenalty": weights.stillness_penalty,
    }
    doubts += [
        f"{key} {value:g} is positive: it pays for what it is against" for key, value in penalties.items() if value > 0
    ]
    return doubts
