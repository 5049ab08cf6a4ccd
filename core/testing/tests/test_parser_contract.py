"""The parser contract fails on a planted mistake of every kind."""

from __future__ import annotations

import json

import pytest
from jrh import ParserSpec, Reply, Scale, Status, Verdict
from jrh_testing import LabelParser, ParserContract
from jrh_testing.contracts.base import ComponentContract

pytestmark = pytest.mark.slow


class Json:
    """A sound parser of another form: the label within an object."""

    def parse(self, reply, scale):
        try:
            verdict = json.loads(reply.text)["verdict"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return Verdict(status=Status.UNPARSABLE)
        label = scale.match(verdict) if isinstance(verdict, str) else None
        return Verdict(status=Status.OK, presented=label) if label else Verdict(status=Status.OFF_SCALE)


class Raises(LabelParser):
    def parse(self, reply, scale):
        if reply.text.isdigit():
            int(reply.text)  # '²' is a digit, but not a number
        return super().parse(reply, scale)


class OffScale(LabelParser):
    def parse(self, reply, scale):
        if reply.text.strip().isdecimal():
            return Verdict(status=Status.OK, presented=str(int(reply.text)))
        return super().parse(reply, scale)


class LabelWithoutVerdict(LabelParser):
    def parse(self, reply, scale):
        found = super().parse(reply, scale)
        return found if found.status is Status.OK else Verdict(status=Status.UNPARSABLE, presented=scale.labels[0])


class Remembers(LabelParser):
    def __init__(self):
        self.seen = 0

    def parse(self, reply, scale):
        self.seen += 1
        found = super().parse(reply, scale)
        return found if found.status is Status.OK else Verdict(status=Status.UNPARSABLE, detail=f"number {self.seen}")


class Guesses(LabelParser):
    def parse(self, reply, scale):
        if not any(letter.isalnum() for letter in reply.text):
            return Verdict(status=Status.OK, presented=scale.labels[-1])
        return super().parse(reply, scale)


class FindsWithin(LabelParser):
    """Finds CORRECT in INCORRECT, and 1 in 10."""

    def parse(self, reply, scale):
        found = [label for label in scale.labels if label in reply.text]
        return Verdict(status=Status.OK, presented=found[0]) if found else Verdict(status=Status.UNPARSABLE)


PLANTED = {
    Raises: "test_no_text_makes_it_raise",
    OffScale: "test_no_text_makes_it_raise",
    LabelWithoutVerdict: "test_no_text_makes_it_raise",
    Remembers: "test_the_same_reply_is_read_the_same",
    Guesses: "test_nothing_is_no_verdict",
    FindsWithin: "test_every_label_is_read_as_itself",
}


def spec(cls):
    return ParserSpec(name="planted", summary="planted", factory=lambda options, context: cls())


@pytest.mark.parametrize("cls", PLANTED, ids=lambda cls: cls.__name__)
def test_a_planted_mistake_fails_its_test(failing, cls):
    assert failing(ParserContract, "jrh_parsers", spec(cls)) == [PLANTED[cls]]


def test_every_test_of_the_contract_is_shown_to_fail():
    own = {name for name in dir(ParserContract) if name.startswith("test_")} - set(dir(ComponentContract))
    assert set(PLANTED.values()) == own


def test_a_sound_parser_passes_everything(failing):
    assert failing(ParserContract, "jrh_parsers", spec(LabelParser)) == []


def test_a_parser_of_another_form_says_how_a_verdict_looks(failing):
    def reply_for(self, label, scale):
        return Reply(status=Status.OK, text=json.dumps({"verdict": label}))

    assert failing(ParserContract, "jrh_parsers", spec(Json)) == ["test_every_label_is_read_as_itself"]
    assert failing(ParserContract, "jrh_parsers", spec(Json), reply_for=reply_for) == []
    assert failing(ParserContract, "jrh_parsers", spec(Json), labels_do_not_parse="needs logprobs") == []


def test_a_parser_may_read_some_scales_only(failing):
    class Digits(LabelParser):
        def parse(self, reply, scale):
            found = super().parse(reply, scale)
            return found if (found.presented or "").isdigit() else Verdict(status=Status.UNPARSABLE)

    assert failing(ParserContract, "jrh_parsers", spec(Digits)) == ["test_every_label_is_read_as_itself"]
    assert failing(ParserContract, "jrh_parsers", spec(Digits), scales=(Scale.of_levels(1, 6),)) == []
