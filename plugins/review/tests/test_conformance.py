"""The review page holds the contract of every component, serves while a run waits, and ends when it is cancelled."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib.error import URLError
from urllib.request import urlopen

import jrh_review.plugin
import pytest
from jrh.plugins import DeciderSpec
from jrh.plugins.specs import Spec
from jrh_testing import StageContract
from jrh_testing.contracts.base import ComponentContract


class TestPage(ComponentContract):
    plugin = jrh_review.plugin
    component = "page"
    role: ClassVar[type[Spec]] = DeciderSpec

    def test_it_serves_until_it_is_cancelled(self, base: Path) -> None:
        review = SimpleNamespace(people=("ann",))

        async def waited() -> None:
            page: Any = self.built(base)
            said: asyncio.Queue[str] = asyncio.Queue()
            serving = asyncio.ensure_future(page.decide(SimpleNamespace(), base, review, said.put_nowait))
            address = (await said.get()).removeprefix("Review: ")
            with await asyncio.to_thread(urlopen, address) as answer:
                assert answer.status == 200
            serving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await serving
            with pytest.raises(URLError, match="refused"):
                await asyncio.to_thread(urlopen, address)

        asyncio.run(asyncio.wait_for(waited(), 30))


class TestCaseList(StageContract):
    plugin = jrh_review.plugin
    component = "case-list"


class TestReview(StageContract):
    plugin = jrh_review.plugin
    component = "review"
