"""cosine-diversity with sentence-transformers: a tiny model, made here, nothing downloaded."""

import sys
from pathlib import Path

import jrh_validators.plugin
import pytest
from jrh import Draft, Item, JrhError
from jrh_testing import build

SEED = Item(id="seed", fields={"response": "red green blue"})


def drafts(*texts):
    return [(SEED, Draft(variant=str(number), fields={"response": text})) for number, text in enumerate(texts)]


def tiny_encoder(folder: Path) -> None:
    """Write a sentence-transformers model: one word, one fixed vector; a text is their mean."""
    sentence_transformers = pytest.importorskip(
        "sentence_transformers",
        reason='sentence-transformers is not installed; `pip install "jrh-validators[embeddings]"` to run this test',
    )
    from sentence_transformers.sentence_transformer.modules import Pooling, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    words = ["red", "green", "blue", "one", "two", "three"]
    weights = [[float(row == column) for column in range(len(words))] for row in range(len(words))]
    embed = WordEmbeddings(WhitespaceTokenizer(words, stop_words=[]), weights, update_embeddings=False)
    pool = Pooling(len(words), pooling_mode="mean")
    sentence_transformers.SentenceTransformer(modules=[embed, pool], device="cpu").save(str(folder))


async def test_an_encoder_beside_the_suite_measures_the_similarity(tmp_path):
    tiny_encoder(tmp_path / "encoder")
    made = build(
        jrh_validators.plugin,
        "cosine-diversity",
        options={"encoder": "encoder", "max_to_seeds": 0.9, "max_to_kept": 0.9},
        base=tmp_path,
    )
    found = await made.validate_set(drafts("blue red green", "red one two", "one two three"))
    assert [validation.accepted for validation in found] == [False, True, True]
    # By hand: one of three words shared with the seed.
    assert [validation.details["to_seeds"] for validation in found] == pytest.approx([1.0, 1 / 3, 0.0], abs=1e-5)


async def test_without_the_library_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    made = build(jrh_validators.plugin, "cosine-diversity", options={"encoder": "some/model"}, base=tmp_path)
    with pytest.raises(JrhError, match=r"jrh-validators\[embeddings\]"):
        await made.validate_set(drafts("red"))
