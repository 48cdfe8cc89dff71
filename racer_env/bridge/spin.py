"""Whether to poll for a reply before a blocking wait: it helps on an idle machine, and harms on a busy one."""

import os

POLL_S = 1e-3 if (os.cpu_count() or 1) > 1 else 0.0  # with a single processor, polling would only delay the bridge
INTERRUPTED_S = 2e-4  # between two looks; one takes a few microseconds unless another process has got the processor
SHORTEST_PAUSE, LONGEST_PAUSE = 16, 1024  # waits
CALM = 512  # good polls in a row, after which a pause is short again


class Spin:
    """Decides for each wait of a connection whether it polls.

    An idle processor is slow to wake up, so polling saves a fifth to a third of a step where replies come quickly.
    Where the peer is slow, or others need the processor, it only takes time from them. Both show in a poll: it ends
    without data, or is interrupted. Then some waits block at once, and twice as many if that happens again soon.
    """

    def __init__(self) -> None:
        self._pause = 0  # waits left that block
        self._next_pause = SHORTEST_PAUSE
        self._good = 0  # polls in a row

    def begin(self) -> float:
        """Return for how many seconds the next wait polls; 0 blocks at once."""
        if self._pause:
            self._pause -= 1
            return 0.0
        return POLL_S

    def end(self, was_good: bool) -> None:
        """Note whether a poll found data, and was not interrupted."""
        if was_good:
            self._good += 1
            if self._good == CALM:
                self._next_pause = SHORTEST_PAUSE
        else:
            self._pause, self._good = self._next_pause, 0
            self._next_pause = min(2 * self._next_pause, LONGEST_PAUSE)
