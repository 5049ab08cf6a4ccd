"""The bare aiohttp client: `python -m tests.benchmarks.bare_aiohttp BASE_URL CALLS CONCURRENCY`."""

from __future__ import annotations

import asyncio
import sys

import aiohttp


async def main(base: str, calls: int, concurrency: int) -> None:
    """Post so many chat requests and read the answers."""
    feed = iter(range(calls))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def worker() -> None:
            for n in feed:
                content = f"Is the answer right? What is {n} + {n}? " + f"It is {2 * n}. " * 20
                body = {"model": "bench", "messages": [{"role": "user", "content": content}], "max_tokens": 10}
                async with session.post(f"{base}/chat/completions", json=body) as response:
                    answer = await response.json()
                    assert answer["choices"][0]["message"]["content"]

        await asyncio.gather(*(worker() for _ in range(concurrency)))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
