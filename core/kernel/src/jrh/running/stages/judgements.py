"""What a judge is asked about a trial, and what is put down of its judgement: a row of the records."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from attrs import evolve

from jrh.document.convert import expectation_kind, to_text, to_text_once
from jrh.running.schedule import seed_of
from jrh.running.stages.coming_trials import Pending
from jrh.store.run_store import Store
from jrh.text.display import utf8_text
from jrh.text.redact import Redactor
from jrh.values.cases import Case, Changes, Equals, Sampling
from jrh.values.clusters import ItemBlocks
from jrh.values.items import Item, Task
from jrh.values.scales import invert
from jrh.values.verdicts import Judgement, Question, Record, Reply, Status, Truth, Verdict

DETAIL: Final = 2000
"""Characters of a detail or a rationale that a record keeps."""


def question_of(task: Task, trial: Pending) -> Question:
    """Return what a judge is asked."""
    case = trial.case
    seed = seed_of(trial.trial_id)
    # With one seed, repeats would be copies of the same draw.
    return Question(
        trial_id=trial.trial_id,
        task=case.presented_task or task,
        fields=case.fields,
        prompt=case.prompt,
        sampling=evolve(case.sampling, seed=seed) if case.vary_seed else case.sampling,
        output=case.condition.output,
        occasion=trial.occasion,
        seed=seed,
    )


def make_row(
    trial: Pending, judge: str, simulated: bool, judgement: Judgement, redact: Redactor
) -> tuple[Record, str | None, str | None]:
    """Write a judgement down as a record, its reply and its label probabilities.

    Raises:
        TypeError: the judge returned something else.
    """
    if not isinstance(judgement, Judgement):
        raise TypeError(f"the judge returned {type(judgement).__name__}, not a Judgement")
    verdict = settle(judgement.verdict, trial.case)
    record = make_record(trial, judge, simulated, judgement, verdict, redact)
    reply = redact(to_text_once(judgement.reply)) if judgement.reply is not None else None
    chances = redact(to_text(dict(verdict.probabilities))) if verdict.probabilities else None
    return record, reply, chances


def settle(verdict: Verdict, case: Case) -> Verdict:
    """Bring a judge's verdict to the canonical scale, and a broken one to a status."""
    if verdict.status is not Status.OK:
        return evolve(verdict, presented=None, canonical=None, score=None)
    # Contradictions become a status: a score or a label that means nothing must not reach a mean.
    if verdict.presented is None:
        return evolve(verdict, status=Status.PLUGIN_ERROR, score=None, detail="the judge says ok and gives no label")
    score = verdict.score
    if score is not None and not math.isfinite(score):
        detail = f"the judge says ok and its score is {score}"
        return evolve(verdict, status=Status.PLUGIN_ERROR, presented=None, score=None, detail=detail)
    canonical = case.label_map.get(verdict.presented)
    if canonical is None:
        detail = f"'{verdict.presented[:80]}' is not one of {', '.join(case.label_map)}"
        return evolve(verdict, status=Status.OFF_SCALE, presented=None, score=None, detail=detail)
    # The score of a comparison changes its sign with the order of the options.
    if score is not None and case.condition.option_order == "BA":
        score = -score
    return evolve(verdict, canonical=canonical, score=score)


def make_record(
    trial: Pending, judge: str, simulated: bool, judgement: Judgement, verdict: Verdict, redact: Redactor
) -> Record:
    """Write one trial down as a row; the verdict is the judgement's, settled."""
    case, condition, reply = trial.case, trial.case.condition, judgement.reply
    usage = reply.usage if reply else None
    # A judge that hands back no reply may have called a model by itself: nothing is known of what it used.
    unused = 0 if simulated or verdict.status is Status.PLUGIN_ERROR else None
    return Record(
        trial_id=trial.trial_id,
        case_id=case.id,
        item_id=case.item_id,
        task=case.task,
        test=case.test,
        family=condition.family,
        variant=utf8_text(condition.variant),
        template=utf8_text(condition.template),
        option_order=utf8_text(condition.option_order),
        polarity=condition.polarity.value,
        strength=condition.strength,
        language=utf8_text(condition.language),
        output=output_level(condition.output, case.sampling),
        # What a model cannot be told is no level of a facet.
        temperature=None if reply and "temperature" in reply.not_settable else case.sampling.temperature,
        stratum=utf8_text(case.stratum),
        group=utf8_text(case.group),
        judge=judge,
        simulated=simulated,
        repeat=trial.repeat,
        gold=case.gold,
        expectation=None if case.expectation is None else expectation_kind(case.expectation),
        expected=case.expectation.label if isinstance(case.expectation, Equals) else None,
        status=verdict.status,
        presented=verdict.presented,
        canonical=verdict.canonical,
        probability=verdict.probabilities.get(verdict.presented) if verdict.presented else None,
        # A reply that several judgements share is paid once: each has its part.
        cost=_part(reply.cost, judgement.share) if reply else unused,
        prompt_tokens=_whole_part(usage.prompt_tokens, judgement.share) if usage else unused,
        completion_tokens=_whole_part(usage.completion_tokens, judgement.share) if usage else unused,
        latency=reply.latency if reply else None,
        attempts=reply.attempts if reply else 1,
        # Masked before it is cut: a part of a key would not be recognised.
        detail=utf8_text(redact(verdict.detail)[:DETAIL]),
        rationale=utf8_text(redact(verdict.rationale)[:DETAIL]),
        left_out=int(judgement.left_out),
        not_settable=", ".join(reply.not_settable) if reply else "",
        seed=_condition_seed(case, reply),
        # Nothing is read where no reply came, and jrh's own judges read one: asking until a verdict can be read would
        # choose among verdicts.
        parse_attempts=0 if reply is not None and not reply.ok else int(judgement.parse_attempts),
        score=verdict.score,
    )


def _part(amount: float | None, share: tuple[int, int]) -> float | None:
    return amount if amount is None or share[1] == 1 else amount / share[1]


def _whole_part(number: int | None, share: tuple[int, int]) -> int | None:
    """Divide a whole number so that the parts of all places add up to it."""
    place, of = share
    return None if number is None else number // of + (place < number % of)


def output_level(output: str, sampling: Sampling) -> str:
    """Return the level of the facet `output`: output mode, reasoning effort, longest reply, as far as stated."""
    settings = {"reasoning": sampling.reasoning_effort, "max_tokens": sampling.max_tokens}
    stated = [f"{name}={value}" for name, value in settings.items() if value is not None]
    return utf8_text(", ".join([output, *stated] if output else stated))


def _condition_seed(case: Case, reply: Reply | None) -> str:
    """Return the seed that the condition fixes; where every repeat has its own, or the model takes none, nothing."""
    seed = case.sampling.seed
    taken = not case.vary_seed and not (reply and "seed" in reply.not_settable)
    return str(seed) if taken and seed is not None else ""


_HELD: Final = 500
"""Items of a long list that are kept after they are read."""


def originals(store: Store, items: Mapping[str, Sequence[Item]], task: str) -> Callable[[str], Item]:
    """Return what finds an item by its id; the store is asked where there are too many to hold."""
    known = items[task]
    if isinstance(known, ItemBlocks):

        @lru_cache(maxsize=_HELD)
        def find_item(item_id: str) -> Item:
            item = store.items.find(task, item_id)
            assert item is not None
            return item

        return find_item
    return {item.id: item for item in known}.__getitem__


def truth(case: Case, item: Item) -> Truth:
    """Return the truth about a case of an item for a judge with planted behaviour."""
    changes = isinstance(case.expectation, Changes)
    right = case.expectation.label if isinstance(case.expectation, Equals) else None if changes else case.gold
    return Truth(
        item_id=case.item_id,
        gold=case.gold,
        expected=invert(case.label_map, right) if right is not None else None,
        changes=changes,
        condition=case.condition,
        label_map=case.label_map,
        reference_fields=item.fields,
    )
