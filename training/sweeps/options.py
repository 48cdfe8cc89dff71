"""The command line of a sweep: options of its own, and those of the training scripts, which its runs are given."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training.algorithms.presets import preset_names
from training.algorithms.registry import all_algorithms
from training.console.arguments import LOGS_DIR, MODELS_DIR
from training.console.parser import MAX_SEED, Parser, whole_number
from training.console.streams import prepare_streams
from training.sweeps.objective import OBJECTIVES

SAMPLERS, PRUNERS = ("tpe", "random", "grid"), ("median", "halving", "none")
DEFAULT_TRIALS = 20
MAX_WORKERS = 1024
WITH_RESUME = ("resume", "trials", "workers", "ray", "models_dir", "logs_dir")


@dataclass(frozen=True)
class SweepOptions:
    """The options of a sweep; ``make_parser`` says what each one means.

    Attributes:
        workers: Most runs at once; None is one for each core.
        arguments: The command line that the sweep was begun with.
        training: Those of its arguments that are options of the training scripts.
    """

    name: str | None
    resume: str | None
    algorithm: list[str]
    preset: list[str]
    seeds: int
    seed: int
    search: list[Path] | None
    trials: int | None
    sampler: str
    pruner: str
    objective: str
    workers: int | None
    ray: str | None
    models_dir: Path
    logs_dir: Path
    arguments: list[str]
    training: list[str]

    @property
    def all_seeds(self) -> list[int]:
        """The seeds of every trial."""
        return [*range(self.seed, self.seed + self.seeds)]


def make_parser() -> Parser:
    """Return the parser of a sweep's own options; the rest of its command line is for ``training.runs.options``."""
    parser = Parser(
        prog="python -m training.sweep",
        description="Train many runs side by side, each in a process with one thread, and judge every setting by the "
        "median over its seeds: settings that are named, or with --search those that Optuna proposes.",
        examples=(
            "python -m training.sweep --seeds 5 --timesteps 100000",
            "python -m training.sweep --search --preset quick --trials 20 --seeds 3 --eval-freq 10000",
        ),
        epilog="All other options are those of the training scripts (python -m training.train_ppo --help), and every "
        "run is given them: --track-id, --timesteps, --num-envs, --set, --eval-freq and so on.",
    )
    _add_settings(parser.add_argument_group("what is tried"))
    _add_search(parser.add_argument_group("the search"))
    _add_sweep(parser.add_argument_group("the sweep"))
    return parser


def _add_settings(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--algorithm",
        nargs="+",
        type=str.upper,
        choices=[*all_algorithms()],
        default=["PPO"],
        help="one or several algorithms (default: PPO)",
    )
    group.add_argument(
        "--preset",
        nargs="+",
        default=[],
        metavar="PRESET",
        help=f"one or several presets, {', '.join(preset_names())}, or files that end in .json (default: none)",
    )
    group.add_argument(
        "--seeds", type=whole_number(1, 1000), default=1, metavar="N", help="seeds of every setting (default: 1)"
    )
    group.add_argument(
        "--seed", type=whole_number(0, MAX_SEED - 1000), default=0, help="the first of these seeds (default: 0)"
    )


def _add_search(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--search",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="search for good settings in the spaces of these files, see docs/sweeps.md; without a file, in the "
        "algorithms' own (training/search_spaces/)",
    )
    group.add_argument(
        "--trials",
        type=whole_number(1, 1_000_000),
        metavar="N",
        help=f"settings to try, on resume with those of before (default: {DEFAULT_TRIALS}, or all of a grid)",
    )
    group.add_argument(
        "--sampler",
        choices=SAMPLERS,
        default="tpe",
        help="who proposes settings: Optuna's TPE, chance, or a grid of all values (default: tpe)",
    )
    group.add_argument(
        "--pruner",
        choices=PRUNERS,
        default="median",
        help="ends bad trials early: those worse than the median of others at the same point, or the worse half at an "
        "eighth, a quarter and a half of their steps (default: median)",
    )
    group.add_argument(
        "--objective",
        choices=[*OBJECTIVES],
        default="pace",
        help="what a run is judged by: pace less its costs or lap time of its best model, or steps or seconds until "
        "all laps of an evaluation are clean (default: pace)",
    )


def _add_sweep(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--name", help="name of the sweep and of its folders (default: the next free sweep_N)")
    group.add_argument(
        "--resume",
        metavar="NAME",
        help="go on with a sweep, as it was begun; only --trials, --workers, --ray and the folders may be named too",
    )
    group.add_argument(
        "--workers",
        type=whole_number(1, MAX_WORKERS),
        metavar="N",
        help="most runs that are trained side by side (default: as many as there are cores)",
    )
    group.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="train on the machines of a Ray cluster: HOST:PORT, or auto for the one that this machine belongs to, see "
        "docs/sweeps.md (default: on this machine alone)",
    )
    group.add_argument("--models-dir", type=Path, default=MODELS_DIR, help="folder of models (default: models/)")
    group.add_argument("--logs-dir", type=Path, default=LOGS_DIR, help="folder of logs (default: logs/)")


def parse(argv: Sequence[str]) -> SweepOptions:
    """Return the options on a command line.

    Raises:
        SystemExit: Options are wrong or do not go together.
    """
    prepare_streams()
    parser = make_parser()
    arguments, training = parser.parse_known_args(argv)
    if arguments.resume is not None:
        given = [name for name, value in vars(arguments).items() if value != parser.get_default(name)]
        others = [f"--{name.replace('_', '-')}" for name in given if name not in WITH_RESUME] + training[:1]
        if others:
            parser.error(f"a sweep goes on as it was begun; leave out {others[0]}, or begin another sweep with it")
    elif arguments.search is None and arguments.trials is not None:
        parser.error("--trials is of a search; name a search space with --search, or say how many --seeds to train")
    for name in ("algorithm", "preset"):
        values = getattr(arguments, name)
        if len({*values}) < len(values):
            parser.error(f"--{name} names one twice: {' '.join(values)}")
    return SweepOptions(**vars(arguments), arguments=[*argv], training=training)
