"""Forward and backward passes that are written out, beside PyTorch's."""

import copy

import pytest
import torch

from training.algorithms.gradients import Network

LAYERS: list[list[torch.nn.Module]] = [
    [torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 6), torch.nn.ReLU(), torch.nn.Linear(6, 2)],
    [torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3), torch.nn.Tanh()],
    [torch.nn.Linear(5, 1)],
]


@pytest.mark.parametrize("layers", LAYERS)
def test_gradients_are_those_of_pytorch(layers: list[torch.nn.Module]) -> None:
    """In double precision, of all weights, of all inputs, and of the last inputs alone."""
    module = copy.deepcopy(torch.nn.Sequential(*layers)).double()
    inputs = torch.randn(20, 5, dtype=torch.float64, requires_grad=True)
    outputs = module(inputs)
    above = torch.randn_like(outputs)
    outputs.backward(above)
    expected = [weight.grad.clone() for weight in module.parameters() if weight.grad is not None]
    for weight in module.parameters():
        weight.grad = torch.full_like(weight, 9.0)  # what was there before does not count
    network = Network(module)
    trace = network.trace(inputs.detach())
    assert network(inputs.detach()) == pytest.approx(outputs.detach().numpy())
    network.set_gradients(trace, above)
    for weight, wanted in zip(module.parameters(), expected, strict=True):
        assert weight.grad is not None
        assert weight.grad.numpy() == pytest.approx(wanted.numpy(), abs=1e-12)
    assert inputs.grad is not None
    assert network.to_inputs(trace, above).numpy() == pytest.approx(inputs.grad.numpy(), abs=1e-12)
    assert network.to_inputs(trace, above, 3).numpy() == pytest.approx(inputs.grad[:, 3:].numpy(), abs=1e-12)


def test_other_layers_are_refused() -> None:
    """Rather than computed wrongly."""
    with pytest.raises(ValueError, match="only plain layers"):
        Network(torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ELU()))
