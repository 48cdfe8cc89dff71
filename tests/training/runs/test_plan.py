"""The plan: pure, and whatever can be refused is refused here."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import stable_baselines3
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import ConfigError, ModelError, RacerError, TrackError
from racer_env.vec_env import RacerVecEnv
from tests.runs import folders, rewritten
from training.algorithms.algorithm import Algorithm
from training.algorithms.registry import algorithm_named
from training.runs.options import make_options, make_parser
from training.runs.plan import Plan, make_plan

PPO = algorithm_named("PPO")


def plan_of(folder: Path, *arguments: str) -> Plan:
    """Return the plan of a command line of train_ppo, with files in a folder."""
    return make_plan(PPO, make_options(PPO, make_parser(PPO).parse_args([*arguments, *folders(folder)])), None)


def test_a_fresh_run(tmp_path: Path) -> None:
    """On the first track, with the algorithm's cars and the next free name."""
    plan = plan_of(tmp_path)
    assert (plan.run.name, plan.run.num_envs, plan.run.first_step, plan.run.seed) == ("ppo_run_1", 64, 0, 0)
    assert [track.id for track in plan.run.tracks] == ["track-01"]
    assert plan.run.eval_tracks is plan.run.tracks
    assert (plan.beginning, plan.resumed, plan.may_exist, plan.has_own_name) == (None, None, False, True)


def test_nothing_is_written(tmp_path: Path) -> None:
    """Not even a folder."""
    plan_of(tmp_path, "--track-id", "all", "--preset", "general")
    assert list(tmp_path.iterdir()) == []


def test_a_preset_may_have_reward_weights_and_limits(tmp_path: Path) -> None:
    """In the form of ai-config.json; a configuration on the command line goes first."""
    preset, config = tmp_path / "own.json", tmp_path / "config.json"
    preset.write_text('{"hyperparameters": {}, "ai_config": {"weights": {"speedBonus": 0.5}}}')
    config.write_text('{"weights": {"speedBonus": 0.7}}')
    for option in ("--preset", "--hyperparams"):
        run = plan_of(tmp_path, option, str(preset)).run
        assert (run.config.weights.speed_bonus, run.config.weights.wall_penalty) == (0.5, -0.002)
    assert plan_of(tmp_path, "--preset", str(preset), "--config", str(config)).run.config.weights.speed_bonus == 0.7


def test_weights_of_a_preset_are_not_said_to_be_the_projects(trained: Path, tmp_path: Path) -> None:
    """Where a run begins with a model that was trained with others."""
    preset = tmp_path / "own.json"
    preset.write_text('{"hyperparameters": {}, "ai_config": {"weights": {"speedBonus": 0.5}}}')
    begin = ["--initialize-from", str(trained / "models" / "lap_final.zip")]
    assert not [words for words in plan_of(tmp_path, *begin, "--preset", str(preset)).sentences if "ai-config" in words]


def test_evaluations_drive_on_other_generated_tracks(tmp_path: Path) -> None:
    """Than those that are trained on."""
    run = plan_of(tmp_path, "--track-id", "procedural:2", "--eval-track-id", "procedural:1", "--track-seed", "3").run
    assert [track.id for track in run.tracks] == ["procedural-3-0", "procedural-3-1"]
    assert [track.id for track in run.eval_tracks] == ["procedural-1000003-0"]


def test_a_run_goes_on_where_it_was(trained: Path) -> None:
    """Under its name, with its tracks, cars and steps."""
    plan = make_plan(PPO, make_options(PPO, make_parser(PPO).parse_args(["--resume", "lap", *folders(trained)])), None)
    assert plan.resumed is not None
    assert (plan.run.name, plan.run.first_step) == ("lap", plan.resumed.steps)
    assert plan.may_exist
    assert plan.sentences == ()


def test_each_change_is_told(trained: Path, tmp_path: Path) -> None:
    """With the value before and the one from here on."""
    config = tmp_path / "config.json"
    config.write_text('{"weights": {"wallPenalty": -0.5}}')
    more = ["--track-id", "all", "--num-envs", "6", "--seed", "5", "--config", str(config), "--eval-laps", "2"]
    arguments = ["--resume", "lap", "--set", "gamma=0.9", *more, *folders(trained)]
    plan = make_plan(PPO, make_options(PPO, make_parser(PPO).parse_args(arguments)), None)
    assert plan.sentences == (
        "track_id is track-01, track-02, track-03 from here on; it was track-01",
        "num_envs is 6 from here on; it was 64",
        "seed is 5 from here on; it was 0",
        "gamma is 0.9 from here on; it was 0.99",
        "wallPenalty is -0.5 from here on; it was -0.002",
        "eval_laps is 2 from here on; it was 3",
    )


def test_a_new_run_tells_that_its_weights_are_not_the_models(trained: Path, tmp_path: Path) -> None:
    """Unless the user names them."""
    own = {"ai_config": {"weights": {"wallPenalty": -0.5}}}
    model = rewritten(trained / "models" / "lap_final.zip", tmp_path / "own.zip", lambda data: data.update(own))
    told = plan_of(tmp_path, "--initialize-from", str(model)).sentences
    assert "a new run begins with the weights and limits of ai-config.json" in told[0]
    assert told[1:] == ("wallPenalty is -0.002 from here on; it was -0.5",)
    config = tmp_path / "config.json"
    config.write_text("{}", encoding="utf-8")
    assert plan_of(tmp_path, "--initialize-from", str(model), "--config", str(config)).sentences == ()
    assert plan_of(tmp_path, "--initialize-from", str(trained / "models" / "lap_final.zip")).sentences == ()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["--track-id", "nowhere"], TrackError, "no track 'nowhere'"),
        (["--track-id", "all", "--num-envs", "2"], ConfigError, "--num-envs must be at least the number of tracks, 3"),
        (["--config", "missing.json"], ConfigError, "configuration file not found"),
        (["--set", "gamma=2"], ConfigError, "gamma must be within"),
        (["--set", "gama=0.9"], ConfigError, "unknown key 'gama'"),
        (["--run-name", "a_final"], ModelError, "a run's name may hold"),
        (["--resume", "missing"], ModelError, "no model or run missing"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, arguments: list[str], error: type[RacerError], message: str) -> None:
    """Before anything is done."""
    with pytest.raises(error, match=message):
        plan_of(tmp_path, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_network_cannot_change_its_size(trained: Path) -> None:
    """A model that goes on keeps what it was made with."""
    with pytest.raises(ConfigError, match="hidden of .* began as .64, 64. and cannot change; begin a new run for it"):
        plan_of(trained, "--resume", "lap", "--set", "hidden=32")
    with pytest.raises(ConfigError, match="began as .64, 64. and cannot change; leave out --initialize-from"):
        plan_of(trained, "--initialize-from", "lap", "--set", "hidden=32")


@pytest.fixture
def moved(trained: Path, tmp_path: Path) -> Path:
    """A folder in which the models of the run ``lap`` have been moved away from its logs."""
    shutil.copytree(trained / "models", tmp_path / "elsewhere")
    shutil.copytree(trained / "logs", tmp_path / "logs")
    return tmp_path


def test_models_that_were_moved_are_gone_on_with_where_they_are(moved: Path) -> None:
    """The folder is named; nothing says that files should be replaced."""
    model = str(moved / "elsewhere" / "lap_final.zip")
    with pytest.raises(ModelError, match=r"name its folder with --models-dir .*elsewhere") as refused:
        plan_of(moved, "--resume", model)
    assert "overwrite" not in str(refused.value)
    arguments = ["--resume", model, "--models-dir", str(moved / "elsewhere"), "--logs-dir", str(moved / "logs")]
    assert make_plan(PPO, make_options(PPO, make_parser(PPO).parse_args(arguments)), None).may_exist
    assert plan_of(moved, "--resume", model, "--run-name", "other").run.name == "other"


@pytest.mark.parametrize(("place", "name"), [("elsewhere", "lap"), (".", r".*models.lap")])
def test_a_model_that_a_run_went_on_from_names_the_run(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, name: str
) -> None:
    """By a name that means the run, also where the model's file lies in the current folder."""
    model = tmp_path / place / "lap.zip"
    model.parent.mkdir(exist_ok=True)
    shutil.copy(trained / "models" / "lap_final.zip", model)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=rf"a run 'lap' exists now.* by --resume {name}, or .*--run-name") as refused:
        plan_of(trained, "--resume", str(model))
    again = str(refused.value).partition("--resume ")[2].partition(",")[0]
    assert plan_of(trained, "--resume", again).run.name == "lap"
    assert plan_of(trained, "--resume", str(model), "--run-name", "other").run.name == "other"


def test_overwriting_never_deletes_the_curves_that_go_on(moved: Path) -> None:
    """Nor does it where the models lie elsewhere."""
    with pytest.raises(ModelError, match=r"--overwrite would delete .*logs.*lap, with which the run begins"):
        plan_of(moved, "--resume", str(moved / "elsewhere" / "lap_final.zip"), "--overwrite")
    assert (moved / "logs" / "lap" / "monitor.csv").is_file()


@pytest.mark.parametrize(
    ("name", "script", "kept", "told"),
    [
        (
            "PPO",
            PPO,
            {
                "gamma": 0.9,
                "steps_per_car": 2048,
                "minibatches": 64,
                "least_rollout_steps": 4096,
                "final_rate_share": 1.0,
                "log_std": (0.0, 0.0, 0.0),
                "bias": (0.0, 0.0, 0.0),
            },
            {
                "the model does not say how many ticks it holds an action; it is taken to be 1",
                "rewards are scaled as gamma=0.9 asks from here on; they were for 0.99",
                "the model does not say with which tracks, seed, reward weights and starts it was trained; the run "
                "goes on with track-01, seed 0, the weights of ai-config.json and 70% of the episodes begun anywhere "
                "(random_start_share=0.7)",
            },
        ),
        (
            "SAC",
            algorithm_named("SAC"),
            {"gamma": 0.9, "gradient_steps": 1, "buffer_size": 1_000_000, "learning_starts": 100, "entropy": 1.0},
            {
                "the model does not say how many ticks it holds an action; it is taken to be 1",
                "rewards are scaled as gamma=0.9 asks from here on; they were for 0.99",
                "the model does not say with which tracks, seed, reward weights and starts it was trained; the run "
                "goes on with track-01, seed 0, the weights of ai-config.json and 70% of the episodes begun anywhere "
                "(random_start_share=0.7)",
            },
        ),
    ],
)
def test_a_model_of_stable_baselines3_alone_keeps_what_it_has(
    tmp_path: Path, name: str, script: Algorithm, kept: dict[str, Any], told: set[str]
) -> None:
    """And what cannot be kept is told."""
    env = VecNormalize(RacerVecEnv("track-01", 2))
    plain: Any = getattr(stable_baselines3, name)
    (tmp_path / "models").mkdir()
    plain("MlpPolicy", env, gamma=0.9).save(tmp_path / "models" / "plain_final.zip")
    env.save(str(tmp_path / "models" / "plain_final_vecnormalize.pkl"))
    arguments = make_parser(script).parse_args(["--resume", "plain", *folders(tmp_path)])
    plan = make_plan(script, make_options(script, arguments), None)
    assert {setting: getattr(plan.run.settings, setting) for setting in kept} == kept
    assert set(plan.sentences) == told
    named = make_parser(script).parse_args(["--resume", "plain", "--seed", "0", *folders(tmp_path)])
    sentences = make_plan(script, make_options(script, named), None).sentences
    assert any("with which tracks, reward weights and starts it was trained" in sentence for sentence in sentences)


def test_a_model_of_another_algorithm_does_not_begin_a_run(trained: Path, tmp_path: Path) -> None:
    """The script that can begin with it is named."""
    script = algorithm_named("SAC")
    arguments = ["--initialize-from", str(trained / "models" / "lap_final.zip"), *folders(tmp_path)]
    with pytest.raises(ModelError, match="is a PPO model; begin a run with it by python -m training.train_ppo"):
        make_plan(script, make_options(script, make_parser(script).parse_args(arguments)), None)
