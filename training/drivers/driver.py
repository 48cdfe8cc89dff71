"""A driver: something that maps observations to actions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from racer_env.config import AiConfig

Observations = npt.NDArray[np.float32]
Actions = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Driver:
    """Something that drives.

    Attributes:
        name: Path of its file, or a short description.
        act: Maps raw observations (N, 14) to actions (N, 3): steer, throttle, brake.
        action_repeat: Ticks that each action is held.
        track_ids: Ids of the tracks that it was trained on; empty if it does not say.
        track_fingerprints: Fingerprints of these tracks at training time, by id.
        config: Reward weights and episode limits that it was trained with; None if it does not say.
        begin: Called before a drive, in which all cars start anew; a driver with a memory forgets.
        is_reflex: Whether what it does with a car follows from what it sees there alone, without noise and memory.
        given: What the user named; empty if nobody did.
    """

    name: str
    act: Callable[[Observations], Actions]
    action_repeat: int = 1
    track_ids: tuple[str, ...] = ()
    track_fingerprints: dict[str, Any] = field(default_factory=dict)
    config: AiConfig | None = None
    begin: Callable[[], None] = lambda: None
    is_reflex: bool = True
    given: str = ""

    @property
    def title(self) -> str:
        """What the user named, with the file that was found if its name is another: a run has several."""
        file = Path(self.name)
        if file.suffix != ".zip" or Path(self.given).name in (file.name, file.stem):
            return self.given or file.name
        return f"{self.given} ({file.name})" if self.given else file.name

    @property
    def label(self) -> str:
        """A short name; an export's name includes its folder, unless the user has a name for it."""
        path = Path(self.name)
        if path.suffix != ".onnx":
            return path.stem
        if self.given and Path(self.given).suffix != ".onnx":
            return self.given
        return f"{path.parent.name}/{path.name}" if path.parent.name else path.name

    def __call__(self, observations: Observations) -> Actions:
        """Return actions (N, 3) for raw observations (N, 14)."""
        return self.act(observations)


def labels_of(drivers: Sequence[Driver]) -> list[str]:
    """Return what people read of each driver; no two are equal."""
    labels: list[str] = []
    for driver in drivers:
        label, number = driver.label, 1
        while label in labels:
            number += 1
            label = f"{driver.label} ({number})"
        labels.append(label)
    return labels
