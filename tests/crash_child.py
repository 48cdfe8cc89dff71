"""A training script to be killed: run in a process of its own, it reports each checkpoint that is on disk."""

from multiprocessing.connection import Connection
from typing import Any

from racer_env.simulator.simulator import Simulator
from tests.helpers import ring_track
from training import train_ppo
from training.checkpoints.saving import save_unit
from training.runs import checkpointing

Simulator([ring_track()])  # loads the kernels once, for all children that are forked from the server


def run(arguments: list[str], reports: Connection) -> None:
    """Train, and report "began", then the steps of every checkpoint once it has been saved."""

    def save(model: Any, statistics: Any, path: Any, with_buffer: bool = False) -> None:
        save_unit(model, statistics, path, with_buffer)
        reports.send(model.num_timesteps)

    checkpointing.save_unit = save
    reports.send("began")
    train_ppo.main(arguments)
