"""Similarity by sentence embeddings inside the loop: a tiny model, made here, nothing downloaded."""

import json
import re
import sys
from pathlib import Path

import jrh_synthetic_ordinal.plugin
import numpy as np
import pytest
from jrh import Draft, Item, JrhError, Scale, Task
from jrh_testing import ScriptedModel, build

TASK = Task(name="levels", instruction="Grade it.", rubric="Better is higher, " * 5, scale=Scale.of_levels(1, 2))
WORDS = ["seed", "fine", "great", "poor", "bad", "other"]
"""`fine` and `great` share a vector, and so do `poor` and `bad`: synonyms that TF-IDF cannot see."""
VECTORS = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
ITEMS = [Item(id=f"{n}", fields={"request": "Write.", "response": "seed seed"}, gold="1") for n in range(2)]


def tiny_encoder(folder: Path) -> None:
    """Write a sentence-transformers model: one word, one fixed vector; a text is their mean."""
    sentence_transformers = pytest.importorskip(
        "sentence_transformers",
        reason='sentence-transformers is not installed; `pip install "jrh-synthetic-ordinal[embeddings]"`',
    )
    from sentence_transformers.sentence_transformer.modules import Pooling, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    embed = WordEmbeddings(
        WhitespaceTokenizer(WORDS, stop_words=[]),
        [[float(value) for value in vector] for vector in VECTORS],
        update_embeddings=False,
    )
    pool = Pooling(len(VECTORS[0]), pooling_mode="mean")
    sentence_transformers.SentenceTransformer(modules=[embed, pool], device="cpu").save(str(folder))


def perturber(writer, base, **options):
    grader = ScriptedModel(lambda request: json.dumps({"level": "1" if "poor" in _shown(request) else "2"}))
    return build(
        jrh_synthetic_ordinal.plugin,
        "synthetic-ordinal",
        options={
            "model": "writer",
            "grader": "grader",
            "levels": ["2"],
            "attempts_per_temperature": 1,
            "examples": 0,
            **options,
        },
        task=TASK,
        models={"writer": ScriptedModel(writer), "grader": grader},
        base=base,
    )


def _shown(request):
    return re.findall(r"<response[^>]*>\n(.*?)\n</response", request.messages[-1].content, re.DOTALL)[-1]


def by_temperature(texts):
    """Answer with the text of the request's temperature."""
    return lambda request: json.dumps({"response": texts[request.sampling.temperature]})


async def test_a_synonym_of_a_kept_response_is_rejected_and_retried_at_the_next_temperature(tmp_path, monkeypatch):
    tiny_encoder(tmp_path / "encoder")
    answers = {0.7: ["fine fine", "great great"], 0.9: ["other other"] * 2}
    given = {temperature: iter(texts) for temperature, texts in answers.items()}
    batches = []
    from sentence_transformers import SentenceTransformer

    real = SentenceTransformer.encode
    monkeypatch.setattr(
        SentenceTransformer, "encode", lambda self, texts, **how: batches.append(len(texts)) or real(self, texts, **how)
    )
    made = perturber(
        lambda request: json.dumps({"response": next(given[request.sampling.temperature])}), tmp_path, encoder="encoder"
    )
    results = await made.perturb_set(ITEMS)
    assert [draft.fields["response"] for _, draft in results] == ["fine fine", "other other"]
    rejected, kept = results[1][1].details["attempts"]
    assert (rejected["temperature"], rejected["rejected"]) == (0.7, "too similar to a draft already kept")
    assert (rejected["to_seeds"], rejected["to_kept"]) == pytest.approx((0.0, 1.0), abs=1e-5)
    assert (kept["temperature"], kept["to_kept"]) == (0.9, 0.0)
    # The one distinct seed, then each round's texts together: nothing twice.
    assert batches == [1, 2, 1]


async def test_the_two_limits_are_apart(tmp_path):
    tiny_encoder(tmp_path / "encoder")
    texts = {0.7: "seed seed seed other", 0.9: "other other other other"}
    found = {}
    for limit in (0.9, 0.99):
        results = await perturber(
            by_temperature(texts), tmp_path, encoder="encoder", max_to_seeds=limit, max_to_kept=None
        ).perturb_set(ITEMS[:1])
        found[limit] = results[0][1].fields["response"]
    # By hand: (3, 1) / 4 against (1, 0) is 3 / sqrt(10) = 0.949.
    assert found == {0.9: texts[0.9], 0.99: texts[0.7]}


async def test_tf_idf_lets_the_synonym_pass():
    answers = iter(["fine fine", "great great"])
    results = await perturber(lambda request: json.dumps({"response": next(answers)}), Path()).perturb_set(ITEMS)
    assert all(isinstance(draft, Draft) for _, draft in results)
    assert [len(draft.details["attempts"]) for _, draft in results] == [1, 1]


async def test_without_the_library_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    made = perturber(lambda request: "", tmp_path, encoder="some/model")
    with pytest.raises(JrhError, match=r"jrh-synthetic-ordinal\[embeddings\]"):
        await made.perturb_set(ITEMS)


def test_rows_of_embeddings_grow_and_agree_with_a_plain_product():
    from jrh_authoring import VectorRows

    vectors = np.random.default_rng(3).normal(size=(50, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = VectorRows()
    for vector in vectors[:40]:
        rows.append(vector)
    expected = np.clip((vectors[40:] @ vectors[:40].T).max(axis=1), 0, None)
    assert rows.highest(list(vectors[40:])) == pytest.approx(expected.tolist(), abs=1e-6)
