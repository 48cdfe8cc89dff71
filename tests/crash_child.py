"""A training script to be killed: run in a process of its own, it reports each checkpoint that is on disk."""

from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from racer_env.simulator.simulator import Simulator
from tests.helpers import ring_track
from training.checkpoints.saving import save_unit
from training.runs import checkpointing

Simulator([ring_track()])  # loads the kernels once, for all children that are forked from the server


def run(train: Callable[[list[str]], int], arguments: list[str], reports: Connection) -> int:
    """Train, report "began", then the steps of every checkpoint once it has been saved; return the exit code."""

    def save(model: Any, statistics: Any, path: Any, with_buffer: bool = False) -> None:
        save_unit(model, statistics, path, with_buffer)
        reports.send(model.num_timesteps)

    checkpointing.save_unit = save
    reports.send("began")
    return train(arguments)
