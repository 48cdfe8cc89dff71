"""The command line of ``training.benchmark``, and its checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.bridge.url import bridge_urls
from racer_env.config import AiConfig, load_config
from racer_env.contract import MAX_CARS
from racer_env.errors import ConfigError
from training.algorithms.registry import all_algorithms
from training.console.arguments import add_track_arguments
from training.console.bridges import add_bridge_argument
from training.console.parser import MAX_SEED, Parser, positive_number, whole_number

DEFAULT_TARGET = 2000.0  # steps per second
HOLD_TICKS = 15  # ticks that each random action is held
ENGINE_IS_EMBEDDED = "--engine measures the embedded simulator; for the bridge's engine, `npm run benchmark` in bridge/"
RANDOM, DRIVER = "random", "driver"  # actions


@dataclass(frozen=True)
class BenchmarkOptions:
    """The options of ``training.benchmark``; ``make_parser`` says what each one means."""

    target: float
    steps: int
    warmup: int
    num_envs: int
    bridge_url: list[str] | None
    compare: bool
    track_id: list[str]
    track_seed: int
    tracks_dir: Path | None
    config: Path | None
    actions: str
    engine: bool
    training: bool
    algorithm: str | None
    evaluation: bool
    seed: int
    json: bool

    @property
    def weights(self) -> AiConfig:
        """Reward weights and episode limits, read from their file."""
        return load_config(self.config)


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.benchmark",
        description="Measure steps per second and the time of a step call. Exit code 0: at or above the target, "
        "1: below, 2: could not run.",
        examples=(
            "python -m training.benchmark --target 2000",
            "python -m training.benchmark --training --evaluation",
        ),
    )
    parser.add_argument(
        "--target", type=positive_number, default=DEFAULT_TARGET, help="steps/s to reach (default: 2000)"
    )
    parser.add_argument(
        "--steps", type=whole_number(1, 10_000_000), default=5000, help="timed step calls (default: 5000)"
    )
    parser.add_argument(
        "--warmup", type=whole_number(0, 10_000_000), default=200, help="calls before them (default: 200)"
    )
    parser.add_argument(
        "--num-envs",
        type=whole_number(1, MAX_CARS),
        default=1,
        help="cars: 1 measures RacerEnv, more RacerVecEnv (default: 1)",
    )
    add_bridge_argument(parser)
    parser.add_argument(
        "--compare",
        action="store_true",
        help="measure the embedded simulator and the bridge in turns; the verdict is the bridge's",
    )
    add_track_arguments(parser, "all of --tracks-dir, or track-01", config="ai-config.json")
    parser.add_argument(
        "--actions",
        choices=(RANDOM, DRIVER),
        default=RANDOM,
        help=f"random ones, held for {HOLD_TICKS} ticks, or those of a scripted driver (default: random)",
    )
    parser.add_argument(
        "--engine", action="store_true", help="measure the simulator alone, without environment and infos"
    )
    parser.add_argument(
        "--training",
        action="store_true",
        help="instead, measure training beside plain stable-baselines3, and beside itself without a game; no target",
    )
    parser.add_argument(
        "--algorithm", type=str.upper, choices=[*all_algorithms()], help="what trains, with --training (default: PPO)"
    )
    parser.add_argument(
        "--evaluation",
        action="store_true",
        help="instead, measure an evaluation of three laps beside one by PyTorch; there is no target",
    )
    parser.add_argument("--seed", type=whole_number(0, MAX_SEED), default=0, help="of the actions (default: 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def parse_options(argv: Sequence[str] | None) -> BenchmarkOptions:
    """Return the options on a command line; None is the process's own."""
    return BenchmarkOptions(**vars(make_parser().parse_args(argv)))


def check_options(options: BenchmarkOptions) -> None:
    """Refuse options that do not go together.

    Raises:
        ConfigError: The engine is asked for over a bridge, a comparison without one, or an algorithm without training.
    """
    has_bridge = bool(bridge_urls(options.bridge_url))
    if options.engine and has_bridge:
        raise ConfigError(ENGINE_IS_EMBEDDED)
    if options.training or options.evaluation:
        others = {
            "--bridge-url": has_bridge,
            "--engine": options.engine,
            "--num-envs": options.num_envs != 1,
            "--target": options.target != DEFAULT_TARGET,
        }
        wrong = [flag for flag, is_given in others.items() if is_given]
        if wrong:
            raise ConfigError(
                "--training and --evaluation drive cars of their own in the embedded simulator, and have no target; "
                f"leave out {' and '.join(wrong)}"
            )
    if options.algorithm is not None and not options.training:
        raise ConfigError("--algorithm says what --training measures; add --training")
    if options.algorithm is not None and options.evaluation:
        raise ConfigError("--evaluation measures a network of PPO; leave out --algorithm, or --evaluation")
    if options.compare and not has_bridge:
        raise ConfigError("--compare needs a bridge to compare with; add --bridge-url")
