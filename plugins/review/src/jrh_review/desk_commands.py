"""What `jrh review` and `jrh label` do with an open desk: write a table, or serve the pages."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jrh import JrhError
from jrh.text import counted, is_person_name, say, tell
from jrh.values import GoldKind
from jrh_measuring import formula_safe

from jrh_review.decisions import CaseReview, Decision, QueuedCase, ReviewAction, expectation_code
from jrh_review.desk import ReviewDesk
from jrh_review.labelling import LabelDesk
from jrh_review.pages.label import Labelling
from jrh_review.pages.review import reviewing_of
from jrh_review.person_labels import LabelAction, majority
from jrh_review.review_cases import editable
from jrh_review.review_statistics import people_agreement, plain_estimate, write_estimate
from jrh_review.runs import Runs
from jrh_review.serving import serve


def write_table(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV for a spreadsheet, which computes no text of theirs."""
    out = io.StringIO()
    csv.writer(out).writerows([formula_safe(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


COLUMNS: Final = (
    *("case_id", "task", "test", "item_id", "probability", "reviewer", "made", "settles"),
    *("action", "reason", "expected", "field", "original", "perturbed", "edited"),
    "valid",
)
"""A row is one text of a case: cases of which several texts can be edited have several rows."""


def write_decisions(desk: ReviewDesk) -> str:
    """Return the queue with everybody's decisions as CSV."""
    rows: list[Sequence[object]] = [COLUMNS]
    reviews = desk.reviews()
    for queued in desk.queue():
        review = reviews.get(queued.case_id, CaseReview())
        names = dict.fromkeys(decision.reviewer for decision in review.log)
        decisions = [each for each in (*map(review.own, names), review.settlement) if each is not None]
        for decision in decisions or (None,):
            rows += _decision_rows(desk, queued, review, decision)
    return write_table(rows)


def _decision_rows(
    desk: ReviewDesk, queued: QueuedCase, review: CaseReview, decision: Decision | None
) -> Iterator[Sequence[object]]:
    case, original = desk.case(queued.case_id)
    texts = editable(case, original)
    head = (
        *(queued.case_id, queued.task, queued.test, queued.item_id, queued.probability),
        decision.reviewer if decision else "",
        decision.made if decision else "",
        "yes" if decision and decision.settles else "",
        decision.action.value if decision else "",
        decision.reason if decision else "",
        (decision.expected_after if decision else "") or expectation_code(case.expectation),
    )
    # As `perturbation-validity` reads it: whether people accept the case as it was asked; empty: no outcome.
    valid = "" if review.outcome is None else "yes" if review.outcome.action is ReviewAction.ACCEPT else "no"
    for field in texts or {"": ""}:
        before = original.fields.get(field, "") if original else ""
        edited = decision.after.get(field, "") if decision else ""
        yield (*head, field, before if isinstance(before, str) else "", texts.get(field, ""), edited, valid)


GOLD: Final = ("task", "item_id", "label", "share", "labellers", "gold_source")


def write_gold(desk: LabelDesk) -> str:
    """Return the gold label of every item with its uncertainty, and everybody's labels.

    `share` is the share of the labellers who gave the gold label; an item that is split evenly has none. `again` is
    what a person said when the item came a second time. The columns `label` and `gold_source` are those that the data
    sources of jrh read.
    """
    labels = [each for each in desk.labels() if each.action is LabelAction.LABEL]
    people = sorted({each.labeller for each in labels})
    found = {each.key: each.label for each in labels}
    heads = [*GOLD, *(f"by {name}" for name in people), *(f"again by {name}" for name in people)]
    rows: list[list[str]] = [heads]
    for task, items in desk.tasks:
        for item in items:
            own = {name: found[key] for name in people if (key := (name, task.name, item.id, False)) in found}
            gold = majority(own.values())
            share = f"{Counter(own.values())[gold] / len(own):.3f}" if gold is not None else ""
            source = GoldKind.PEOPLE if len(own) > 1 else GoldKind.ONE_PERSON
            head = [task.name, item.id, gold or "", share, str(len(own)), source.value if gold is not None else ""]
            again = [found.get((name, task.name, item.id, True), "") for name in people]
            rows.append([*head, *(own.get(name, "") for name in people), *again])
    return write_table(rows)


REVIEWER: Final = "reviewer"
LABELLER: Final = "labeller"
"""The name of who gives none."""
_LEVEL: Final = 0.95


def check_names(names: Sequence[str], option: str = "--reviewer") -> tuple[str, ...]:
    """Check the names of people, as an option gave them.

    Raises:
        JrhError: one is empty, too long, holds control characters, or is there twice.
    """
    for name in names:
        if not is_person_name(name):
            raise JrhError(f"{option} needs a name of 1 to 80 visible characters")
    if len(set(names)) != len(names):
        raise JrhError(f"{option}: a name is given twice; give each person a different name")
    return tuple(names)


def use_review_desk(
    desk: ReviewDesk,
    run_dir: Path,
    names: Sequence[str],
    export: Path | None,
    serving: Mapping[str, Any],
) -> None:
    """Write the table of decisions, or without one serve the review until Ctrl-C.

    Raises:
        JrhError: the table cannot be written.
    """
    if export is not None:
        _write(export, write_decisions(desk))
        tell(f"Wrote {counted(len(desk.queue()), 'case')} to {export}.")
    else:
        runs = Runs((run_dir,))
        work = reviewing_of(runs, run_dir, desk, names or (REVIEWER,))
        tell(f"{counted(len(desk.queue()), 'case')} to review, {len(desk.reviews())} with decisions.")
        serve(runs, work, **serving)


def use_label_desk(
    desk: LabelDesk,
    suite: Path,
    names: Sequence[str],
    export: Path | None,
    serving: Mapping[str, Any],
) -> None:
    """Write the gold labels and say how far people agree, or without a table serve the items until Ctrl-C.

    Raises:
        JrhError: the table cannot be written.
    """
    if export is not None:
        _write(export, write_gold(desk))
        tell(f"Wrote {export}.")
        say_agreement(desk)
    else:
        here = Labelling(suite=suite.stem, desk=desk, names=tuple(names) or (LABELLER,))
        for name in here.names:
            states, repeats = here.states(name), sum(screen.again for screen in here.screens(name))
            hidden = counted(repeats, "hidden repeat")
            tell(f"{name}: {counted(len(states), 'screen')} with {hidden}; {sum(map(bool, states))} done.")
        serve(Runs(()), here, **serving)


def say_agreement(desk: LabelDesk) -> None:
    """Print how far people agree with each other, and with themselves on the hidden repeats."""
    rows = [each for each in desk.labels() if each.action is LabelAction.LABEL]
    for task, items in desk.tasks:
        found, again = people_agreement(task, items, [each for each in rows if each.task == task.name], level=_LEVEL)
        lines = [(f"{', '.join(pair)}: Cohen's kappa", kappa, "item") for pair, kappa in found.pairs.items()]
        lines += [("All: Krippendorff's alpha", found.alpha, "label")] if found.alpha else []
        for what, estimate, unit in lines:
            counts = f"{counted(int(estimate.n), unit)}, {counted(estimate.clusters, 'cluster')}"
            say(f"{task.name}: {what} {write_estimate(plain_estimate(estimate, _LEVEL), share=False)}, n = {counts}")
        for name, share in again.items():
            repeats = counted(int(share.n), "hidden repeat")
            same = write_estimate(plain_estimate(share, _LEVEL))
            say(f"{task.name}: {name} gives the same label again in {same} of {repeats}")


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error
