"""What training adds to the game: penalties, shorter episodes, and places of the observation that are withheld."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize, unwrap_vec_wrapper

from racer_env.config import AiConfig
from racer_env.contract import OBSERVED_ARC_LENGTH, REWARD_COMPONENTS
from racer_env.physics import load_physics
from racer_env.project import DEFAULT_CONFIG_PATH
from racer_env.tracks import Track
from racer_env.vec_env import RacerVecEnv
from tests.helpers import with_limits
from tests.runs import data_of, folders, load, ppo, sac
from training.algorithms.members.ppo import ALGORITHM, PpoSettings
from training.checkpoints.files import find_statistics
from training.drivers.loading import load_driver
from training.runs.environment import make_training_env
from training.runs.options import make_options, make_parser
from training.runs.plan import make_plan
from training.runs.schedules import ExplorationSchedule, PenaltySchedule
from training.runs.shaping import OffRoadCost, SmoothSteering, Withheld, training_config

pytestmark = pytest.mark.timeout(60)


def actions(steer: float, cars: int = 2) -> np.ndarray:
    """Return one action for all cars."""
    return np.tile([steer, 1.0, 0.0], (cars, 1))


def test_a_change_of_steering_costs_its_square(track: Track) -> None:
    """By the weight, in units of a tick's progress at 100 units/s; what is beyond the limits is clamped first."""
    plain, smooth = (RacerVecEnv([track], 2) for _ in range(2))
    shaped = SmoothSteering(smooth, 3.0, 1.0 / track.length)
    plain.reset()
    shaped.reset()
    unit = 3.0 * 100.0 / 60.0 / track.length
    for steer, change in ((0.5, 0.5), (0.5, 0.0), (-0.5, 1.0), (9.0, 1.5), (2.0, 0.0)):
        expected, got = plain.step(actions(steer)), shaped.step(actions(steer))
        assert np.array_equal(expected[0], got[0])
        assert got[1] == pytest.approx(expected[1] - unit * change**2, abs=1e-6)


def test_a_new_episode_begins_in_the_middle(track: Track) -> None:
    """The change from the last steering of the one before costs nothing."""
    plain, smooth = (RacerVecEnv([track], 2, with_limits(3)) for _ in range(2))
    shaped = SmoothSteering(smooth, 3.0, [0.01, 0.02])
    plain.reset()
    shaped.reset()
    differences = []
    for _ in range(5):
        differences.append(plain.step(actions(1.0))[1] - shaped.step(actions(1.0))[1])
    expected = 5.0 * np.array([0.01, 0.02])
    assert differences[0] == pytest.approx(expected, abs=1e-6)
    assert differences[2] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert differences[3] == pytest.approx(expected, abs=1e-6)
    shaped.reset()
    plain.reset()
    assert plain.step(actions(1.0))[1] - shaped.step(actions(1.0))[1] == pytest.approx(expected, abs=1e-6)


def test_what_is_withheld_is_0(track: Track) -> None:
    """In every observation, that of an episode's end too; the rest is as it was."""
    plain, hidden = (RacerVecEnv([track], 2, with_limits(4)) for _ in range(2))
    shaped = Withheld(hidden, [OBSERVED_ARC_LENGTH])
    rest = [place for place in range(14) if place != OBSERVED_ARC_LENGTH]
    one, two = plain.reset(), shaped.reset()
    for _ in range(9):
        assert not two[:, OBSERVED_ARC_LENGTH].any()  # type: ignore[call-overload, index]
        assert np.array_equal(one[:, rest], two[:, rest])  # type: ignore[call-overload, index]
        one, _, _, infos = plain.step(actions(0.1))
        two, _, _, seen = shaped.step(actions(0.1))
        for info, other in zip(infos, seen, strict=True):
            if "terminal_observation" in info:
                assert info["terminal_observation"][OBSERVED_ARC_LENGTH] > 0
                assert other["terminal_observation"][OBSERVED_ARC_LENGTH] == 0


def test_training_is_stricter_than_the_game() -> None:
    """The game's own weights and limits stay; limits never grow."""
    plain = PpoSettings(off_track_cost=0.0)
    own = dataclasses.replace(plain, extra_off_track_penalty=-0.002, episode_ticks=600)
    config = training_config(AiConfig(), own)
    assert config.weights.off_track_penalty == pytest.approx(AiConfig().weights.off_track_penalty - 0.002)
    assert config.episode.max_steps == 600
    assert training_config(AiConfig(), plain) == AiConfig()
    assert training_config(with_limits(100), PpoSettings(episode_ticks=600)).episode.max_steps == 100


def test_some_random_starts_are_at_rest(track: Track) -> None:
    """By their share; without it the draws are what they were."""
    env = RacerVecEnv([track], 400, random_start_share=1.0, standing_share=0.25)
    env.seed(1)
    env.reset()
    standing = env.simulator.cars["speed"] == 0
    assert 0.15 < standing.mean() < 0.35
    assert len(np.unique(env.simulator.cars["x"])) == 400
    same, before = (
        RacerVecEnv([track], 5, random_start_share=1.0),
        RacerVecEnv([track], 5, random_start_share=1.0, standing_share=0.0),
    )
    for one in (same, before):
        one.seed(1)
    assert np.array_equal(same.reset(), before.reset())


@pytest.mark.parametrize("action_repeat", [1, 4])
def test_a_tick_off_the_road_costs_road_whatever_the_laps_length(track: Track, action_repeat: int) -> None:
    """As much as driving on it for so many ticks at 100 units/s earns; what the infos say stays the game's."""
    cars = RacerVecEnv([track], 2, action_repeat=action_repeat)
    shaped = OffRoadCost(VecMonitor(cars), 6.0, [1.0 / 900.0, 1.0 / 3600.0], AiConfig().weights.off_track_penalty)
    shaped.reset()
    ticks = np.zeros(2)
    for _ in range(200):
        _, rewards, _, infos = shaped.step(actions(0.0))  # straight on, and off the road
        parts = [sum(info[name] for name in REWARD_COMPONENTS) for info in infos]
        off = np.array([info["offTrack"] for info in infos]) / -0.001
        assert rewards == pytest.approx(parts - off * 6.0 * 100.0 / 60.0 / np.array([900.0, 3600.0]), abs=1e-6)
        ticks += off
    assert ticks.min() > 10


def test_whoever_may_leave_the_road_in_the_game_may_in_training(tmp_path: Path) -> None:
    """The cost is on top of the game's own penalty, where there is one."""
    free = tmp_path / "free.json"
    free.write_text('{"weights": {"offTrackPenalty": 0}}', encoding="utf-8")
    for config, is_dear in ((DEFAULT_CONFIG_PATH, True), (free, False)):
        arguments = ["--config", str(config), "--timesteps", "4096", "--run-name", config.stem, *folders(tmp_path)]
        run = make_plan(ALGORITHM, make_options(ALGORITHM, make_parser(ALGORITHM).parse_args(arguments)), None).run
        assert (unwrap_vec_wrapper(make_training_env(run), OffRoadCost) is not None) == is_dear


@pytest.mark.parametrize("train", [ppo, sac])
def test_a_driver_that_was_not_shown_progress_is_indifferent_to_it(tmp_path: Path, train: Any) -> None:
    """After training, saved and loaded: whatever the game says there, it drives the same."""
    small = ["--num-envs", "4", "--eval-freq", "0", "--set", "progress_withheld=1"]
    steps = ["--timesteps", "4096"] if train is ppo else ["--timesteps", "400", "--set", "learning_starts=100"]
    assert train(tmp_path, "--run-name", "blind", *small, *steps) == 0
    driver = load_driver(tmp_path / "models" / "blind_final", load_physics())
    observations = np.random.default_rng(0).random((50, 14), dtype=np.float32)
    expected = driver(observations)
    observations[:, OBSERVED_ARC_LENGTH] = np.linspace(0, 1, 50)
    assert np.array_equal(driver(observations), expected)
    observations[:, 3] += 0.1
    assert not np.array_equal(driver(observations), expected)
    assert data_of(tmp_path, "blind_final").attributes["hyperparameters"]["progress_withheld"] == 1
    seeing = ["--timesteps", "100", "--set", "progress_withheld=0", "--set", "learning_rate=0", *small[:4]]
    assert train(tmp_path, "--resume", "blind", *seeing) == 2
    assert train(tmp_path, "--initialize-from", "blind", *seeing, "--run-name", "seeing") == 0
    shown = data_of(tmp_path, "seeing_final")
    assert shown.attributes["hyperparameters"]["progress_withheld"] == 0
    statistics = find_statistics(shown)
    assert 0.2 < statistics.obs_mean[OBSERVED_ARC_LENGTH] < 0.8
    assert 0.03 < statistics.obs_var[OBSERVED_ARC_LENGTH] < 0.3  # hardly 0, as of a value that is always the same


def test_the_noise_falls(tmp_path: Path) -> None:
    """Below a line from where it begins to where it shall end; without an end it is free."""
    quiet = ["--timesteps", "20480", "--run-name", "quiet", "--set", "final_log_std=-3"]
    assert ppo(tmp_path, *quiet) == 0
    log_std = load(tmp_path / "models" / "quiet_final.zip").policy.log_std.detach()  # type: ignore[union-attr, operator]
    assert float(log_std.max()) < -2.3
    callback = ExplorationSchedule((-1.0, -0.5, -0.5), -2.0)
    policy: Any = type("Policy", (), {"log_std": torch.tensor([-1.2, -0.1, 0.3])})()
    model = {"policy": policy, "num_timesteps": 50, "_total_timesteps": 100, "use_sde": False}
    callback.model = type("Model", (), model)()  # type: ignore[assignment]
    callback._on_rollout_start()
    assert policy.log_std.tolist() == pytest.approx([-1.5, -1.25, -1.25])


def test_the_penalty_grows(track: Track) -> None:
    """By an equal factor in equal times, below whatever else is wrapped around."""
    shaped = SmoothSteering(RacerVecEnv([track], 1), 4.0, 1.0)
    env = VecNormalize(Withheld(shaped, [OBSERVED_ARC_LENGTH]))
    callback = PenaltySchedule(SmoothSteering, 4.0, 64.0)
    weights = []
    for done in (0, 50, 100, 110):
        model = {"num_timesteps": done, "_total_timesteps": 100, "get_env": lambda self: env}
        callback.model = type("Model", (), model)()  # type: ignore[assignment]
        callback._on_rollout_start()
        weights.append(shaped.weight)
    assert weights == pytest.approx([4.0, 16.0, 64.0, 64.0])


def test_a_run_lets_the_penalty_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the setting says so; what it grows to has no effect without a penalty to begin with."""
    seen = []
    monkeypatch.setattr(PenaltySchedule, "_on_training_end", lambda self: seen.append((self._start, self._end)))
    small, cheap = ["--timesteps", "4096", "--run-name"], ["--set", "off_track_cost=0"]
    grown = ["--set", "steer_change_penalty=2", "--set", "final_steer_change_penalty=8"]
    assert ppo(tmp_path, *small, "grown", *cheap, *grown) == 0
    assert ppo(tmp_path, *small, "none", *cheap, "--set", "steer_change_penalty=0", *grown[2:]) == 0
    assert seen == [(2.0, 8.0)]


def test_the_monitor_sees_the_games_reward(track: Track, tmp_path: Path) -> None:
    """Penalties are put on above it."""
    cars = VecMonitor(RacerVecEnv([track], 2, with_limits(10)), str(tmp_path / "m.csv"))
    shaped = SmoothSteering(cars, 1000.0, 1.0)
    shaped.reset()
    for tick in range(10):
        _, _, _, infos = shaped.step(actions((-1.0) ** tick))
    assert abs(infos[0]["episode"]["r"]) < 1.0
