import pytest
from jrh import JrhError
from jrh.values import GoldKind, GoldSource
from jrh_testing import loop_over


@loop_over(
    ("text", "kind", "model", "written"),
    [
        ("", GoldKind.UNKNOWN, "", "unknown"),
        ("people", GoldKind.PEOPLE, "", "people"),
        ("One person", GoldKind.ONE_PERSON, "", "one-person"),
        ("model", GoldKind.MODEL, "", "model"),
        ("model: openai/gpt-4o", GoldKind.MODEL, "openai/gpt-4o", "model:openai/gpt-4o"),
        ("model:llama3:8b", GoldKind.MODEL, "llama3:8b", "model:llama3:8b"),
        ("generator", GoldKind.GENERATOR, "", "generator"),
    ],
)
def test_sources_are_read_and_written(text: str, kind: GoldKind, model: str, written: str) -> None:
    found = GoldSource.read(text)

    assert (found.kind, found.model, found.text) == (kind, model, written)


@loop_over("text", ["crowd", "people: three", "model:", "gpt-4o"])
def test_other_sources_are_refused_with_those_that_are_accepted(text: str) -> None:
    with pytest.raises(JrhError, match="accepted: people, one-person, model, model:NAME, generator or unknown"):
        GoldSource.read(text)
