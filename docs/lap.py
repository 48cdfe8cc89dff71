"""Make the README's picture, lap.gif: ``python docs/lap.py``, from the project's folder; a minute on two cores.

Trains a driver for the Gauntlet, and films its best lap with two ghosts: itself after HALF steps, and a driver that has
learned nothing yet.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).parent / "lap.gif"
TRACK = "track-03"
WHOLE, HALF, NOTHING = 700_000, 100_000, 5_000  # environment steps; the first update comes after 8,192


def main() -> None:
    """Train the drivers, and write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        models = Path(folder)
        train(models, "learner", WHOLE, HALF)
        train(models, "beginner", NOTHING, NOTHING)
        drivers = {
            "finished": models / "learner_best.zip",
            "half-trained": first_checkpoint(models, "learner"),
            "untrained": first_checkpoint(models, "beginner"),
        }
        for name, model in drivers.items():
            shutil.copy(model, models / f"{name}.zip")  # the video names a driver by its file
        run("evaluate", "--model", *drivers, "--models-dir", folder, "--track-id", TRACK, "--video", str(PICTURE))


def train(models: Path, name: str, steps: int, checkpoint_steps: int) -> None:
    """Train a driver, and keep all of its checkpoints."""
    how = ("--preset", "smooth", "--track-id", TRACK, "--timesteps", str(steps), "--run-name", name)
    kept = ("--checkpoint-freq", str(checkpoint_steps), "--keep-checkpoints", "100")
    run("train_ppo", *how, *kept, "--models-dir", str(models), "--logs-dir", str(models / "logs"))


def first_checkpoint(models: Path, name: str) -> Path:
    """Return the checkpoint of a run that was trained for the fewest steps."""
    return min(models.glob(f"{name}_*_steps.zip"), key=lambda path: int(path.stem.split("_")[-2]))


def run(script: str, *arguments: str) -> None:
    """Run one of the project's scripts."""
    subprocess.run([sys.executable, "-m", f"training.{script}", *arguments], check=True)


if __name__ == "__main__":
    main()
