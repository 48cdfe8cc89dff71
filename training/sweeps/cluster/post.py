"""Where runs on other machines and the sweep leave messages for one another; Ray makes an actor of it."""

import asyncio

from training.sweeps.pool import Event


class Post:
    """Keeps what the sweep has not read yet, and which runs it wants to end."""

    def __init__(self) -> None:
        self._events: list[tuple[int, Event]] = []
        self._has_events = asyncio.Event()
        self._to_end: dict[int, str] = {}

    async def tell(self, attempt: int, event: Event) -> None:
        """Leave a message for the sweep.

        Args:
            attempt: Number of the attempt at a run that it comes from.
            event: The message.
        """
        self._events.append((attempt, event))
        self._has_events.set()

    async def read(self) -> list[tuple[int, Event]]:
        """Wait for messages, and return all that are there, each with the attempt that it comes from."""
        await self._has_events.wait()
        self._has_events.clear()
        events, self._events = self._events, []
        return events

    async def end_early(self, attempt: int, why: str) -> None:
        """Have an attempt end."""
        self._to_end[attempt] = why

    async def why_end(self, attempt: int) -> str | None:
        """Return why an attempt is to end; None if it is not."""
        return self._to_end.get(attempt)
