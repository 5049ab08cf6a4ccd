"""The review page holds the contract of every component, serves while a run waits, and ends when it is cancelled."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import jrh_review.plugin
import pytest
from attrs import evolve
from jrh.store.run_store import Store
from jrh_review.options import Review
from jrh_review.review_stage import ReviewStage
from jrh_testing import SectionContract, StageContract
from jrh_testing.reports import empty_report


class Work:
    """The part of a run that the page needs."""

    wait = True
    log = SimpleNamespace(warning=print)

    def __init__(self, store: Store, said: asyncio.Queue[str]) -> None:
        self.store, self.run_dir = store, store.path.parent
        self.progress = SimpleNamespace(say=said.put_nowait)
        self.summary = SimpleNamespace(tests_of_tasks=())


def test_the_page_is_served_until_the_stage_is_cancelled(tmp_path: Path) -> None:
    async def waited(store: Store) -> None:
        said: asyncio.Queue[str] = asyncio.Queue()
        stage: Any = ReviewStage(Review(names=("ann",)))
        serving = asyncio.ensure_future(stage.serve(Work(store, said)))
        address = (await said.get()).removeprefix("Review: ")
        with await asyncio.to_thread(urlopen, address) as answer:
            assert answer.status == 200
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        with pytest.raises(URLError, match="refused"):
            await asyncio.to_thread(urlopen, address)

    with closing(Store.open(tmp_path / "run", "suite")) as store:
        asyncio.run(asyncio.wait_for(waited(store), 30))


class TestCaseList(StageContract):
    plugin = jrh_review.plugin
    component = "case-list"


class TestReview(StageContract):
    plugin = jrh_review.plugin
    component = "review"


class TestReviewOrder(StageContract):
    plugin = jrh_review.plugin
    component = "review-order"


SHARE = {
    "estimate": 0.5,
    "interval": {"low": 0.2, "high": 0.8, "level": 0.95, "method": "wilson"},
    "n": 4,
    "why": "",
}
UNKNOWN = {"estimate": None, "interval": None, "n": 0, "why": "no case"}
DECIDED = {
    "tests": [
        {
            "task": "task",
            "test": "words",
            "queued": 4,
            "decided": 4,
            "counts": {"accept": 2, "edit": 1, "reject": 1},
            "shares": {"accept": SHARE, "edit": SHARE, "reject": UNKNOWN},
            "conflicts": 0,
            "weighted": True,
        }
    ],
    "agreement": [{"who": "all", "coefficient": "Krippendorff's alpha", "agreement": SHARE}],
    "validators": [{"task": "task", "test": "words", "validator": "same", "precision": SHARE, "recall": UNKNOWN}],
    "effects": [{"judge": "mini", "task": "task", "test": "words", "counted": SHARE, "made": UNKNOWN}],
    "outside": 1,
    "later": 2,
}


class TestReviewSection(SectionContract):
    plugin = jrh_review.plugin
    component = "review"
    reports = (evolve(empty_report(), stages={"review": DECIDED}),)


class TestPeopleLabels(StageContract):
    plugin = jrh_review.plugin
    component = "people-labels"
    options = {"labels_from": "labels.jsonl"}
    required_options = ("labels_from",)


class TestJudgedGold(StageContract):
    plugin = jrh_review.plugin
    component = "judged-gold"
    options = {"gold_from": "mini"}
    required_options = ("gold_from",)
