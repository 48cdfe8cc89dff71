"""Forward and backward passes of small networks, written out: PyTorch's products without its bookkeeping."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from training.algorithms.inference import layers_of


def _tanh(values: torch.Tensor) -> None:
    """Replace values by their hyperbolic tangents; PyTorch's own take six times as long on some processors."""
    array = values.numpy()
    np.tanh(array, out=array)


# What an activation does in place, and the gradients of what it took, given those of what it gave, and that itself.
_ACTIVATIONS: dict[type[torch.nn.Module], tuple[Callable[[torch.Tensor], Any], Callable[..., torch.Tensor]]] = {
    torch.nn.Tanh: (_tanh, torch.ops.aten.tanh_backward),
    torch.nn.ReLU: (torch.relu_, lambda above, values: torch.ops.aten.threshold_backward(above, values, 0)),
}


class Linear:
    """A linear layer; ``above`` are gradients (N, out) of what it gives."""

    def __init__(self, module: torch.nn.Linear) -> None:
        """Take over weights and, where there are any, gradients, in the same memory."""
        self._weight, self._bias = module.weight.detach(), module.bias.detach()
        self._transposed = self._weight.t()
        self._of_weight, self._of_bias = module.weight.grad, module.bias.grad

    def __call__(self, values: torch.Tensor) -> torch.Tensor:
        """Return the outputs (N, out) for inputs (N, in)."""
        return torch.addmm(self._bias, values, self._transposed)

    def set_gradients(self, values: torch.Tensor, above: torch.Tensor) -> None:
        """Set the gradients of weights and biases, given the inputs (N, in)."""
        torch.mm(above.t(), values, out=self._of_weight)
        torch.sum(above, 0, out=self._of_bias)

    def to_inputs(self, above: torch.Tensor, first: int = 0) -> torch.Tensor:
        """Return the gradients of the inputs from the column ``first`` on."""
        return torch.mm(above, self._weight[:, first:] if first else self._weight)


class Network:
    """Linear layers and activations, one after the other."""

    def __init__(self, *parts: torch.nn.Module) -> None:
        """Take over the layers of modules.

        Raises:
            ValueError: They are anything but plain layers on a CPU.
        """
        plain = layers_of(*parts)
        if plain is None:
            raise ValueError("only plain layers on a CPU are computed here")
        self._layers = [
            Linear(module) if isinstance(module, torch.nn.Linear) else _ACTIVATIONS[type(module)]
            for module in plain.modules
        ]

    def trace(self, values: torch.Tensor) -> list[torch.Tensor]:
        """Return the inputs of each linear layer, the first being ``values`` (N, in), and the outputs (N, out)."""
        trace = [values]
        for layer in self._layers:
            if isinstance(layer, Linear):
                trace.append(layer(trace[-1]))
            else:
                layer[0](trace[-1])
        return trace

    def __call__(self, values: torch.Tensor) -> Any:
        """Return the outputs (N, out) for inputs (N, in), as an array."""
        return self.trace(values)[-1].numpy()

    def set_gradients(self, trace: list[torch.Tensor], above: torch.Tensor) -> None:
        """Set the gradients of all weights and biases, given a trace and the gradients (N, out) of its outputs."""
        place = len(trace) - 1
        for layer in reversed(self._layers):
            if isinstance(layer, Linear):
                place -= 1
                layer.set_gradients(trace[place], above)
                if place > 0:
                    above = layer.to_inputs(above)
            else:
                above = layer[1](above, trace[place])

    def to_inputs(self, trace: list[torch.Tensor], above: torch.Tensor, first: int = 0) -> torch.Tensor:
        """Return the gradients of the inputs from the column ``first`` on; those of weights stay as they are."""
        place = len(trace) - 1
        for layer in reversed(self._layers):
            if isinstance(layer, Linear):
                place -= 1
                above = layer.to_inputs(above, 0 if place > 0 else first)
            else:
                above = layer[1](above, trace[place])
        return above
