"""The forward pass of plain layers without PyTorch, which takes thirty times as long for one car.

A compiled loop drives a few cars; for many, NumPy's BLAS is faster. Both add up single-precision numbers as PyTorch
does, in another order.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from racer_env.contract import ACTION_SIZE, OBSERVATION_SIZE
from racer_env.simulator.compile_cache import cached_njit, entry_point
from racer_env.spaces import make_action_space
from training.algorithms.plain import RELU, TANH, Layer, PlainNetwork, Scaling

FEW = 16  # most cars that the loop takes less time for, whether layers have 64 units or 256

TOLERANCE = 1e-6  # largest difference of an action from that of another forward pass

Array = npt.NDArray[Any]

# Real observations to compare by, in thousandths: rays, speed, yaw rate, steer, arc length, distance from the centre.
_SAMPLES = (
    (50, 54, 71, 141, 1000, 141, 71, 54, 50, 0, 0, 0, 0, 0),
    (41, 45, 62, 131, 770, 150, 79, 62, 59, 413, 32, 104, 37, 85),
    (63, 70, 98, 214, 402, 118, 61, 44, 38, 687, -213, -391, 128, 120),
    (35, 38, 50, 97, 288, 236, 97, 70, 63, 552, 371, 640, 304, 148),
    (76, 88, 131, 305, 351, 92, 48, 33, 24, 238, -540, -1000, 491, 262),
    (52, 56, 73, 149, 912, 138, 70, 52, 48, 934, 11, -42, 676, 19),
    (20, 22, 31, 66, 187, 402, 144, 95, 81, 801, 128, 250, 850, 305),
    (0, 9, 21, 58, 118, 74, 52, 61, 102, 121, 702, 1000, 969, 498),
)
SAMPLES = np.array(_SAMPLES, np.float32) / np.float32(1000)
assert SAMPLES.shape == (FEW // 2, OBSERVATION_SIZE)


class Numbers(NamedTuple):
    """A network as the compiled loop takes it; single precision, but for the scaling.

    Attributes:
        mean, deviation, bound: The scaling.
        weights: Of each layer the biases, then the weights from its first input, and so on.
        sizes: Number of inputs, then of each layer's outputs.
        width: The largest of these numbers.
        activations: That of each layer.
        offset, factor: (3,) turn the last outputs into actions.
        low, high: (3,) bounds of the actions.
    """

    mean: Array
    deviation: Array
    bound: float
    weights: Array
    sizes: Array
    width: int
    activations: Array
    offset: Array
    factor: Array
    low: Array
    high: Array


class ForwardPass:
    """Maps observations to actions."""

    def __init__(self, network: PlainNetwork) -> None:
        """Copy a network."""
        space = make_action_space()
        parts = [np.concatenate([layer.biases, layer.weights.T.ravel()]) for layer in network.layers]
        sizes = [OBSERVATION_SIZE, *(len(layer.biases) for layer in network.layers)]
        self._scaling = network.scaling
        self._numbers = Numbers(
            *network.scaling,
            weights=np.concatenate(parts).astype(np.float32),
            sizes=np.array(sizes),
            width=max(sizes),
            activations=np.array([layer.activation for layer in network.layers]),
            offset=network.offset.astype(np.float32),
            factor=network.factor.astype(np.float32),
            low=space.low,
            high=space.high,
        )
        self._drive_few = entry_point(drive_few, (np.zeros((1, OBSERVATION_SIZE), np.float32), self._numbers))

    def __call__(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return actions (N, 3) for observations (N, 14).

        Raises:
            ValueError: The observations have another shape.
        """
        observations = np.ascontiguousarray(observations, np.float32)  # the loop takes nothing else, and does not check
        if observations.shape[1:] != (OBSERVATION_SIZE,):
            raise ValueError(f"expected observations of shape (N, {OBSERVATION_SIZE}), got {observations.shape}")
        if len(observations) <= FEW:
            actions: npt.NDArray[np.float32] = self._drive_few(observations, self._numbers)
            return actions
        return self._drive_many(observations)

    def _drive_many(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        numbers, values, place = self._numbers, self._scaling(observations), 0
        for layer, activation in enumerate(numbers.activations.tolist()):
            inputs, outputs = numbers.sizes[layer : layer + 2].tolist()
            begin, place = place + outputs, place + outputs * (inputs + 1)
            values = values @ numbers.weights[begin:place].reshape(inputs, outputs)
            values += numbers.weights[begin - outputs : begin]
            if activation == TANH:
                np.tanh(values, out=values)
            elif activation == RELU:
                np.maximum(values, 0.0, out=values)
        values *= numbers.factor
        values += numbers.offset
        return np.minimum(np.maximum(values, numbers.low, out=values), numbers.high, out=values)


@cached_njit(error_model="numpy")
def drive_few(observations: npt.NDArray[np.float32], numbers: Any) -> npt.NDArray[np.float32]:
    """Return actions (N, 3) for observations (N, 14); those of a car are the same whatever the others see."""
    weights, sizes = numbers.weights, numbers.sizes
    actions = np.empty((len(observations), len(numbers.low)), np.float32)
    values, outputs = np.empty(numbers.width, np.float32), np.empty(numbers.width, np.float32)
    for row in range(len(observations)):
        for k in range(sizes[0]):
            scaled = (observations[row, k] - numbers.mean[k]) / numbers.deviation[k]
            values[k] = _within(scaled, -numbers.bound, numbers.bound)
        place = 0
        for layer in range(len(numbers.activations)):
            inputs, size = sizes[layer], sizes[layer + 1]
            for j in range(size):
                outputs[j] = weights[place + j]
            place += size
            for i in range(0, inputs - inputs % 4, 4):  # four at once: outputs are read and written once, and rounded
                v0, v1, v2, v3 = values[i], values[i + 1], values[i + 2], values[i + 3]
                w0, w1 = weights[place : place + size], weights[place + size : place + 2 * size]
                w2, w3 = weights[place + 2 * size : place + 3 * size], weights[place + 3 * size : place + 4 * size]
                for j in range(size):
                    outputs[j] += v0 * w0[j] + v1 * w1[j] + v2 * w2[j] + v3 * w3[j]
                place += 4 * size
            for i in range(inputs - inputs % 4, inputs):
                w0 = weights[place : place + size]
                for j in range(size):
                    outputs[j] += values[i] * w0[j]
                place += size
            if numbers.activations[layer] == TANH:
                for j in range(size):
                    outputs[j] = _tanh(outputs[j])
            elif numbers.activations[layer] == RELU:
                for j in range(size):
                    outputs[j] = np.float32(0.0) if outputs[j] < 0.0 else outputs[j]
            values, outputs = outputs, values
        for k in range(len(numbers.low)):
            action = numbers.offset[k] + numbers.factor[k] * values[k]
            actions[row, k] = _within(action, numbers.low[k], numbers.high[k])
    return actions


@njit(error_model="numpy")
def _within(value: Any, low: Any, high: Any) -> Any:
    """Return a number cut to bounds; what is not a number stays so."""
    return low if value < low else high if value > high else value


# A quotient of polynomials of odd and even powers of x, which equals tanh(x) to 4e-7 of it within LIMIT; beyond, it is
# 1 in single precision. A processor computes eight of them at a time, and hyperbolic functions one by one.
# Source: Eigen, MathFunctionsImpl.h, generic_fast_tanh_float.
LIMIT = np.float32(7.90531110763549805)
ODD = tuple(
    np.float32(factor)
    for factor in (
        *(-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08),
        *(1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03),
    )
)
EVEN = tuple(
    np.float32(factor)
    for factor in (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
)


@njit(error_model="numpy")
def _tanh(x: Any) -> Any:
    """Return the hyperbolic tangent of a number in single precision."""
    x = _within(x, -LIMIT, LIMIT)
    square = x * x
    odd, even = ODD[0], EVEN[0]
    for factor in ODD[1:]:
        odd = odd * square + factor
    for factor in EVEN[1:]:
        even = even * square + factor
    return x * odd / even


def agree(one: Callable[[Array], Array], other: Callable[[Array], Array], scaling: Scaling) -> bool:
    """Return whether two drivers' actions are equal to TOLERANCE, for a few cars and for many.

    Args:
        one, other: Map observations (N, 14) to actions (N, 3).
        scaling: That of the observations, some of which are real ones, and some spread as scaled ones are.
    """
    spread = scaling.mean + scaling.deviation * (4.0 * SAMPLES - 2.0)
    seen = np.concatenate([SAMPLES, spread.astype(np.float32)])
    return all(np.abs(one(some) - other(some)).max() <= TOLERANCE for some in (seen[:FEW], np.tile(seen, (2, 1))))


def compile_kernels() -> None:
    """Compile, or load, the loop, which is the same for all networks."""
    ForwardPass(PlainNetwork([Layer(np.zeros((ACTION_SIZE, OBSERVATION_SIZE)), np.zeros(ACTION_SIZE))]))
