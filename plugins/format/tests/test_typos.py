"""Typing errors come at the stated rate, one per word, and where nothing but a word of prose is hit."""

from jrh import Item, Skip
from jrh_format.layouts import Source, apply
from jrh_format.options import Typo, TypoOptions
from jrh_format.typos import OneTypoPerWord
from jrh_testing import build, loop_over

TEXT = (
    "The harbour master wrote about shipping, and nothing else. The letters follow twelve readers through several "
    "small streets; later, somebody finds another version behind the garden wall. Nobody doubts the story."
)


async def drafts(text, **options):
    import jrh_format.plugin

    made = build(jrh_format.plugin, "typos", options=options)
    return await made.perturb(Item(id="1", fields={"request": "?", "response": text}))


def differing(before, after):
    return [pair for pair in zip(before.split(), after.split(), strict=True) if pair[0] != pair[1]]


@loop_over("kind", list(Typo))
async def test_the_stated_share_of_the_words_gets_one_error_and_a_weaker_text_is_part_of_a_stronger(kind):
    weak, strong = await drafts(TEXT, variants=[kind.value], strengths=[0.1, 0.5])
    few, many = (set(differing(TEXT, draft.fields["response"])) for draft in (weak, strong))
    possible = strong.details["response"]["places_possible"]
    assert possible >= 20
    assert (len(few), len(many)) == (int(0.1 * possible + 0.5), int(0.5 * possible + 0.5))
    assert few < many
    item = Item(id="1", fields={"request": "?", "response": TEXT})
    assert all([(await OneTypoPerWord().validate(item, draft)).accepted for draft in (weak, strong)])
    assert all(a[0] == b[0] and a.rstrip(",.;")[-1] == b.rstrip(",.;")[-1] for a, b in many)


@loop_over(
    ("kind", "word", "results"),
    [
        (Typo.SWAP, "word", {"wrod"}),
        (Typo.SWAP, "better", {"bteter", "betetr"}),
        (Typo.SWAP, "feed", {"feed"}),
        (Typo.DROP, "word", {"wrd", "wod"}),
        (Typo.DOUBLE, "word", {"woord", "worrd"}),
        (Typo.KEY, "word", {"wird", "wprd", "woed", "wotd"}),
    ],
)
def test_each_kind_makes_its_own_error(kind, word, results):
    made = {apply(word, Source(word).places(kind, seed=seed)) for seed in range(40)}
    assert made == results


@loop_over(
    "text",
    [
        "`some code here`",
        "```\nsome code here\n```",
        "https://example.org/page/here",
        "NATO USA2025 camelCase snake_case",
        "not yes no two",
        "form from",
    ],
)
async def test_what_is_no_word_of_prose_or_would_become_another_word_stays(text):
    outcomes = await drafts(text, variants=["swap"], strengths=[1.0])
    assert outcomes == [Skip(reason="no word of prose with four letters or more", variant="swap")]


def test_the_default_is_one_rate_of_mixed_errors():
    assert (TypoOptions().variants, TypoOptions().strengths) == ((Typo.MIXED,), (0.05,))
