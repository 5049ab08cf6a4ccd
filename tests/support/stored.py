"""Runs written straight into a store, as large or as hostile as a test needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import frozen
from jrh import REFERENCE, Case, Interval, Item, Measure, Record, Reply, Scale, ScaleKind, Status, Task
from jrh.document.convert import to_text
from jrh.plugins.loading import load_plugins
from jrh.running.declared_stages import add_to_report
from jrh.running.event_loop import run_to_end
from jrh.running.gathering import gather
from jrh.running.outcome import Ended
from jrh.running.stage_work import work_of_store
from jrh.running.stages import summary as reporting
from jrh.running.stages.stored import read_records
from jrh.store.records_table import TrialRow
from jrh.store.run_store import Store
from jrh.values import TaskSummary
from jrh.values.cases import Condition, Equals, Same
from jrh.version import __version__
from jrh_review.listed_cases import CaseList

LABELS = ("YES", "NO")
MEASURED = ("as-expected", "gold-accuracy", "agreement", "excess-disagreement", "missing")


@frozen(kw_only=True)
class Made:
    """How a run is made."""

    items: int
    tests: int = 3
    """Besides the reference."""
    judges: int = 2
    repeats: int = 2
    text: Callable[[str, int], str] = "{} {}".format
    """(what it is for, number) -> a text. Names of the same number have to be equal and those of others distinct."""

    def write(self, run_dir: Path) -> Path:
        """Write the run and return its directory."""
        store = Store.open(run_dir, self.text("suite", 0))
        try:
            store.items.write({self.task.name: self._items()})
            for number in range(self.tests + 1):
                cases = [self._case(number, item) for item in range(self.items)]
                writing = store.cases.writing(self.task.name, self._test(number))
                writing.put(cases, ())
                writing.finish("made")
            store.trials.replace("made", (row for row, _ in self._trials()))
            batch: list[tuple[Record, str | None, str | None]] = []
            for place, (_, record) in enumerate(self._trials()):
                reply = Reply(status=Status.OK, text=f"{record.rationale}\n{self.text('reply', place)}")
                batch.append((record, to_text(reply), None))
                if len(batch) == 5_000:
                    store.records.put(batch)
                    store.flush()
                    batch = []
            store.records.put(batch)
            store.flush()
            self._conclude(store)
        finally:
            store.close()
        return run_dir

    @property
    def task(self) -> Task:
        return Task(
            name=self.text("task", 0),
            instruction=self.text("instruction", 1),
            rubric=self.text("rubric", 2),
            scale=Scale(kind=ScaleKind.LABELS, labels=LABELS),
        )

    def _test(self, number: int) -> str:
        return self.text("test", number) if number else REFERENCE

    def _items(self) -> list[Item]:
        return [
            Item(
                id=self.text("item", n),
                fields={"request": self.text("request", n), "response": self.text("response", n)},
                gold=LABELS[n % 2],
                stratum=self.text("stratum", n % 5),
            )
            for n in range(self.items)
        ]

    def _case(self, test: int, item: int) -> Case:
        change = f" {self.text('change', item + test)}" if test else ""
        return Case(
            id=f"case-{test}-{item}",
            task=self.task.name,
            test=self._test(test),
            item_id=self.text("item", item),
            condition=Condition(family="f", variant=self.text("variant", test)) if test else Condition(),
            fields={"request": self.text("request", item), "response": f"{self.text('response', item)}{change}"},
            expectation=Same() if test else Equals(label=LABELS[item % 2]),
            label_map=dict(zip(LABELS, LABELS, strict=True)),
            gold=LABELS[item % 2],
            stratum=self.text("stratum", item % 5),
        )

    def _trials(self) -> Iterator[tuple[TrialRow, Record]]:
        place = 0
        for test in range(self.tests + 1):
            for item in range(self.items):
                for judge in range(self.judges):
                    for repeat in range(self.repeats):
                        yield self._trial(place, test, item, judge, repeat)
                        place += 1

    def _trial(self, place: int, test: int, item: int, judge: int, repeat: int) -> tuple[TrialRow, Record]:
        """Make a trial: every seventh differs from the gold label, every twentieth has no verdict."""
        name, trial, case = self.text("judge", judge), f"trial-{place}", f"case-{test}-{item}"
        missing = place % 20 == 3
        label = LABELS[(item + (place % 7 == 5)) % 2]
        record = Record(
            trial_id=trial,
            case_id=case,
            item_id=self.text("item", item),
            task=self.text("task", 0),
            test=self._test(test),
            family="f" if test else REFERENCE,
            variant=self.text("variant", test) if test else "",
            template="",
            option_order="",
            polarity="positive",
            strength=0.0,
            language="",
            temperature=None,
            stratum=self.text("stratum", item % 5),
            group="",
            judge=name,
            simulated=False,
            repeat=repeat,
            gold=LABELS[item % 2],
            expectation="same" if test else "equals",
            expected=None if test else LABELS[item % 2],
            status=Status.REFUSED if missing else Status.OK,
            presented=None if missing else label,
            canonical=None if missing else label,
            probability=None,
            cost=0.001,
            prompt_tokens=100,
            completion_tokens=20,
            latency=0.5,
            attempts=1,
            detail=self.text("detail", place) if missing else "",
            rationale="" if missing else self.text("rationale", place),
        )
        row = TrialRow(position=place, trial_id=trial, case_id=case, judge=name, repeat=repeat, occasion=repeat)
        return row, record

    def _conclude(self, store: Store) -> None:
        judges = tuple(self.text("judge", n) for n in range(self.judges))
        tests = tuple(self._test(n) for n in range(self.tests + 1))
        summary = reporting.Summary(
            suite=self.text("suite", 0),
            run_id="made",
            version=__version__,
            seed=0,
            level=0.95,
            resamples=100,
            tasks=(TaskSummary(task=self.task, items=self.items, labelled=self.items, gold={}),),
            judges=judges,
            simulated=(),
            tests=tests,
            components=(),
            notes=(self.text("note", 3),),
        )
        reporting.remember(store, summary)
        measures = tuple(
            Measure(
                name=name,
                judge=judge,
                task=self.task.name,
                test=test,
                estimate=0.6,
                interval=Interval(low=0.2, high=0.8),
                n_trials=self.items,
                n_items=self.items,
                n_clusters=self.items,
                missing={"refused": 2},
                bounds=(0.1, 0.9),
            )
            for name in MEASURED
            for judge in judges
            for test in tests
        )
        store.measures.replace("made", measures, ())
        records = read_records(store)
        work = work_of_store(load_plugins(), store, summary, records=records)
        add_to_report(gather(store, summary, records), work)  # keeps the findings
        run_to_end(lambda: CaseList().run(work))
        reporting.note_end(store, Ended(exit_code=3, message=self.text("ended", 4), complete=True))
