"""Summary figures of several episodes."""

from collections.abc import Sequence

import numpy as np

from racer_env.contract import TICKS_PER_SECOND
from training.evaluation.episode import LINE, MOVING, STANDING, Episode

MAX_TRACKS_APART = 8  # most tracks with figures of their own; more are summarised in groups


def summarise(episodes: Sequence[Episode]) -> dict[str, float | int | None]:
    """Return the figures of several episodes, named as in the table and the JSON output.

    Successes from random starts count separately; all other figures are of the episodes from the line.
    """
    anywhere = {kind: [e.is_success for e in episodes if e.start == kind] for kind in (MOVING, STANDING)}
    episodes = [episode for episode in episodes if episode.start == LINE]
    lap_times = [lap_time for episode in episodes for lap_time in episode.lap_times]
    steps = sum(episode.steps for episode in episodes)
    steering, seconds = [episode.steering for episode in episodes], steps / TICKS_PER_SECOND
    return {
        "episodes": len(episodes),
        "success": sum(episode.is_success for episode in episodes) / len(episodes),
        "laps": len(lap_times),
        "laps_asked": sum(episode.laps_asked for episode in episodes),
        "clean_laps": sum(sum(episode.clean) for episode in episodes),
        "completion": len(lap_times) / sum(episode.laps_asked for episode in episodes),
        "mean_lap_time_sec": float(np.mean(lap_times)) if lap_times else None,
        "best_lap_time_sec": min(lap_times) if lap_times else None,
        "std_lap_time_sec": float(np.std(lap_times)) if lap_times else None,
        "pace_units_per_sec": pace_of(episodes),
        "wall_contact_ticks": sum(episode.wall_ticks for episode in episodes),
        "off_track_share": sum(episode.off_track_ticks for episode in episodes) / steps,
        "mean_reward": float(np.mean([episode.reward for episode in episodes])),
        "steer_sign_changes_per_sec": sum(each.command_changes for each in steering) / seconds,
        "wheel_sign_changes_per_sec": sum(each.wheel_changes for each in steering) / seconds,
        "steer_reversals_per_sec": sum(each.reversals for each in steering) / seconds,
        "mean_steer_change": sum(each.total_change for each in steering) / steps,
        "stalls": sum(episode.stalls for episode in episodes),
        **{f"{kind}_start_success": sum(good) / len(good) if good else None for kind, good in anywhere.items()},
    }


def pace_of(episodes: Sequence[Episode]) -> float | None:
    """Return total length over total time of all laps, in units/s; None without laps, or if a length is not known."""
    units, seconds = 0.0, 0.0
    for episode in episodes:
        if episode.length is None:
            return None
        units += episode.length * len(episode.lap_ticks)
        seconds += sum(episode.lap_times)
    return units / seconds if seconds else None
