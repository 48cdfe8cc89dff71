"""Compare ``racer_env.fdlibm`` with the functions of Node.js, bit for bit: ``python -m tests.node_functions``.

The arguments are those that a car can meet and, as many, those where a method changes: near multiples of pi/2, near the
limits between two polynomials, tiny ones.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.extending import register_jitable

from racer_env.fdlibm import exp
from racer_env.simulator.compiled_fdlibm import acos, atan2, sin_cos
from tests.helpers import FloatArray

# Reads pairs of doubles, and writes a double for each.
SCRIPT = """
const fs = require("fs");
const pairs = new Float64Array(new Uint8Array(fs.readFileSync(0)).buffer);
const results = new Float64Array(pairs.length / 2);
for (let i = 0; i < results.length; i++) results[i] = Math.NAME(pairs[2 * i], pairs[2 * i + 1]);
fs.writeFileSync(1, Buffer.from(results.buffer));
"""
FUNCTIONS = ("sin", "cos", "atan2", "acos", "exp")
SIN, COS, ATAN2, ACOS, EXP = range(len(FUNCTIONS))
AT_ONCE = 1_000_000  # arguments
register_jitable(error_model="numpy")(exp)


@njit(error_model="numpy")
def evaluate(function: Any, pairs: Any) -> Any:
    """Return the values (N,) of one of FUNCTIONS for arguments (N, 2); only the arc tangent takes the second one."""
    values = np.empty(len(pairs))
    for i in range(len(pairs)):
        x, y = pairs[i, 0], pairs[i, 1]
        if function == ATAN2:
            values[i] = atan2(x, y)
        elif function == ACOS:
            values[i] = acos(x)
        elif function == EXP:
            values[i] = exp(x)
        else:
            sine, cosine = sin_cos(x)
            values[i] = sine if function == SIN else cosine
    return values


def arguments(function: int, count: int, random: np.random.Generator) -> FloatArray:
    """Return arguments (count, 2) of one of FUNCTIONS."""
    edges: Sequence[float] | FloatArray
    if function == EXP:
        usual, edges = -random.exponential(1.0, count), -np.log(2.0) * np.array([0.5, 1.5, 300.0])
    elif function == ACOS:
        usual, edges = random.uniform(-1.0, 1.0, count), (-1.0, -0.5, 0.5, 1.0)
    elif function == ATAN2:
        usual, edges = random.uniform(-2.0, 2.0, count), (0.4375, 0.6875, 1.1875, 2.4375, 2.0**-27, 2.0**61)
    else:
        turns = np.unique(np.concatenate([np.arange(1, 70), np.geomspace(70, 500_000, 400).astype(np.int64)]))
        usual = random.uniform(-8.0, 8.0, count) * 10.0 ** random.integers(0, 5, count)
        edges = np.concatenate([np.pi / 2 * turns, [2.0**-27, 0.3, np.pi / 4, 0.78125, 3 * np.pi / 4]])
    near = random.choice(np.asarray(edges), count).view(np.int64)
    bits = 2 ** random.integers(1, 36, count)  # within which they are off
    sharp = (near + random.integers(-bits, bits)).view(np.float64) * random.choice((-1.0, 1.0), count)
    tiny = random.uniform(-1.0, 1.0, count) * 2.0 ** random.integers(-600, 0, count)
    first = np.choose(random.choice(3, count, p=(0.5, 0.4, 0.1)), (usual, sharp, tiny))
    if function == ACOS:
        first = np.clip(first, -1.0, 1.0)
    if function == EXP:
        first = -np.abs(first)
    second = random.choice((-1.0, 1.0), count) * np.where(random.random(count) < 0.5, 1.0, random.random(count))
    return np.stack([first, second], axis=1)


def differing(function: int, values: FloatArray, pairs: FloatArray) -> npt.NDArray[np.int64]:
    """Return the indices at which Node.js has another value, even if only by a bit or the sign of a zero."""
    script = SCRIPT.replace("NAME", FUNCTIONS[function])
    answer = subprocess.run(["node", "-e", script], input=pairs.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.flatnonzero(np.frombuffer(answer.stdout, np.int64) != values.view(np.int64))


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, and return 0 if all values are the same."""
    parser = argparse.ArgumentParser(prog="python -m tests.node_functions", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000_000, help="of each function (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the arguments (default: %(default)s)")
    options = parser.parse_args(argv)
    if shutil.which("node") is None:
        parser.error("needs node, which is not on the PATH; install Node.js 20 or later")
    version = subprocess.run(["node", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    random, total = np.random.default_rng(options.seed), 0
    for function, name in enumerate(FUNCTIONS):
        wrong = 0
        for first in range(0, options.count, AT_ONCE):
            pairs = arguments(function, min(AT_ONCE, options.count - first), random)
            wrong += len(differing(function, evaluate(function, pairs), pairs))
        print(f"{name}: {wrong:,} of {options.count:,} values differ from those of Node.js {version}", flush=True)
        total += wrong
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
