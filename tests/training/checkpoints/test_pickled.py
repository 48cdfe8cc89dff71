"""Files of VecNormalize: their numbers are read, and nothing in them runs."""

import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

from racer_env.errors import ModelError
from racer_env.vec_env import RacerVecEnv
from training.checkpoints.pickled import read_pickled
from training.checkpoints.vec_normalize import observation_moments, statistics_of

PROTOCOLS = (2, 3, 4, 5)


@pytest.fixture
def env() -> VecNormalize:
    """An environment that has seen something, with spaces that have generators."""
    env = VecNormalize(RacerVecEnv(["track-01"], 2), gamma=0.9)
    env.reset()
    env.action_space.seed(0)
    env.action_space.sample()
    env.step(np.zeros((2, 3)))
    return env


def saved(made: Any, folder: Path, protocol: int = 4) -> Path:
    """Write something as VecNormalize writes itself."""
    path = folder / "x.pkl"
    path.write_bytes(pickle.dumps(made, protocol))
    return path


class Calls:
    """Pickles as a call, after which an object is filled with a state."""

    def __init__(self, called: Callable[..., Any], arguments: tuple[Any, ...], state: Any = None) -> None:
        self.called, self.arguments, self.state = called, arguments, state

    def __reduce__(self) -> Any:
        return self.called, self.arguments, self.state


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_numbers_are_read_as_they_were_saved(env: VecNormalize, tmp_path: Path, protocol: int) -> None:
    """Bit by bit, whatever the protocol, from NumPy 1 too, which has other names for the same."""
    path = saved(env, tmp_path, protocol)
    assert read_pickled(path) == statistics_of(env)
    if protocol < 4:  # names end with a line's end, so they can be replaced by shorter ones
        path.write_bytes(path.read_bytes().replace(b"numpy._core.", b"numpy.core."))
        assert read_pickled(path) == statistics_of(env)


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<i8", "<i4"])
def test_arrays_of_other_numbers(env: VecNormalize, tmp_path: Path, kind: str) -> None:
    """Single precision, whole numbers and the other byte order mean the same."""
    moments = observation_moments(env)
    moments.mean, moments.count = np.arange(14).astype(kind), np.array(7, kind)
    moments.var = np.asfortranarray(moments.mean)
    statistics = read_pickled(saved(env, tmp_path))
    assert statistics.obs_mean == statistics.obs_var == tuple(range(14))
    assert statistics.obs_count == 7


def test_nothing_is_run(tmp_path: Path) -> None:
    """Whatever a pickle would call, at whatever place."""
    sprung = tmp_path / "sprung"
    path = saved([Calls(Path.touch, (sprung,))], tmp_path)
    with pytest.raises(ModelError, match="x.pkl: expected a saved VecNormalize, and it holds something else"):
        read_pickled(path)
    assert not sprung.exists()
    pickle.loads(path.read_bytes())
    assert sprung.exists()  # the trap works


def test_numpy_is_given_no_state_to_build_from(env: VecNormalize, tmp_path: Path) -> None:
    """Forged, with 16 bytes said to be an address, it would read any memory and end the process."""
    objects = Calls(np.dtype, ("O", False, True), (3, "|", None, None, None, -1, -1, 0))
    vast = Calls(np.dtype, ("f8", False, True), (3, "<", None, None, None, 2**30, 1, 63))
    scalar, reconstruct = np.float64(1).__reduce__()[0], np.ones(1).__reduce__()[0]
    for dtype in (objects, vast):
        env.clip_obs = Calls(scalar, (dtype, b"A" * 16))
        observation_moments(env).mean = Calls(
            reconstruct, (np.ndarray, (0,), b"b"), (1, (14,), dtype, False, b"A" * 112)
        )
        with pytest.raises(ModelError, match=r"x.pkl: it holds an array (of something else|that is cut off)"):
            read_pickled(saved(env, tmp_path))
        observation_moments(env).mean = np.zeros(14)


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("norm_obs", None, "norm_obs must be true or false"),
        ("clip_obs", "10", "something else in the place of a number"),
        ("clip_obs", True, "something else in the place of a number"),
        ("epsilon", 10**400, "too large"),
        ("gamma", float("nan"), "gamma must be a finite number"),
        ("clip_obs", np.ones(2), "clip_obs must be a number"),
        ("ret_rms", None, "expected a saved RunningMeanStd"),
        ("obs_rms", {"camera": None}, "expected a saved RunningMeanStd"),
    ],
)
def test_other_content_is_refused(env: VecNormalize, tmp_path: Path, attribute: str, value: Any, message: str) -> None:
    """One line that says what."""
    setattr(env, attribute, value)
    with pytest.raises(ModelError, match=f"x.pkl: .*{message}"):
        read_pickled(saved(env, tmp_path))


@pytest.mark.parametrize(
    "array", [np.zeros(7), np.zeros((14, 1)), np.zeros(14, bool), np.zeros(14, complex), np.array(["1"] * 14)]
)
def test_statistics_of_another_observation_are_refused(env: VecNormalize, tmp_path: Path, array: Any) -> None:
    """Of another shape, or of something else than real numbers."""
    observation_moments(env).mean = array
    with pytest.raises(ModelError, match=r"x.pkl: (it holds an array of|obs_mean must be a list of 14 numbers)"):
        read_pickled(saved(env, tmp_path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "pickle exhausted"),
        (b"no pickle", ""),
        (b"\x80\x04K\x01.", "expected a saved VecNormalize"),
        (b"\x80\x04K\x01", "pickle exhausted"),
        (b"\x80\x04h\x05.", "it recalls what it has not made"),
        (b"\x80\x04K\x01R.", "it takes more from its stack than is there"),
        (b"\x80\x04" + b"N" * 1_000_001 + b".", "more than 1,000,000 opcodes"),
        (b"\x80\x04)" + b"\x94h\x00\x86" * 9 + b"Q.", "it has the opcode BINPERSID"),
        (bytes(16_000_001), "it has 16,000,001 bytes; expected at most 16,000,000"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """Whatever is wrong with them."""
    (tmp_path / "bad.pkl").write_bytes(content)
    with pytest.raises(ModelError, match=f"cannot load statistics .*bad.pkl: .*{message}"):
        read_pickled(tmp_path / "bad.pkl")


def test_a_key_that_takes_forever_to_hash_is_not_hashed(tmp_path: Path) -> None:
    """A tuple of the same tuple twice, a hundred times over: only text is a key here."""
    pairs = b"".join(b"h" + bytes([number]) + b"h" + bytes([number]) + b"\x86\x94" for number in range(100))
    (tmp_path / "x.pkl").write_bytes(b"\x80\x04}(" + b")\x94" + pairs + b"K\x01u.")
    with pytest.raises(ModelError, match="x.pkl: expected a saved VecNormalize"):
        read_pickled(tmp_path / "x.pkl")


def test_changed_bytes_raise_nothing_else(env: VecNormalize, tmp_path: Path) -> None:
    """A few hundred files with some bytes changed, lost or doubled: numbers, or one line."""
    chance, path = random.Random(0), tmp_path / "x.pkl"
    whole = [pickle.dumps(env, protocol) for protocol in PROTOCOLS]
    for number in range(200):
        content = bytearray(whole[number % 4])
        for _ in range(chance.choice((1, 1, 2, 5))):
            at, length = chance.randrange(len(content)), chance.randrange(12)
            content[at : at + chance.choice((0, 1, length))] = chance.choice(
                (b"", chance.randbytes(1), content[at : at + length] * 2)
            )
        path.write_bytes(content)
        try:
            read_pickled(path)
        except ModelError as error:
            assert len(str(error).splitlines()) == 1
            assert len(str(error)) < 400 + len(str(path))
