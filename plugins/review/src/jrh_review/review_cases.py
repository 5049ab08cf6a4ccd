"""A case as a reviewer sees it, and a decision as it is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from attrs import Factory, evolve, frozen
from jrh import Case, JrhError, Json, Task
from jrh.text import Redactor, flat_text, utf8_text, visible_line, visible_text
from jrh_measuring import compare_questions

from jrh_review.case_texts import editable_places, messages_of, pair_messages, texts_at, with_texts
from jrh_review.decisions import Decision, QueuedCase, ReviewAction, expectation_code
from jrh_review.desk import ReviewDesk

TEXT: Final = 60_000
"""Characters shown of a text: whole essays and most transcripts."""
PARTS: Final = 40
"""Parts of a question that are shown."""
MESSAGES: Final = 500
"""Messages of a transcript that are shown and can be edited on the page; tables have all."""
_SHOWN: Final = 1_000_000
"""Characters shown of all messages together."""
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
    texts, before = texts_at(case, editable_places(case, original)), expectation_code(case.expectation)
    after = {name: utf8_text(text) for name, text in given.after.items()}
    if unknown := [name for name in after if name not in texts]:
        raise JrhError(f"The case has no text '{visible_line(unknown[0])[:80]}' that can be edited.")
    # A page sends all texts; what was not edited is no part of the decision.
    after = {name: text for name, text in after.items() if text != texts[name]}
    expected = "" if given.expected == before else given.expected
    # The code comes from a page; it would be stored as the expectation of an edited case.
    if expected and expected not in choices(case):
        raise JrhError(f"The expected verdict is none of these: {', '.join(map(visible_line, choices(case)))}.")
    if any(len(text) > LONGEST for text in after.values()) or len(given.reason) > REASON:
        raise JrhError(f"The text has more than {LONGEST:,} characters, or the reason more than {REASON:,}.")
    edits, hide = given.action is ReviewAction.EDIT, Redactor.from_environment()
    # A text that had a key before it was edited is data of the suite; a new key is somebody's mistake.
    if any(hide(text) != text and hide(texts[name]) == texts[name] for name, text in after.items()):
        raise JrhError("The edited text holds what looks like a key, which the run would store. Take it out.")
    with_texts(case, after)  # raises where that would be no valid case
    if edits and not after and not expected:
        raise JrhError("Nothing was edited. Accept the case, or change its text or its expected verdict.")
    return Decision(
        case_id=case_id,
        reviewer=reviewer,
        made="",
        action=given.action,
        settles=given.settles,
        # A key that somebody pasted would be in every export.
        reason=hide(utf8_text(given.reason.strip())),
        before={name: utf8_text(texts[name]) for name in after} if edits else {},
        after=after if edits else {},
        expected_before=before if edits and expected else "",
        expected_after=expected if edits else "",
    )


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
    counts = review.counts_for(reviewer)
    after = counts.after if counts else {}
    parts, context = compare_texts(original, case, with_texts(case, after))
    texts = texts_at(case, dict(islice(editable_places(case, original).items(), 3 * MESSAGES)))
    return {
        "id": queued.case_id,
        "item": visible_line(queued.item_id),
        "test": visible_line(queued.test),
        "variant": visible_line(case.condition.variant),
        "task": visible_line(queued.task),
        "gold": visible_line(case.gold or ""),
        "parts": parts,
        "context": [*_question(desk.task(queued.task)), *context],
        "validators": _validators(case),
        "expected": (counts.expected_after if counts else "") or expectation_code(case.expectation),
        "choices": list(choices(case).items()),
        "texts": list({**texts, **after}.items()),
        "edited": list(after),
        "version": review.version(reviewer),
        "open": review.is_open,
        "own": _decision_data(review.own(reviewer)),
        "settlement": _decision_data(review.settlement),
        # Decided here and not in the script: what a browser is sent, its user can read.
        "others": [_decision_data(decision) for decision in review.blind.values()] if review.is_open else [],
    }


def compare_texts(
    original: Case | None, case: Case, edited: Case
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Return what an edited case changed, and what it did not; of a transcript every message, in order.

    Args:
        original: the reference case; None: not stored.
        case: as it was made.
        edited: as it is shown.
    """
    if original is None:
        return [], list(compare_questions(edited, edited, limit=TEXT, most=PARTS).context)
    before, after = dict(original.fields), dict(edited.fields)
    in_order: list[str] = []
    for field, value in edited.fields.items():
        if not messages_of(value):
            continue
        pairs = list(islice(pair_messages(field, before.pop(field, None), after.pop(field)), MESSAGES))
        in_order += [visible_line(name) for name, _, _ in pairs]
        before |= {name: _message_text(old) for name, old, _ in pairs}
        after |= {name: _message_text(new) for name, _, new in pairs}
    prompt = original.prompt
    if prompt is None and edited.prompt is not None and case.prompt is not None:
        # The template that was paraphrased, and for an edit of one that is no paraphrase the template as it was made.
        first = case.prompt.original or (case.prompt.user if edited.prompt != case.prompt else "")
        prompt = evolve(case.prompt, user=first) if first else None
    found = compare_questions(
        evolve(original, fields=before, prompt=prompt),
        evolve(edited, fields=after),
        limit=min(TEXT, _SHOWN // max(1, len(in_order))),
        most=PARTS + len(in_order),
    )
    context = dict(found.context)
    parts: dict[str, dict[str, Any]] = {
        part.name: {"name": part.name, "before": _pieces(part.pair.before), "after": _pieces(part.pair.after)}
        for part in found.changes
    }
    parts |= {name: {"name": name, "same": context.pop(name)} for name in in_order if name in context}
    place = {name: number for number, name in enumerate(in_order)}
    return sorted(parts.values(), key=lambda part: place.get(str(part["name"]), -1)), list(context.items())


def _pieces(pieces: Iterable[Any]) -> list[tuple[bool, str]]:
    return [(piece.changed, piece.text) for piece in pieces]


def _message_text(message: Mapping[str, Any] | None) -> Json:
    """Return what a judge reads of a message; its role is in its name."""
    shown = {key: part for key, part in (message or {}).items() if key != "role" and part}
    return shown["content"] if [*shown] == ["content"] else shown or ""


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
