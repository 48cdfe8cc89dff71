"""The training environment: cars, monitor file, normalisation of observations and rewards."""

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from racer_env.bridge.url import EMBEDDED
from racer_env.contract import OBSERVED_ARC_LENGTH
from racer_env.tracks import Track
from racer_env.vec_env import RacerVecEnv
from training.checkpoints.fast_normalize import FastNormalize
from training.checkpoints.statistics import Statistics
from training.checkpoints.vec_normalize import normalised
from training.console.messages import say
from training.evaluation.episode import ASSUMED_LENGTH
from training.runs.monitor import MONITOR_NAME, make_monitor
from training.runs.own_reward import OwnReward
from training.runs.own_wrapper import wrapped
from training.runs.run import Run
from training.runs.shaping import OffRoadCost, SmoothSteering, Withheld, training_config

CLIP = 10.0  # bound of normalised observations and rewards


def make_training_env(run: Run, statistics: Statistics | None = None) -> VecNormalize:
    """Make the training environment of a run.

    Args:
        run: The run to train.
        statistics: Statistics of the model that the run begins with; None starts afresh.
    """
    run.log_dir.mkdir(parents=True, exist_ok=True)
    knows_lengths = all(isinstance(track, Track) for track in run.tracks)
    if len(run.tracks) > 1 and not knows_lengths:
        say("the bridge does not tell how long its tracks are: a lap is worth the same on each, whatever its length")
    has_starts = run.bridge is None or run.bridge.has_extensions
    is_equal = len(run.tracks) > 1 and knows_lengths
    per_unit = _reward_per_unit(run, is_equal)
    cars = RacerVecEnv(
        run.tracks,
        run.num_envs,
        training_config(run.config, run.settings),
        random_start_share=run.settings.random_start_share if has_starts else 0.0,
        standing_share=run.settings.standing_share,
        equal_road_value=is_equal,
        action_repeat=run.settings.action_repeat,
        bridge_url=run.bridge or EMBEDDED,
    )
    env = _normalised(_shaped(make_monitor(cars, run.log_dir / MONITOR_NAME), run, per_unit), run, statistics)
    env.seed(run.draw_seed)
    return env


def _reward_per_unit(run: Run, is_equal: bool) -> npt.NDArray[np.float64]:
    """Return the reward for a unit of progress on each track of a run; ``is_equal`` makes it the same on all."""
    lengths = [track.length if isinstance(track, Track) else ASSUMED_LENGTH for track in run.tracks]
    return run.config.weights.progress / np.array([np.mean(lengths)] * len(lengths) if is_equal else lengths)


def _shaped(cars: VecEnv, run: Run, per_unit: npt.NDArray[np.float64]) -> VecEnv:
    """Wrap cars in what training adds to the game: the user's own reward, then shaping, then the user's own wrapper.

    Args:
        cars: The cars to wrap.
        run: The run to train.
        per_unit: Reward for a unit of progress on each track.
    """
    if run.reward is not None:
        cars = OwnReward(cars, run.reward)
    by_car = per_unit[np.arange(run.num_envs) % len(per_unit)]
    penalty = training_config(run.config, run.settings).weights.off_track_penalty
    if run.settings.off_track_cost and penalty < 0:  # who sets the game's own to 0 wants to drive off the road
        cars = OffRoadCost(cars, run.settings.off_track_cost, by_car, penalty)
    if run.settings.steer_change_penalty:
        cars = SmoothSteering(cars, run.settings.steer_change_penalty, by_car)
    cars = Withheld(cars, [OBSERVED_ARC_LENGTH]) if run.settings.progress_withheld else cars
    return cars if run.wrapper is None else wrapped(cars, run.wrapper)


def _normalised(cars: VecEnv, run: Run, statistics: Statistics | None) -> VecNormalize:
    if statistics is None:
        return FastNormalize(cars, clip_obs=CLIP, clip_reward=CLIP, gamma=run.settings.gamma)
    env = normalised(cars, statistics)
    env.gamma = run.settings.gamma
    return env
