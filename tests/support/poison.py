"""A report that holds hostile texts in every field that is displayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen
from jrh import Case, Interval, Measure, Prompt, Record, RecordTable, Reply, RunReport, Scale, ScaleKind, Status, Task
from jrh.values import Attrition, ComponentUsed, CostLine, FaultLine, TaskSummary
from jrh.values.cases import Provenance

_WHOLE = (
    *("as-expected", "gold-accuracy", "agreement", "excess-disagreement", "accuracy-change", "missing", "flip-rate"),
    *("gold-kappa", "spearman", "mean-absolute-error", "jss", "jss-raw", "position-bias", "self-kappa"),
    *("false-positive-rate", "false-negative-rate", "rerun-disagreement", "brier", "calibration-error", "interaction"),
)
_TOGETHER = (
    "krippendorff-alpha",
    "panel-accuracy",
    "best-trio",
    "effective-judges",
    "dependability",
    "cheapest-design",
)
_PARTS = {"variance": "component", "panel-accuracy": "without", "error-correlation": "judges", "best-trio": "rule"}


@frozen(kw_only=True)
class Poisoned:
    """Hands out the texts; every field begins at another one, so that each meets each."""

    texts: Sequence[str]

    def at(self, field: int, place: int) -> str:
        """Return the text of a field at a place."""
        return self.texts[(place + 7 * field) % len(self.texts)]

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        """Make the cases behind the records."""
        return {case_id: self._case(case_id) for case_id in case_ids}

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        """Make the replies behind the records."""
        return {
            trial_id: Reply(status=Status.OK, text=self.at(20, int(trial_id.split("-")[1]))) for trial_id in trial_ids
        }

    def _case(self, case_id: str) -> Case:
        kind, number = case_id.split("-")
        place = int(number)
        changed = kind == "moved"
        return Case(
            id=case_id,
            task=self.texts[0],
            test="test",
            item_id="item",
            fields={self.at(21, place): self.at(22, place), "response": f"{changed} {self.at(23, place)}"},
            prompt=Prompt(name="prompt", user=f"{changed} {self.at(24, place)}", system=self.at(25, place)),
            label_map={},
            provenance=Provenance(),
        )

    def report(self) -> RunReport:
        """Return the report: a judge, a test, an item and so on for every text."""
        every = range(len(self.texts))
        every_text = " ".join(self.texts)
        judges = tuple(self.texts)
        scale = Scale(kind=ScaleKind.ORDINAL, labels=tuple(f"{place} {text}" for place, text in enumerate(self.texts)))
        tasks = [Task(name=text, instruction=text, rubric=text, scale=scale) for text in self.texts]
        return RunReport(
            suite=every_text,
            run_id=every_text,
            version=every_text,
            seed=7,
            level=0.95,
            tasks=tuple(
                TaskSummary(task=task, items=9, labelled=9, gold=dict.fromkeys(scale.labels, 1)) for task in tasks
            ),
            judges=judges,
            simulated=frozenset(judges[::2]),
            tests=("reference", *(self.at(1, place) for place in every)),
            measures=tuple(self._measures()),
            attrition=tuple(
                Attrition(
                    task=self.at(2, place),
                    test=self.at(3, place),
                    items=9,
                    drafted=9,
                    kept=7,
                    rejected={self.at(4, place): 1},
                    skipped={self.at(5, place): 1},
                )
                for place in every
            ),
            costs=tuple(self._costs()),
            faults=tuple(
                FaultLine(model=self.at(6, place), kind=self.at(7, place), attempts=2, final=1) for place in every
            ),
            components=tuple(
                ComponentUsed(
                    role=self.at(8, place),
                    name=self.at(9, place),
                    component=self.at(10, place),
                    version=self.at(11, place),
                    options={self.at(12, place): self.at(13, place), "path": f"{self.at(14, place)}.csv"},
                    simulated=place % 2 == 0,
                )
                for place in every
            ),
            planned=4 * len(self.texts),
            missing_records=len(self.texts),
            notes=tuple(self.texts),
            records=RecordTable.from_records(self._records(scale)),
            evidence=self,
        )

    def _measures(self) -> Iterator[Measure]:
        for place, judge in enumerate(self.texts):
            for test in ("reference", self.at(1, place)):
                common = {
                    "judge": judge,
                    "task": self.texts[0],
                    "test": test,
                    "interval": Interval(low=0.4, high=0.9, method=self.at(15, place)),
                    "n_trials": 9,
                    "n_items": 9,
                    "missing": {self.at(16, place): 1},
                    "flags": (self.at(17, place),),
                    "note": self.at(18, place),
                }
                for name in _WHOLE:
                    yield Measure(name=name, estimate=0.4 + 0.001 * place, **common)
                yield Measure(name="jss", estimate=0.5, cell={"pair": self.at(19, place)}, **common)
                stated = common | {"note": f"mean stated probability 0.{place:03}" if place % 2 else self.at(18, place)}
                yield Measure(name="reliability", estimate=0.5, cell={"stated": self.at(19, place)}, **stated)
                for name in _TOGETHER:
                    yield Measure(
                        name=name,
                        estimate=0.5,
                        **(common | {"judge": "", "test": test if name in _TOGETHER[:4] else ""}),
                    )
                for name, key in _PARTS.items():
                    yield Measure(name=name, estimate=0.5, cell={key: self.at(19, place)}, **(common | {"judge": ""}))
            yield Measure(
                name="audit",
                judge=judge,
                task=self.at(1, place),
                estimate=1.0,
                cell={"problem": "constant-gold"},
                note=self.at(3, place),
            )

    def _costs(self) -> Iterator[CostLine]:
        for place, judge in enumerate(self.texts):
            for test in ("reference", self.at(1, place)):
                yield CostLine(
                    judge=judge, task=self.texts[0], test=test, trials=9, cost=0.01 * (place + 1), unknown=place % 2,
                    prompt_tokens=9, completion_tokens=9, tokens_unknown=0,
                )  # fmt: skip

    def _records(self, scale: Scale) -> Iterator[Record]:
        for place, judge in enumerate(self.texts):
            for test in ("reference", self.at(1, place)):
                moved = test != "reference"
                label = scale.labels[(place + moved) % len(scale.labels)]
                yield Record(
                    trial_id=f"trial-{place}-{moved}",
                    case_id=f"{'moved' if moved else 'reference'}-{place}",
                    item_id=self.at(26, place),
                    task=self.texts[0],
                    test=test,
                    family=test,
                    variant=self.at(27, place),
                    template=self.at(28, place),
                    option_order="",
                    polarity="positive",
                    strength=0.0,
                    language="",
                    temperature=None,
                    stratum=self.at(29, place),
                    group="",
                    judge=judge,
                    simulated=place % 2 == 0,
                    repeat=0,
                    gold=scale.labels[place],
                    expectation="same" if moved else None,
                    expected=None,
                    status=Status.OK,
                    presented=self.at(30, place),
                    canonical=label,
                    probability=None,
                    cost=0.01,
                    prompt_tokens=9,
                    completion_tokens=9,
                    latency=None,
                    attempts=1,
                    detail=self.at(31, place),
                    rationale=self.at(32, place),
                )
