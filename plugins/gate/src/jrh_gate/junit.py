"""Write the gate's findings as JUnit XML, which every CI server can show."""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree as ET

from jrh.text import clean_text
from jrh_measuring.gating import checking
from jrh_measuring.gating.checking import Checked
from jrh_measuring.gating.deciding import Decision, Outcome

from jrh_gate import wording

_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 forbids, even as character references."""


def junit(checked: Checked) -> bytes:
    """Return the document: a suite for the run and one per judge, with a case per rule and place.

    A failing rule is a failure. An undecided one is an error, or as its exit code says: a failure for 1, skipped for 0.
    Too many missing verdicts and an unfinished run are errors. Findings about what was judged are the `system-out` of
    their judge's suite, those about the data of the run's. There is no timestamp, so that the same findings give
    the same bytes.
    """
    root = ET.Element("testsuites", name=_text(f"jrh gate: {checked.suite}"))
    run = ET.SubElement(root, "testsuite", name="run")
    case = _case(run, checked, "run", "the run is finished")
    if checked.unfinished:
        _mark(case, "error", "incomplete", checked.unfinished)
    _add_findings(run, "", checked)
    _verdict_cases(root, checked)
    _count(root, *(_count(suite) for suite in root))
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n".encode()


def _verdict_cases(root: ET.Element, checked: Checked) -> None:
    judges = dict.fromkeys((*checked.judges, *(decision.place.judge for decision in checked.decisions)))
    for name in judges:
        label = wording.judge(name, checked)
        suite = ET.SubElement(root, "testsuite", name=_text(label))
        silent = [answered for answered in checked.silent if answered.judge == name]
        if name in checked.judges:
            allowed = wording.share(checked.terms.allow_missing)
            case = _case(suite, checked, label, f"at most {allowed} of the verdicts are missing")
            if silent:
                lines = [f"{wording.where(answered, checked)}: {wording.silence(answered)}" for answered in silent]
                _mark(case, "error", "missing", lines[0], "\n".join(lines))
        for decision in checked.decisions:
            if decision.place.judge == name:
                _rule_case(suite, checked, label, decision)
        # The findings about the data, whose judge is empty, are the run's already.
        if name:
            _add_findings(suite, name, checked)


def _add_findings(suite: ET.Element, name: str, checked: Checked) -> None:
    """Add what the run found about a judge, or with an empty name about the data, to what its suite printed."""
    findings = [finding for finding in checked.relevant_findings if finding.judge == name]
    if findings:
        lines = (wording.write_finding(finding, checked) for finding in findings)
        ET.SubElement(suite, "system-out").text = _text("\n".join(lines), 10_000)


def _rule_case(suite: ET.Element, checked: Checked, label: str, decision: Decision) -> None:
    place = wording.where(decision.place, checked)
    case = _case(suite, checked, label, f"{decision.rule.text}{f' ({place})' if place else ''}")
    sizes = wording.sizes(decision.measure)
    message = f"{wording.estimate_and_limits(decision)}{f', {sizes}' if sizes else ''}: {decision.reason}"
    if decision.outcome is Outcome.FAILS:
        _mark(case, "failure", "fails", message)
    elif decision.outcome is Outcome.UNDECIDED:
        marks = {checking.HOLDS: "skipped", checking.FAILS: "failure"}
        _mark(case, marks.get(checked.terms.undecided, "error"), Outcome.UNDECIDED.value, message)
    else:
        ET.SubElement(case, "system-out").text = _text(message)


def _case(suite: ET.Element, checked: Checked, label: str, name: str) -> ET.Element:
    place = f"{checked.suite}.{label}"
    return ET.SubElement(suite, "testcase", name=_text(name), classname=_text(place), time="0")


def _mark(case: ET.Element, tag: str, kind: str, message: str, text: str = "") -> None:
    mark = ET.SubElement(case, tag, message=_text(message))
    if tag != "skipped":
        mark.set("type", kind)
        mark.text = _text(text, 10_000) if text else None


def _count(element: ET.Element, *parts: dict[str, int]) -> dict[str, int]:
    """Set and return an element's number of cases by result."""
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    counted = {name: sum(1 for _ in element.iter(tag)) for name, tag in tags.items()}
    # The root counts what its suites have counted.
    counts = {name: sum(part[name] for part in parts) for name in tags} if parts else counted
    for name, count in counts.items():
        element.set(name, str(count))
    element.set("time", "0")
    return counts


def _text(text: str, limit: int = 1000) -> str:
    lines = [clean_text(line, limit) for line in text.split("\n")]
    # A document with one such character is refused as a whole by parsers of JUnit XML.
    return _UNPRINTABLE.sub("", "\n".join(lines))
