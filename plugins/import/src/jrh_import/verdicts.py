"""Turn rows into records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from attrs import evolve, frozen
from jrh import REFERENCE, JrhError, Polarity, Record, Status, Task, content_id
from jrh.text import clean_text
from jrh.values import ImportedLog
from jrh_interchange import Problems, Row, check_columns, imported_record, read_order, read_polarity

from jrh_import.covariates import Covariates
from jrh_import.mapping import Decision, ImportFile, Value
from jrh_import.tables import Table
from jrh_import.targets import NUMBERS, TRUTHS, number, truth

_LONGEST = 600
"""Characters of a message: it quotes the table, which may hold anything."""
_ROW = "\0row"
"""Name of a column that no file has: the number of the row."""
_NEEDED = ("item", "judge", "label")
_STATUSES = tuple(status.value for status in Status)


def read_verdicts(table: Table, mapping: ImportFile, tasks: Sequence[Task]) -> ImportedLog:
    """Make one record per decision, row by row.

    Raises:
        SuiteError: Columns are missing or cells cannot be read; all are listed.
    """
    meanings = [_Meaning.of(mapping, decision, table, tasks) for decision in mapping.decisions]
    records: list[Record] = []
    origins: list[str] = []
    problems: dict[str, list[str]] = {}
    for position, row in enumerate(table.rows, start=1):
        if mapping.number_items:
            row = evolve(row, values={**row.values, _ROW: f"row-{position}"})  # noqa: PLW2901 - the row, with a name
        for meaning in meanings:
            try:
                records.append(meaning.record(row))
                origins.append(row.place)
            except JrhError as error:
                # By message: a wrong column is one mistake, not one per row.
                problems.setdefault(str(error), []).append(row.place)
    report = Problems()
    for message, places in problems.items():
        rows = f" ({len(places):,} rows)" if len(places) > 1 else ""
        report.add(f"{clean_text(message, _LONGEST)}{rows}", source=places[0])
    report.raise_any()
    numbered = _number_repeats(records) if mapping.count_repeats else records
    return ImportedLog(tasks=tuple(tasks), records=tuple(numbered), origins=tuple(origins))


@frozen(kw_only=True)
class _Meaning:
    """What the columns mean to one decision."""

    columns: Mapping[str, str]
    values: Mapping[str, Value]
    mapping: ImportFile
    tasks: Mapping[str, Task]
    covariates: Mapping[str, Covariates]
    """By task."""

    @classmethod
    def of(cls, mapping: ImportFile, decision: Decision, table: Table, tasks: Sequence[Task]) -> _Meaning:
        columns, values = mapping.meanings(decision)
        needed = _NEEDED if mapping.task is not None else ("task", *_NEEDED)
        if mapping.number_items:
            columns = {**columns, "item": _ROW}
        absent = [name for name in needed if name not in columns and name not in values]
        if absent:
            raise JrhError(f"`columns` or `values` must give the {' and the '.join(absent)} of a verdict")
        # It would be ignored, and all rows would count for the one task.
        if mapping.task is not None and ("task" in columns or "task" in values):
            raise JrhError("a column or value gives the task; describe the tasks by name in `tasks` instead of `task`")
        # The number of the row is a column that the table does not have.
        named = [(f"columns.{target}", column) for target, column in columns.items() if column != _ROW]
        check_columns(named, table.columns)
        return cls(
            columns=columns,
            values=values,
            mapping=mapping,
            tasks={task.name: task for task in tasks},
            covariates={task.name: Covariates.of(mapping.covariates, table, task) for task in tasks},
        )

    def record(self, row: Row) -> Record:
        cells: dict[str, Any] = {
            **{target: str(value) for target, value in self.values.items()},
            **{target: row[column] for target, column in self.columns.items() if column in row.values},
        }
        # An empty cell is unknown, so the default counts. Only an empty label says something: there is no verdict.
        known = {target: value for target, value in cells.items() if value != "" or target == "label"}
        task = self._task(known.pop("task", ""))
        for target, read in self._readers(task).items():
            if target in known:
                try:
                    known[target] = read(str(known[target]))
                except JrhError as error:
                    where = f"column '{self.columns[target]}'" if target in self.columns else f"values.{target}"
                    raise JrhError(f"{where}: {error}") from None
        if self.mapping.tests:
            known["test"] = self._test(known, task)
        numbers: dict[str, Any] = {target: number(target, known.pop(target)) for target in NUMBERS if target in known}
        truths: dict[str, Any] = {target: truth(target, known.pop(target)) for target in TRUTHS if target in known}
        label, status = self._verdict(known.pop("label", ""), known.pop("status", None), task)
        for target in ("gold", "expected"):
            if target in known:
                known[target] = self._label(known[target], task)
        if self.mapping.layout == "records":
            # Records without an expectation expect nothing; do not infer one.
            known.setdefault("expectation", "")
        known_of_item = self.covariates[task.name].values(row)
        if known_of_item:
            known["covariates"] = known_of_item
        return imported_record(
            task=task,
            item_id=known.pop("item", ""),
            judge=known.pop("judge", ""),
            label=label,
            status=status,
            presented=self.mapping.presented,
            **{"simulated": self.mapping.simulated, **truths},
            **known,
            **numbers,
        )

    def _readers(self, task: Task) -> Mapping[str, Callable[[str], str]]:
        """Return what puts option order and polarity into the words of records."""
        return {
            "option_order": lambda text: read_order(text, task, self.mapping.orders),
            "polarity": lambda text: read_polarity(text, self.mapping.polarities),
        }

    def _test(self, known: Mapping[str, Any], task: Task) -> str:
        """Return the one test that the row's cells assign it to; `reference` where all of them say so."""
        assigned: dict[str, str] = {}
        for target, tests in self.mapping.tests.items():
            # Keys count by what they mean: `AB`, `ab` and `original` are one.
            read = self._readers(task).get(target, str)
            known_tests = {read(text): test for text, test in tests.items()}
            text = self._key(target, known, tests, task)
            if text not in known_tests:
                raise JrhError(f"tests.{target} has no test for '{text}'; it has {', '.join(known_tests)}")
            assigned[target] = known_tests[text]
        # A row that is unchanged in one respect and changed in another belongs to the test of the change.
        changed = {target: test for target, test in assigned.items() if test != REFERENCE}
        if len(set(changed.values())) > 1:
            assignments = " and ".join(f"tests.{target} says '{test}'" for target, test in changed.items())
            raise JrhError(f"the row belongs to several tests: {assignments}; a column `test` can name the combination")
        return next(iter(changed.values()), REFERENCE)

    def _key(self, target: str, known: Mapping[str, Any], tests: Mapping[str, str], task: Task) -> str:
        """Return the text that `tests` is asked about; an empty cell is the unchanged question."""
        text = str(known.get(target, ""))
        if text or "" in tests:
            return text
        return {"option_order": "".join(task.scale.options), "polarity": Polarity.POSITIVE.value}.get(target, "")

    def _task(self, name: str) -> Task:
        if self.mapping.task is not None:
            return next(iter(self.tasks.values()))
        if name not in self.tasks:
            close = get_close_matches(name, self.tasks, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else "."
            raise JrhError(f"task '{name}' is not in `tasks`{hint} Available: {', '.join(self.tasks)}")
        return self.tasks[name]

    def _verdict(self, text: str, status: str | None, task: Task) -> tuple[str | None, Status | None]:
        if status is not None and status not in _STATUSES:
            raise JrhError(f"'{status}' is not a status; available: {', '.join(_STATUSES)}")
        if status not in (None, Status.OK.value):
            return None, Status(status)
        bare = text.strip()
        # Before the labels: a text may be both, and the user listed it as missing.
        if bare in self.mapping.missing:
            return None, self.mapping.missing[bare]
        if not bare:
            return None, Status.UNPARSABLE
        label = self._label(text, task)
        # Not by default: a wrong mapping of labels would become missing verdicts without an error.
        if label not in task.scale and self.mapping.off_scale == "status":
            return None, Status.OFF_SCALE
        return label, Status.OK

    def _label(self, text: str, task: Task) -> str:
        """Return the label that a text maps to; unknown text is returned unchanged and later reported."""
        if text in self.mapping.labels:
            return self.mapping.labels[text]
        return task.scale.match(text) or text


def _number_repeats(records: list[Record]) -> list[Record]:
    counts: Counter[tuple[str, str]] = Counter()
    numbered = []
    for record in records:
        # By case and judge: the same question to the same judge.
        repeat = counts[record.case_id, record.judge]
        counts[record.case_id, record.judge] += 1
        numbered.append(evolve(record, repeat=repeat, trial_id=content_id(record.case_id, record.judge, repeat)))
    return numbered
