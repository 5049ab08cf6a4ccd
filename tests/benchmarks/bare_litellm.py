"""Bare litellm: `python -m tests.benchmarks.bare_litellm BASE_URL CALLS CONCURRENCY`."""

from __future__ import annotations

import asyncio
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_MODE"] = "PRODUCTION"

import litellm


async def main(base: str, calls: int, concurrency: int) -> None:
    """Send so many requests through `litellm.acompletion`."""
    feed = iter(range(calls))

    async def worker() -> None:
        for n in feed:
            content = f"Is the answer right? What is {n} + {n}? " + f"It is {2 * n}. " * 20
            answer = await litellm.acompletion(
                model="openai/bench",
                messages=[{"role": "user", "content": content}],
                api_base=base,
                api_key="none",
                max_tokens=10,
                num_retries=0,
                max_retries=0,
            )
            assert answer.choices[0].message.content

    await asyncio.gather(*(worker() for _ in range(concurrency)))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
