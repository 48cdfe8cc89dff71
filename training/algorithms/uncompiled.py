"""Optimisers without PyTorch's compiler, ``torch._dynamo``: it takes a second to load, and nothing here is compiled."""

import torch

# Methods of every optimiser that PyTorch hides from its compiler, which it loads at their first call.
_HIDDEN = ("add_param_group", "state_dict", "load_state_dict", "zero_grad")


def spare_compiler() -> None:
    """Let optimisers be made, saved and loaded without PyTorch's compiler.

    PyTorch keeps what its compiler makes of a hidden method as an attribute of the plain one; here that is the plain
    one itself. Where a version of PyTorch does otherwise, this has no effect.
    """
    for name in _HIDDEN:
        plain = getattr(getattr(torch.optim.Optimizer, name), "__wrapped__", None)
        if plain is not None:
            setattr(plain, "__dynamo_disable", plain)
