"""Whether to poll for a reply before a blocking wait: it helps on an idle machine, and harms on a busy one."""

import os

# As long as a reply for dozens of cars may take. With a single processor, polling would only delay the bridge.
POLL_S = 5e-4 if (os.cpu_count() or 1) > 1 else 0.0
SAVED_S = 5e-5  # by a poll that finds data: about what it takes to wake an idle processor
MOST_SAVED_S = 4e-3  # about what another process keeps a processor for
SHORTEST_PAUSE, LONGEST_PAUSE = 16, 1024  # waits
CALM = 512  # polls that pay, after which a pause is short again


class Spin:
    """Decides for each wait of a connection whether it polls: for as long as that saves more time than it takes.

    An idle processor is slow to wake up, so polling saves a third to a half of a step where replies come quickly.
    Where the peer is slow, or others need the processor, it only takes time from them: a poll ends without data, or
    late, after a pause that another process has caused. Such a poll is paid for from what others have saved. If that
    is not enough, some waits block at once, and twice as many each time that this happens again soon.
    """

    def __init__(self) -> None:
        self._saved_s = 0.0
        self._good = 0  # polls since the last pause
        self._pause = 0  # waits left that block
        self._next_pause = SHORTEST_PAUSE

    def begin(self) -> float:
        """Return for how many seconds the next wait polls; 0 blocks at once."""
        if self._pause:
            self._pause -= 1
            return 0.0
        return POLL_S

    def end(self, found: bool, took_s: float) -> None:
        """Note whether a poll has found data, and how long it took."""
        if found and took_s <= POLL_S:
            self._saved_s = min(self._saved_s + SAVED_S, MOST_SAVED_S)
            self._good += 1
            if self._good == CALM:
                self._next_pause = SHORTEST_PAUSE
            return
        self._saved_s -= took_s
        if self._saved_s < 0:
            self._saved_s, self._good = 0.0, 0
            self._pause = self._next_pause
            self._next_pause = min(2 * self._next_pause, LONGEST_PAUSE)
