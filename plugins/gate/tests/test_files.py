"""The files: bounded, well-formed, and harmless whatever the names say."""

import json
import re
from xml.etree import ElementTree as ET

import attrs
import pytest
from gate_findings import found, measured
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh.values import Finding, Severity
from jrh_gate.console import console_text
from jrh_gate.json_file import gate_json
from jrh_gate.junit import junit
from jrh_gate.markdown import markdown
from jrh_gate.wording import sizes
from jrh_measuring import LONGEST_COMMENT
from jrh_testing import ODD_TEXTS, PAYLOADS

NAMES = list(dict.fromkeys([*PAYLOADS, *ODD_TEXTS, "\ud800", "\ufffe\uffff\x00", "]]>", "&amp;", "a|b"]))
HARMFUL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def hostile():
    return attrs.evolve(found(NAMES), unfinished=NAMES[0], ended=3)


def test_every_name_comes_through_the_xml_parser(hostile):
    root = ET.fromstring(junit(hostile))
    assert len(root) == 1 + len(NAMES)
    assert {part.tag for part in root.iter()} == {
        *("testsuites", "testsuite", "testcase", "failure", "error", "system-out")
    }


def test_no_name_is_markup_mention_or_link_in_the_markdown(hostile):
    text = markdown(hostile)
    assert not HARMFUL.search(text)
    assert set(re.findall(r"<[^>]*>?", text)) <= {"<details>", "<summary>", "</summary>", "</details>"}
    assert not re.search(r"(?<!\\)\]\(|(?<!\\)!\[|(?<!\\)`|@\w|://|\bwww\.", text)
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 7 for line in text.splitlines() if line.startswith("| "))


def test_no_name_acts_on_the_terminal(hostile):
    assert not HARMFUL.search(console_text(hostile))


def test_the_json_holds_every_name_as_it_is(hostile):
    text = gate_json(hostile)
    assert text.isascii()
    assert [check["judge"] for check in json.loads(text)["checks"]] == NAMES


@settings(max_examples=40, deadline=None)
@given(names=st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=4, unique=True))
def test_any_name_comes_through(names):
    checked = found(names)
    ET.fromstring(junit(checked))
    assert not HARMFUL.search(markdown(checked) + console_text(checked))
    assert [each["judge"] for each in json.loads(gate_json(checked))["verdicts"]] == names


@pytest.mark.parametrize("name", ["x", "*" * 90, "<&>" * 30])
def test_the_markdown_fits_into_a_comment_and_says_what_it_leaves_out(name):
    rules = [f"as-expected[{'y' * 60}{number}] >= 0.9" for number in range(12)]
    checked = found([f"{name}{number}" for number in range(200)], rules)
    text = markdown(checked)
    assert LONGEST_COMMENT / 2 < len(text) <= LONGEST_COMMENT
    left_out = sum(int(count) for count in re.findall(r"^(\d+) more do not fit here", text, re.MULTILINE))
    rows = len(re.findall(r"^\| (?:holds|\*\*)", text, re.MULTILINE))
    assert rows + left_out == 200 * 12


def test_findings_without_judges_or_decisions_have_files_too():
    checked = found([], ended=3, unfinished="the run has nothing to report yet", level=None)
    assert "the run has nothing to report yet" in markdown(checked)
    assert "exit code 3" in console_text(checked)
    assert ET.fromstring(junit(checked)).get("errors") == "1"
    assert json.loads(gate_json(checked))["checks"] == []


@pytest.mark.parametrize(("trials", "items", "said"), [(2, 1, "1 item"), (4, 2, "2 items")])
def test_a_result_counts_items(trials, items, said):
    assert sizes(measured(0.5, 0.6, n_trials=trials, n_items=items)) == said


def test_every_output_shows_the_findings_that_touch_a_rule() -> None:
    def finding(kind: str, severity: Severity, test: str, judge: str = "mini") -> Finding:
        return Finding(
            kind=kind, severity=severity, judge=judge, task="mini", tests=(test,), statement=kind, sentence=f"{kind}."
        )

    findings = (
        finding("moves more than reruns", Severity.BAD, "mini"),
        finding("prefers the first option", Severity.BAD, "reference"),
        finding("moves elsewhere", Severity.BAD, "another test"),
        finding("robust", Severity.GOOD, "mini"),
        finding("of another judge", Severity.BAD, "mini", judge="other"),
        finding("data <b>of</b> one group", Severity.WARNING, "mini", judge=""),
    )
    checked = found(["mini"], findings=findings)
    document, xml = json.loads(gate_json(checked)), ET.fromstring(junit(checked))
    printed = {suite.get("name"): suite.findtext("system-out") for suite in xml}
    texts = (console_text(checked), markdown(checked).replace("\\", ""), json.dumps(document), str(printed))
    for text in texts:
        assert "moves more than reruns." in text
        assert "prefers the first option." in text
        assert not any(word in text for word in ("elsewhere", "robust", "another judge"))
    for text in (texts[0], texts[1], texts[3]):
        assert "bad: mini (simulated) on mini: moves more than reruns." in text
    assert [(each["severity"], each["judge"], each["sentence"]) for each in document["findings"]] == [
        ("bad", "mini", "moves more than reruns."),
        ("bad", "mini", "prefers the first option."),
        ("warning", "", "data <b>of</b> one group."),
    ]
    assert printed["run"] == "warning: data on mini: data <b>of</b> one group."
    assert "<b>" not in markdown(checked)
    assert "Findings" not in markdown(found(["mini"]))
