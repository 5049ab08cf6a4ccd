"""Test the contract of every parser."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jrh import ParserSpec, Reply, Scale, Status
from jrh.plugins import Parser
from jrh.plugins.specs import Spec

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.contracts.judges import assert_sound

SCALES = (
    Scale.of_labels("YES", "NO"),
    Scale.of_labels("CORRECT", "INCORRECT", "not sure"),
    Scale.of_levels(1, 6),
    Scale.of_levels(0, 10),
    Scale.of_pairs(),
    Scale.of_pairs(tie="TIE"),
)
"""The scales a parser is tested with unless it names its own."""

# Labels, near misses of labels, quotes, digits of other scripts, fences, thoughts, a lone surrogate.
_PIECES = (
    "YES", "NO", "CORRECT", "INCORRECT", "A", "B", "TIE", "0", "1", "6", "10", "-3", "4.5", "10/10", "²", "٣",
    "verdict", "score", "label", "rationale", ":", '"', "'", "{", "}", "[", "]", "[[", "]]", "\\", "\n", " ", "```",
    "```json\n", "<think>", "</think>", "**", "I cannot determine", "not", "null", "NaN", "1e999", "\x00", "é",
    "\ud800",
)  # fmt: skip
_texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(_PIECES), max_size=20).map("".join))
_checking = settings(
    max_examples=150,
    deadline=None,
    # No files next to the tests of a plugin author.
    database=None,
    # The same examples every time: a failure on one machine must be seen on the next.
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


class ParserContract(ComponentContract):
    """Contract tests for every parser, on arbitrary text."""

    role: ClassVar[type[Spec]] = ParserSpec
    scales: ClassVar[tuple[Scale, ...]] = SCALES
    """The scales whose labels it reads; on others it only must not raise."""
    labels_do_not_parse: ClassVar[str] = ""
    """Why a label, in the form of `reply_for`, cannot be read; empty: it can."""

    def reply_for(self, label: str, scale: Scale) -> Reply:  # noqa: ARG002 - for those who override it
        """Return the plainest reply that decides for the label; override where a bare label is not one."""
        return Reply(status=Status.OK, text=label)

    def test_no_text_makes_it_raise(self, base: Path) -> None:
        """If this fails: whatever a model writes is a verdict or a status; `ok` goes with a label of the scale."""
        parser: Parser = self.build_component(base)

        @_checking
        @given(text=_texts, scale=st.sampled_from((*SCALES, *self.scales)))
        def check(text: str, scale: Scale) -> None:
            assert_sound(parser.parse(Reply(status=Status.OK, text=text), scale), scale)

        check()
        for text in _PIECES:  # each alone, whatever the drawing finds
            for scale in (*SCALES, *self.scales):
                assert_sound(parser.parse(Reply(status=Status.OK, text=text), scale), scale)

    def test_the_same_reply_is_read_the_same(self, base: Path) -> None:
        """If this fails: the parser keeps state or draws; it has to be a function of reply and scale."""
        # One of the two has read other replies before, the other has not.
        first, second = self.build_component(base), self.build_component(base)

        @_checking
        @given(text=_texts, scale=st.sampled_from(self.scales))
        def check(text: str, scale: Scale) -> None:
            reply = Reply(status=Status.OK, text=text)
            verdict = first.parse(reply, scale)
            assert first.parse(reply, scale) == verdict, "a second reading differs"
            assert second.parse(reply, scale) == verdict, "a parser that has read other replies reads it otherwise"

        check()

    def test_nothing_is_no_verdict(self, base: Path) -> None:
        """If this fails: a reply without a word in it is read as a decision."""
        parser = self.build_component(base)
        for scale in self.scales:
            for text in ("", " ", "\n\n", "```\n```", "..."):
                status = parser.parse(Reply(status=Status.OK, text=text), scale).status
                assert status is not Status.OK, f"{text!r} is read as a verdict"

    def test_every_label_is_read_as_itself(self, base: Path) -> None:
        """If this fails: the plainest reply is misread; override `reply_for`, or say `labels_do_not_parse`."""
        if self.labels_do_not_parse:
            return
        parser = self.build_component(base)
        for scale in self.scales:
            for label in scale.labels:
                verdict = parser.parse(self.reply_for(label, scale), scale)
                assert verdict.presented == label, f"'{label}' is read as {verdict.presented!r} ({verdict.detail})"
