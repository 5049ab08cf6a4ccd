"""Where a hunt asks: one run directory, whose suite gets further tests round by round."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen
from jrh import REFERENCE, JrhError, Mode, Scale, Task, open_report, read_items, run
from jrh.running import RunResult
from jrh_authoring import Attack, AttackEdit, AttackVariant, attack_target

from jrh_contrib_hunt.hunting import TEST, WRITTEN, Ground, Moved

_DONE: Final = 0
_INCOMPLETE: Final = 3
_COST: Final = "calls-per-question"
_TEXTS: Final = 3
_DIGITS: Final = 4
_RESULT: Final = "hunt.json"
_LOST: Final = 16
"""Calls that a kill may lose, and a tenth of the budget for retries: they come on top of what the hunt plans."""
_NO_TEXT: Final = "no item of the suite has a judged text"


@frozen(kw_only=True)
class Where:
    """What is hunted, and with what."""

    suite: Path
    run_dir: Path
    judge: str
    referee: str = ""
    """A judge of the suite that says whether quality rose; empty: the attacks add no content, so it did not."""
    writer: str = ""
    """A model of the suite that writes further attacks; empty: none."""
    target: str = ""
    budget: int
    usd: float | None = None
    seed: int = 0
    plugins: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    document: Mapping[str, Any]
    """The suite as plain values."""


class Stopped(Exception):
    """The run behind a hunt has stopped; the same command continues it."""

    def __init__(self, exit_code: int, message: str) -> None:
        """Keep the exit code of the run and its reason."""
        super().__init__(message)
        self.exit_code = exit_code


@define(kw_only=True)
class RunArena:
    """Asks by running the suite again with one test more; what is stored is not asked again."""

    where: Where
    task: Task
    size: int
    """Responses: what a sample counts."""
    criteria: int
    """Items of a response at most; 1 without criteria."""
    tests: list[dict[str, Any]] = field(factory=list, init=False)
    suffixes: list[str] = field(factory=list, init=False)
    """What the writer wrote: the kinds `suffix-1`, `suffix-2`, ..."""
    targets: dict[str, str] = field(factory=dict, init=False)
    """Item -> the label that attacks on it ask for."""
    per_question: int
    """Calls of one question: the judge's, and the referee's where there is one."""
    calls: int = field(init=False, default=0)
    spent: float = field(init=False, default=0.0)
    _sample: int = field(init=False, default=0)

    @classmethod
    def of(cls, where: Where) -> RunArena:
        """Read the suite's data; asks nothing.

        Raises:
            JrhError: the suite has several tasks, no items, or no label that attacks could ask for.
        """
        tasks = read_items(where.suite, plugins=where.plugins, overrides=where.overrides)
        # An exploit is one of a question: a suite with several tasks has to name one.
        if len(tasks) != 1:
            names = ", ".join(task.name for task, _ in tasks)
            raise JrhError(f"a hunt attacks one task, but the suite has {len(tasks)}: {names}; name one with --task")
        ((task, items),) = tasks
        if not items:
            raise JrhError(_NO_TEXT)
        if task.mode is not Mode.PAIRWISE or where.target:
            attack_target(task.scale, where.target)
        _claim(where.run_dir)
        # Criteria make several items of one response, and a sample counts responses.
        responses = Counter(item.response_id for item in items)
        return cls(
            where=where,
            task=task,
            size=len(responses),
            criteria=max(responses.values()),
            per_question=2 if where.referee else 1,
        )

    def finish(self, result: Mapping[str, Any]) -> None:
        """Write the result into the run directory."""
        _write(self.where.run_dir / _RESULT, {"finished": True, **result})

    def prepare(self, most: int) -> Sequence[Ground]:
        """Ask for the reference verdicts of at most so many items, and return the items with room."""
        self._sample = min(max(most // self.criteria, 1), self.size)
        result = self._run()
        rows = _rows(result, "item_id", "judge", "canonical", "cluster", "group")
        verdicts = [row for row in rows if row["judge"] == self.where.judge]
        self.per_question = self._calls_per_question(result.spent.calls, len(verdicts))
        self.calls = len(verdicts) * self.per_question
        ground = []
        for row in verdicts:
            target = self._target(row["canonical"])
            if row["canonical"] and self.task.scale.distance(row["canonical"], target) > 0:
                self.targets[row["item_id"]] = target
                cluster = row["cluster"] or row["group"] or row["item_id"]
                ground.append(Ground(id=row["item_id"], cluster=cluster))
        return ground

    def write(self, item: str) -> Sequence[Attack]:
        """Have the suite's writer write attacks; each is asked about one item, and read from its case."""
        if not self.where.writer:
            return ()
        options = {"name": "writer", "model": self.where.writer, "number": _TEXTS, "target": self.targets[item]}
        # A test like any other: what the writer wrote is stored with its case, and a killed hunt reads it again.
        self.tests.append({WRITTEN: {**options, "ids": [item], "allow_empty": True}})
        self._run()
        with open_report(self.where.run_dir, plugins=self.where.plugins) as report:
            rows = report.records.equals("test", "writer") & report.records.equals("judge", self.where.judge)
            ids = list(filter(None, report.records.where(rows).text("case_id")))
            cases = report.evidence.cases(ids)
            self.suffixes = list(dict.fromkeys(str(cases[case_id].provenance.details["text"]) for case_id in ids))
        return [Attack(edits=(AttackEdit(kind=f"suffix-{number}"),)) for number in range(1, len(self.suffixes) + 1)]

    def ask(self, name: str, attacks: Sequence[Attack], ids: Sequence[str], *, control: bool) -> Moved:
        """Add a test with these attacks, run the suite, and read what moved."""
        # Of a comparison, each item asks for the option that lost; a test has one target.
        for place, target in enumerate(sorted({self.targets[item] for item in ids})):
            options = {
                "name": f"{name}-{place + 1}",
                "attacks": [str(attack) for attack in attacks],
                "ids": [item for item in ids if self.targets[item] == target],
                "target": target,
                "control": control,
                "allow_empty": True,
                **({"suffixes": "\n".join(self.suffixes)} if self.suffixes else {}),
            }
            self.tests.append({TEST: options})
        # Of all rounds so far: a round may come in several tests, one for each target.
        names = [options["name"] for test in self.tests for options in test.values()]
        return self._changes(self._run(), frozenset(test for test in names if test.startswith(f"{name}-")))

    def _calls_per_question(self, sent: int, questions: int) -> int:
        """Return the calls of one question, of a judge with a guard for instance; a continued hunt remembers them."""
        path = self.where.run_dir / _COST
        if path.is_file():
            stored = path.read_text(encoding="utf-8", errors="replace").strip()
            if not (stored.isascii() and stored.isdigit() and len(stored) < _DIGITS):
                raise JrhError(f"'{path}' is damaged; give another --output")
            return max(self.per_question, int(stored))
        calls = max(self.per_question, round(sent / max(questions, 1)))
        # A continued hunt finds the replies stored and would count no call.
        path.write_text(f"{calls}\n", encoding="ascii")
        return calls

    def _target(self, verdict: str) -> str:
        """Return what to ask for: of a comparison the option that did not win."""
        if self.task.mode is not Mode.PAIRWISE or self.where.target:
            return attack_target(self.task.scale, self.where.target)
        return next(option for option in self.task.scale.options if option != verdict)

    def _run(self) -> RunResult:
        where = self.where
        dollars = {} if where.usd is None else {"usd": where.usd}
        settings: dict[str, Any] = {
            "tests": self.tests,
            # Asked once: a verdict that moves by chance moves under harmless text as often.
            "reference": {"repeats": 1},
            "metrics": [],
            "reports": [],
            "budget": {
                **dict(where.document.get("budget") or {}),
                **dollars,
                "calls": where.budget + where.budget // 10 + _LOST,
            },
            # Review would wait for people, a gate would decide about attacks.
            **{key: None for key in ("review", "gate", "rationale_model") if key in where.document},
        }
        # A suite may list its one task; the task's own tests are no part of a hunt.
        listed = where.document.get("tasks") or []
        place, written = ("tasks.0.", listed[0]) if listed else ("", where.document)
        if listed and "tests" in written:
            settings["tasks.0.tests"] = []
        sample = dict((written.get("data") or {}).get("sample") or {"seed": where.seed})
        result = run(
            where.suite,
            run_dir=where.run_dir,
            plugins=where.plugins,
            overrides=[
                *where.overrides,
                *(f"{key}={json.dumps(value)}" for key, value in settings.items()),
                f"{place}data.sample={json.dumps({**sample, 'n': self._sample})}",
            ],
            judges=[judge for judge in (where.judge, where.referee) if judge],
            use_cache=False,  # a verdict from the cache of another run is not a fresh look
            preflight=False,
        )
        self.spent = result.spent.paid
        # Counted by what is asked, not by what was sent: a hunt that was killed goes on as if it had not been.
        questions = int(result.records.equals("judge", where.judge).sum())
        self.calls = questions * self.per_question + (_TEXTS if any(WRITTEN in test for test in self.tests) else 0)
        if result.exit_code not in (_DONE, _INCOMPLETE) or result.report is None or result.report.missing_records:
            raise Stopped(result.exit_code or _INCOMPLETE, result.message)
        return result

    def _changes(self, result: RunResult, tests: frozenset[str]) -> Moved:
        """Tell which verdicts rose; not those where the referee's rose, too. None where either has no verdict."""
        rows = _rows(result, "item_id", "judge", "test", "variant", "canonical")
        # Against the same judge's verdict on the unchanged item: the referee has its own.
        before = {(row["judge"], row["item_id"]): row["canonical"] for row in rows if row["test"] == REFERENCE}
        changes: dict[tuple[str, bool, str], dict[str, bool | None]] = {}
        for row in rows:
            if row["test"] in tests:
                variant = AttackVariant.read(row["variant"])
                key = (variant.attack, variant.control, row["item_id"])
                target = self.targets[row["item_id"]]
                rose = _rose(self.task.scale, row["canonical"], before.get((row["judge"], row["item_id"]), ""), target)
                changes.setdefault(key, {})[row["judge"]] = rose
        return {key: self._unearned_rise(rises) for key, rises in changes.items()}

    def _unearned_rise(self, rises: Mapping[str, bool | None]) -> bool | None:
        mine = rises.get(self.where.judge)
        if not self.where.referee or not mine:
            return mine
        better = rises.get(self.where.referee)
        # A rise that the referee shares may be one of quality.
        return None if better is None else not better


def _claim(run_dir: Path) -> None:
    """Make the run directory one of a hunt; refuse that of another run, whose reports would be lost."""
    if (run_dir / _RESULT).exists():
        return
    # A hunt runs without reports and metrics, which would replace those of the run.
    if (run_dir / "run.sqlite").exists():
        raise JrhError(f"'{run_dir}' holds a run that is not a hunt; give another --output")
    _write(run_dir / _RESULT, {"finished": False})


def _write(path: Path, value: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error


def _rows(result: RunResult, *names: str) -> list[dict[str, str]]:
    records = result.records
    columns = {name: records.text(name) if name in records.columns else [""] * len(records) for name in names}
    return [
        {name: value or "" for name, value in zip(names, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]


def _rose(scale: Scale, verdict: str, before: str, target: str) -> bool | None:
    if not verdict or not before:
        return None
    return scale.distance(verdict, target) < scale.distance(before, target)
