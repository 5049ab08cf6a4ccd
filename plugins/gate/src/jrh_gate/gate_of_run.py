"""Check the suite's rules at the end of a run, and show the result in every report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import asdict, evolve
from jrh import JrhError, RunReport, content_id
from jrh.plugins import Stage, StageOutcome
from jrh.running import RunState, StageWork, gather
from jrh.text import clean_text, count_noun
from jrh.values import Importance, Section, TextPart
from jrh_measuring import GateOptions, measure_one_sided, parse_rule, take_look_of_run

_NAME: Final = "gate"
"""Of the stage, of its section, and of the key of its result in the store."""
_MESSAGE: Final = 400


class GateOfRun(Stage):
    """Checks the rules once all trials have a record: a run that goes on takes no look at its verdicts."""

    def __init__(self, options: GateOptions | None) -> None:
        """Take the section of the suite; None where it has none, or where a report is written again."""
        self._options = options

    def applies(self, work: StageWork) -> bool:
        """Return whether the suite has rules, or the run had some."""
        return self._options is not None or bool(work.store.meta(_NAME))

    async def run(self, work: StageWork) -> StageOutcome:
        """Check the rules, unless nothing they depend on has changed, and keep the result."""
        # A part of a run is no run: its rules are checked once the parts are merged.
        if self._options is None or not self._options.rules or work.builder.resolved.shard is not None:
            work.store.set_meta(_NAME, "")
            return StageOutcome()
        report = evolve(gather(work.store, work.summary, work.records), measures=work.store.measures.read()[0])
        digest = content_id(work.store.measures.digest(), asdict(self._options))
        known = _stored(work)
        if known is None or known["digest"] != digest:
            shown, failed, unchecked = _check(self._options, report, work)
            known = {"digest": digest, "shown": shown, "failed": failed, "unchecked": unchecked}
            work.store.set_meta(_NAME, json.dumps(known))
        return StageOutcome(failed=known["failed"], unchecked=known["unchecked"])

    def report(self, report: RunReport, work: StageWork) -> RunReport:
        """Add the result."""
        known = _stored(work)
        return report if known is None else evolve(report, stages={**report.stages, _NAME: known["shown"]})


def _stored(work: StageWork) -> Any:
    """Return the result that the store keeps, with a digest of what it depends on; None where there is none."""
    text = work.store.meta(_NAME)
    return json.loads(text) if text else None


def _check(options: GateOptions, report: RunReport, work: StageWork) -> tuple[Mapping[str, Any], str, str]:
    """Return what reports show, what has failed, and what was not checked; empty if nothing."""
    # Imported here: every run builds this stage, and most have no gate.
    from jrh_measuring.gating.checking import FAILS, INCOMPLETE, Terms, check
    from jrh_measuring.gating.deciding import Outcome
    from jrh_measuring.gating.selecting import mistakes, unique

    from jrh_gate import wording

    if report.incomplete:
        return {"line": f"Gate: not checked. {report.totals}", "rules": []}, "", ""
    rules = unique(map(parse_rule, options.rules))
    # A run of some tests or judges, such as `--test format`, lacks what rules of the whole suite name.
    unchecked = {rule.text: mistakes(rule, report) for rule in rules}
    left = tuple(rule for rule in rules if not unchecked[rule.text])
    why = "; ".join(_line(problem) for problems in unchecked.values() for problem in problems)
    note = (
        f"the gate is not checked, {len(rules) - len(left)} of {count_noun(len(rules), 'rule')}: {why}" if why else ""
    )
    if not left:
        return {"line": f"Gate: not checked. {why}", "rules": []}, "", note
    terms = Terms(rules=left, allow_missing=options.allow_missing, undecided=options.undecided)
    try:
        checked = check(
            RunState(suite=report.suite, imported=True),  # it ends here: all trials have a record
            report,
            terms,
            take_look_of_run(work.store),
            lambda errors: measure_one_sided(work, errors),
        )
    except JrhError as error:  # such as a threshold that a measure cannot reach
        return (
            {"line": f"Gate: not checked. {_line(error)}", "rules": []},
            "",
            f"the gate is not checked: {_line(error)}",
        )
    rows = [[decision.outcome.value, *wording.cells(decision, checked)] for decision in checked.decisions]
    line, code = wording.write_headline(checked), checked.exit_code
    if note:
        line = f"{note.replace('the gate is', 'Gate:')} The others: {line.removeprefix('Gate: ')}"
        code = code or INCOMPLETE
    shown = {"line": line, "exit_code": code, "rules": rows}
    # With `undecided: 1` this is 1 where no rule fails.
    verb = "" if Outcome.FAILS in checked.rules.values() else "is "
    return shown, f"the gate {verb}{wording.write_outcome(checked)}" if checked.exit_code == FAILS else "", note


def _line(problem: object) -> str:
    """Write a message of several lines in one."""
    return clean_text(str(problem).replace("'\n", "'. "), _MESSAGE)


class GateLine:
    """Shows the result in one line."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield the section; nothing where the run has no gate."""
        shown: Any = report.stages.get(_NAME)
        if shown is not None:
            yield Section(importance=Importance.FIRST, parts=(TextPart(text=shown["line"]),))
