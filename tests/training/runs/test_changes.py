"""What a model that was trained by other means keeps, and what is told: one argument after the other."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stable_baselines3
from stable_baselines3.common.noise import NormalActionNoise, OrnsteinUhlenbeckActionNoise
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.vec_env import RacerVecEnv
from tests.runs import folders, ppo, rewritten, sac
from training.algorithms.members.ppo import PpoSettings
from training.algorithms.registry import algorithm_named
from training.algorithms.settings import as_document
from training.checkpoints.data import read_model_data
from training.checkpoints.files import statistics_path
from training.drivers.loading import load_driver
from training.runs.options import make_options, make_parser
from training.runs.plan import Plan, make_plan

CLOSED = "what it was is a pickle in the file, which stays closed"
NOISE = np.full(3, 0.1)
ADDED = ("final_log_std", "final_off_track_cost")
FULL = as_document(PpoSettings())
SHORT = {"n_steps": 64, "batch_size": 128, "n_epochs": 1}  # one update a rollout


def save_own(folder: Path, name: str, *, cars: int = 2, norm: dict[str, Any] | None = None, **arguments: Any) -> Path:
    """Save an untrained model of stable-baselines3 alone, with its statistics."""
    env = VecNormalize(RacerVecEnv("track-01", cars), **(norm or {}))
    small = {} if name == "PPO" else {"buffer_size": 2000}
    model = getattr(stable_baselines3, name)("MlpPolicy", env, device="cpu", **{**small, **arguments})
    (folder / "models").mkdir(exist_ok=True)
    model.save(folder / "models" / "own.zip")
    env.save(str(folder / "models" / "own_vecnormalize.pkl"))
    return folder / "models" / "own.zip"


def plan_of(folder: Path, name: str, *arguments: str) -> Plan:
    """Return the plan to resume that model."""
    script = algorithm_named(name)
    parsed = make_parser(script).parse_args(["--resume", "own", *arguments, *folders(folder)])
    return make_plan(script, make_options(script, parsed), None)


@pytest.mark.parametrize(
    ("name", "arguments", "kept", "told"),
    [
        ("PPO", {"clip_range": 0.1}, {"clip_range": 0.1}, None),
        (
            "PPO",
            {"clip_range": LinearSchedule(0.3, 0.1, 1.0)},
            {},
            "clip_range is 0.2 .*; it was LinearSchedule.start=0.3",
        ),
        ("PPO", {"clip_range": lambda left: left}, {}, f"clip_range is 0.2 from here on; {CLOSED}"),
        (
            "PPO",
            {"learning_rate": LinearSchedule(4e-4, 1e-4, 0.5)},
            {"learning_rate": 4e-4, "final_rate_share": 0.25},
            "falls to 0.0001 .*; it was LinearSchedule.start",
        ),
        ("PPO", {"learning_rate": lambda left: left}, {}, f"the learning rate of 0.001 falls to 0 .*; {CLOSED}"),
        (
            "PPO",
            {"clip_range_vf": LinearSchedule(0.3, 0.1, 1.0)},
            {},
            "clip_range_vf is None .*; it was LinearSchedule",
        ),
        (
            "PPO",
            {"n_steps": 20_000, "batch_size": 10},
            {"minibatches": 1024},
            "batch_size is 40 from here on; it was 10",
        ),
        (
            "PPO",
            {"policy_kwargs": {"log_std_init": -2.0}},
            {"log_std": (-2.0,) * 3, "final_log_std": 5.0, "off_track_cost": 0.0},
            None,
        ),
        ("PPO", {"seed": 5}, {}, "with which tracks, reward weights and starts it was"),
        (
            "SAC",
            {"learning_rate": LinearSchedule(4e-4, 1e-4, 0.5)},
            {"learning_rate": 4e-4},
            "learning_rate is 0.0004 .*; it was",
        ),
        ("SAC", {"ent_coef": "auto_0.5"}, {"entropy": 0.5}, None),
        ("SAC", {"ent_coef": "0.1"}, {"entropy": 0.1}, None),
        (
            "SAC",
            {"action_noise": NormalActionNoise(np.zeros(3), NOISE)},
            {},
            "action_noise is None .*; it was NormalAction",
        ),
        ("SAC", {"train_freq": 3}, {}, "train_freq is 1 from here on; it was 3"),
        ("SAC", {"train_freq": (2, "episode")}, {}, "train_freq is 1 from here on; it was 2 episodes"),
        ("SAC", {"gradient_steps": -1}, {"gradient_steps": 2}, "gradient_steps is 2 from here on; it was -1"),
        ("SAC", {"buffer_size": 500}, {"buffer_size": 1000}, "buffer_size is 1000 from here on; it was 500"),
        (
            "SAC",
            {"optimize_memory_usage": True, "replay_buffer_kwargs": {"handle_timeout_termination": False}},
            {},
            "optimize_memory_usage is False from here on; it was True",
        ),
        ("SAC", {"replay_buffer_kwargs": {"handle_timeout_termination": False}}, {}, "replay_buffer_kwargs is {} from"),
        ("TD3", {"action_noise": NormalActionNoise(np.zeros(3), NOISE)}, {"exploration_noise": 0.1}, None),
        ("TD3", {}, {"exploration_noise": 0.0}, None),
        (
            "TD3",
            {"action_noise": OrnsteinUhlenbeckActionNoise(np.zeros(3), NOISE)},
            {},
            "sigma=.0.35.*; it was Ornstein",
        ),
        ("TD3", {"policy_delay": 3, "target_policy_noise": 0.1}, {"policy_delay": 3, "target_noise": 0.1}, None),
    ],
)
def test_what_a_model_has_is_kept_or_told(
    tmp_path: Path, name: str, arguments: dict[str, Any], kept: dict[str, Any], told: str | None
) -> None:
    """Where it is kept, nothing else is said than what is said about all of them."""
    save_own(tmp_path, name, cars=1 if "train_freq" in arguments else 2, **arguments)
    plan = plan_of(tmp_path, name)
    for setting, value in kept.items():
        assert getattr(plan.run.settings, setting) == pytest.approx(value)
    usual = ("the learning rate falls to 0 over", "the model does not say", "n_steps is", "batch_size is")
    if told is None:
        assert [sentence for sentence in plan.sentences if not sentence.startswith(usual)] == []
    else:
        assert re.search(told, "\n".join(plan.sentences)), plan.sentences


@pytest.mark.parametrize(("name", "argument", "value"), [("SAC", "ent_coef", 0.1), ("PPO", "clip_range_vf", 0.3)])
def test_what_no_hyper_parameter_expresses_goes_on(tmp_path: Path, name: str, argument: str, value: float) -> None:
    """A fixed weight of the entropy, which has no optimiser, and the clipping of the value function."""
    save_own(tmp_path, name, **{argument: value}, **(SHORT if name == "PPO" else {}))
    train, cars = {"SAC": sac, "PPO": ppo}[name], ["--num-envs", "64"] if name == "PPO" else []
    assert train(tmp_path, "--resume", "own", "--timesteps", "8", "--eval-freq", "0", *cars) == 0
    assert read_model_data(tmp_path / "models" / "own_final.zip").attributes[argument] == value


def test_a_scale_of_rewards_that_changes_is_told(tmp_path: Path) -> None:
    """It follows the discount that the model learns with."""
    save_own(tmp_path, "PPO", norm={"gamma": 0.95})
    assert (
        "rewards are scaled as gamma=0.99 asks from here on; they were for 0.95" in plan_of(tmp_path, "PPO").sentences
    )


def test_how_episodes_began_is_unknown_unless_it_is_named(tmp_path: Path) -> None:
    """A file of stable-baselines3 alone does not tell it."""
    save_own(tmp_path, "PPO")
    told = "70% of the episodes begun anywhere (random_start_share=0.7)"
    assert any(sentence.endswith(told) for sentence in plan_of(tmp_path, "PPO").sentences)
    named = " ".join(plan_of(tmp_path, "PPO", "--set", "random_start_share=0.5").sentences)
    assert "random_start_share" not in named


def test_hyper_parameters_that_a_model_lacks_are_told(fresh_model: Path, tmp_path: Path) -> None:
    """What training has added since is off as before, what stable-baselines3 stores goes on, the rest is of today."""
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / "own.zip"

    def sentences(change: Any, *arguments: str) -> str:
        rewritten(fresh_model, path, lambda data: change(data.setdefault("hyperparameters", dict(FULL))))
        plan = plan_of(tmp_path, "PPO", *arguments)
        assert (plan.run.settings.final_log_std, plan.run.settings.final_off_track_cost) == (5.0, 0.0)
        return "\n".join(plan.sentences)

    assert "hyper-parameters" not in sentences(lambda own: [own.pop(name) for name in ADDED])
    told = sentences(lambda own: own.clear() or own.update(foo=1, hidden="x"), "--set", "epochs=2")
    assert re.search(r"goes on with the defaults of today: learning_rate=0.001, .*log_std=-1.0, -0.5, -0.5", told)
    assert "hyper-parameters that are not known here and left out: foo" in told
    assert not re.search("gamma=|final_log_std|off_track_cost|epochs=|hidden=", told)


def test_noise_of_the_state_cannot_be_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is a layer of weights, here one that all actions share; a run begins with it, and what is named is told."""
    kwargs = {"full_std": False, "use_expln": True, "squash_output": True}
    save_own(tmp_path, "PPO", use_sde=True, policy_kwargs=kwargs, **SHORT)
    command = ["--initialize-from", "own", "--timesteps", "64", "--num-envs", "64", "--run-name", "next"]
    assert ppo(tmp_path, *command, "--preset", "tune", "--set", "epochs=1") == 0
    assert "log_std and final_log_std have no effect: the noise of" in capsys.readouterr().out
    assert "final_log_std has no effect" in " ".join(plan_of(tmp_path, "PPO", "--set", "final_log_std=-3").sentences)


def test_a_refused_model_leaves_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own name stays free for it."""
    path = save_own(tmp_path, "SAC", ent_coef=0.1)

    def lose_the_weight(data: dict[str, Any]) -> None:
        data["ent_coef"] = "auto"  # there is no optimiser for it in the file

    rewritten(path, path.with_suffix(".new"), lose_the_weight).replace(path)
    assert sac(tmp_path, "--resume", "own", "--timesteps", "8") == 2
    assert "cannot load" in capsys.readouterr().err
    assert not (tmp_path / "logs" / "own").exists()


@pytest.mark.parametrize("goes_on", ["--resume", "--initialize-from"])
def test_a_model_without_normalisation_stays_without(
    tmp_path: Path, goes_on: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once that is said; the run's own models need no flag any more, and drive as the model did."""
    statistics_path(save_own(tmp_path, "PPO", **SHORT)).unlink()
    name = [] if goes_on == "--resume" else ["--run-name", "next"]
    command = [goes_on, "own", "--timesteps", "64", "--num-envs", "64", "--set", "learning_rate=0", *name]
    assert ppo(tmp_path, *command) == 2
    assert "a model that was trained without normalisation needs --no-vecnorm" in capsys.readouterr().err
    assert not (tmp_path / "logs").exists()
    assert ppo(tmp_path, *command, "--no-vecnorm") == 0
    assert "observations and rewards stay as they are" in capsys.readouterr().out
    path = tmp_path / "models" / f"{'own' if not name else 'next'}_final.zip"
    seen = np.random.default_rng(0).uniform(-1, 1, (9, 14)).astype(np.float32)
    before = load_driver(tmp_path / "models" / "own.zip", None, normalise=False)
    np.testing.assert_array_equal(load_driver(path, None)(seen), before(seen))
    assert read_model_data(path).attributes["vecnormalize"]["norm_reward"] is False


def test_statistics_are_of_a_model_to_begin_with(tmp_path: Path) -> None:
    """A fresh model has none yet."""
    with pytest.raises(SystemExit):
        ppo(tmp_path, "--no-vecnorm")
