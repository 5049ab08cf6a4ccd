"""The card of a judge: one page that says how far its verdicts can be trusted, and what was not looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final

from attrs import asdict, evolve, frozen
from jrh import JrhError, Json, Measure, RunReport, ScaleKind, Task, content_id, open_report
from jrh.plugins import Role
from jrh.text import clean_text, count_noun
from jrh_measuring import format_basis, format_figure, is_estimable, markdown_text, measures_by_role
from jrh_measuring.comparing.causes import fingerprint, judge_parts
from jrh_measuring.served_models import list_models

from jrh_decide.swap import prompt_parts
from jrh_decide.swap_text import format_part

BEYOND_CHANCE: Final = "gold-kappa"
PEOPLE: Final = "people-kappa"
PEOPLE_DIFFERENCE: Final = "people-kappa-difference"
LAYOUT: Final = "/format"
"""How the component ends that changes the layout alone.

These four are the only names of what other plugins declare; all else is found by its role.
"""
MISSING: Final = "missing"
MEASURED: Final = "measured"
NOT_RUN: Final = "not run"
NOT_ESTIMABLE: Final = "not estimable"
INCOMPLETE: Final = "The run is not complete."
ONE_PERSON: Final = "items with labels of people"
TWO_PEOPLE: Final = "items that two people labelled"
"""What lines need that no model can give."""
SHORT: Final = 12
_BADGE_LETTER: Final = 8
"""Pixels of a letter of the badge, at most."""


@frozen(kw_only=True)
class Line:
    """One property of the judge."""

    what: str
    """`agreement`, `agreement beyond chance`, `noise floor`, `order`, `layout`, `human ceiling`, `missing`, ..."""
    test: str
    """Empty: no test of its own."""
    status: str
    """`measured`, `not estimable` or `not run`; what was not run is no pass."""
    why: str
    """Why there is no number, or what would give one; empty where there is one."""
    measure: Measure | None
    """As in the run's results; None where nothing was measured."""


@frozen(kw_only=True)
class Card:
    """What is known about one judge on one task of a run."""

    sentence: str
    """The whole card in one sentence that can be printed anywhere."""
    judge: str
    task: str
    suite: str
    version: str
    """Version of jrh."""
    simulated: bool
    component: str
    model: str
    """The suite's name of the model, or of all; empty where the judge names none."""
    served: tuple[str, ...]
    """What the provider says it served."""
    items: int
    clusters: int
    verdicts: int
    """In the reference condition, as are the missing ones."""
    missing: Mapping[str, int]
    """Status -> trials without a verdict."""
    prompt_digest: str
    """Of instruction, rubric, scale and the judge's options."""
    data_digest: str
    """Of the items' texts and labels; empty where the run does not store them."""
    results_digest: str
    """Of the numbers of this card; another run of the same prompt has another one."""
    lines: tuple[Line, ...]
    not_run: tuple[str, ...]
    limits: tuple[str, ...]
    """What makes a number of the card doubtful, one sentence each."""
    methods: str
    """A paragraph for a paper."""


def make_card(run: Path, *, judge: str = "", task: str = "", plugins: Sequence[str] = ()) -> Card:
    """Return the card of a judge from the measures of its run; computes no number that the run has stored.

    Raises:
        JrhError: there is no such run, judge or task, it is open which is meant, or there is no verdict.
    """
    with open_report(run, measure=True, plugins=plugins) as report:
        name = _choose(judge, report.judges, run, "judge")
        named = _choose(task, [summary.task.name for summary in report.tasks], run, "task")
        summary = next(each for each in report.tasks if each.task.name == named)
        lines = tuple(card_lines(report, name, summary.task))
        counted = next((line.measure for line in lines if line.what == MISSING), None)
        missing = dict(counted.missing) if counted else {}
        verdicts = counted.n_trials - sum(missing.values()) if counted else 0
        if counted is None or verdicts <= 0:
            raise JrhError(f"judge '{name}' has no verdict in '{run}': there is nothing to write on a card")
        used = judge_parts(report.components, name)
        card = Card(
            sentence="", judge=name, task=named, suite=report.suite, version=report.version,
            simulated=name in report.simulated, component=used[0].component if used else "",
            model=", ".join(part.name for part in used[1:]),
            served=report.served.get(name, ()), items=counted.n_items, clusters=counted.n_clusters,
            verdicts=verdicts, missing=missing,
            prompt_digest=content_id(prompt_parts(summary.task), fingerprint(report, name)),
            data_digest=_data_digest(report, named),
            results_digest=content_id([[line.what, line.test, _numbers(line.measure)] for line in lines]), lines=lines,
            not_run=tuple(
                line.what + (f" ({line.test})" if line.test else "") for line in lines if line.status == NOT_RUN
            ),
            limits=tuple(dict.fromkeys(_limits(report, name, lines))), methods="",
        )  # fmt: skip
        card = evolve(card, sentence=_sentence(card))
        return evolve(card, methods=_methods(card, report.level))


def _choose(wanted: str, known: Sequence[str], run: Path, what: str) -> str:
    if wanted in known or (not wanted and len(known) == 1):
        return wanted or known[0]
    start = f"'{run}' has no {what} '{wanted}'" if wanted else f"'{run}' has {count_noun(len(known), what)}"
    raise JrhError(f"{start}\nName one with --{what}: {', '.join(known) or 'none'}.")


def _data_digest(report: RunReport, task: str) -> str:
    items = report.evidence.items().get(task, ())
    return content_id([[item.id, dict(item.fields), item.gold] for item in items]) if items else ""


def card_lines(report: RunReport, judge: str, task: Task) -> Iterator[Line]:
    """Yield what a card holds, in the order of the page; what the run lacks is there, too."""
    roles = measures_by_role()
    first = report.tests[0]
    own = [each for each in report.measures if (each.judge, each.task) == (judge, task.name) and not each.cell]

    def line(what: str, names: Collection[str], test: str | None, needs: str) -> Line:
        found = next((each for each in own if each.name in names and test in (None, each.test)), None)
        if found is None or not (found.n_trials or is_estimable(found)):
            # The test is there, and lacks what it would be compared with.
            asked = bool(test) and test != first
            why = "each question asked twice: `reference: {repeats: 2}`" if asked else needs
            status = NOT_ESTIMABLE if asked else NOT_RUN
            return Line(what=what, test=test or "" if asked else "", status=status, why=why, measure=None)
        why = "" if is_estimable(found) else found.note or ", ".join(found.flags)
        return Line(
            what=what,
            test=found.test if found.test != first else "",
            status=MEASURED if is_estimable(found) else NOT_ESTIMABLE,
            why=why,
            measure=found,
        )

    yield line("agreement", roles[Role.AGREEMENT.value], first, ONE_PERSON)
    yield line("agreement beyond chance", (BEYOND_CHANCE,), first, ONE_PERSON)
    yield line("noise floor", roles[Role.NOISE.value], first, "each question asked twice: `reference: {repeats: 2}`")
    if task.scale.kind is ScaleKind.PAIRWISE:
        yield line("order", roles[Role.ORDER.value], None, "a test that changes the order of the options")
    components = {part.name: part.component for part in report.components if part.role == "perturber"}
    layouts = [test for test in report.tests if components.get(test, "").endswith(LAYOUT)]
    for test in layouts or [""]:
        yield line("layout", roles[Role.CHANGE.value] if test else (), test, "a test that changes the layout alone")
    for test in report.tests[1:]:
        if test not in layouts:
            yield line("change beyond reruns", roles[Role.CHANGE.value], test, "a measure of change in this test")
    yield line("human ceiling", (PEOPLE,), None, TWO_PEOPLE)
    yield line("judge less human ceiling", (PEOPLE_DIFFERENCE,), None, TWO_PEOPLE)
    yield line(MISSING, roles[Role.MISSING_SHARE.value], first, "verdicts")


def _numbers(measure: Measure | None) -> list[Json]:
    if measure is None:
        return []
    ends = [measure.interval.low, measure.interval.high] if measure.interval else []
    return [measure.name, measure.estimate, *ends, measure.n_trials, measure.n_clusters, dict(measure.missing)]


def _limits(report: RunReport, judge: str, lines: Sequence[Line]) -> Iterator[str]:
    if judge in report.simulated:
        yield "Simulated judge (planted behaviour, no model)."
    if report.incomplete:
        yield INCOMPLETE
    for each in lines:
        for flag in each.measure.flags if each.measure else ():
            if flag in report.flags:
                yield f"{each.what}: {report.flags[flag].meaning}"
    yield from report.warnings


def _figure(card: Card, what: str) -> str:
    """Return a number of the card as every report writes it; that it is not there, if it is not."""
    found = next(line for line in card.lines if line.what == what)
    return format_figure(found.measure, 2) if found.measure else found.status


def _sentence(card: Card) -> str:
    found = next(line.measure for line in card.lines if line.what == "agreement")
    agreed = "was not compared with people"
    if found is not None and found.estimate is not None:
        right = f"{format_part(found.estimate, found.n_trials)} of {count_noun(found.n_trials, 'verdict')}"
        kappa = _figure(card, "agreement beyond chance")
        agreed = f"agrees with people in {right} ({_figure(card, 'agreement')}, kappa {kappa})"
    gone = sum(card.missing.values())
    missing = f"; {gone:,} of {card.verdicts + gone:,} verdicts are missing" if gone else ""
    left = f"; not run: {', '.join(card.not_run)}" if card.not_run else ""
    simulated = "Simulated judge" if card.simulated else "Judge"
    return clean_text(f"{simulated} '{card.judge}' {agreed}{missing}{left}.", 600)


def _methods(card: Card, level: float) -> str:
    model = f" (model {list_models(card.served or (card.model,))})" if card.served or card.model else ""
    left = f" We did not run: {', '.join(card.not_run)}." if card.not_run else ""
    counts = f"{count_noun(card.items, 'item')} in {count_noun(card.clusters, 'cluster')}"
    verdicts = (
        f"{count_noun(card.verdicts, 'verdict')} in the reference condition, {sum(card.missing.values()):,} missing"
    )
    kappa, noise = (_figure(card, what) for what in ("agreement beyond chance", "noise floor"))
    digests = (f"prompt {card.prompt_digest[:SHORT]}", f"data {card.data_digest[:SHORT] or 'not stored'}")
    return clean_text(
        f"We measured the judge '{card.judge}'{model} on the task '{card.task}' with jrh {card.version}: {counts}, "
        f"{verdicts}. Agreement with people: {_figure(card, 'agreement')}; kappa: {kappa}; share of repeats of a "
        f"question that disagree: {noise}. Brackets are {100 * level:g}% confidence intervals clustered by item.{left} "
        f"Digests: {', '.join(digests)}, results {card.results_digest[:SHORT]}.",
        2000,
    )


def card_json(card: Card) -> str:
    """Return the document that `schemas/card.schema.json` describes."""
    return json.dumps(asdict(card), indent=2, allow_nan=False) + "\n"


def card_markdown(card: Card) -> str:
    """Return the page: the sentence, the numbers, what was not run, limits, methods and digests."""
    facts = {
        "Task": card.task, "Suite": card.suite, "Component": card.component or "not recorded",
        "Model": card.model or "none named", "Served by": list_models(card.served) if card.served else "not recorded",
        "Prompt": card.prompt_digest, "Data": card.data_digest or "not stored", "Results": card.results_digest,
    }  # fmt: skip
    rows = [
        (
            each.what + (f" ({each.test})" if each.test else ""),
            format_figure(each.measure, 2) if each.measure and each.status == MEASURED else each.status.upper(),
            format_basis(each.measure) if each.measure else f"needs {each.why}",
        )
        for each in card.lines
    ]
    figures = {row[1] for row in rows}
    left = markdown_text(", ".join(card.not_run), 400)
    limits = [f"- {markdown_text(limit, 400)}" for limit in card.limits]
    return "\n".join([
        f"# Judge card: {markdown_text(card.judge)}", "", _escape_words(card.sentence, figures), "",
        "| | result | rests on |", "| --- | --- | --- |",
        *(f"| {markdown_text(what)} | {figure} | {markdown_text(basis)} |" for what, figure, basis in rows), "",
        *([f"NOT RUN, which is no pass: {left}.", ""] if left else []),
        *(["Limits:", "", *limits, ""] if limits else []),
        _escape_words(card.methods, figures), "",
        *(f"- {what}: {markdown_text(value, 400)}" for what, value in facts.items()), "",
    ])  # fmt: skip


def card_badge(card: Card) -> str:
    """Return a small SVG image: kappa with its interval, and in grey what was not run, not finished or is made up.

    It has no colour and no word of success: a card is no test that a judge passes.
    """
    gaps = [f"{len(card.not_run)} NOT RUN"] if card.not_run else []
    gaps += ["incomplete"] * (INCOMPLETE in card.limits) + ["simulated"] * card.simulated
    figure = f"kappa {_figure(card, 'agreement beyond chance')}"
    texts = [clean_text(f"judge {card.judge}", 40), clean_text(", ".join([figure, *gaps]), 80)]
    left, right = (_BADGE_LETTER * len(text) + 12 for text in texts)
    boxes = [
        f'<rect x="{x}" width="{width}" height="20" fill="{colour}"/>'
        for x, width, colour in ((0, left, "#24292f"), (left, right, "#6e7681" if gaps else "#0b5cad"))
    ]
    # Untrusted names are text: XML knows no named entities but five, which `escape` writes.
    words = [
        f'<text x="{x}" y="14">{escape(text)}</text>' for x, text in zip((6, left + 6), texts, strict=True)
    ]  # fmt: skip
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img">'
        f"<title>{escape(card.sentence)}</title>{''.join(boxes)}"
        f'<g fill="#fff" font-family="monospace" font-size="12">{"".join(words)}</g></svg>\n'
    )


def _escape_words(text: str, figures: Collection[str]) -> str:
    """Escape a sentence for Markdown, but for the figures in it: `0.90 [0.73, 0.98]` is read on terminals, too."""
    escaped = markdown_text(text, 2000)
    for figure in figures:
        # A name that holds a figure and goes on with a bracket would become a link.
        escaped = re.sub(re.escape(markdown_text(figure)) + r"(?![(:])", figure.replace("\\", r"\\"), escaped)
    return escaped
