"""The stage that asks the suite's `responses` model for the responses of prompts that have none."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
from attrs import evolve
from jrh import REFERENCE, Case, ChatRequest, Item, JrhError, Json, Message, Mode, ModelName, RunReport, __version__
from jrh.plugins import Stage, StageOutcome, StageQuestion
from jrh.running import StageWork, for_each
from jrh.text import count_noun
from jrh.values import LENGTH, ComponentUsed, length_of
from jrh_authoring import without_thinking

from jrh_sources.options import ResponseOptions

NAME: Final = "responses"
_STORED: Final = "responses written"
"""Key of what a run remembers of its responses."""
_WORKERS: Final = 64
_UNWRITTEN: Final = "(no response yet)"
FILLER: Final = " \u2026" * 2000
"""What a plan takes for a response that is not written yet; about as long as replies without `max_tokens` may be."""


def fields_without_response(name: str, request: Json, mode: Mode) -> dict[str, Json]:
    """Return the judged field of a prompt that has no response yet; its text is no other item's."""
    text = f"{_UNWRITTEN} {name}{FILLER}"
    if mode is Mode.TRANSCRIPT:
        return {"transcript": _transcript(request, text)}
    return {"response": text}


def is_unwritten(item: Item) -> bool:
    """Tell whether an item is a prompt without a response."""
    transcript = item.fields.get("transcript")
    last = transcript[-1] if isinstance(transcript, list | tuple) and transcript else None
    text = last.get("content") if isinstance(last, Mapping) else item.fields.get("response")
    return isinstance(text, str) and text.startswith(_UNWRITTEN) and text.endswith(FILLER)


def remarks_on(prompts: Sequence[Item]) -> Iterator[str]:
    """Yield what a plan takes the responses for that a model has yet to write."""
    yield (
        f"{count_noun(len(prompts), 'response')} are not written yet; a plan prices the judging as if each had "
        f"{len(FILLER):,} characters"
    )


def _transcript(request: Json, text: str) -> list[Json]:
    return [{"role": "user", "content": request}, {"role": "assistant", "content": text}]


class NoResponsesError(JrhError):
    """Report a model that answered no prompt of a task: there is nothing to judge yet."""

    exit_code = 3


class WriteResponses(Stage):
    """Asks a model to answer each prompt that has no response; a prompt that stays without one is no item of the run.

    The gateway keeps the replies: a run that is continued buys none of them twice.
    """

    def __init__(self, options: ResponseOptions | None) -> None:
        """Take the key of the suite; None where it has none."""
        self._options = options or ResponseOptions(model=ModelName(""))

    def applies(self, work: StageWork) -> bool:
        """Return whether the suite names a model, or a report is gathered of a run that has its responses."""
        return bool(self._options.model) or work.store.meta(_STORED) is not None

    async def run(self, work: StageWork) -> StageOutcome:
        """Ask for all responses that are missing."""
        if not self._options.model:
            return StageOutcome()
        tasks = {name: [item for item in items if is_unwritten(item)] for name, items in work.items.items()}
        if not any(tasks.values()):
            return StageOutcome()
        model: Any = work.builder.model(self._options.model)
        earlier, options = _stored(work)["options"], attrs.asdict(self._options)
        if earlier and earlier != options:
            names = ", ".join(name for name in options if options[name] != earlier.get(name))
            work.progress.say(f"`responses` changed ({names}): every response is written again")
        texts: dict[tuple[str, str], str] = {}
        missing: dict[str, Counter[str]] = {name: Counter() for name in tasks}
        open_calls = 0
        work.store.spending.forget_stage(NAME)
        work.progress.begin(NAME, sum(map(len, tasks.values())))

        async def ask(prompt: tuple[str, Item]) -> None:
            nonlocal open_calls
            task, item = prompt
            with work.book_calls(NAME, name=NAME, task=task, test=REFERENCE):
                reply = await model.ask(self._request(item), purpose="response")
            work.progress.advance()
            # A failed call may be answered when the run is continued.
            open_calls += reply.status.transient
            # What the model thought is no part of its answer, and marks without a glyph are none.
            text = (without_thinking(reply.text) or "").strip() if reply.ok else ""
            if any(character.isprintable() and not character.isspace() for character in text):
                texts[task, item.id] = text
            else:
                missing[task]["empty" if reply.ok else reply.status.value] += 1

        prompts = ((task, item) for task, items in tasks.items() for item in items)
        await for_each(prompts, ask, getattr(model, "at_once", _WORKERS))
        work.progress.end()
        self._note(work, {name: len(items) for name, items in tasks.items() if items}, missing)
        note = f"{count_noun(open_calls, 'response')} could not be bought; the same command asks again"
        return StageOutcome(
            items={name: self._add_responses(work, name, texts) for name, items in tasks.items() if items},
            complete=not open_calls,
            notes=(note,) if open_calls else (),
        )

    def questions(
        self,
        builder: Any,
        store: Any,  # noqa: ARG002
        cases: Mapping[tuple[str, str], Case],  # noqa: ARG002
        unjudged: Mapping[tuple[str, str], int],  # noqa: ARG002
    ) -> Iterator[StageQuestion]:
        """Yield the request for every response; of a sample, the longest as often as the sample is large."""
        limit = builder.resolved.limit
        for use in builder.resolved.suite.tasks:
            prompts = [item for item in builder.data(use.task) if is_unwritten(item)]
            sample = use.data.sample
            chosen = prompts[:limit] if sample is None else sorted(prompts, key=_length)[-1:]
            for item in chosen:
                yield StageQuestion(
                    model=self._options.model,
                    request=self._request(item),
                    name=NAME,
                    task=use.task.name,
                    test=REFERENCE,
                    most=None if sample is None else min(sample.n, limit or sample.n),
                )

    def report(self, report: RunReport, work: StageWork) -> RunReport:
        """Say who wrote the responses, and which prompts have none."""
        stored = _stored(work)
        if stored["options"]:
            used = ComponentUsed(
                role="stage", name=NAME, component=f"jrh-sources/{NAME}", version=__version__, options=stored["options"]
            )
            report = evolve(report, components=(*report.components, used))
        for note, is_warning in stored["notes"]:
            report = report.add_notes([note]) if is_warning else evolve(report, notes=(*report.notes, note))
        return report

    def _add_responses(self, work: StageWork, name: str, texts: Mapping[tuple[str, str], str]) -> Iterator[Item]:
        """Yield a task's items with the new responses, without the prompts that got none."""
        task, author = work.tasks[name], work.summary.models.get(self._options.model, self._options.model)
        for item in work.items[name]:
            text = texts.get((name, item.id))
            if not is_unwritten(item):
                yield item
            elif text is not None:
                transcript = task.mode is Mode.TRANSCRIPT
                new = {"transcript": _transcript(item.fields["request"], text)} if transcript else {"response": text}
                # What the source could say of the text was about the one that takes the response's place.
                known = {**item.covariates, LENGTH: length_of(next(iter(new.values()))), "author": author}
                metadata = {**item.metadata, "author": author}
                yield evolve(item, fields={**item.fields, **new}, metadata=metadata, covariates=known)

    def _request(self, item: Item) -> ChatRequest:
        system = [Message(role="system", content=self._options.system)] if self._options.system else []
        return ChatRequest(messages=(*system, Message(role="user", content=str(item.fields["request"]))))

    def _note(self, work: StageWork, prompts: Mapping[str, int], missing: Mapping[str, Counter[str]]) -> None:
        notes = []
        for task, count in prompts.items():
            lost = missing[task]
            reasons = ", ".join(f"{reason} {number:,}" for reason, number in lost.most_common())
            without = f"; {count_noun(lost.total(), 'prompt')} without a response: no item ({reasons})" if lost else ""
            written = count - lost.total()
            if not written:
                raise NoResponsesError(
                    f"task '{task}': model '{self._options.model}' answered no prompt ({reasons}); "
                    "the same command asks failed calls again"
                )
            sentence = (
                f"Task '{task}': model '{self._options.model}' wrote the responses to {written:,} of "
                f"{count_noun(count, 'prompt')}{without}."
            )
            # A prompt that is lost is a warning: items that are not there are in no other number.
            notes.append((sentence, bool(lost)))
        work.store.set_meta(_STORED, json.dumps({"notes": notes, "options": attrs.asdict(self._options)}))


def _stored(work: StageWork) -> Any:
    """Return what a run remembers of its responses: notes for the report, and the options they were written with."""
    return json.loads(work.store.meta(_STORED) or '{"notes": [], "options": {}}')


def _length(item: Item) -> int:
    return len(str(item.fields["request"]))
