"""What the server of forked children imports once, for all of them."""

import torch._dynamo  # noqa: F401

from racer_env.simulator.simulator import Simulator
from tests import crash_child  # noqa: F401
from tests.helpers import ring_track
from training import evaluate, export_onnx, parity, report, train_ppo, train_sac  # noqa: F401
from training.drives import output  # noqa: F401
from training.evaluation import measuring, printing  # noqa: F401
from training.exports import session as exports  # noqa: F401
from training.runs import session as runs  # noqa: F401

Simulator([ring_track()])  # loads the kernels
