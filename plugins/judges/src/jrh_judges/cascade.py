"""Judge in turn: a cheap model first, a dear one where the votes of the one before do not agree, then people."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from math import fsum

from attrs import evolve, frozen
from jrh import BuildContext, Judgement, Question, Reply, Status, Usage, Verdict

from jrh_judges.llm import LlmJudge
from jrh_judges.options import CascadeOptions

_ROUNDING = 1e-9
_TO_PEOPLE = "left to people: the votes of no model agree as often as `at` asks"


@frozen(kw_only=True)
class Cascade:
    """Asks models in turn until one is sure."""

    stages: tuple[tuple[LlmJudge, float], ...]
    """A judge, and the share of its votes that has to agree."""
    votes: int

    @classmethod
    def build(cls, options: CascadeOptions, context: BuildContext) -> Cascade:
        """Resolve the models and the parser and check the templates.

        Raises:
            JrhError: A model or the parser does not exist, or a template is unusable.
        """
        models = (options.model, *options.then)
        judges = (LlmJudge.build(evolve(options, model=name), context) for name in models)
        return cls(stages=tuple(zip(judges, options.at, strict=True)), votes=options.votes)

    async def judge(self, question: Question) -> Judgement:
        """Return the verdict of the first model that is sure; otherwise `abstained`, for people to decide."""
        asked: list[Judgement] = []
        for judge, at in self.stages:
            # Every vote is a repeat of its own, so that the votes of a judge `llm` are used again.
            repeats = range(question.occasion * self.votes, (question.occasion + 1) * self.votes)
            votes = await asyncio.gather(*(judge.judge(evolve(question, occasion=repeat)) for repeat in repeats))
            asked += votes
            if (chosen := _sure_vote(votes, at)) is not None:
                return evolve(chosen, reply=_add_up(chosen.reply, asked))
            # It is asked again when the run is resumed: neither a dearer model nor people are asked because of it.
            failed = next((vote for vote in votes if vote.verdict.status.transient), None)
            if failed is not None:
                return evolve(failed, reply=_add_up(failed.reply, asked))
        left = evolve(asked[-1], verdict=Verdict(status=Status.ABSTAINED, detail=_TO_PEOPLE))
        return evolve(left, reply=_add_up(left.reply, asked))


def _sure_vote(votes: Sequence[Judgement], at: float) -> Judgement | None:
    """Return a vote for the most common label if enough of all votes agree; a missing one agrees with nothing."""
    ranked = Counter(vote.verdict.presented for vote in votes if vote.verdict.status is Status.OK).most_common(2)
    tied = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
    if not ranked or tied:
        return None
    chosen = next(vote for vote in votes if vote.verdict.presented == ranked[0][0])
    sure = ranked[0][1] / len(votes)
    if len(votes) == 1:
        # A single vote is as sure as it says it is.
        sure = chosen.verdict.probabilities.get(ranked[0][0] or "", sure)
    return chosen if sure >= at - _ROUNDING else None


def _add_up(reply: Reply | None, asked: Sequence[Judgement]) -> Reply | None:
    """Return a reply with the cost, tokens and attempts of all that were asked for the verdict."""
    # What failed in transit was not charged, which is not the same as an unknown price.
    replies = [vote.reply for vote in asked if vote.reply is not None]
    paid = [each for each in replies if not each.status.transient]
    costs = [each.cost for each in paid if each.cost is not None]
    prompt, completion = (
        [getattr(each.usage, name) for each in paid] for name in ("prompt_tokens", "completion_tokens")
    )
    return None if reply is None else evolve(
        reply, cost=fsum(costs) if len(costs) == len(paid) else None, attempts=sum(each.attempts for each in replies),
        usage=Usage(
            prompt_tokens=None if None in prompt else sum(prompt),
            completion_tokens=None if None in completion else sum(completion),
        ),
    )  # fmt: skip
