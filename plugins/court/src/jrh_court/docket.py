"""Draw the cases of a court from a run, write them as a suite that `jrh label` shows, and read the rulings.

On every case two labels are shown, in random order and without a name: where judge and people disagree the labels of
both, where they agree theirs and another one that is mistaken for it. So no case tells by itself on which side it is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from errno import EEXIST, ENOTEMPTY
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import yaml
from attrs import evolve
from jrh import (
    Case,
    Item,
    JrhError,
    MetricContext,
    Mode,
    RunReport,
    Task,
    content_id,
    derive_seed,
    open_report,
    read_items,
)
from jrh.hashing import shuffled
from jrh.plugins import plain_value, read_value
from jrh.text import clean_text, count_noun
from jrh.values import GoldKind, option_field
from jrh_interchange import read_values
from jrh_measuring import compare_questions, is_named, read_trials, served_note
from jrh_stats import clustered_proportion

from jrh_court.cases import CourtCase, Docket, Limits, Ruling, content_of, question_of

_SUITE, _CASES, _DOCKET, _RULINGS = "suite.yaml", "cases.jsonl", "docket.json", "suite.labels.jsonl"
_TEXT: Final = 1_000_000
_PARTS: Final = 1_000
_SHOWN: Final = ("verdict_1", "verdict_2")
_QUESTION: Final = "Two verdicts are shown. Which of them does the rubric allow?"
_PEOPLE: Final = frozenset({"", *(kind.value for kind in (GoldKind.PEOPLE, GoldKind.ONE_PERSON, GoldKind.UNKNOWN))})
_FEWEST: Final = 2
"""Labels of a scale: on every case two are shown."""


def docket_directory(run: Path) -> Path:
    """Return where the docket of a run is kept: its own directory belongs to the run alone."""
    whole = run.resolve()
    # A run named by dots has no name of its own to put another one in place of.
    return (run.parent if run.name not in ("", "..") else whole.parent) / f"{whole.name}.court"


def has_docket(directory: Path) -> bool:
    """Return whether cases were drawn already."""
    return (directory / _DOCKET).exists()


def label_suite(directory: Path) -> Path:
    """Return the suite that `jrh label` shows to referees."""
    return directory / _SUITE


def make_docket(run: Path, directory: Path, *, judge: str, task: str, cases: int, seed: int) -> Docket:
    """Draw cases and write them.

    Args:
        run: directory of the run.
        directory: where the docket is written.
        judge: the judge; empty: the only one.
        task: the task; empty: the only one.
        cases: how many are drawn, half of them from agreements where there are as many.
        seed: of the draw and of the order of the verdicts.

    Raises:
        JrhError: it is open which judge or task is meant, the texts are not stored, no item has a verdict and a label,
            or a file cannot be written.
    """
    with open_report(run) as report:
        judge = _choose(judge, report.judges, run, "judge")
        task = _choose(task, [summary.task.name for summary in report.tasks], run, "task")
        asked = next(summary.task for summary in report.tasks if summary.task.name == task)
        items = {item.id: item for item in report.evidence.items().get(task, ())}
        decided, left_out = _read_verdicts(report, judge, asked, items)
        if len(asked.scale.labels) < _FEWEST or not decided:
            lost = ", ".join(f"{why} {count}" for why, count in left_out.items()) or "no verdict at all"
            raise JrhError(f"'{run}' has no item with a verdict of '{clean_text(judge)}' and a label ({lost})")
        docket = draw_docket(
            decided, asked.scale.labels, cases=cases, seed=seed, level=report.level, run=str(run),
            run_id=report.run_id, judge=judge, task=task, simulated=judge in report.simulated, left_out=left_out,
            notes=tuple(_notes(report, judge, task)), question=question_of(asked),
        )  # fmt: skip
    text = "".join(json.dumps(_case_line(asked, items[case.item], case)) + "\n" for case in docket.cases)
    docket = seal(docket, text)
    _write(directory, asked, text, docket)
    return docket


def _choose(wanted: str, known: Sequence[str], run: Path, what: str) -> str:
    if wanted in known or (not wanted and len(known) == 1):
        return wanted or known[0]
    start = f"'{run}' has no {what} '{clean_text(wanted)}'" if wanted else f"'{run}' has {count_noun(len(known), what)}"
    raise JrhError(f"{start}\nName one with --{what}: {', '.join(map(clean_text, known)) or 'none'}.")


def _read_verdicts(
    report: RunReport, judge: str, task: Task, items: Mapping[str, Item]
) -> tuple[list[CourtCase], dict[str, int]]:
    """Return the items with a verdict and a label, as cases without shown labels, and why the others are left out."""
    tasks = {summary.task.name: summary.task for summary in report.tasks}
    trials = read_trials(report.records, MetricContext(tasks=tasks))
    rows = np.flatnonzero(trials.reference & is_named(trials.judge, judge) & is_named(trials.task, task.name))
    counts = np.zeros((len(trials.item.names), len(trials.labels)), dtype=np.int64)
    there = rows[trials.label[rows] >= 0]
    np.add.at(counts, (trials.item.codes[there], trials.label[there]), 1)
    asked, first = np.unique(trials.item.codes[rows], return_index=True)
    left_out: Counter[str] = Counter()
    decided = []
    for item, row in zip(asked.tolist(), rows[first].tolist(), strict=True):
        name, votes = trials.item.names[item], counts[item]
        top = np.flatnonzero(votes == votes.max())
        if not votes.any():
            left_out["no verdict"] += 1
        elif len(top) > 1:
            left_out["tied verdicts"] += 1
        elif trials.gold[row] < 0:
            left_out["no label"] += 1
        elif name not in items:
            left_out["text not stored"] += 1
        else:
            decided.append(
                CourtCase(
                    id="",
                    item=name,
                    cluster=trials.cluster.names[trials.cluster.codes[row]],
                    judge=trials.labels[top[0]],
                    label=trials.labels[trials.gold[row]],
                    shown=("", ""),
                    content=content_of(items[name]),
                )
            )
    return decided, dict(left_out)


def _notes(report: RunReport, judge: str, task: str) -> Iterator[str]:
    if report.incomplete:
        yield "The run is not finished: only its verdicts so far count."
    sources = next(summary.gold_sources for summary in report.tasks if summary.task.name == task)
    if others := sorted(source for source in sources if source not in _PEOPLE):
        yield f"Some labels come from {', '.join(map(clean_text, others))}, not from people."
    if served := served_note(report.served, [judge]):
        yield served


def draw_docket(
    decided: Sequence[CourtCase], labels: Sequence[str], *, cases: int, seed: int, level: float, **about: Any
) -> Docket:
    """Draw cases from items with a verdict and a label.

    Args:
        decided: the items, without shown labels.
        labels: of the scale, two or more.
        cases: how many are drawn, half of them disagreements where there are as many on both sides.
        seed: of the draw and of the order of the verdicts.
        level: coverage of the intervals.
        about: further fields of the docket.
    """
    sides = [[case for case in decided if case.agrees is agreeing] for agreeing in (False, True)]
    half = min(len(sides[0]), max((cases + 1) // 2, cases - len(sides[1])))
    drawn = [
        *shuffled(sides[0], derive_seed(seed, "court", "disagreements"))[:half],
        *shuffled(sides[1], derive_seed(seed, "court", "agreements"))[: cases - half],
    ]
    mistaken = {
        label: [{case.label: case.judge, case.judge: case.label}[label] for case in sides[0] if label in case.pair]
        for label in labels
    }
    # Shuffled once more and numbered then: the number of a case says nothing of its side.
    numbered = tuple(
        _name_case(case, place, labels, mistaken, seed)
        for place, case in enumerate(shuffled(drawn, derive_seed(seed, "court", "cases")), start=1)
    )
    clusters: dict[str, list[bool]] = {}
    for case in decided:
        clusters.setdefault(case.cluster, []).append(not case.agrees)
    return Docket(
        seed=seed, level=level, agreements=len(sides[1]), disagreements=len(sides[0]), clusters=len(clusters),
        differ=share_of(clusters.values(), level), cases=numbered, **about,
    )  # fmt: skip


def share_of(clusters: Collection[Sequence[float]], level: float) -> Limits:
    """Return the share of an outcome with the limits of its interval, given the outcomes of every cluster."""
    share = clustered_proportion([*map(sum, clusters)], [*map(len, clusters)], level=level)
    assert share.value is not None
    return share.value, share.low or 0.0, 1.0 if share.high is None else share.high


def _name_case(
    case: CourtCase, place: int, labels: Sequence[str], mistaken: Mapping[str, Sequence[str]], seed: int
) -> CourtCase:
    draw = derive_seed(seed, "court", case.item)
    others = [label for label in labels if label not in (case.judge, case.label)]
    # Of agreements another label, so that every case shows two: one for which this one is mistaken elsewhere, as a
    # distance that disagreements do not have would tell an agreement.
    pair = (
        [case.label, case.judge] if not case.agrees else [case.label, shuffled(mistaken[case.label] or others, draw)[0]]
    )
    first, second = shuffled(pair, derive_seed(draw, "order"))
    return evolve(case, id=f"case-{place:04}", shown=(first, second))


def _case_line(task: Task, item: Item, case: CourtCase) -> dict[str, str]:
    """Return what referees see of an item: its texts and two labels; no name of the item, of a person or a judge."""
    question = Case(id="", task="", test="", item_id="", fields=item.fields, label_map={})
    texts = dict(compare_questions(question, question, limit=_TEXT, most=_PARTS).context)
    if task.mode is not Mode.POINTWISE:
        judged = [name for name in task.judged_fields if name in texts]
        texts["response"] = "\n\n".join(f"{name}:\n{texts.pop(name)}" for name in judged)
    return {**texts, **dict(zip(_SHOWN, case.shown, strict=True)), "id": case.id}


def _suite_of(names: Collection[str], instruction: str, rubric: str) -> dict[str, Any]:
    return {
        "name": "court",
        "data": {"source": "jsonl", "path": _CASES, "columns": {name: name for name in names}},
        "task": {
            "instruction": instruction,
            **({"rubric": rubric} if rubric else {}),
            "scale": {"labels": [ruling.value for ruling in Ruling]},
        },
        # A suite needs a judge; this one is never asked, as people rule.
        "judges": [{"judge": "simulated", "accuracy": 1.0}],
    }


def _names(text: str) -> Collection[str]:
    return dict.fromkeys(name for line in text.splitlines() for name in json.loads(line))


def _write(directory: Path, task: Task, text: str, docket: Docket) -> None:
    """Write the files of a docket, all or none."""
    scale = f"The labels: {', '.join(task.scale.labels)}."
    if task.mode is Mode.PAIRWISE:
        options = [f"{label} means {option_field(place)}" for place, label in enumerate(task.scale.options)]
        scale = f"The labels: {', '.join(options)}{f', {task.scale.tie} a tie' if task.scale.tie else ''}."
    suite = _suite_of(_names(text), f"{task.instruction}\n\n{scale} {_QUESTION}".strip(), task.rubric)
    files = {
        _CASES: text,
        _SUITE: yaml.safe_dump(suite, sort_keys=False, allow_unicode=True),
        _DOCKET: json.dumps(plain_value(docket), indent=1) + "\n",
    }
    try:
        with TemporaryDirectory(prefix=f"{directory.name}.", dir=directory.parent) as made:
            for name, content in files.items():
                Path(made, name).write_text(content, encoding="utf-8")
            # A rename puts no file in place of another: a directory that holds any is refused.
            Path(made).rename(directory)
            Path(made).mkdir()
    except OSError as error:
        reason = "there are files in it" if error.errno in (EEXIST, ENOTEMPTY) else error.strerror or error
        raise JrhError(f"cannot write cases into '{directory}': {reason}; name another one with --docket") from None


def seal(docket: Docket, text: str) -> Docket:
    """Return a docket with the digest of all it says, and of the cases as referees see them."""
    return evolve(docket, digest=content_id(plain_value(evolve(docket, digest="")), text))


def read_docket(run: Path, directory: Path) -> Docket:
    """Read the docket of a run.

    Raises:
        JrhError: it is not what jrh wrote, belongs to another run, or the cases were changed since.
    """
    path = directory / _DOCKET
    try:
        docket = read_value(read_values(path), Docket)
        text = (directory / _CASES).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise JrhError(f"cannot read the cases in '{directory}': {getattr(error, 'strerror', None) or error}") from None
    except JrhError as error:
        raise JrhError(f"{path}: {error}") from None
    with open_report(run) as report:
        if report.run_id != docket.run_id:
            raise JrhError(f"the cases in '{directory}' were drawn from another run, '{clean_text(docket.run)}'")
    if docket != seal(docket, text):
        raise JrhError(f"'{directory}' was changed since the cases were drawn; draw them again with --docket DIRECTORY")
    return docket


def read_rulings(directory: Path, docket: Docket) -> dict[str, dict[CourtCase, Ruling]]:
    """Return the rulings of every referee.

    Raises:
        JrhError: the file of rulings is not what `jrh label` wrote.
    """
    rulings: dict[str, dict[CourtCase, Ruling]] = {}
    if not (directory / _RULINGS).exists():
        return rulings
    # Not the suite's own file: what matters of it is known, and it may have been edited.
    suite = _suite_of(_names((directory / _CASES).read_text(encoding="utf-8")), _QUESTION, "")
    suite["data"] |= {"path": str(directory / _CASES), "labels_from": str(directory / _RULINGS)}
    cases = {case.id: case for case in docket.cases}
    for _, items in read_items(suite):
        for item in items:
            for referee, label in item.labels.items():
                rulings.setdefault(referee, {})[cases[item.id]] = Ruling(label)
    return dict(sorted(rulings.items()))
