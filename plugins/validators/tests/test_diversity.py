"""cosine-diversity: near is rejected, and the matrix behind it grows without being stacked."""

import random

import jrh_validators.plugin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Draft, Item, JrhError
from jrh_authoring import WORD, VectorRows
from jrh_testing import build
from jrh_validators.diversity import _rank, tfidf

SEED = Item(id="seed", fields={"request": "?", "response": "Sunlight is scattered by the air above us."})
TEXTS = [
    "Blue light is scattered more than red light.",
    "blue light is SCATTERED, more than red light!",
    "Waves are high at the coast in winter.",
    "Waves are high at the coast in winter, as a rule.",
    "sunlight is scattered by the air above us",
    "Bread needs flour, water, salt and time.",
]


def pairs(texts):
    return [(SEED, Draft(variant=str(number), fields={"response": text})) for number, text in enumerate(texts)]


async def decided(texts=TEXTS, **options):
    return await build(jrh_validators.plugin, "cosine-diversity", options=options).validate_set(pairs(texts))


async def test_a_draft_like_a_seed_and_a_draft_like_another_are_rejected():
    found = await decided()
    assert found[4].reason == "too similar to an item's own text"
    assert found[4].details["to_seeds"] == 1.0
    assert sorted(validation.accepted for validation in found[:2]) == [False, True]
    (rejected,) = [validation for validation in found[:2] if not validation.accepted]
    assert rejected.reason == "too similar to a draft already kept"
    assert rejected.score == 1.0
    assert found[5].accepted


async def test_the_limits_are_separate_and_none_is_no_limit():
    assert all(validation.accepted for validation in await decided(max_to_seeds=None, max_to_kept=None))
    kept_only = await decided(max_to_seeds=None)
    assert [validation.accepted for validation in kept_only[4:]] == [True, True]
    assert sum(not validation.accepted for validation in kept_only) == 1
    strict = await decided(max_to_kept=0.3)
    assert sum(validation.accepted for validation in strict) == 3


async def test_similarities_are_those_of_scikit_learn():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    found = await decided(TEXTS, max_to_seeds=None, max_to_kept=None)
    matrix = TfidfVectorizer(token_pattern=r"\w+").fit_transform([*TEXTS, SEED.fields["response"]])
    expected = cosine_similarity(matrix[:-1], matrix[-1])[:, 0]
    assert [validation.details["to_seeds"] for validation in found] == pytest.approx(list(expected), abs=1e-5)
    others = cosine_similarity(matrix[:-1])
    np.fill_diagonal(others, 0)
    nearest = max(validation.details["to_kept"] for validation in found)
    assert nearest == pytest.approx(others.max(), abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(len(TEXTS))))
async def test_the_order_of_the_drafts_decides_nothing(order):
    everything = pairs(TEXTS)
    made = build(jrh_validators.plugin, "cosine-diversity")
    forward = await made.validate_set(everything)
    turned = await made.validate_set([everything[place] for place in order])
    assert turned == [forward[place] for place in order]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(alphabet="ab 東!", max_size=6), max_size=8))
async def test_no_two_kept_drafts_are_nearer_than_the_limit(texts):
    found = await decided(texts, max_to_seeds=None, max_to_kept=0.9)
    kept = [text for text, validation in zip(texts, found, strict=True) if validation.accepted]
    vectors = tfidf([*texts, SEED.fields["response"]]) if texts else []
    places = [place for place, validation in enumerate(found) if validation.accepted]
    for one in places:
        for other in places:
            assert one == other or (vectors[one] @ vectors[other].T).sum() <= 0.9 + 1e-6, kept


async def test_drafts_without_text_are_accepted():
    made = build(jrh_validators.plugin, "cosine-diversity")
    assert await made.validate_set([]) == []
    (one, other) = await made.validate_set([(SEED, Draft()), (SEED, Draft(fields={"response": ""}))])
    assert one.accepted
    assert other.accepted
    assert other.score is None


@pytest.mark.parametrize("limit", [0, 1.5, float("nan")])
def test_limits_that_make_no_sense_are_rejected(limit):
    with pytest.raises(JrhError, match=r"max_to_kept|number"):
        build(jrh_validators.plugin, "cosine-diversity", options={"max_to_kept": limit})


async def test_many_drafts_are_decided_as_one_after_the_other():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    draws = random.Random(4)
    texts = [" ".join(draws.choices("abcdefghijkl", k=6)).replace(" ", "x ") for _ in range(300)]
    found = await decided(texts, max_to_kept=0.7, max_to_seeds=None)
    matrix = TfidfVectorizer(tokenizer=WORD.findall, token_pattern=None).fit_transform(
        [*texts, SEED.fields["response"]]
    )
    alike = cosine_similarity(matrix)
    kept = []
    for place in sorted(range(len(texts)), key=lambda place: _rank(*pairs(texts)[place])):
        nearest = max([0.0, *alike[place, kept]])
        assert found[place].details["to_kept"] == pytest.approx(nearest, abs=1e-6)
        assert found[place].accepted == (round(nearest, 6) <= 0.7)
        if found[place].accepted:
            kept.append(place)
    assert 64 < len(kept) < 250


VECTORS = st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=5, max_size=5), max_size=70)


@settings(max_examples=60, deadline=None)
@given(VECTORS)
def test_growing_rows_give_the_highest_product_of_a_stacked_matrix(vectors):
    from scipy.sparse import csr_matrix

    sparse, dense = VectorRows(), VectorRows()
    for number, vector in enumerate(vectors):
        stacked = np.array(vectors[:number]).reshape(number, 5)
        asked = vectors[number : number + 3]
        expected = [max([0.0, *(stacked @ np.array(one))]) for one in asked]
        assert sparse.highest([csr_matrix([one]) for one in asked]) == pytest.approx(expected)
        assert dense.highest([np.array(one, dtype=np.float32) for one in asked]) == pytest.approx(expected)
        sparse.append(csr_matrix([vector]))
        dense.append(np.array(vector))


def test_rows_are_kept_in_few_blocks():
    rows = VectorRows()
    for _ in range(1000):
        rows.append(np.ones(3))
    assert [len(block) for block in rows._blocks] == [512, 256, 128, 64, 32, 8]
