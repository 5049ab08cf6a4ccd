"""A case as a reviewer sees it, and a decision as it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import Factory, evolve, frozen
from jrh import Case, JrhError, Task
from jrh.text import flat_text, utf8_text, visible_line, visible_text
from jrh_measuring import NO_PARTS, compare_questions

from jrh_review.decisions import Decision, QueuedCase, ReviewAction, expectation_code
from jrh_review.desk import ReviewDesk

TEXT: Final = 60_000
"""Characters shown of a text: whole essays and most transcripts."""
PARTS: Final = 40
"""Parts of a question that are shown."""
REASON: Final = 2_000
"""Characters of a reason."""
LONGEST: Final = 300_000
"""Characters of an edited text."""
EXPECTED: Final = {
    "same": "the verdict stays as in the reference condition",
    "changes": "the verdict changes",
    "not-above": "no higher level than in the reference condition",
    "not-below": "no lower level than in the reference condition",
}
"""Code of an expectation -> what a reliable judge does."""


@frozen(kw_only=True)
class Given:
    """A decision as it arrives from a page."""

    action: ReviewAction
    reason: str = ""
    after: Mapping[str, str] = Factory(dict)
    """Field -> its whole text; texts that are those of the case count as not edited."""
    expected: str = ""
    """Code of the expectation; empty, or that of the case: not edited."""
    settles: bool = False


def build_decision(desk: ReviewDesk, case_id: str, reviewer: str, given: Given) -> Decision:
    """Return the decision that is stored: only what an edit changed is part of it.

    Raises:
        JrhError: it edits what cannot be edited, or a text is too long.
    """
    case, original = desk.case(case_id)
    texts, before = editable(case, original), expectation_code(case.expectation)
    after = {name: utf8_text(text) for name, text in given.after.items()}
    if unknown := [name for name in after if name not in texts]:
        raise JrhError(f"The case has no text '{visible_line(unknown[0])[:80]}' that can be edited.")
    # A page sends all texts; what was not edited is no part of the decision.
    after = {name: text for name, text in after.items() if text != texts[name]}
    expected = "" if given.expected == before else given.expected
    # The code comes from a page; it would be stored as the expectation of an edited case.
    if expected and expected not in choices(case):
        raise JrhError(
            f"The expected verdict is not one of the choices: {', '.join(map(visible_line, choices(case)))}."
        )
    if any(len(text) > LONGEST for text in after.values()) or len(given.reason) > REASON:
        raise JrhError(f"The text has more than {LONGEST:,} characters, or the reason more than {REASON:,}.")
    if given.action is ReviewAction.EDIT and not after and not expected:
        raise JrhError("Nothing was edited. Accept the case, or change its text or its expected verdict.")
    edits = given.action is ReviewAction.EDIT
    return Decision(
        case_id=case_id,
        reviewer=reviewer,
        made="",
        action=given.action,
        settles=given.settles,
        reason=utf8_text(given.reason.strip()),
        before={name: utf8_text(texts[name]) for name in after} if edits else {},
        after=after if edits else {},
        expected_before=before if edits and expected else "",
        expected_after=expected if edits else "",
    )


def editable(case: Case, original: Case | None) -> dict[str, str]:
    """Return the texts that can be edited: those the test changed; all where the original is not stored."""
    texts = {name: value for name, value in case.fields.items() if isinstance(value, str)}
    if original is None:
        return texts
    return {name: text for name, text in texts.items() if text != original.fields.get(name)}


def choices(case: Case) -> dict[str, str]:
    """Return the expectations that a reviewer can choose, as code and sentence."""
    codes = ["same", "changes", *(f"={label}" for label in dict.fromkeys(case.label_map.values()))]
    known = expectation_code(case.expectation)
    return {code: describe_expectation(code) for code in dict.fromkeys([*([known] if known else []), *codes])}


def describe_expectation(code: str) -> str:
    """Say an expectation in words."""
    return f"the verdict is {visible_line(code[1:])}" if code.startswith("=") else EXPECTED.get(code, "nothing stated")


def case_data(desk: ReviewDesk, queued: QueuedCase, reviewer: str) -> dict[str, Any]:
    """Return a case for the screen. Everything but the texts to edit is made visible here."""
    case, original = desk.case(queued.case_id)
    review = desk.review(queued.case_id)
    # An edit is shown as edited, so that the next edit starts from it and not from the case.
    counts = (review.settlement if review.is_open else None) or review.own(reviewer)
    edited = evolve(case, fields={**case.fields, **counts.after}) if counts else case
    parts = compare_questions(original, edited, limit=TEXT, most=PARTS) if original else NO_PARTS
    context = parts.context if original else compare_questions(edited, edited, limit=TEXT, most=PARTS).context
    return {
        "id": queued.case_id,
        "item": visible_line(queued.item_id),
        "test": visible_line(queued.test),
        "variant": visible_line(case.condition.variant),
        "task": visible_line(queued.task),
        "gold": visible_line(case.gold or ""),
        "parts": [
            {
                "name": part.name,
                "before": [[piece.changed, piece.text] for piece in part.pair.before],
                "after": [[piece.changed, piece.text] for piece in part.pair.after],
            }
            for part in parts.changes
        ],
        "context": [*_question(desk.task(queued.task)), *context],
        "validators": _validators(case),
        "expected": (counts.expected_after if counts else "") or expectation_code(case.expectation),
        "choices": list(choices(case).items()),
        "texts": {**editable(case, original), **(counts.after if counts else {})},
        "version": review.version(reviewer),
        "open": review.is_open,
        "own": _decision_data(review.own(reviewer)),
        "settlement": _decision_data(review.settlement),
        # Decided here and not in the script: what a browser is sent, its user can read.
        "others": [_decision_data(decision) for decision in review.blind.values()] if review.is_open else [],
    }


def _question(task: Task | None) -> list[tuple[str, str]]:
    """Return what judges are asked about every case of a task."""
    if task is None:
        return []
    named = {"instruction": task.instruction, "rubric": task.rubric, "scale": ", ".join(task.scale.labels)}
    return [(name, visible_text(text, TEXT)) for name, text in named.items() if text]


def _validators(case: Case) -> list[tuple[str, str]]:
    """Return the validators' answers that the run stored with the case."""
    named = ((name.partition(":"), value) for name, value in case.provenance.details.items())
    return [
        (visible_line(name), visible_text(flat_text(value) or "accepted", TEXT))
        for (kind, _, name), value in named
        if kind == "validator"
    ]


def _decision_data(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {
        "reviewer": visible_line(decision.reviewer),
        "action": decision.action.value,
        "reason": visible_text(decision.reason),
        "expected": describe_expectation(decision.expected_after) if decision.expected_after else "",
        "after": [[visible_line(name), visible_text(text, TEXT)] for name, text in decision.after.items()],
    }
