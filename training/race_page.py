"""Make a page on which people race drivers in a browser: ``python -m training.race_page --model PATH``."""

from collections.abc import Sequence

from training.console.messages import say
from training.console.parser import leave, run_script
from training.console.warm_up import WarmUp
from training.pages.building import built_page
from training.pages.options import PageOptions, check_options, parse_options
from training.pages.serving import check_port
from training.pages.tracks import page_tracks

NEEDS = ("onnx", "onnxruntime")
KERNELS = ("training.algorithms.forward", "training.evaluation.counting")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_make, parse_options(argv), needs=NEEDS)


def _make(options: PageOptions) -> int:
    check_options(options)
    if options.serve and options.port is not None:
        check_port(options.port)
    tracks = page_tracks(options)
    built = built_page(say)
    with WarmUp(tracks[0], later=KERNELS):
        from training.pages.session import carry_out  # Numba takes 1 s to load, while the warm-up works
    return carry_out(options, tracks, built)


if __name__ == "__main__":
    leave(main())
