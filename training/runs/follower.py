"""Whoever follows a run from outside while it trains."""

from typing import Any, Protocol


class Follower(Protocol):
    """Is told of a run's evaluations, and may end the run."""

    def evaluated(self, figures: dict[str, Any]) -> None:
        """Take the figures of an evaluation, as they are in the run's log of them."""

    def why_end(self) -> str | None:
        """Return why the run is to end now, None if it is not; asked after every step of all cars."""
