"""Measuring a driver: laps, cleanliness, shares, and when an episode ends."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from racer_env.config import AiConfig
from racer_env.errors import ModelError
from racer_env.physics import load_physics
from racer_env.tracks import load_tracks
from training import evaluate
from training.driver import load_driver, scripted_driver
from training.evaluation import SLOWEST_PACE, Episode, drive, summarise
from training.session import Run, make_training_env
from training.train_ppo import PpoSettings, make_model


def stand_still(observations: np.ndarray) -> np.ndarray:
    """Drive not at all."""
    return np.zeros((len(observations), 3))


def test_the_scripted_driver_laps_everywhere() -> None:
    """All laps are driven, and their ticks add up to the steps."""
    episodes = drive(scripted_driver, load_tracks(["all"]), config=AiConfig(), laps=2)
    assert [episode.track_id for episode in episodes] == ["track-01", "track-02", "track-03"]
    for episode in episodes:
        assert len(episode.lap_ticks) == 2
        assert sum(episode.lap_ticks) == episode.steps
        assert episode.lap_times[1] < episode.lap_times[0]  # the first is from a standing start
        assert episode.reward > 0.5


def test_a_car_that_stands_still_ends() -> None:
    """The episode ends by the stillness time-out, with nothing completed."""
    (episode,) = drive(stand_still, load_tracks(["track-01"]), config=AiConfig(), laps=1)
    assert episode.steps == 180
    assert summarise([episode])["completion"] == 0.0
    assert summarise([episode])["mean_lap_time_sec"] is None
    assert not episode.is_clean


def test_a_car_that_circles_ends_by_time() -> None:
    """An episode ends when it takes longer than a snail would."""

    def circle(observations: np.ndarray) -> np.ndarray:
        return np.tile([1.0, 0.1, 0.0], (len(observations), 1))

    (track,) = load_tracks(["track-01"])
    (episode,) = drive(circle, [track], config=AiConfig(), laps=1)
    assert episode.steps == int(track.length / SLOWEST_PACE * 60)


def test_summary_of_several_episodes() -> None:
    """Figures are over all laps and steps of the episodes."""
    one = Episode("t", 2, lap_ticks=[600, 540], clean=[True, False], steps=1140, wall_ticks=3, off_track_ticks=57)
    two = Episode("t", 2, lap_ticks=[660], clean=[True], steps=1140, reward=2.0)
    row = summarise([one, two])
    assert row["laps"] == 3
    assert row["clean_laps"] == 2
    assert row["completion"] == 0.75
    assert row["mean_lap_time_sec"] == pytest.approx(10.0)
    assert row["best_lap_time_sec"] == pytest.approx(9.0)
    assert row["wall_contact_ticks"] == 3
    assert row["off_track_share"] == pytest.approx(57 / 2280)
    assert row["mean_reward"] == pytest.approx(1.0)


@pytest.fixture(scope="module")
def fresh_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model with its statistics."""
    from training.model_files import save_pair

    folder = tmp_path_factory.mktemp("fresh")
    run = Run("fresh", load_tracks(["track-01"]), AiConfig(), 4, 1, 1, 0, 0.0, folder, folder, [])
    env = make_training_env(run, 0.99)
    model = make_model(env, PpoSettings(), 0, "cpu")
    model.physics_fingerprint = load_physics().fingerprint  # type: ignore[attr-defined]
    save_pair(model, env, folder / "fresh_final.zip")
    return folder / "fresh_final.zip"


def test_a_deterministic_driver_repeats_itself(fresh_model: Path) -> None:
    """The same observation gives the same action, and statistics stay as they are."""
    driver = load_driver(fresh_model, load_physics())
    observations = np.random.default_rng(0).random((5, 14), dtype=np.float32)
    assert np.array_equal(driver(observations), driver(observations))


def test_other_physics_are_refused(fresh_model: Path) -> None:
    """A model of other physics is refused with both fingerprints, unless one insists."""
    import copy

    other = copy.copy(load_physics())
    other.fingerprint = "0123456789abcdef"
    with pytest.raises(ModelError, match=r"trained on other physics: .* against 0123456789ab now"):
        load_driver(fresh_model, other)
    assert load_driver(fresh_model, other, any_physics=True)


@pytest.mark.parametrize("content", [b"", b"no pickle", b"\x80\x04K\x01."])
def test_damaged_statistics(fresh_model: Path, tmp_path: Path, content: bytes) -> None:
    """Statistics that are no statistics are named."""
    shutil.copy(fresh_model, tmp_path / "bad_final.zip")
    (tmp_path / "bad_final_vecnormalize.pkl").write_bytes(content)
    with pytest.raises(ModelError, match="bad_final_vecnormalize.pkl"):
        load_driver(tmp_path / "bad_final", load_physics())


def test_a_truncated_model(fresh_model: Path, tmp_path: Path) -> None:
    """A model file cut off in the middle is named."""
    content = fresh_model.read_bytes()
    (tmp_path / "bad_final.zip").write_bytes(content[: len(content) // 2])
    shutil.copy(fresh_model.with_name("fresh_final_vecnormalize.pkl"), tmp_path / "bad_final_vecnormalize.pkl")
    with pytest.raises(ModelError, match="bad_final.zip"):
        load_driver(tmp_path / "bad_final", load_physics())


@pytest.mark.timeout(60)
def test_the_table_and_the_json(fresh_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both name every track; several episodes with noise differ."""
    arguments = ["--model", str(fresh_model), "--laps", "1", "--track-id", "track-01"]
    assert evaluate.main(arguments) == 0
    output = capsys.readouterr().out
    assert "completion" in output
    assert "lap times on track-01" in output
    assert evaluate.main([*arguments, "track-02", "--json", "--episodes", "2", "--no-deterministic"]) == 0
    tracks = json.loads(capsys.readouterr().out)["tracks"]
    assert set(tracks) == {"track-01", "track-02"}
    assert tracks["track-01"]["episodes"] == 2


def test_the_seed_is_that_of_the_noise(fresh_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Equal seeds drive equally, other seeds do not, whatever the model was trained with."""
    outputs = []
    for seed in ("1", "1", "2"):
        arguments = ["--model", str(fresh_model), "--laps", "1", "--track-id", "track-01", "--no-deterministic"]
        assert evaluate.main([*arguments, "--json", "--seed", seed]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0] != outputs[2]
