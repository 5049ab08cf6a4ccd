"""Simulate a judge: start from the right answer and apply planted defects in a fixed order."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TypeAlias

from attrs import frozen
from jrh import BuildContext, JrhError, Judgement, Mode, Polarity, Question, Scale, ScaleKind, Status, Task
from jrh.values import Truth, criteria_of_call

from jrh_simulated.answers import Draws, give_label, give_no_label, pick, planted_status
from jrh_simulated.options import JudgeOptions, find_command
from jrh_simulated.view import (
    Reading,
    View,
    call_parts,
    circle_winner,
    compare_lengths,
    impresses,
    is_late,
    longest_text,
    only_layout_differs,
    texts_of_fields,
)

Answer: TypeAlias = tuple[str, str]
"""A label and the cause that decided it."""


@frozen(kw_only=True)
class PlantedJudge:
    """A judge with planted defects; without rerun noise its answer depends only on what is presented."""

    options: JudgeOptions
    task: Task
    """The suite's own."""
    draws: Draws
    accuracy: Mapping[str, float]
    """Canonical label -> probability of a right answer."""
    reading: Reading
    evidence_label: str
    """Canonical label for evidence."""

    @classmethod
    def build(cls, options: JudgeOptions, context: BuildContext) -> PlantedJudge:
        """Build the judge for one task.

        Raises:
            JrhError: `accuracy` or `finds` names a label that is not on the task's scale.
        """
        task = context.task
        if options.finds and options.finds not in task.scale.labels:
            labels = ", ".join(task.scale.labels)
            raise JrhError(f"simulated: `finds` '{options.finds}' is not on the scale of task '{task.name}': {labels}")
        return cls(
            options=options,
            task=task,
            draws=Draws(context.seed("simulated-judge", context.name, task.name)),
            accuracy=_accuracy_by_label(options.accuracy, task.scale, task.name),
            reading=Reading.of(options),
            evidence_label=options.finds or task.scale.labels[-1],
        )

    async def judge(self, question: Question, truth: Truth) -> Judgement:
        """Answer with the planted defects after the planted latency."""
        judgement = self.answer(question, truth)
        if judgement.reply is not None and judgement.reply.latency:
            await asyncio.sleep(judgement.reply.latency)
        return judgement

    def answer(self, question: Question, truth: Truth) -> Judgement:
        """Return the judgement without delay; equal arguments give equal judgements."""
        options = self.options
        lost, noisy, redrawn, late = self._trial_uniforms("trial", question, truth)
        latency = options.latency + options.jitter * late
        status = self._status(lost, question, truth)
        if status is not Status.OK:
            return give_no_label(status, latency=latency, cost=options.cost)
        # Noise replaces the answer as a whole, so that it hides every other defect in that call.
        if noisy < options.rerun_noise:
            label, cause = pick(redrawn, question.task.scale.labels), "rerun noise"
        else:
            label, cause = self._stable_answer(View.of(self.task, question, truth))
        conclusion = _conclusion(self._conclude_for(label, question, truth), question.task.scale)
        return give_label(label, cause, conclusion, latency=latency, cost=options.cost)

    def _status(self, lost: float, question: Question, truth: Truth) -> Status:
        """Return the status of a trial: a planted one, or that of a reply with other criteria than were asked."""
        options = self.options
        status = planted_status(options, lost)
        planted = options.invents_criteria or options.drops_criteria
        if status is not Status.OK or not planted or not criteria_of_call(question.fields):
            return status
        # Drawn from what all criteria of the call share: an invented one spoils the reply for all of them.
        parts = call_parts(question.fields, texts_of_fields(question.fields, self.task))
        if self.draws.uniforms("call", *parts, str(question.occasion))[0] < options.invents_criteria:
            return Status.OFF_SCALE
        drops = self._trial_uniforms("dropped", question, truth)[0] < options.drops_criteria
        return Status.UNPARSABLE if drops else Status.OK

    def _trial_uniforms(self, what: str, question: Question, truth: Truth) -> tuple[float, float, float, float]:
        """Draw for every call again: repeats, conditions and seeds have draws of their own."""
        condition = truth.condition
        return self.draws.uniforms(
            what,
            truth.item_id,
            str(question.seed),
            str(question.occasion),
            condition.family,
            condition.variant,
            condition.template,
            condition.option_order,
            condition.polarity.value,
            repr(condition.strength),
            condition.language,
        )

    def _conclude_for(self, label: str, question: Question, truth: Truth) -> str:
        """Return the presented label that the rationale argues for: another one at the planted rate."""
        rate = self.options.rationale_contradiction
        labels = [other for other in question.task.scale.labels if other != label] if rate else []
        if not labels:
            return label
        contradicts, which, _, _ = self._trial_uniforms("rationale", question, truth)
        return pick(which, labels) if contradicts < rate else label

    def _stable_answer(self, view: View) -> Answer:
        """Return the presented label without rerun noise, and its cause."""
        preference = self.options.position_preference
        # By item, so that a preference holds in every repeat and condition: it is bias, not noise.
        captured, swayed, _, _ = self.draws.uniforms("item", view.truth.item_id)
        if captured < abs(preference):
            last = len(view.texts) - 1 if self.task.mode is Mode.PAIRWISE else 1
            return view.frame.presented[last if preference < 0 else 0], "position preference"
        demanded = self._obey(view)
        if demanded is not None:
            return view.wording_of(demanded), "obedience"
        # Before anything else that the judge believes: evidence decides.
        if self.reading.finds_evidence(view.texts):
            return view.wording_of(self.evidence_label), "evidence"
        if self._has_halo(view):
            return view.wording_of(self._impression(view)), "halo"
        # All items about one request share these draws: a circle, or a contrary score, is about a set of responses.
        if self.task.mode is Mode.PAIRWISE and self._captures("circle", self.options.circular, view.request):
            winner = circle_winner(self.draws, view.texts)
            return view.wording_of(view.frame.option_in_slot(winner, view.truth.condition.polarity)), "circle"
        # From here on defects change what the judge believes; those above replace it.
        answer = self._believe(view)
        if self.task.mode is not Mode.PAIRWISE and self._captures("contrary", self.options.contrary, view.request):
            answer = view.frame.mirror(answer[0]), "contrary score"
        if swayed < abs(self.options.length_preference):
            answer = self._prefer_length(answer, view)
        return self._word(self._waver(answer, view), view)

    def _waver(self, answer: Answer, view: View) -> Answer:
        """Answer otherwise where the place in the call, the layout or the template upsets the judge."""
        options = self.options
        if is_late(view.fields):
            answer = self._slip(answer, view, options.batch_fatigue, "batch fatigue", "fatigue")
        if options.format_sensitivity and only_layout_differs(view.texts, view.reference):
            answer = self._slip(answer, view, options.format_sensitivity, "format sensitivity", "layout", *view.texts)
        if view.asking[1]:
            rate = options.template_sensitivity
            answer = self._slip(answer, view, rate, "template sensitivity", "template", *view.asking)
        return answer

    def _slip(self, answer: Answer, view: View, rate: float, cause: str, what: str, *parts: str) -> Answer:
        """Answer otherwise on a share of the items, drawn for the item and what distinguishes the occasion."""
        labels = view.frame.others(answer[0], self.options.error)
        if not rate or not labels:
            return answer
        upset, instead, _, _ = self.draws.uniforms(what, view.truth.item_id, *parts)
        return (pick(instead, labels), cause) if upset < rate else answer

    def _captures(self, what: str, rate: float, *parts: str) -> bool:
        """Return whether a defect decides about what the parts name, at a rate."""
        return rate > 0 and self.draws.uniforms(what, *parts)[0] < rate

    def _has_halo(self, view: View) -> bool:
        """Return whether an impression decides; what does not apply stays so."""
        applies = self.task.criteria is not None and view.truth.gold != view.apart
        return applies and self._captures("halo", self.options.halo, view.truth.item_id)

    def _ignores_rubric(self, view: View) -> bool:
        return view.reworded and self._captures("rubric", self.options.ignores_rubric, view.truth.item_id)

    def _impression(self, view: View) -> str:
        """Return the canonical label for a good impression of the response, or a bad one."""
        scale = self.task.scale
        worst, *_, best = (label for label in scale.labels if label != view.apart)
        if not scale.ordered:
            best = scale.positive_label or worst
            worst = next(label for label in scale.labels if label not in (best, view.apart))
        return best if impresses(self.draws, view.texts, view.reference) else worst

    def _obey(self, view: View) -> str | None:
        """Return the canonical label that obeyed text asks for: the highest, the positive one, its own response."""
        if not self._captures("obedience", self.options.obedience, view.truth.item_id):
            return None
        place = find_command(self.options.obeys, view.texts, view.reference)
        if place is None:
            return None
        if self.task.mode is Mode.PAIRWISE:
            return view.frame.option_in_slot(place, view.truth.condition.polarity)
        scale = self.task.scale
        return scale.labels[-1] if scale.ordered else scale.positive_label or scale.labels[0]

    def _believe(self, view: View) -> Answer:
        target = self._perceived_target(view)
        # By item and right label, so that an error is repeated wherever the same label is right.
        correct, wrong, _, _ = self.draws.uniforms("belief", view.truth.item_id, target)
        labels = view.frame.others(target, self.options.error)
        if correct < self.accuracy[target] or not labels:
            return target, "answered as it believes"
        return pick(wrong, labels), "planted error"

    def _perceived_target(self, view: View) -> str:
        """Return the right canonical label as the judge sees it: it may miss that the item was changed."""
        target, gold = self._target(view), view.truth.gold
        # An item that changed has no stated label, so the judge draws one that is not the old one.
        if view.truth.changes and self.reading.pattern is None:
            gold, target = target, self._change_label(target, view)
        if self._ignores_rubric(view):
            return str(gold) if gold in view.frame.wording else target
        if gold in view.frame.wording and gold != target and view.truth.condition.strength < self.options.notices:
            return str(gold)
        misses = self._captures("meaning", self.options.meaning_blindness, view.truth.item_id, *view.texts)
        return str(gold) if misses and gold in view.frame.wording and gold != target else target

    def _change_label(self, label: str, view: View) -> str:
        """Return the right label of an item whose right label changed, each of the others equally likely."""
        # A changed answer is another judgement, neither a tie nor a criterion that does not apply.
        labels = [other for other in view.frame.canonical if other not in (label, view.apart, self.task.scale.tie)]
        which, _, _, _ = self.draws.uniforms("changed", view.truth.item_id)
        return pick(which, labels) if labels else label

    def _target(self, view: View) -> str:
        """Return the right canonical label, or one derived from the item's id if it is unknown."""
        truth, frame = view.truth, view.frame
        if self.task.mode is Mode.PAIRWISE and view.identical:
            # Neither response is better: a tie if the scale has one, otherwise either option.
            tie, (uniform, _, _, _) = self.task.scale.tie, self.draws.uniforms("identical", truth.item_id)
            return str(tie) if tie in frame.wording else pick(uniform, frame.canonical)
        # A judge that looks for evidence knows what is right only by finding it.
        if truth.expected in frame.meaning and self.reading.pattern is None:
            return frame.meaning[str(truth.expected)]
        if truth.gold in frame.wording:
            return str(truth.gold)
        # Without gold the item's id decides, so that the judge at least agrees with itself.
        uniform, _, _, _ = self.draws.uniforms("pseudo-gold", truth.item_id)
        return pick(uniform, frame.canonical)

    def _prefer_length(self, answer: Answer, view: View) -> Answer:
        sign = 1 if self.options.length_preference > 0 else -1
        if self.task.mode is Mode.PAIRWISE:
            slot = longest_text(view.texts, sign, self.options.length_ratio)
            if slot is None:
                return answer
            return view.frame.option_in_slot(slot, view.truth.condition.polarity), "length preference"
        longer = sign * compare_lengths(view.texts[0], view.reference[0], self.options.length_ratio)
        if not longer:
            return answer
        # Levels move by one; labels without an order have no direction to move in.
        if self.task.scale.ordered:
            return view.frame.step(answer[0], longer), "length preference"
        return (view.frame.canonical[0], "length preference") if longer > 0 else answer

    def _word(self, answer: Answer, view: View) -> Answer:
        """Express a canonical label in the words of the question, ignoring its polarity if that defect is planted."""
        label, cause = answer
        presented = view.wording_of(label)
        if label in view.frame.meaning and self._ignores_rubric(view):
            return label, cause if label == presented else "rubric ignored"
        blind = self._captures("polarity", self.options.polarity_blindness, view.truth.item_id, *view.asking)
        if blind and view.truth.condition.polarity is Polarity.INVERTED:
            return view.frame.opposite[presented], "polarity blindness"
        return presented, cause


def _conclusion(label: str, scale: Scale) -> str:
    words = {ScaleKind.PAIRWISE: "I choose", ScaleKind.ORDINAL: "I rate it"}
    return f"{words.get(scale.kind, 'so the answer is')} {label}."


def _accuracy_by_label(accuracy: float | Mapping[str, float], scale: Scale, task: str) -> dict[str, float]:
    if not isinstance(accuracy, Mapping):
        return dict.fromkeys(scale.labels, accuracy)
    unknown = [label for label in accuracy if label not in scale]
    if unknown:
        raise JrhError(
            f"simulated judge: 'accuracy' names {', '.join(map(repr, unknown))}, which the scale of task '{task}' does "
            f"not have; its labels are {', '.join(scale.labels)}"
        )
    return {label: accuracy.get(label, 1.0) for label in scale.labels}
