"""The rules of a gate: `as-expected[label-flip, judge=mini] >= 90%`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal

from attrs import Factory, define, frozen
from attrs.validators import ge, lt
from jrh import REFERENCE, JrhError
from jrh.document.positions import did_you_mean
from jrh.plugins import MeasureInfo, option

if TYPE_CHECKING:
    from jrh.plugins.registry import Plugins


class Operator(Enum):
    """How a measure is held against the threshold."""

    AT_LEAST = ">="
    AT_MOST = "<="
    ABOVE = ">"
    BELOW = "<"

    @property
    def upwards(self) -> bool:
        """Tell whether larger values are the ones that hold."""
        return self in (Operator.AT_LEAST, Operator.ABOVE)

    def holds(self, value: float, threshold: float) -> bool:
        """Tell whether a value is on the right side of the threshold."""
        if self.upwards:
            return value > threshold or (value == threshold and self is Operator.AT_LEAST)
        return value < threshold or (value == threshold and self is Operator.AT_MOST)


EVERY_TEST: Final = "*"
"""What a rule names instead of a test to be about every test that has its measure."""


@frozen(kw_only=True)
class GateRule:
    """One rule."""

    text: str
    """As it was written."""
    measure: str
    operator: Operator
    threshold: float
    """A share where it was written in per cent."""
    test: str | None = None
    """None: the reference condition, or every test of a measure that is not of the reference; `EVERY_TEST`: each."""
    judge: str | None = None
    """None: every judge."""
    task: str | None = None
    """None: every task."""
    cell: Mapping[str, str] = Factory(dict)
    """Further factor levels; empty for the whole test."""

    @property
    def named_test(self) -> str | None:
        """Return the test that the rule names; None where it is about the reference, or about every test."""
        return None if self.test == EVERY_TEST else self.test


_MEASURE: Final = r'[^\s()\[\],=<>"]+'
# Spaces within a name are fine: names of tests and judges may have them.
_WORD: Final = r'[^\s\[\],=<>"][^\[\],=<>"]*'
_QUOTED: Final = r'"(?:[^"\\]|\\.)+"'
_NUMBER: Final = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_THRESHOLD: Final = "a number or a percentage, such as 0.9 or 90%"
_FORM: Final = "write a rule as `as-expected[label-flip, judge=mini] >= 0.9`"


def parse_rule(text: str) -> GateRule:
    """Read a rule: a measure, selectors in brackets where there are any, an operator, a number or a percentage.

    A selector is the name of a test, `*` for every test, or `test=`, `judge=`, `task=` or a factor of the measure such
    as `variant=`. Names that hold one of `[],=<>"` are written in double quotes.

    Raises:
        JrhError: it is no rule; the text says at which character.
    """
    return _Parser(text=text).rule()


@frozen(kw_only=True)
class GateOptions:
    """The rules that `jrh gate` checks, as the section `gate` of a suite."""

    rules: tuple[str, ...] = option("Such as `as-expected[label-flip] >= 0.9`; all of them have to hold.", default=())
    allow_missing: float = option(
        "The largest share of the trials of one judge in one test that may be without a verdict.",
        ge(0),
        # At 1 a rule could hold without a single verdict.
        lt(1),
        default=0.0,
    )
    undecided: Literal[0, 1, 5] = option(
        "Exit code where a rule is undecided: its own, that of a rule that fails (1), or that of success (0).",
        default=5,
    )

    def check_suite(self, suite: Any, plugins: Plugins) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield what is wrong with the rules, each with its place: no rule, or a name that is not there."""
        known = {
            "test": (REFERENCE, EVERY_TEST, *dict.fromkeys(use.name for use in suite.tests)),
            "judge": [use.name for use in suite.judges],
            "task": [use.task.name for use in suite.tasks],
        }
        # What a metric measures that declares nothing is not known before the run.
        declared = all(entry.spec.measures for entry in plugins.metrics)
        measures = [measure for entry in plugins.metrics for measure in entry.spec.measures] if declared else []
        for place, text in enumerate(self.rules):
            for message in mistakes_of_rule(text, known, plugins.metrics.meant_by, measures):
                yield ("rules", place), message


def mistakes_of_rule(
    text: str,
    known: Mapping[str, Collection[str]],
    meant_by: Callable[[str], str] = lambda _: "",
    measures: Collection[MeasureInfo] = (),
) -> Iterator[str]:
    """Yield what is wrong with a rule: that it is none, or what it names and is not there.

    Args:
        text: the rule.
        known: the names there are, of `test`, `judge` and `task`.
        meant_by: asks which measure is meant by an ambiguous name; empty for any other name.
        measures: all that can be named; none: not known.
    """
    try:
        rule = parse_rule(text)
    except JrhError as error:
        yield str(error)
        return
    # A name may be that of several measures: the message asks which of them is meant.
    if meant := meant_by(rule.measure):
        yield f"rule '{rule.text}': there is no measure '{rule.measure}': {meant}"
    elif measures and not any(measure.describes(rule.measure) for measure in measures):
        hint = did_you_mean(rule.measure, [measure.name for measure in measures])
        yield f"rule '{rule.text}': no metric that is installed has the measure '{rule.measure}'\n{hint}".rstrip()
    for what, names in known.items():
        name = getattr(rule, what)
        if name is not None and name not in names:
            yield f"the rule names the {what} '{name}'\n{did_you_mean(name, names)}There are: {', '.join(names)}."


@define(kw_only=True)
class _Parser:
    text: str
    at: int = 0

    def rule(self) -> GateRule:
        measure = self._name("the name of a measure", _MEASURE)
        selected = self._selectors() if self._take(r"\[") else {}
        # The longer operators first: `>` alone would match the beginning of `>=`.
        operator = Operator(self._expect(">=|<=|>|<", "one of >=, <=, >, <"))
        place = self.at
        threshold = float(self._expect(_NUMBER, _THRESHOLD))
        # Python reads 1e999 as infinity, which every measure meets, or none.
        if not math.isfinite(threshold):
            self.at = place
            raise self._mistake(f"expected {_THRESHOLD}")
        threshold = threshold / 100 if self._take("%") else threshold
        if self.text[self.at :].strip():
            raise self._mistake("expected the end of the rule")
        named = {key: selected.pop(key, None) for key in ("test", "judge", "task")}
        return GateRule(
            text=self.text.strip(), measure=measure, operator=operator, threshold=threshold, cell=selected, **named
        )

    def _selectors(self) -> dict[str, str]:
        selectors: dict[str, str] = {}
        while True:
            before = self.at
            key = self._name("a test, or a selector such as `judge=NAME`")
            key, value = (key, self._name(f"the {key} that is meant")) if self._take("=") else ("test", key)
            # The message has to show the second occurrence, and not what follows it.
            if key in selectors:
                self.at = before
                raise self._mistake(f"the {key} is given twice")
            selectors[key] = value
            if self._expect("[],]", "`,` or `]`") == "]":
                return selectors

    def _name(self, what: str, word: str = _WORD) -> str:
        name = self._expect(f"{_QUOTED}|{word}", what)
        return re.sub(r"\\(.)", r"\1", name[1:-1]) if name.startswith('"') else name.strip()

    def _expect(self, pattern: str, what: str) -> str:
        """Return what the pattern matches at this place, behind white space."""
        text = self._take(pattern)
        if text is None:
            raise self._mistake(f"expected {what}")
        return text

    def _take(self, pattern: str) -> str | None:
        match = re.compile(rf"\s*({pattern})").match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match[1] if match else None

    def _mistake(self, message: str) -> JrhError:
        remainder = self.text[self.at :]
        place = len(self.text) - len(remainder.lstrip()) + 1
        got = f"got '{remainder.strip()[:20]}'" if remainder.strip() else "the rule ends there"
        return JrhError(f"rule '{self.text.strip()}', character {place}: {message}; {got}\n{_FORM}")
