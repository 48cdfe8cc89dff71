"""Cases of the soak: where they come from, how long they are drawn, and what they found."""

import itertools
import math
import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

# Runs a case; returns what is wrong, None if nothing is.
Run = Callable[[], str | None]


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        what: What is done, in a few words.
        run: Does it.
    """

    what: str
    run: Run


@dataclass(frozen=True)
class Failure:
    """A case that went wrong.

    Attributes:
        number: Number of the case, which with the seed brings it back.
        what: What was done.
        why: What is wrong.
    """

    number: int
    what: str
    why: str


@dataclass(frozen=True)
class Outcome:
    """What the cases of a kind found.

    Attributes:
        kind: Name of the kind.
        seed: Seed that they were drawn from.
        cases: How many were run.
        seconds: How long they took.
        failures: Those that went wrong.
    """

    kind: str
    seed: int
    cases: int
    seconds: float
    failures: Sequence[Failure]


def chance_of(kind: str, seed: int, number: int) -> random.Random:
    """Return the random numbers of a case, which depend on no other case."""
    return random.Random(f"{kind} {seed} {number}")


@dataclass(frozen=True)
class Budget:
    """How many cases are run.

    Attributes:
        seconds: How long new ones are begun.
        stride: Every how many of them one is run.
        count: Most cases; None is any number.
        only: Number of the only case to run; None runs all.
    """

    seconds: float = math.inf
    stride: int = 1
    count: int | None = None
    only: int | None = None


def run_cases(kind: str, seed: int, cases: Iterable[Case], budget: Budget) -> Outcome:
    """Run cases until they end or the budget does, and print those that fail.

    Args:
        kind: Name of the kind.
        seed: Seed that the cases were drawn from.
        cases: The cases, in order of their number.
        budget: How many of them to run.
    """
    begin, count, failures = time.monotonic(), 0, []
    first, stride = (budget.only, 1) if budget.only is not None else (seed % budget.stride, budget.stride)
    most = 1 if budget.only is not None else budget.count
    for number, case in itertools.islice(itertools.islice(enumerate(cases), first, None, stride), most):
        try:
            why = case.run()
        except Exception as error:
            why = f"the soak itself failed: {type(error).__name__}: {error}"
        count += 1
        if why is not None:
            failures.append(Failure(number, case.what, why))
            print(f"{kind}, case {number} of seed {seed}: {case.what}: {why}", flush=True)
        if time.monotonic() - begin > budget.seconds:
            break
    return Outcome(kind, seed, count, time.monotonic() - begin, tuple(failures))


def grouped(failures: Sequence[Failure]) -> list[list[Failure]]:
    """Return failures by what is wrong, without what is quoted, numbers and paths, so that one fault is one group."""
    groups: dict[str, list[Failure]] = {}
    for failure in failures:
        unquoted = re.sub(r"""['"].*['"]""", "", failure.why)
        key = re.sub(r"0x[0-9a-f]+|\d+", "#", re.sub(r"(\w*/[^\s:]*)+", "", unquoted))
        groups.setdefault(f"{failure.what.partition(',')[0]} {key}", []).append(failure)
    return list(groups.values())
