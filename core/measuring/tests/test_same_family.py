from jrh import Item
from jrh_measuring import same_families
from jrh_measuring.same_family import model_family
from jrh_testing import loop_over


@loop_over(
    ("name", "family"),
    [
        ("gpt-4o-mini", "openai"),
        ("azure/gpt-4.1", "openai"),
        ("o3-mini", "openai"),
        ("openrouter/anthropic/claude-3.5-sonnet", "anthropic"),
        ("us.anthropic.claude-3-haiku-20240307-v1:0", "anthropic"),
        ("vertex_ai/gemini-2.0-flash", "google"),
        ("together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo", "meta"),
        ("llama3.1:8b", "meta"),
        ("deepseek-r1-distill-llama-70b", "deepseek"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen"),
        ("mixtral-8x7b", "mistral"),
        ("microsoft/phi-4", "microsoft"),
        ("nova-pro", "amazon"),
        ("our-own-model", None),
        ("optimist", None),
        ("novartis-judge", None),
        ("", None),
    ],
)
def test_the_family_of_a_model_is_read_from_its_name(name: str, family: str | None) -> None:
    assert model_family(name) == family


def _item(number: int, source: str = "", **metadata: str) -> Item:
    return Item(id=str(number), fields={}, gold="YES", gold_source=source, metadata=metadata)


def test_a_judge_of_the_family_that_labelled_or_wrote_is_found_and_no_other() -> None:
    items = [
        *(_item(number, "model:openai/gpt-4o", author="claude-3-opus") for number in range(3)),
        *(_item(number, "people", author_a="gpt-3.5-turbo", author_b="gpt-4") for number in range(3, 5)),
    ]
    judges = {"mini": "gpt-4o-mini", "haiku": "claude-3-haiku", "own": "our-own-model", "mistral": "mistral-large"}
    found = {(each.judge, each.kind): each for each in same_families(items, judges)}

    assert {key: each.affected for key, each in found.items()} == {
        ("mini", "gold"): 3,
        ("mini", "responses"): 2,
        ("haiku", "responses"): 3,
    }
    labelled = found["mini", "gold"].sentence
    assert labelled.startswith("The gold labels of 3 of 5 items come from openai/gpt-4o, of the same family (openai)")
    assert "not accuracy" in labelled or "agreement with model labels" in labelled


def test_labels_by_a_model_that_nobody_named_are_of_no_family() -> None:
    assert not list(same_families([_item(1, "model"), Item(id="2", fields={})], {"mini": "gpt-4o-mini"}))
