"""Ask a model which label a rationale argues for."""

from __future__ import annotations

from typing import Final

from jrh import ChatRequest, Message, Reply, Scale
from jrh.plugins import Argument
from jrh_authoring import object_schema, packaged_template, read_json, render, tag_mark

from jrh_parsers.rationale import without_verdict

MOST: Final = 2_000
"""Characters of a rationale that the model is shown: its end, where conclusions are."""
_NONE: Final = ("NONE", "NO_LABEL", "ARGUES_FOR_NO_LABEL")
"""What the model answers if a rationale argues for no label: the first of these that is no label."""


class RationaleModel:
    """Words the question to the model and reads its answer.

    The model sees the instruction, the labels as presented and the rationale, without the sentence that states the
    verdict. It sees neither the item nor its gold label nor the judge.
    """

    def request(self, argument: Argument) -> ChatRequest:
        """Return the question; the rationale stands between tags that it cannot close."""
        said = without_verdict(argument.rationale, _scale(argument))[-MOST:].strip()
        asked = argument.task.instruction
        content = render(
            packaged_template("jrh_parsers", "rationale"),
            {
                "rationale": said,
                "instruction": asked,
                "labels": argument.labels,
                "no_label": _none(argument),
                "inverted": argument.inverted,
                "mark": tag_mark(said, asked),
            },
        )
        answers = [*argument.labels, _none(argument)]
        return ChatRequest(
            messages=(Message(role="user", content=content),),
            json_schema=object_schema({"label": {"type": "string", "enum": [*answers]}}),
        )

    def read(self, reply: Reply, argument: Argument) -> str:
        """Return the label that the reply names; the empty text for none, for another word and for several."""
        answer = read_json(reply.text, keys=("label",))
        said = str(answer["label"]) if answer is not None else reply.text
        wanted = said.strip(" \n\t\"'`*.").casefold()
        return next((label for label in argument.labels if label.casefold() == wanted), "")


def _scale(argument: Argument) -> Scale:
    """Return the scale as presented; labels in other words have no order that the rules know."""
    scale = argument.task.scale
    return scale if set(scale.labels) == set(argument.labels) else Scale.of_labels(*argument.labels)


def _none(argument: Argument) -> str:
    taken = {label.casefold() for label in argument.labels}
    return next(word for word in _NONE if word.casefold() not in taken)
