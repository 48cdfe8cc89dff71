"""One page about a training run: ``python -m training.report RUN``."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from training.checkpoints.writing import replacing
from training.console.arguments import LOGS_DIR
from training.console.messages import command_line, say
from training.console.parser import DONE, Parser, leave, run_script
from training.runs.folders import check_run_folder

REPORT_NAME = "report.html"


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="python -m training.report",
        description="Write one HTML page about a training run: learning curves, best laps, configuration, and the "
        "commands to go on. It holds everything itself and is read without the network.",
        examples=("python -m training.report ppo_run_1", "python -m training.report ppo_run_1 --output page.html"),
    )
    parser.add_argument("run", nargs="+", metavar="RUN", help="the run's name; training.compare is for several")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help=f"file of the page (default: {REPORT_NAME} in the run's logs)"
    )
    parser.add_argument("--models-dir", type=Path, help="folder of models (default: the one it was trained with)")
    parser.add_argument("--logs-dir", type=Path, default=LOGS_DIR, help="folder of logs (default: logs/)")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    if len(arguments.run) > 1:
        compare = command_line(["python", "-m", "training.compare", *arguments.run])
        parser.error(f"a report is of one run, got {len(arguments.run)}; compare them by: {compare}")
    return run_script(_report, arguments, needs=("matplotlib", "tensorboard", "jinja2", "pygame"))


def _report(arguments: argparse.Namespace) -> int:
    run = arguments.run[0]
    folder = check_run_folder(run, arguments.logs_dir)
    from training.reports.page import make_page  # Matplotlib and TensorBoard take 1 s to load

    path = arguments.output or folder / REPORT_NAME
    page = make_page(run, arguments.logs_dir, arguments.models_dir)
    with replacing(path) as beside:
        beside.write_text(page, encoding="utf-8", errors="backslashreplace")
    say(f"saved {path} ({path.stat().st_size / 1024:,.0f} KB); open it in a browser")
    return DONE


if __name__ == "__main__":
    leave(main())
