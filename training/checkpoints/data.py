"""What a model file says about itself, read without loading it or running any pickle in it."""

import contextlib
import functools
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from racer_env.contract import ACTION_SIZE
from racer_env.errors import ModelError
from racer_env.files import read_file
from racer_env.json_files import shown
from racer_env.physics import Physics
from training.algorithms.algorithm import Algorithm
from training.algorithms.registry import algorithm_of, all_algorithms
from training.checkpoints.archives import open_archive
from training.checkpoints.attributes import REQUIRED, fault_of, fault_of_actions
from training.checkpoints.plain import is_pickled, plain
from training.console.messages import first_line, note

# Bytes. A SAC model of layers of 4,096 units has about 10^9, and what cars add to the data grows with their number.
MAX_MODEL, MAX_DATA = 2**31, 2**24
GROWTH = 20  # models are written unpacked; a packed one may grow this many times
UNKNOWN_PHYSICS = "unknown"  # instead of the fingerprint, if a bridge did not report it


@dataclass(frozen=True)
class ModelData:
    """The attributes of a saved stable-baselines3 model as stored in its file, with pickles unopened.

    Attributes:
        path: Path of the model file.
        attributes: Values by name. One that is not JSON is as ``plain`` tells it, or else as stable-baselines3 writes
            it, with ":serialized:".
        content: The whole file. Training may replace or delete it at any moment, so it is read only once.
    """

    path: Path
    attributes: dict[str, Any]
    content: bytes = field(repr=False)

    @functools.cached_property
    def algorithm(self) -> Algorithm:
        """The model's algorithm, named by the file or identified by its attributes.

        Raises:
            ModelError: It is not one of the algorithms known here.
        """
        algorithm = algorithm_of(self.attributes)
        if algorithm is None:
            self._check_actions()
            names = " nor ".join(all_algorithms())
            raise ModelError(f"{self.path} is a model of neither {names}; only these can be loaded")
        return algorithm

    def get(self, name: str, kind: type, default: Any) -> Any:
        """Return an attribute, or ``default`` if the file has none of that type."""
        value = self.attributes.get(name)
        return value if isinstance(value, kind) and not (kind is int and isinstance(value, bool)) else default

    @property
    def steps(self) -> int:
        """Number of environment steps trained."""
        return int(self.get("num_timesteps", int, 0))

    @property
    def track_ids(self) -> list[str]:
        """Ids of the tracks that it was trained on, each once; empty if it does not say."""
        return list(dict.fromkeys(self.get("track_ids", list, [])))

    @property
    def action_repeat(self) -> int:
        """Ticks that each of its actions is held."""
        return max(1, int(self.get("action_repeat", int, 1)))

    @property
    def score(self) -> tuple[float, float, float] | None:
        """Score by which it was chosen as the best model of its run, see ``score_of``; None if it does not say."""
        found = self.get("score", list, [])
        return (float(found[0]), float(found[1]), float(found[2])) if len(found) == 3 else None

    @property
    def saves(self) -> int:
        """How often its run had saved a model, this one included; 0 if it does not say."""
        return int(self.get("saves", int, 0))

    @property
    def statistics_digest(self) -> str | None:
        """SHA-256 of the statistics file of a model that has no statistics of its own; None if it does not say."""
        digest = self.get("statistics_digest", str, None)
        return None if digest is None else str(digest)

    @property
    def physics(self) -> str | None:
        """Fingerprint of the physics that it was trained on, or UNKNOWN_PHYSICS; None if it does not say."""
        fingerprint = self.get("physics_fingerprint", str, None)
        return None if fingerprint is None else str(fingerprint)

    @property
    def pickled(self) -> list[str]:
        """Names of the attributes that are pickles."""
        return [name for name, value in self.attributes.items() if is_pickled(value)]

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse a model that cannot be loaded.

        Args:
            shape: Shape of the observations that the model has to take.

        Raises:
            ModelError: The model has another algorithm, policy or observation, or does not name its own.
        """
        lacking = [name for name in REQUIRED if name not in self.attributes]
        if lacking:
            raise ModelError(f"cannot load {self.path}: its data lack {', '.join(lacking)}")
        self._check_actions()
        policy = self.get("policy_class", dict, {}).get("__module__")
        if policy != self.algorithm.policy_class.__module__:
            raise ModelError(
                f"{self.path} has a policy of its own, {policy}; only those of stable-baselines3 are loaded"
            )
        found = self.get("observation_space", dict, {}).get("_shape")
        if found != list(shape):
            raise ModelError(
                f"{self.path} was trained on observations of shape {_as_shape(found)}; the game's have {shape}, so it "
                "cannot drive here"
            )

    def _check_actions(self) -> None:
        fault = fault_of_actions(self.attributes)
        if fault is not None:
            raise ModelError(
                f"{self.path} takes actions {fault}; the game's are {ACTION_SIZE} numbers, steer from -1 to 1 and "
                "throttle and brake from 0 to 1, so it cannot drive here"
            )


def read_model_data(path: Path) -> ModelData:
    """Read what a model file says about itself.

    Raises:
        ModelError: The file is not a model of stable-baselines3, is damaged, or unpacks to more than a model can have.
    """
    content = _read(path)
    with open_model(path, content) as archive:
        damaged = archive.testzip()  # reads and checks everything, so a truncated file is found before it is used
        if damaged is not None:
            raise ModelError(f"cannot load {path}: its part {damaged[:40]!r} is damaged")
        attributes = json.loads(archive.read("data"))
        if not isinstance(attributes, dict):
            raise ModelError(f"cannot load {path}: its data are no object")
        attributes = {name: plain(value) for name, value in attributes.items()}
        fault = fault_of(attributes, archive.getinfo("policy.pth").file_size)
        if fault is not None:
            raise ModelError(f"cannot load {path}: {fault}")
    return ModelData(path, attributes, content)


def _read(path: Path) -> bytes:
    try:
        return read_file(path, MAX_MODEL)
    except FileNotFoundError as missing:
        raise ModelError(f"cannot load {path}: there is no such file") from missing
    except OSError as unreadable:
        raise ModelError(f"cannot load {path}: {first_line(unreadable)}") from unreadable


@contextlib.contextmanager
def open_model(path: Path, content: bytes) -> Iterator[zipfile.ZipFile]:
    """Open the content of a model file.

    Raises:
        ModelError: As for ``read_model_data``.
    """

    def refuse(why: str) -> ModelError:
        return ModelError(f"cannot load {path}: {why}")

    with open_archive(content, refuse, MAX_MODEL, GROWTH) as archive:
        if not {"data", "policy.pth"} <= {*archive.namelist()}:
            raise refuse("it is a zip file, but no model of stable-baselines3")
        if archive.getinfo("data").file_size > MAX_DATA:
            raise refuse(f"its data have {archive.getinfo('data').file_size:,} bytes, more than {MAX_DATA:,}")
        yield archive


def _as_shape(found: Any) -> str:
    return shown(tuple(found)) if isinstance(found, list) else "an unknown kind"


def check_physics(path: Path, trained_on: str | None, physics: Physics | None) -> None:
    """Refuse a driver of other physics; what does not say on which it was trained is noted, and taken to be of these.

    Args:
        path: Path of the driver.
        trained_on: Fingerprint of the physics that it was trained on, or UNKNOWN_PHYSICS, or None.
        physics: Physics that it is going to drive on; None if they are not known, or do not matter.

    Raises:
        ModelError: The fingerprints differ.
    """
    if physics is None or trained_on == physics.fingerprint:
        return
    if trained_on in (None, UNKNOWN_PHYSICS):
        note(f"{path} does not say on which physics it was trained; they are taken to be those of this game")
        return
    raise ModelError(
        f"{path} was trained on other physics: {str(trained_on)[:12]} against {physics.fingerprint[:12]} now; "
        "go back to the physics.json that it was trained on, or use --any-physics"
    )
