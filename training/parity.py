"""See whether a bridge and the embedded simulator are one game: ``python -m training.parity --bridge-url URL``."""

from collections.abc import Sequence

from training.console.bridges import only_one, open_bridge
from training.console.equal_bridges import remember
from training.console.messages import say
from training.console.parser import ANSWER_IS_NO, DONE, leave, run_script
from training.console.warm_up import WarmUp
from training.engines.parity_options import BRIDGE_DEFAULT, ParityOptions, load_own_tracks, parse_options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    return run_script(_compare, parse_options(argv))


def _compare(options: ParityOptions) -> int:
    tracks = load_own_tracks(options)
    with open_bridge(options, default=BRIDGE_DEFAULT, any_physics=True) as bridges:
        bridge = only_one(bridges)
        with WarmUp(tracks[0]):
            from training.engines.parity import compare_track, format_comparison, has_same_physics  # loads Numba
        is_equal = has_same_physics(bridge)
        for track in tracks:
            result = compare_track(bridge, track, options.episodes, options.seed)
            is_equal &= result.is_equal
            for line in format_comparison(track, result):
                say(line)
    say("equal: the bridge and the simulator are one game" if is_equal else "different")
    if bridge.peer.physics is None:
        record = remember(bridge.urls[0], is_equal)
        if is_equal:
            say(f"drivers trained there count as of these physics, as {record} remembers")
    return DONE if is_equal else ANSWER_IS_NO


if __name__ == "__main__":
    leave(main())
