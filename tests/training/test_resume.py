"""Going on with a run: everything continues, and what does not fit is refused before anything is touched."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from racer_env.physics import load_physics
from tests.helpers import ring_document
from tests.runs import SMALL_SAC, as_before, data_of, folders, load, ppo, rewritten, sac, weights
from training import evaluate, export_onnx
from training.algorithms.registry import algorithm_named
from training.checkpoints.files import STATISTICS, buffer_path, find_model, find_statistics, statistics_path
from training.checkpoints.pickled import read_pickled
from training.drivers.loading import load_driver
from training.runs.beginning import check_beginning
from training.runs.best_model import best_score_of
from training.runs.folders import hold_run
from training.runs.options import make_options, make_parser
from training.runs.plan import make_plan

pytestmark = [pytest.mark.timeout(60), pytest.mark.slow]


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A copy of the run ``lap``, 81,920 steps long."""
    return Path(shutil.copytree(trained, tmp_path / "copy"))


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_resume_continues_counter_statistics_and_optimiser(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Steps, observation counts and Adam's steps go on; the learning rate is computed against the new total."""
    optimiser = load(run / "models" / "lap_60032_steps.zip").policy.optimizer.state_dict()["state"][0]["step"]
    assert ppo(run, "--resume", str(run / "models" / "lap_60032_steps"), "--timesteps", "8192") == 0
    output = capsys.readouterr().out
    assert "resumed" in output
    assert "the learning rate falls from 0.00012 to 0, computed against 68,224 steps: 60,032 done and 8,192" in output
    after = load(run / "models" / "lap_final.zip")
    assert after.num_timesteps == 60032 + 8192
    assert after.policy.optimizer.state_dict()["state"][0]["step"] == optimiser + 2 * 40
    counts = [
        read_pickled(statistics_path(run / "models" / name)).obs_count
        for name in ("lap_60032_steps.zip", "lap_final.zip")
    ]
    assert counts[1] == pytest.approx(counts[0] + 8192, abs=64)


@pytest.mark.parametrize("name", ["lap", "lap_final", "lap_final.zip", "lap_best", "lap_30016_steps"])
def test_any_name_of_a_model_is_resumed(run: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A run alone, and periodic, best and final models, with and without .zip; the run goes on under its name."""
    path = name if name == "lap" else str(run / "models" / name)
    assert ppo(run, "--resume", path, "--timesteps", "4096") == 0
    resumed = "lap_final" if name == "lap" else name.removesuffix(".zip")
    assert f"resumed {run / 'models' / resumed}.zip at" in capsys.readouterr().out
    assert {path.name for path in (run / "logs").iterdir()} - {"lap-1"} == {"lap"}  # the former is what came later


def test_resume_keeps_what_the_run_was_started_with(trained: Path, tmp_path: Path) -> None:
    """Cars, tracks, hyper-parameters, weights and seed are the model's, unless they are named again."""
    config = tmp_path / "own.json"
    config.write_text('{"weights": {"speedBonus": 0.5}}', encoding="utf-8")
    first = ["--num-envs", "8", "--track-id", "track-02", "--set", "gamma=0.9", "--config", str(config), "--seed", "7"]
    assert ppo(tmp_path, "--run-name", "own", "--timesteps", "4096", *first) == 0
    assert ppo(tmp_path, "--resume", "own", "--timesteps", "4096", "--set", "epochs=2") == 0
    attributes = data_of(tmp_path, "own_final").attributes
    assert (attributes["n_envs"], attributes["track_ids"], attributes["run_seed"]) == (8, ["track-02"], 7)
    assert (attributes["gamma"], attributes["n_epochs"]) == (0.9, 2)
    assert attributes["ai_config"]["weights"]["speedBonus"] == 0.5
    assert attributes["num_timesteps"] == 8192
    assert (tmp_path / "logs" / "own" / "config_from_4096_steps.json").is_file()


def test_the_curves_go_on(run: Path) -> None:
    """TensorBoard shows one run whose steps rise, though another was started in between and this one rewound."""
    assert ppo(run, "--run-name", "other", "--timesteps", "4096") == 0
    events_before = EventAccumulator(str(run / "logs" / "lap"))
    events_before.Reload()
    assert ppo(run, "--resume", str(run / "models" / "lap_60032_steps"), "--timesteps", "8192") == 0
    events = EventAccumulator(str(run / "logs" / "lap"))
    events.Reload()
    steps = [event.step for event in events.Scalars("reward/progress")]
    assert steps == sorted(set(steps))
    assert steps[0] == events_before.Scalars("reward/progress")[0].step
    assert steps[-1] == 60032 + 8192
    assert len([*(run / "logs" / "lap").glob("monitor.csv")]) == 1


def test_a_run_in_two_parts_ends_as_good_as_in_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """2 x 40,000 steps with a resume in between reach clean laps, as 80,000 in one go do (the run ``lap``)."""
    assert ppo(tmp_path, "--run-name", "parts", "--timesteps", "40000") == 0
    assert ppo(tmp_path, "--resume", "parts", "--timesteps", "40000", "--eval-freq", "40000") == 0
    (clean_laps, pace, _), _ = best_score_of(tmp_path / "models" / "parts_best.zip")
    assert clean_laps == 3
    assert pace > 1168 / 12.0


def test_a_worse_model_does_not_replace_the_best(run: Path) -> None:
    """The best score so far is remembered over a resume, here of an earlier model that learns nothing more."""
    best = (run / "models" / "lap_best.zip").read_bytes()
    arguments = ["--resume", str(run / "models" / "lap_30016_steps"), "--timesteps", "4096", "--eval-freq", "4096"]
    assert ppo(run, *arguments, "--set", "learning_rate=0") == 0
    assert (run / "models" / "lap_best.zip").read_bytes() == best


def test_initialize_from_begins_a_new_run(run: Path) -> None:
    """Weights and statistics are the model's; counter, optimiser and name are new."""
    source = run / "models" / "lap_final.zip"
    arguments = ["--initialize-from", str(source), "--timesteps", "4096", "--run-name", "next"]
    assert ppo(run, *arguments, "--set", "learning_rate=0") == 0
    data = data_of(run, "next_final")
    assert data.steps == 4096
    for one, other in zip(weights(source), weights(data.path), strict=True):
        assert np.array_equal(one, other)
    old, new = (read_pickled(statistics_path(path)) for path in (source, data.path))
    assert new.obs_count > old.obs_count > 80_000


def test_a_new_run_may_set_the_noise_anew(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Otherwise it keeps that of the weights; what it knows of the rewards counts like one rollout."""
    source = ["--initialize-from", "lap_final", "--timesteps", "64", "--set", "learning_rate=0"]
    own = load(run / "models" / "lap_final.zip").policy.state_dict()["log_std"]
    for name, extra, noise in (("kept", [], own), ("anew", ["--set", "log_std=-1.5,-2,-2"], [-1.5, -2.0, -2.0])):
        assert ppo(run, *source, *extra, "--run-name", name) == 0
        assert load(run / "models" / f"{name}_final.zip").policy.state_dict()["log_std"].tolist() == list(noise)
        assert ("log_std is [-1.5, -2.0, -2.0] from here on; it was [" in capsys.readouterr().out) == bool(extra)
        assert 8192 <= find_statistics(data_of(run, f"{name}_final")).return_count < 8300


def test_the_bundled_driver_begins_a_run(tmp_path: Path) -> None:
    """The weights are those of the driver that drives under its name."""
    arguments = [
        "--initialize-from",
        "pretrained",
        "--timesteps",
        "64",
        "--run-name",
        "own",
        "--set",
        "learning_rate=0",
    ]
    assert ppo(tmp_path, *arguments) == 0
    own, bundled = (load_driver(name, load_physics(), models_dir=tmp_path / "models") for name in ("own", "pretrained"))
    observations = np.random.default_rng(0).random((50, 14), dtype=np.float32)
    assert own(observations) == pytest.approx(bundled(observations), abs=0.01)  # the statistics have gone on


def test_resume_with_other_cars_keeps_the_rollout_near_its_size(trained: Path, tmp_path: Path) -> None:
    """The rollout of the resumed run follows its own number of cars; a new name leaves the old run alone."""
    before = str(trained / "models" / "lap_30016_steps")
    assert ppo(tmp_path, "--resume", before, "--timesteps", "4096", "--num-envs", "8", "--run-name", "few") == 0
    model: Any = load(tmp_path / "models" / "few_final.zip")
    assert (model.n_steps, model.num_timesteps) == (512, 30016 + 4096)


def truncate(path: Path) -> None:
    """Cut a file in half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def statistics_of_before(run: Path) -> Path:
    """Make the final model one of before, without statistics in its file, and return the path of those beside it."""
    return statistics_path(as_before(run / "models" / "lap_final.zip"))


def damage(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the JSON of the final model."""
    path = run / "models" / "lap_final.zip"
    rewritten(path, path.with_suffix(".new"), change).replace(path)


@pytest.mark.parametrize(
    ("spoil", "arguments", "message"),
    [
        (
            lambda run: statistics_of_before(run).unlink(),
            [],
            "statistics of .* are missing.* needs --no-vecnorm",
        ),
        (
            lambda run: shutil.copy(run / "models" / "lap_vecnormalize_30016_steps.pkl", statistics_of_before(run)),
            [],
            "are not those that .*lap_final.zip was saved with",
        ),
        (lambda run: truncate(run / "models" / "lap_final.zip"), [], "lap_final.zip"),
        (lambda run: truncate(statistics_of_before(run)), [], "lap_final_vecnormalize.pkl"),
        (lambda run: damage(run, lambda data: data[STATISTICS].update(obs_count=0)), [], "obs_count must be above 0"),
        (lambda run: damage(run, lambda data: data["observation_space"].update(_shape=[9])), [], r"shape \(9,\)"),
        (lambda run: damage(run, lambda data: data.update(physics_fingerprint="0" * 64)), [], "other physics"),
        (lambda run: None, ["--set", "hidden=32"], "hidden of .* began as .64, 64. and cannot change"),
        (lambda run: None, ["--set", "log_std=[0, 0, 0]"], "log_std of .* began as .* and cannot change"),
        (lambda run: None, ["--run-name", "taken"], "files of a run 'taken' already"),
        (lambda run: None, ["--overwrite"], "--overwrite would delete .*lap_final.zip"),
    ],
)
def test_what_does_not_fit_is_refused(
    run: Path, spoil: Callable[[Path], Any], arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit code 2, and not a byte on disk has changed."""
    (run / "logs" / "taken").mkdir()
    spoil(run)
    before = contents(run)
    assert ppo(run, "--resume", str(run / "models" / "lap_final"), "--timesteps", "4096", *arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(message, error)
    assert contents(run) == before


def test_a_final_model_that_is_replaced_is_kept(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the checkpoint of its step, so that what was measured of it can be measured again."""
    models = run / "models"
    old = (models / "lap_final.zip").read_bytes()
    assert ppo(run, "--resume", "lap", "--timesteps", "4096") == 0
    assert "lap_final.zip of 81,920 steps is kept as lap_81920_steps.zip\n" in capsys.readouterr().out
    assert (models / "lap_81920_steps.zip").read_bytes() == old
    assert find_model("lap", models).path == models / "lap_final.zip"


def test_what_is_further_on_is_kept(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run resumed from an earlier checkpoint sets aside what it saved later, whole, under a name of its own."""
    models = run / "models"
    final = (models / "lap_final.zip").read_bytes()
    best = (models / "lap_best.zip").read_bytes()
    assert ppo(run, "--resume", str(models / "lap_30016_steps"), "--timesteps", "4096") == 0
    assert "what 'lap' has saved since lap_30016_steps.zip is kept as the run 'lap-1'" in capsys.readouterr().err
    assert data_of(run, "lap_final").steps == 30016 + 4096
    assert (models / "lap-1_final.zip").read_bytes() == final
    assert find_model("lap-1", models).path == models / "lap-1_final.zip"
    assert (models / "lap-1_best.zip").read_bytes() == (models / "lap_best.zip").read_bytes() == best
    for name in ("lap-1", "lap-1_best", "lap-1_60032_steps"):
        assert load_driver(name, load_physics(), models_dir=models)
    assert not (models / "lap_60032_steps.zip").exists()
    assert ppo(run, "--resume", "lap", "--timesteps", "4096") == 0
    assert "kept" not in capsys.readouterr().err


def test_another_branch_is_kept_however_short_it_is(run: Path) -> None:
    """What counts is when it was saved: a later branch may have fewer steps than the model that is resumed."""
    models = run / "models"
    assert ppo(run, "--resume", str(models / "lap_30016_steps"), "--timesteps", "4096") == 0
    shutil.copy(models / "lap-1_60032_steps.zip", models / "lap_60032_steps.zip")  # put back by the user
    assert ppo(run, "--resume", str(models / "lap_60032_steps"), "--timesteps", "4096", "--set", "gamma=0.9") == 0
    assert data_of(run, "lap-2_final").steps == 30016 + 4096
    assert data_of(run, "lap_final").steps == 60032 + 4096


def test_a_run_that_is_being_trained_is_left_alone(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two processes on one run would write over each other; where the name is automatic, the next one is taken."""
    with hold_run("lap", run / "models", run / "logs"), hold_run("ppo_run_1", run / "models", run / "logs"):
        before = contents(run)
        assert ppo(run, "--resume", "lap", "--timesteps", "4096") == 2
        assert "the run 'lap' is being trained by another process" in capsys.readouterr().err
        assert ppo(run, "--run-name", "lap", "--overwrite", "--timesteps", "4096") == 2
        assert contents(run) == before
        (run / "logs" / "ppo_run_1").mkdir()
        assert ppo(run, "--timesteps", "4096") == 0
    assert data_of(run, "ppo_run_2_final").steps == 4096
    assert [*(run / "models").glob(".*")] == []


def test_overwriting_never_deletes_what_the_run_begins_with(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where the model lies among the logs that would be deleted."""
    for path in (run / "models").glob("lap_final*"):
        shutil.copy(path, run / "logs" / "lap" / path.name)
    before = contents(run)
    source = ["--initialize-from", str(run / "logs" / "lap" / "lap_final"), "--run-name", "lap", "--overwrite"]
    assert ppo(run, *source, "--timesteps", "4096") == 2
    assert "--overwrite would delete" in capsys.readouterr().err
    assert contents(run) == before


def test_another_algorithms_model_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The script that goes on with it is named."""
    assert sac(run, "--resume", "lap", "--timesteps", "100") == 2
    assert "is a PPO model; go on with it by python -m training.train_ppo" in capsys.readouterr().err


def test_tracks_of_ones_own_are_named_in_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A track that is found by its folder is found again with what is printed; one that has changed is said to have."""
    document = {**ring_document(), "id": "mine"}
    (tmp_path / "mine.json").write_text(json.dumps(document), encoding="utf-8")
    own = ["--tracks-dir", str(tmp_path)]
    assert ppo(tmp_path, "--run-name", "own", "--timesteps", "4096", *own) == 0
    see = f"training.evaluate --model {tmp_path / 'models' / 'own_final.zip'} --tracks-dir {tmp_path}"
    assert see in capsys.readouterr().out
    assert ppo(tmp_path, "--resume", "own", "--timesteps", "4096") == 2
    assert "the driver was trained there, so name its --tracks-dir" in capsys.readouterr().err
    assert ppo(tmp_path, "--resume", "own", "--timesteps", "4096", *own) == 0
    assert "note" not in capsys.readouterr().err
    (tmp_path / "mine.json").write_text(json.dumps({**ring_document(radius=210.0), "id": "mine"}), encoding="utf-8")
    assert ppo(tmp_path, "--resume", "own", "--timesteps", "4096", *own) == 0
    changed = "mine is not the track of that name that {} was trained on"
    assert changed.format("own_final.zip") in capsys.readouterr().err
    (tmp_path / "mine.json").write_text(json.dumps(document), encoding="utf-8")
    model = ["--model", str(tmp_path / "models" / "own_final"), *own]
    assert export_onnx.main(model) == 0
    captured = capsys.readouterr()
    assert changed.format("own_final.zip") in captured.err  # it was trained on the changed one last
    exported = tmp_path / "models" / "own_final" / "driver.onnx"
    assert f"training.evaluate --model {exported} --tracks-dir {tmp_path}" in captured.out
    for name in (str(tmp_path / "models" / "own_final"), str(exported)):
        assert evaluate.main(["--model", name, "--laps", "1", *own]) == 0
        assert changed.format(name) in capsys.readouterr().err


# --- SAC ---


def entropy_of(path: Path) -> float:
    """Return the logarithm of the entropy's weight, which SAC adapts."""
    model: Any = load(path)
    return float(model.log_ent_coef.detach())


def test_sac_goes_on_with_its_buffer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest model has a buffer of all steps; a resumed run takes it over and adds to it."""
    assert sac(tmp_path, "--run-name", "s", "--timesteps", "200", "--checkpoint-freq", "80", *SMALL_SAC) == 0
    buffers = [path.name for path in (tmp_path / "models").glob("*.npz")]
    assert buffers == ["s_final_replay_buffer.npz"]
    entropy = entropy_of(tmp_path / "models" / "s_final.zip")
    assert sac(tmp_path, "--resume", "s", "--timesteps", "100", "--eval-freq", "0", "--set", "learning_rate=1e-12") == 0
    assert "took over 200 steps of its replay buffer" in capsys.readouterr().out
    model: Any = load(tmp_path / "models" / "s_final.zip")
    assert model.num_timesteps == 300
    assert entropy_of(tmp_path / "models" / "s_final.zip") == pytest.approx(entropy, abs=1e-6)
    with np.load(buffer_path(tmp_path / "models" / "s_final.zip")) as file:
        assert len(file["rewards"]) == 300


def test_sac_without_a_buffer_says_that_it_refills(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It drives before it learns on; --no-save-replay-buffer keeps none."""
    arguments = ["--run-name", "s", "--timesteps", "100", "--no-save-replay-buffer", *SMALL_SAC]
    assert sac(tmp_path, *arguments) == 0
    assert [*(tmp_path / "models").glob("*.npz")] == []
    before = weights(tmp_path / "models" / "s_final.zip")
    assert sac(tmp_path, "--resume", "s", "--timesteps", "36", "--eval-freq", "0") == 0
    assert "it has no replay buffer: it drives 40 steps before it learns on" in capsys.readouterr().out
    after = data_of(tmp_path, "s_final").attributes
    assert all(np.array_equal(a, b) for a, b in zip(before, weights(tmp_path / "models" / "s_final.zip"), strict=True))
    assert after["gradient_steps"] == 1
    assert load_physics().fingerprint == after["physics_fingerprint"]


def test_a_bad_buffer_is_refused_before_anything_is_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not a byte changes, also where another run was to be overwritten."""
    assert sac(tmp_path, "--run-name", "s", "--timesteps", "100", *SMALL_SAC) == 0
    assert sac(tmp_path, "--run-name", "other", "--timesteps", "100", *SMALL_SAC) == 0
    model = tmp_path / "models" / "s_final.zip"
    buffer_path(model).write_bytes(b"no archive")
    rewritten(model, model.with_suffix(".new"), lambda data: data.pop("buffer_digest")).replace(model)
    before = contents(tmp_path)
    assert sac(tmp_path, "--resume", "s", "--run-name", "other", "--overwrite", "--timesteps", "100") == 2
    assert "cannot load the replay buffer" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_a_buffer_of_an_earlier_model_is_not_taken_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that was saved without one of its own leaves none; one that comes back from elsewhere is not its own."""
    assert sac(tmp_path, "--run-name", "s", "--timesteps", "100", *SMALL_SAC) == 0
    buffer = buffer_path(tmp_path / "models" / "s_final.zip")
    content = buffer.read_bytes()
    again = ["--resume", "s", "--timesteps", "100", "--no-save-replay-buffer", "--eval-freq", "0"]
    assert sac(tmp_path, *again) == 0
    assert not buffer.exists()
    buffer.write_bytes(content)
    capsys.readouterr()
    assert sac(tmp_path, *again) == 0
    captured = capsys.readouterr()
    assert "is not the replay buffer that s_final.zip was saved with; it is filled again" in captured.err
    assert "it has no replay buffer" in captured.out


def test_the_weight_that_sac_adapts_cannot_be_set_on_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would be recorded and never used; a new run that begins with the weights takes it."""
    assert sac(tmp_path, "--run-name", "s", "--timesteps", "100", *SMALL_SAC) == 0
    assert sac(tmp_path, "--resume", "s", "--timesteps", "100", "--set", "entropy=0.5", "--eval-freq", "0") == 2
    assert "entropy of" in capsys.readouterr().err
    begin = ["--initialize-from", "s_final", "--run-name", "t", "--timesteps", "4", *SMALL_SAC]
    assert sac(tmp_path, *begin, "--set", "entropy=0.5") == 0
    assert entropy_of(tmp_path / "models" / "t_final.zip") == pytest.approx(np.log(0.5), abs=1e-6)


def test_a_buffer_of_other_weights_or_tracks_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its steps stay as they were paid and driven; nothing is said where all is as before."""
    script = algorithm_named("SAC")

    def told(*arguments: str) -> str:
        parsed = make_parser(script).parse_args(["--resume", "s", *arguments, *folders(tmp_path)])
        assert check_beginning(make_plan(script, make_options(script, parsed), None)) is not None
        return capsys.readouterr().err

    assert sac(tmp_path, "--run-name", "s", "--timesteps", "60", *SMALL_SAC) == 0
    config = tmp_path / "config.json"
    config.write_text('{"weights": {"wallPenalty": -0.5}}', encoding="utf-8")
    capsys.readouterr()
    assert told() == ""
    assert "were driven with other reward weights, and" in told("--config", str(config))
    assert "were driven on other tracks, and" in told("--track-id", "track-02")


def test_a_buffer_fits_any_number_of_cars(tmp_path: Path) -> None:
    """Transitions belong to no car."""
    assert sac(tmp_path, "--run-name", "s", "--timesteps", "200", *SMALL_SAC) == 0
    assert sac(tmp_path, "--resume", "s", "--timesteps", "60", "--num-envs", "6", "--eval-freq", "0") == 0
    with np.load(buffer_path(tmp_path / "models" / "s_final.zip")) as file:
        assert len(file["rewards"]) == 198 + 60
