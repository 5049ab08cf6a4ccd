"""Options of the allocators, and the rules they may have: shares whose trials all score between 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from attrs import frozen
from attrs.validators import and_, ge, gt, le, min_len
from jrh import REFERENCE, JrhError
from jrh.plugins import Role, option
from jrh_measuring import EVERY_TEST, GateOptions, GateRule, parse_rule

if TYPE_CHECKING:
    from jrh.plugins.registry import Plugins

_OF_TESTS: Final = (Role.EXPECTATION.value, Role.SELF_AGREEMENT.value)
_ROLES: Final = (Role.AGREEMENT.value, *_OF_TESTS, Role.MISSING_SHARE.value)
Mistakes: TypeAlias = Iterator[tuple[tuple[str | int, ...], str]]


@frozen(kw_only=True)
class Target:
    """A share that is followed from look to look."""

    rule: GateRule
    role: str
    """Of its measure."""

    @property
    def test(self) -> str:
        """Return the test it is about."""
        return self.rule.test or REFERENCE


def shares() -> Mapping[str, str]:
    """Return the measures that a rule may be about -> their roles."""
    # It loads the plugins, and is no part of declaring one.
    from jrh_measuring import measure_roles

    return {name: role for name, role in measure_roles().items() if role in _ROLES}


def read_target(text: str, known: Mapping[str, str]) -> Target:
    """Read a rule of `stop`; `known` are the measures it may be about.

    Raises:
        JrhError: it cannot be decided cluster by cluster; the text says what can.
    """
    rule = parse_rule(text)
    role = known.get(rule.measure, "")
    if not role:
        names = ", ".join(f"`{name}`" for name in sorted(known)) or "none is installed"
        raise JrhError(f"rule '{text}': '{rule.measure}' is no mean over trials of 0 to 1; rules may use {names}")
    if rule.cell or rule.test == EVERY_TEST:
        raise JrhError(f"rule '{text}': name one test, and no part of a test")
    if role in _OF_TESTS and rule.test in (None, REFERENCE):
        raise JrhError(f"rule '{text}': name the test, as in `{rule.measure}[format]`")
    if not 0 < rule.threshold < 1:
        raise JrhError(f"rule '{text}': the threshold has to be between 0 and 1: no sample decides about either end")
    return Target(rule=rule, role=role)


def _check(
    place: tuple[str | int, ...], text: str, read: Callable[[str], Target], suite: Any, plugins: Plugins
) -> Mistakes:
    """Yield what is wrong with a rule; the first mistake of the rule language, or else of what may be followed."""
    wrong = [message for _, message in GateOptions(rules=(text,)).check_suite(suite, plugins)]
    try:
        read(text)
    except JrhError as error:
        wrong.append(str(error))
    for message in wrong[:1]:
        yield place, message


@frozen(kw_only=True)
class StopOptions:
    """Options of `stop`."""

    when: tuple[str, ...] = option(
        "a judge is asked until all of these are decided; in the words of a gate: `gold-accuracy >= 0.8`", min_len(1)
    )
    check_every: int = option("items of every task between two looks", ge(1), default=50)
    alpha: float = option(
        "largest chance of any wrong decision, over all judges, rules and looks", and_(gt(0), le(0.5)), default=0.05
    )

    def check_suite(self, suite: Any, plugins: Plugins) -> Mistakes:
        """Yield the rules that cannot be followed."""
        for place, text in enumerate(self.when):
            yield from _check(("when", place), text, lambda text: read_target(text, shares()), suite, plugins)

    def foresee(self, clusters: Mapping[str, Sequence[int]], judges: int) -> Iterator[str]:
        """Yield what a plan says of the looks; see `expectation.stopping`."""
        # Imported on call: options are read in every process, and plans are made in few.
        from jrh_sequential.expectation import stopping

        yield from stopping(self, clusters, judges)


@frozen(kw_only=True)
class RaceOptions:
    """Options of `race`."""

    by: str = option(
        "the measure that judges are compared by, with its test: `as-expected[format]`; default: agreement with gold",
        default="",
    )
    check_every: int = option("items of every task between two looks", ge(1), default=50)
    alpha: float = option(
        "largest chance of ever dropping a judge for one that is not better", and_(gt(0), le(0.5)), default=0.05
    )

    def target(self, known: Mapping[str, str]) -> Target:
        """Return what judges are compared by.

        Raises:
            JrhError: there is no such measure, or none that can be followed.
        """
        # Of a race, the larger share wins.
        known = {name: role for name, role in known.items() if role != Role.MISSING_SHARE.value}
        gold = next((name for name, role in known.items() if role == Role.AGREEMENT.value), "")
        # The threshold of a race is the other judge.
        return read_target(f"{self.by or gold} >= 0.5", known)

    def check_suite(self, suite: Any, plugins: Plugins) -> Mistakes:
        """Yield what is wrong with the race."""
        if len(suite.judges) < 2:  # noqa: PLR2004
            yield (), "a race needs at least two judges"
        if len(suite.tasks) > 1 and "task=" not in self.by.replace(" ", ""):
            # Clusters are drawn task by task: over tasks of different sizes, the looks have no order in common.
            yield ("by",), "the suite has several tasks; name that of the race, as in `gold-accuracy[task=NAME]`"
            return
        if self.by:
            yield from _check(("by",), f"{self.by} >= 0.5", lambda _: self.target(shares()), suite, plugins)

    def foresee(self, clusters: Mapping[str, Sequence[int]], judges: int) -> Iterator[str]:
        """Yield what a plan says of the looks; see `expectation.racing`."""
        from jrh_sequential.expectation import racing

        yield from racing(self, clusters, judges)
