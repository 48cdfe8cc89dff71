"""Messages between runs and their sweep."""

import asyncio

from training.sweeps.cluster.post import Post
from training.sweeps.pool import Began


def test_a_reader_waits_for_messages() -> None:
    """And gets all that came since it last read, each once and in order."""

    async def talk() -> list[list[tuple[int, Began]]]:
        post = Post()
        reading = asyncio.create_task(post.read())
        await asyncio.sleep(0)
        assert not reading.done()
        await post.tell(1, Began("a"))
        first = await reading
        await post.tell(2, Began("b"))
        await post.tell(1, Began("c"))
        return [first, await post.read()]  # type: ignore[list-item]

    assert asyncio.run(talk()) == [[(1, Began("a"))], [(2, Began("b")), (1, Began("c"))]]


def test_a_run_learns_that_it_is_to_end() -> None:
    """By the number of the attempt: another one of the same run goes on."""

    async def ask() -> tuple[str | None, str | None]:
        post = Post()
        await post.end_early(1, "others were better")
        return await post.why_end(1), await post.why_end(2)

    assert asyncio.run(ask()) == ("others were better", None)
