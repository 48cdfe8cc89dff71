"""A training script from command line to exit code, for any algorithm."""

import argparse
from collections.abc import Sequence

from training.algorithms.algorithm import Algorithm
from training.algorithms.registry import algorithm_named
from training.console.bridges import open_bridge
from training.console.messages import say
from training.console.parser import run_script
from training.console.tracks import simulated_track
from training.console.warm_up import WarmUp
from training.runs.follower import Follower
from training.runs.options import TrainingOptions, make_options, make_parser
from training.runs.plan import make_plan

NEEDS = ("torch", "stable_baselines3", "tensorboard", "pygame")  # modules; they are imported when the run begins
# What the first step needs, then the first evaluation.
KERNELS = ("training.checkpoints.fast_normalize", "training.algorithms.forward", "training.evaluation.counting")


def run_training(name: str, argv: Sequence[str] | None, follower: Follower | None = None) -> int:
    """Run the training script of an algorithm and return its exit code.

    Args:
        name: Name of the algorithm.
        argv: The command line; None is that of the process.
        follower: Is told of every evaluation of the run, and may end it; None is nobody.
    """
    algorithm = algorithm_named(name)

    def body(arguments: argparse.Namespace) -> int:
        return _train(algorithm, make_options(algorithm, arguments), follower)

    return run_script(body, make_parser(algorithm).parse_args(argv), needs=NEEDS)


def _train(algorithm: Algorithm, options: TrainingOptions, follower: Follower | None) -> int:
    with open_bridge(options) as bridge:
        plan = make_plan(algorithm, options, bridge)
        for sentence in plan.sentences:
            say(sentence)
        with WarmUp(simulated_track(bridge, plan.run.tracks[0]), later=KERNELS):
            from training.runs.session import carry_out  # PyTorch takes 2 s to load, while the simulator loads
        return carry_out(plan, follower)
