"""Check texts: empty, cut off, of opposite polarity, and items and rows that repeat each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from jrh import Scale, ScaleKind, Task
from jrh.text import count_noun
from jrh_stats import binomial_limits

from jrh_audit.facts import EXAMPLES, Facts, Finding, some
from jrh_audit.options import AuditOptions

_ENDED: Final = 0.5
"""If at least this share of the long texts ends like a sentence, the others count as truncated."""
_OPPOSITE: Final = re.compile(
    r"\b(?:in(?:accura\w+|correct\w*|coheren\w+)|irrelevan\w+|un(?:true|supported|related)|untrue|errors?|mistakes?"
    r"|false|wrong|worse|worst|weaker|poor(?:ly)?|bad(?:ly)?|poorer|less\s+(?:relevant|accurate|coherent|helpful|suitable|useful))\b",
    re.IGNORECASE,
)
_STRAIGHT: Final = re.compile(
    r"\b(?:accura\w+|correct\w*|coheren\w+|relevan\w+|true|right|better|best|stronger|good|excellent|hold|fits?|well)\b",
    re.IGNORECASE,
)

_EXPLAINED: Final = re.compile(r"(?<!\w)(\w+)\s*\(([^()\n]{1,80})\)")
"""A label, and what is said of it in brackets."""
_AGREES: Final = re.compile(r"\b(?:yes|true)\b", re.IGNORECASE)


def empty(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find items without a text to judge."""
    if facts.empty:
        yield facts.finding(
            kind="empty-responses",
            evidence=f"{count_noun(len(facts.empty), 'item')} with an empty {' or '.join(facts.task.judged_fields)}",
            consequence="A verdict on an empty text measures nothing: add the texts or remove the items.",
            affected=len(facts.empty),
            examples=some(facts.empty),
        )


def find_truncated_texts(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find texts that end in the middle of a sentence, where most long texts of the set do not."""
    cut = list(facts.cut)
    # A set of titles or notes ends without full stops by design.
    if cut and facts.ended / facts.long >= _ENDED:
        yield facts.finding(
            kind="truncated-responses",
            evidence=f"{count_noun(len(cut), 'item')} {'ends' if len(cut) == 1 else 'end'} mid-sentence",
            consequence="They were probably cut off. A judge may mark them down for that alone.",
            affected=len(cut),
            examples=some(cut),
        )


def opposite_polarity(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find prompts of the items that seem to ask the inverted question."""
    task, prompts = facts.task, facts.prompts
    turned = [name for name, text in prompts.items() if asks_for_opposite(text, task.scale)]
    turned = turned or templates_unlike_most(prompts)
    # Where all templates ask for the opposite, they agree with each other and only the scale is read the other way.
    if turned and len(turned) < len(prompts):
        yield facts.finding(
            kind="opposite-polarity",
            evidence=f"{len(turned)} of {count_noun(len(prompts), 'template')} seem to ask for the opposite",
            consequence="Unless their labels are reversed, JSS counts a template's polarity as instability of the "
            f"judge. Declare `labels: {_swap_text(task)}`.",
            examples=tuple(turned),
        )


def asks_for_opposite(template: str, scale: Scale) -> bool:
    """Guess from its words whether a template asks for a fault and for no quality. English only.

    What the template says its labels mean decides, as in `YES (has errors)` or `5 = poor`; otherwise all its words.
    """
    # Names of variables, such as `{{ incorrect_answer }}`, are no words of the question.
    bare = re.sub(r"\{\{.*?\}\}", " ", template)
    best = scale.labels[-1] if scale.kind is ScaleKind.ORDINAL else scale.positive_label
    verdicts = [
        (label == best) == bool(_OPPOSITE.search(meaning))
        for label in scale.labels
        if best is not None
        for meaning in _meanings(bare, label)
        if _names_fault(meaning) or _names_quality(meaning)
    ]
    # A template may explain several labels; the majority of the explanations decides.
    return 2 * sum(verdicts) > len(verdicts) if verdicts else _names_fault(bare)


def templates_unlike_most(prompts: Mapping[str, str]) -> list[str]:
    """Return the templates that explain their labels the other way round than most do. English only.

    Templates may have labels of their own, such as YES where the data say `accurate`: what is in brackets behind a
    label tells a fault from a quality, and what most templates mean by a label is its meaning.
    """
    faults = {
        name: {
            label.casefold(): _names_fault(meaning)
            for label, meaning in _EXPLAINED.findall(re.sub(r"\{\{.*?\}\}", " ", text))
            if _names_fault(meaning) or _names_quality(meaning)
        }
        # A template that explains nothing asks for what its words name, and its first label confirms that.
        or {label.casefold(): _names_fault(text) for label in _AGREES.findall(text)[:1]}
        for name, text in prompts.items()
    }
    votes: dict[str, Counter[bool]] = {}
    for label, fault in (each for known in faults.values() for each in known.items()):
        votes.setdefault(label, Counter())[fault] += 1
    usual = {label: tally[True] > tally[False] for label, tally in votes.items() if tally[True] != tally[False]}
    return [
        name
        for name, known in faults.items()
        if (named := [fault == usual[label] for label, fault in known.items() if label in usual]) and not any(named)
    ]


def _meanings(text: str, label: str) -> Iterator[str]:
    """Yield what a text says a label means: in brackets, or after `=`."""
    pattern = rf"(?<!\w){re.escape(label)}\s*(?:\(([^()\n]{{1,80}})\)|=\s*([^,;.()\n\d]{{1,40}}))"
    yield from (bracketed or after for bracketed, after in re.findall(pattern, text))


def _names_fault(text: str) -> bool:
    return bool(_OPPOSITE.search(text)) and not _names_quality(text)


def _names_quality(text: str) -> bool:
    # `less relevant` holds `relevant`: what names a fault is taken out before a quality is looked for.
    return bool(_STRAIGHT.search(_OPPOSITE.sub(" ", text)))


def _swap_text(task: Task) -> str:
    return f"{{{', '.join(f'{one}: {other}' for one, other in task.scale.swap_map().items())}}}"


_SAMPLE_RATE: Final = 0.9
"""The rate whose interval the finding shows as an example."""


def find_repeated_rows(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find rows that repeat each other, if the source reports how many rows it read."""
    rows, pairs = facts.rows, facts.pairs
    # Sources that do not count rows give one per item.
    if rows <= len(facts):
        return
    what = (
        f"{count_noun(pairs, 'distinct pair')} over {count_noun(len(facts), 'item')}"
        if pairs
        else count_noun(len(facts), "item")
    )
    yield facts.finding(
        kind="repeated-rows",
        evidence=f"{count_noun(rows, 'row')} are {what}",
        consequence=_unit(rows, len(facts)),
    )


def duplicates(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find items that ask the same question about the same texts."""
    repeated = facts.repetitions()
    if not repeated:
        return
    contradicting = sum(len({facts.golds[place] for place in members}) > 1 for members in repeated)
    contradiction = (
        f" {count_noun(contradicting, 'question')} of them with several gold labels: no judge can match all of them."
        if contradicting
        else ""
    )
    surplus = sum(len(members) - 1 for members in repeated)
    distinct = count_noun(len(facts) - surplus, "distinct question")
    yield facts.finding(
        kind="duplicate-items",
        evidence=f"{count_noun(len(facts), 'item')} are {distinct}; {surplus} repeat another",
        consequence=f"{_clusters(len(facts), facts.clusters)}{contradiction}",
        affected=sum(map(len, repeated)),
        examples=some([" = ".join(facts.ids[place] for place in members[:3]) for members in repeated]),
    )


def near_duplicates(facts: Facts, options: AuditOptions) -> Iterator[Finding]:
    """Find items of different clusters whose texts share most word triples without being equal."""
    similar = facts.texts.similar(options.near_duplicate)
    # The search sees every distinct text once, by the first item that has it.
    both = ((facts.places[one], facts.places[other]) for one, other in similar.pairs)
    # Pairs within a cluster are counted once already, so that they narrow no interval.
    pairs = [(one, other) for one, other in both if facts.cluster[one] != facts.cluster[other]]
    # A cut search without a pair is still reported: silence would read as "there are none".
    if not pairs and not similar.cut:
        return
    share = f"{options.near_duplicate:.0%} of their word triples"
    number = f"{'at least ' if similar.cut else ''}{count_noun(len(pairs), 'pair')} of items share {share}"
    cut = (
        f"; not searched exhaustively: {count_noun(similar.cut, 'item')} may resemble more items than were compared"
        if similar.cut
        else ""
    )
    yield facts.finding(
        kind="near-duplicate-items",
        evidence=(number if pairs else f"no pair of items was found that shares {share}") + cut,
        consequence="Such items are not independent: intervals that count both are too narrow. Give them a common "
        "`group`: every interval then counts them once.",
        affected=len(dict.fromkeys(place for pair in pairs for place in pair)),
        examples=some([f"{facts.ids[one]} = {facts.ids[other]}" for one, other in pairs[: EXAMPLES + 1]]),
    )


def _clusters(items: int, clusters: int) -> str:
    """Say which interval the report prints, and which one it would be if every item counted."""
    ends = [" to ".join(f"{end:.2f}" for end in binomial_limits(_SAMPLE_RATE * n, n)) for n in (clusters, items)]
    return (
        f"Every interval counts {count_noun(clusters, 'cluster')}, not {count_noun(items, 'item')}: the 95% interval "
        f"of a rate of {_SAMPLE_RATE:.0%} is {ends[0]}, not {ends[1]}."
    )


def _unit(rows: int, items: int) -> str:
    """Compare the intervals with rows and with items as the unit of analysis."""
    counted, real = (" to ".join(f"{end:.2f}" for end in binomial_limits(_SAMPLE_RATE * n, n)) for n in (rows, items))
    return (
        f"Repeating a question adds no information about other questions: the 95% interval of a rate of "
        f"{_SAMPLE_RATE:.0%} is {real} by item, not {counted} by row."
    )
