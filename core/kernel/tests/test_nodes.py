"""Values at their place, whose mistakes are collected."""

from pathlib import Path

from attrs import field, frozen
from attrs.validators import gt
from jrh.document.convert import Node
from jrh.document.yaml_reader import parse_document


@frozen(kw_only=True)
class Settings:
    repeats: int = field(default=2, validator=gt(0))
    label: str = "YES"


def root(text):
    document = parse_document(text, "s.yaml")
    return Node(value=document.value, document=document, base=Path())


def messages(node):
    return [str(problem) for problem in node.problems]


def test_all_nodes_of_a_document_share_one_list_of_mistakes():
    node = root("a:\n  b: [1, x]\n")
    node["a"]["b"][1].report("wrong")
    node["a"].report("missing", "c")
    assert messages(node) == ["s.yaml:2:10: b[1]: wrong", "s.yaml:1:1: c: missing"]


def test_keys_of_a_class_are_read_and_others_left_alone():
    node = root("repeats: 3\nother: 1\nlabel: 5\n")
    assert node.read_keys_of(Settings, leave={"label"}) == Settings(repeats=3)
    assert messages(node) == []


def test_defaults_take_the_place_of_what_is_wrong():
    node = root("repeats: 0\nlabel: 5\n")
    assert node.read_keys_of(Settings) == Settings()
    assert messages(node) == [
        "s.yaml:1:1: repeats: must be more than 0, got 0",
        "s.yaml:2:1: label: expected text, got the whole number 5; write it in quotes",
    ]


def test_a_list_that_is_left_out_has_no_entries_and_one_that_is_no_list_is_reported():
    node = root("tests: format\n")
    assert node.entries("judges") == []
    assert node.entries("tests") == []
    assert messages(node) == ["s.yaml:1:1: tests: expected a list, got the text 'format'"]


def test_a_section_has_to_be_there_and_to_be_a_mapping():
    node = root("data: []\n")
    assert node.section("data") is None
    assert node.section("task") is None
    assert messages(node) == [
        "s.yaml:1:1: data: expected a mapping, got a list",
        "s.yaml:1:1: missing key 'task'",
    ]
