"""The forward pass of plain layers."""

import numpy as np
import pytest

from training.algorithms.forward import FEW, SAMPLES, ForwardPass, agree
from training.algorithms.plain import LINEAR, RELU, TANH, UNSCALED, Layer, PlainNetwork, Scaling

RANDOM = np.random.default_rng(0)
SCALING = Scaling(RANDOM.normal(0.0, 0.3, 14), RANDOM.uniform(0.1, 0.5, 14), 2.0)


def network(sizes: list[int], activation: int) -> PlainNetwork:
    """Return a network whose observations and outputs are scaled."""
    shapes = zip([14, *sizes], [*sizes, 3], strict=True)
    layers = [
        Layer(RANDOM.normal(0.0, 0.7 / np.sqrt(inputs), (size, inputs)).astype(np.float32), np.zeros(size), activation)
        for inputs, size in shapes
    ]
    return PlainNetwork(layers, SCALING, offset=np.array([0.1, 0.2, 0.3]), factor=np.array([-0.5, 0.7, 1.0]))


def actions_of(network: PlainNetwork, observations: np.ndarray) -> np.ndarray:
    """Return what a network computes, in double precision."""
    values = network.scaling(observations).astype(np.float64)
    for layer in network.layers:
        values = values @ layer.weights.T.astype(np.float64) + layer.biases
        values = {LINEAR: values, TANH: np.tanh(values), RELU: np.maximum(values, 0.0)}[layer.activation]
    return np.clip(values * network.factor + network.offset, [-1, 0, 0], 1)


@pytest.mark.parametrize("activation", [LINEAR, TANH, RELU])
@pytest.mark.parametrize("sizes", [[64, 64], [33], [5, 18, 7], []])
def test_actions_are_those_of_the_layers(sizes: list[int], activation: int) -> None:
    """Whatever their sizes, for one car, for a few, and for many."""
    plain = network(sizes, activation)
    seen = RANDOM.uniform(-1.0, 1.0, (4 * FEW, 14)).astype(np.float32)
    for cars in (1, FEW, 4 * FEW):
        assert np.abs(ForwardPass(plain)(seen[:cars]) - actions_of(plain, seen[:cars])).max() <= 1e-6


def test_a_car_is_driven_as_if_alone() -> None:
    """To the bit, in the compiled loop."""
    drive = ForwardPass(network([64, 64], TANH))
    alone = np.concatenate([drive(SAMPLES[car : car + 1]) for car in range(len(SAMPLES))])
    assert np.array_equal(drive(SAMPLES), alone)


def test_observations_need_not_be_in_order() -> None:
    """Nor in single precision: the loop would read anything as what it expects."""
    drive = ForwardPass(network([64], TANH))
    assert np.array_equal(drive(np.asfortranarray(SAMPLES)), drive(SAMPLES))
    assert np.array_equal(drive(SAMPLES.astype(np.float64)), drive(SAMPLES))


@pytest.mark.parametrize("shape", [(14,), (2, 13), (1, 2, 14)])
def test_observations_of_another_shape_are_an_error(shape: tuple[int, ...]) -> None:
    """The loop would read beyond them."""
    with pytest.raises(ValueError, match=r"expected observations of shape \(N, 14\), got \("):
        ForwardPass(network([8], TANH))(np.zeros(shape, np.float32))


@pytest.mark.parametrize("cars", [1, 4 * FEW])
def test_what_is_no_number_stays_so(cars: int) -> None:
    """It must not become a bound of the actions, as who drives with it has to be told."""
    plain = network([8], RELU)
    plain.layers[0].weights[:] = np.nan
    assert np.isnan(ForwardPass(plain)(np.tile(SAMPLES[:1], (cars, 1)))).all()


def test_drivers_that_differ_do_not_agree() -> None:
    """By more than 1e-6, or in numbers that are none."""
    drive = ForwardPass(network([8], TANH))
    assert agree(drive, lambda seen: drive(seen) + 5e-7, SCALING)
    assert not agree(drive, lambda seen: drive(seen) + 2e-6, SCALING)
    assert not agree(drive, lambda seen: drive(seen) * np.nan, UNSCALED)
