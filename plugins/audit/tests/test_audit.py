"""Every planted fault is found with its numbers, and a clean data set yields none."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from jrh import Item, JrhError, MetricContext, Mode, RecordTable, Scale, Task
from jrh.values import link_members
from jrh_audit.checks import audit
from jrh_audit.commands import command, lines
from jrh_audit.facts import Facts
from jrh_audit.metric import AuditMetric
from jrh_audit.options import AuditOptions
from jrh_audit.similarity import COMPARED, KEPT, similar
from jrh_audit.size import half_width
from jrh_audit.texts import asks_for_opposite, duplicates
from jrh_testing import loop_over

REAL = Path(__file__).parents[4] / "shared" / "data" / "judgesense"
YES_NO = Task(name="facts", scale=Scale.of_labels("YES", "NO"))
LEVELS = Task(name="levels", scale=Scale.of_levels(1, 5))
PAIRS = Task(name="pairs", scale=Scale.of_pairs(), mode=Mode.PAIRWISE)
WORDS = [f"word{number}" for number in range(400)]


def sentence(chance, size=20):
    return " ".join(chance.choice(WORDS) for _ in range(size)) + "."


def clean(task, n=120):
    """Items without a fault: distinct texts of one length, balanced labels that follow nothing."""
    chance = random.Random(7)
    labels = task.scale.labels
    return [
        Item(
            id=f"i{place}",
            fields={"request": sentence(chance, 5), **{name: sentence(chance) for name in task.mode.judged_fields}},
            gold=labels[place % len(labels)],
            stratum=("one", "two")[(place // len(labels)) % 2],
        )
        for place in range(n)
    ]


def kinds(items, task):
    return [finding.kind for finding in audit(items, task)]


def found(items, task, kind):
    (finding,) = [each for each in audit(items, task) if each.kind == kind]
    return finding


@pytest.mark.parametrize("task", [YES_NO, LEVELS, PAIRS], ids=lambda task: task.name)
def test_a_clean_data_set_yields_no_finding(task):
    assert audit(clean(task), task) == ()


def test_no_items_no_finding():
    assert audit([], YES_NO) == ()


@pytest.mark.parametrize("task", [YES_NO, PAIRS], ids=lambda task: task.name)
def test_all_checks_read_the_items_once(task):
    items = clean(task)
    items += [evolve(item, id=f"copy-{item.id}", gold=task.scale.labels[0]) for item in items[:60]]
    expected = audit(items, task)
    assert "duplicate-items" in {finding.kind for finding in expected}
    assert audit(iter(items), task) == expected


@loop_over("gap", [" ", "\n", "\x1c", "\u2003"])
def test_white_space_after_a_text_does_not_hide_how_it_ends(gap):
    items = [
        evolve(item, fields={**item.fields, "response": f"{item.fields['response']}{gap}"}) for item in clean(YES_NO)
    ]
    cut = evolve(items[0], fields={**items[0].fields, "response": f"{'word ' * 20}and{gap}{gap}"})
    assert found([cut, *items[1:]], YES_NO, "truncated-responses").examples == (cut.id,)


def test_duplicates_are_counted_and_contradictions_among_them():
    items = clean(YES_NO)
    copy = evolve(items[0], id="copy", gold="NO")
    finding = found([*items, copy], YES_NO, "duplicate-items")
    assert finding.evidence == "121 items are 120 distinct questions; 1 repeat another"
    assert finding.examples == ("i0 = copy",)
    assert "1 question of them with several gold labels" in finding.consequence


def test_a_text_that_differs_in_a_word_is_a_near_duplicate():
    items = clean(YES_NO)
    text = str(items[3].fields["response"]).rsplit(" ", 1)[0] + " other."
    near = evolve(items[3], id="near", fields={**items[3].fields, "response": text})
    finding = found([*items, near], YES_NO, "near-duplicate-items")
    assert (finding.affected, finding.examples) == (2, ("i3 = near",))


def test_near_duplicates_of_one_cluster_are_no_finding():
    """The three pairs of three answers share two thirds of their texts, and already count as one cluster."""
    items = [
        Item(id=f"i{place}", fields={"request": "", "response": f"number {place} {' '.join(WORDS[:50])}"}, group="one")
        for place in range(3)
    ]
    assert "near-duplicate-items" not in [finding.kind for finding in audit(items, YES_NO)]
    apart = [evolve(item, group=item.id) for item in items]
    assert found_pairs(apart).affected == len(items)


texts = st.lists(st.text("ab ", min_size=0, max_size=14), max_size=12)


@given(texts=texts, threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_the_quick_search_finds_what_comparing_all_pairs_finds(texts, threshold):
    sets = [_shingles(text) for text in texts]
    slow = [
        (one, other)
        for other in range(len(sets))
        for one in range(other)
        if sets[one] and sets[other] and len(sets[one] & sets[other]) / len(sets[one] | sets[other]) >= threshold
    ]
    found = similar(texts, threshold)
    assert (found.pairs, found.cut) == (sorted(slow), 0)


def _shingles(text):
    words = text.split()
    return {tuple(words[start : start + 3]) for start in range(max(len(words) - 2, min(len(words), 1)))}


def random_texts(words, n, size):
    chance = random.Random(3)
    return [" ".join(chance.choice(words) for _ in range(size)) for _ in range(n)]


def test_texts_of_few_distinct_words_are_searched_in_linear_time_and_planted_pairs_found():
    """With few words every triple is in many texts: the exact search of 20,000 took 115 s with 70 words."""
    texts = random_texts(WORDS[:40], 2000, 200)
    near = [text.replace(" ", " other ", 1) for text in texts[::100]]
    start = time.process_time()
    found = similar([*texts, *near], 0.8)
    assert time.process_time() - start < 4  # 0.5 s here; all pairs take 40 s
    assert [one for one, _ in found.pairs] == list(range(0, 2000, 100))


def test_many_similar_texts_bound_the_search_and_the_finding_says_so():
    """Questions made from one template: each resembles each, two million pairs."""
    template = " ".join(WORDS[:50])
    texts = [f"number {place} {template}" for place in range(2000)]
    found = similar(texts, 0.8)
    assert len(found.pairs) <= COMPARED * len(texts)
    assert found.cut > 1900
    assert len({place for pair in found.pairs for place in pair}) == len(texts)
    items = [Item(id=f"i{place}", fields={"request": "", "response": text}) for place, text in enumerate(texts[:100])]
    assert "at least" in found_pairs(items).evidence
    assert "not searched exhaustively: 8" in found_pairs(items).evidence


def found_pairs(items):
    return found(items, YES_NO, "near-duplicate-items")


def test_the_index_of_long_texts_is_estimated_from_a_bounded_part_of_them():
    """Broder's estimate: standard error sqrt(.8 * .2 / 256) = .025, so .86 is found at .8 and .70 is not."""
    (text,) = random_texts(WORDS, 1, 20 * KEPT)
    words = text.split()
    for changed, expected in ((0.024, [(0, 1)]), (0.06, [])):
        chance = random.Random(5)
        other = " ".join(word if chance.random() > changed else "other" for word in words)
        assert similar([text, other], 0.8).pairs == expected


def test_near_duplicates_take_less_than_a_kilobyte_per_text() -> None:
    """The sets of texts that it held before took about four: 180 MB for 50,000 items."""
    texts = [f"number {place}: " + " ".join(f"word{word}" for word in range(25)) for place in range(2000)]
    tracemalloc.start()
    similar(texts, 0.99)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    table = 4 * 2**20  # how common triples are, for any number of texts
    assert (peak - table) / len(texts) < 1000


def test_clusters_and_repeated_questions_are_those_of_all_pairs() -> None:
    """Items share an id, a group, a text, or nothing; some have no text."""
    chance = random.Random(11)
    items = [
        Item(
            id=f"i{chance.randrange(300)}",
            group=chance.choice(["", "", "g1", f"i{chance.randrange(300)}", " "]),
            fields={"request": "", "response": chance.choice(["", *(f"text {number}" for number in range(60))])},
        )
        for _ in range(120)
    ]
    facts = Facts(items, YES_NO)
    texts = [item.fields["response"] for item in items]
    assert facts.repetitions() == [
        members
        for place, text in enumerate(texts)
        if len(members := [at for at, other in enumerate(texts) if other == text]) > 1 and members[0] == place
    ]
    for places in (range(120), list(range(0, 120, 7))):
        names = link_members(
            (items[at].id, (items[at].group or items[at].id, f"\n{texts[at]}" * bool(texts[at]))) for at in places
        )
        wanted = [names[items[at].id] for at in places]
        assert facts.cluster_codes(places).tolist() == np.unique(wanted, return_inverse=True)[1].tolist()
        if len(places) == 120:
            assert list(facts.cluster) == [list(dict.fromkeys(wanted)).index(name) for name in wanted]


def test_what_is_kept_of_an_item_are_numbers() -> None:
    """Clusters and repeated questions were dictionaries of all items: 1,000 bytes each, 560 of them held."""
    options = AuditOptions()

    def peak(count: int) -> int:
        chance = random.Random(13)
        made = (
            Item(id=f"i{place}", fields={"request": sentence(chance, 4), "response": sentence(chance, 8)}, gold="YES")
            for place in range(count)
        )
        tracemalloc.start()
        facts = Facts(made, YES_NO)
        assert list(duplicates(facts, options)) == []
        assert facts.clusters == count == len(set(facts.cluster_codes(range(count)).tolist()))
        reached = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return reached

    assert (peak(3000) - peak(1000)) / 2000 < 500


def test_rows_that_repeat_each_other_shrink_to_the_items_and_the_interval_follows():
    from statsmodels.stats.proportion import proportion_confint

    items = [evolve(item, metadata={"rows": 25, "pairs": [["a", "b"]] * 5}) for item in clean(YES_NO, 5)]
    finding = found(items, YES_NO, "repeated-rows")
    assert finding.evidence == "125 rows are 25 distinct pairs over 5 items"
    for n in (125, 5):
        low, high = proportion_confint(0.9 * n, n, method="beta")
        assert f"{low:.2f} to {high:.2f}" in finding.consequence


def test_constant_gold_of_pairs_says_that_position_bias_cannot_be_told():
    items = [evolve(item, gold="A") for item in clean(PAIRS)]
    finding = found(items, PAIRS, "constant-gold")
    assert finding.evidence == "every gold label is A (120 items)"
    assert "A judge that always says A scores 100%" in finding.consequence
    assert "It hides position bias" in finding.consequence
    assert "gold-by-position" not in kinds(items, PAIRS)


def test_lopsided_gold_says_what_always_answering_it_is_worth():
    items = [evolve(item, gold="NO" if place % 10 == 0 else "YES") for place, item in enumerate(clean(YES_NO))]
    assert found(items, YES_NO, "lopsided-gold").evidence == "108 of 120 gold labels are YES (90%)"


def test_gold_that_stands_mostly_in_one_place_is_confounded_with_it():
    items = [evolve(item, gold="A" if place % 4 else "B") for place, item in enumerate(clean(PAIRS))]
    assert (
        found(items, PAIRS, "gold-by-position").evidence == "the better option is in place A in 90 of 120 items (75%)"
    )


def test_copies_of_a_few_pairs_are_no_pattern_of_their_gold():
    """Nine of twelve have A, which is longer, as the better option: chance may do that, and ten copies are no proof."""
    twelve = [evolve(item, gold="A" if place % 4 else "B") for place, item in enumerate(clean(PAIRS)[:12])]
    twelve = [longer(item, "response_a") for item in twelve]
    copies = [evolve(item, id=f"{item.id}-{copy}") for item in twelve for copy in range(10)]
    kinds = {finding.kind for finding in audit(copies, PAIRS, AuditOptions())}
    assert not kinds & {"gold-by-position", "gold-by-length"}
    alone = [evolve(item, group="", fields={**item.fields, "request": item.id}) for item in copies]
    assert {"gold-by-position", "gold-by-length"} <= {finding.kind for finding in audit(alone, PAIRS, AuditOptions())}


def test_copies_of_a_few_answers_are_no_pattern_of_length():
    chance = random.Random(3)
    few = [
        evolve(item, fields={**item.fields, "response": sentence(chance, 20 + place)}, gold=("NO", "YES")[place > 2])
        for place, item in enumerate(clean(YES_NO)[:6])
    ]
    few[2] = evolve(few[2], gold="YES")
    few[3] = evolve(few[3], gold="NO")
    copies = [evolve(item, id=f"{item.id}-{copy}") for item in few for copy in range(10)]
    assert "gold-by-length" not in {finding.kind for finding in audit(copies, YES_NO, AuditOptions())}
    alone = [evolve(item, fields={**item.fields, "request": item.id}) for item in copies]
    assert "gold-by-length" in {finding.kind for finding in audit(alone, YES_NO, AuditOptions())}


def longer(item, name):
    return evolve(item, fields={**item.fields, name: f"{item.fields[name]} And a few words more."})


def test_the_longer_option_being_the_better_one_is_noticed():
    items = [longer(item, f"response_{str(item.gold).lower()}") for item in clean(PAIRS)]
    assert (
        found(items, PAIRS, "gold-by-length").evidence
        == "the longer response is the better one in 120 of 120 items (100%)"
    )


def test_a_label_that_goes_with_long_responses_is_noticed():
    items = [longer(item, "response") if item.gold == "YES" else item for item in clean(YES_NO)]
    assert "a response labelled YES is longer than one labelled NO" in found(items, YES_NO, "gold-by-length").evidence


def test_levels_that_grow_with_length_are_noticed():
    items = []
    for item in clean(LEVELS):
        grown = item
        for _ in range(int(str(item.gold))):
            grown = longer(grown, "response")
        items.append(grown)
    assert "rank correlation" in found(items, LEVELS, "gold-by-length").evidence


@pytest.mark.parametrize("text", ["", "  \n"])
def test_empty_responses_are_named(text):
    items = clean(YES_NO)
    items[5] = evolve(items[5], fields={"request": "q", "response": text})
    assert found(items, YES_NO, "empty-responses").examples == ("i5",)


def test_responses_cut_in_the_middle_of_a_sentence_are_named_where_others_are_whole():
    items = clean(YES_NO)
    items[5] = evolve(items[5], fields={"request": "q", "response": str(items[5].fields["response"])[:-1] + " and the"})
    assert found(items, YES_NO, "truncated-responses").examples == ("i5",)
    unpunctuated = [
        evolve(item, fields={**item.fields, "response": str(item.fields["response"])[:-1]}) for item in clean(YES_NO)
    ]
    assert kinds(unpunctuated, YES_NO) == []


def test_a_template_that_asks_for_errors_among_others_that_do_not_is_named():
    prompts = {"good": "Is it accurate? {{ response }}", "bad": "Does it contain errors? {{ response }}"}
    items = [evolve(item, metadata={"prompts": prompts}) for item in clean(YES_NO)]
    finding = found(items, YES_NO, "opposite-polarity")
    assert finding.examples == ("bad",)
    assert "labels: {YES: NO, NO: YES}" in finding.consequence


def test_anchors_and_both_directions_in_one_template_are_not_opposite():
    assert not asks_for_opposite("Coherence: 1 (incoherent) to 5 (very coherent).", LEVELS.scale)
    assert not asks_for_opposite("YES if correct, NO if incorrect: {{ response }}", YES_NO.scale)
    assert asks_for_opposite("Which response is worse? {{ response_a }} {{ response_b }}", PAIRS.scale)


@loop_over(
    ("template", "opposite"),
    [
        ("Is the answer free of errors? Answer YES (accurate) or NO (has errors). {{ response }}", False),
        ("Check the answer. Answer NO (accurate) or YES (has errors). {{ response }}", True),
        ("Does it hold up? YES = wrong, NO = right", True),
        ("Which answer is better? YES (fits)", False),
    ],
)
def test_what_a_template_says_its_labels_mean_decides(template: str, opposite: bool):
    assert asks_for_opposite(template, YES_NO.scale) is opposite


@loop_over(
    ("other", "turned"),
    [
        ("Does it contain factual errors? Answer YES (has errors) or NO (accurate).", ["other"]),
        ("Is it wrong? YES (inaccurate) or NO (accurate)", ["other"]),
        ("Verify it: YES (accurate) or NO (has errors).", []),
        ("Tell me more about it.", []),
    ],
)
def test_a_turned_template_is_found_whatever_the_labels_of_the_data_are(other: str, turned: list[str]):
    straight = {
        "a": "Is this accurate? YES or NO.",
        "b": "Is it correct? YES (accurate) or NO (inaccurate).",
        "c": "True? YES or NO.",
    }
    task = evolve(YES_NO, scale=Scale.of_labels("accurate", "inaccurate"))
    metadata = {"prompts": {**straight, "other": other}}
    gold = {"YES": "accurate", "NO": "inaccurate"}
    items = [evolve(item, metadata=metadata, gold=gold[item.gold]) for item in clean(YES_NO)]
    assert [
        name for each in kinds(items, task) if each == "opposite-polarity" for name in found(items, task, each).examples
    ] == turned


def test_what_the_ends_of_an_ordinal_scale_mean_decides():
    assert asks_for_opposite("Rate the text: 1 = excellent, 5 = poor.", LEVELS.scale)
    assert not asks_for_opposite("Rate the text for errors: 1 = poor, 5 = excellent.", LEVELS.scale)


def test_labels_outside_the_scale_are_listed():
    items = clean(LEVELS)
    items[0] = evolve(items[0], gold="7")
    assert found(items, LEVELS, "labels-off-scale").evidence == "1 gold label outside the scale 1, 2, 3, 4, 5: '7'"


def test_strata_with_few_items_are_listed():
    items = clean(YES_NO)
    items[0] = evolve(items[0], stratum="rare")
    assert "1 of 3 strata have fewer than 10 items: rare 1" in found(items, YES_NO, "small-strata").evidence


def test_few_items_say_how_precise_they_are():
    from statsmodels.stats.proportion import proportion_confint

    finding = found(clean(YES_NO, 30), YES_NO, "few-items")
    low, high = proportion_confint(15, 30, method="beta")
    assert half_width(30) == pytest.approx((high - low) / 2)
    assert f"near 0.5 is ±{(high - low) / 2:.2f}." in finding.consequence
    assert finding.consequence.endswith("±0.10 would need 104 items.")
    assert half_width(104) <= 0.1 < half_width(103)


def test_items_that_ask_the_same_count_once_in_what_they_can_show():
    items = [evolve(item, id=f"{item.id}-{again}") for item in clean(YES_NO, 30) for again in range(4)]
    finding = found(items, YES_NO, "few-items")
    assert finding.evidence == "120 items in 30 clusters"
    assert f"near 0.5 is ±{half_width(30):.2f}." in finding.consequence
    (told,) = [line for line in lines([(YES_NO, items)]) if line.startswith("  120 items in 30 clusters")]
    start = f"  120 items in 30 clusters. The 95% interval of a rate near 0.5 is ±{half_width(30):.2f}"
    assert told.startswith(start)
    assert told.endswith("±0.10 would need 104 clusters.")


def test_enough_items_are_not_told_how_many_it_would_take():
    assert "would need" not in " ".join(lines([(YES_NO, clean(YES_NO, 104))]))


def test_the_metric_carries_findings_with_what_they_concern():
    items = {"pairs": [evolve(item, gold="A") for item in clean(PAIRS)]}
    context = MetricContext(tasks={"pairs": PAIRS}, items=items)
    (measure,) = AuditMetric(AuditOptions()).measure(RecordTable({}, {}), context)
    assert (measure.task, measure.judge, measure.estimate, measure.flags) == ("pairs", "", 1.0, ())
    assert measure.cell == {"problem": "constant-gold"}


def run(*arguments):
    return CliRunner().invoke(command, [str(each) for each in arguments], standalone_mode=False, catch_exceptions=True)


def test_the_command_reads_a_file_and_tells_what_a_source_would_refuse(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "data.jsonl"
    rows = [{"id": "x", "response": "", "label": "9"}, {"id": "y", "response": "two", "label": "1"}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    said = run(path, "--scale", "1-5").output
    assert "data: 2 items, pointwise, 1, 2, 3, 4, 5" in said
    assert "labels-off-scale: 1 gold label outside the scale 1, 2, 3, 4, 5: '9' (x)." in said
    assert "empty-responses: 1 item with an empty response (x)." in said
    assert "Columns:" not in said, "nothing was guessed"
    # Columns of other names are guessed as by `jrh init`, whatever the format; `--column` changes the guess.
    pandas.DataFrame({"qid": ["x", "y"], "essay": ["", "two"], "grade": [9, 1]}).to_parquet(tmp_path / "own.parquet")
    said = run(tmp_path / "own.parquet", "--scale", "1-5").output
    assert "Columns: id = qid, response = essay, label = grade. Wrong? --column TARGET=NAME" in said
    assert "labels-off-scale: 1 gold label outside the scale 1, 2, 3, 4, 5: '9' (x)." in said
    assert "empty-responses: 1 item with an empty response (x)." in said
    assert "no column 'gred'" in str(run(tmp_path / "own.parquet", "--column", "label=gred").exception)


def test_the_command_reads_the_data_of_a_suite(tmp_path):
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "name: s\ndata: {source: examples, dataset: relevance}\ntask: {scale: {pairwise: true}}\n"
        "judges: [{judge: simulated}]\n",
        encoding="utf-8",
    )
    assert "s: 30 items, pairwise, A, B" in run(suite).output


@pytest.mark.parametrize(
    ("name", "content", "arguments", "said"),
    [
        ("a.csv", "size,label\n1,YES\n", (), "no column looks like a response; say which: --column response=NAME"),
        ("a.csv", "response,label\nhm,YES\n", (), "cannot infer the scale from the labels"),
        ("a.csv", "response,label\nhm,YES\n", ("--column", "label=gold"), "no column 'gold'"),
        ("a.csv", "response,label\nhm,YES\n", ("--column", "label"), "--column: write TARGET=COLUMN"),
        ("a.csv", "response,label\nhm,YES\n", ("--scale", "YES"), "--scale: write 1-6, or labels"),
        ("a.txt", "hm", (), "the audit reads .jsonl, .ndjson, .csv, .tsv, .parquet, .xlsx files"),
    ],
)
def test_what_the_command_cannot_use_gets_one_message(tmp_path, name, content, arguments, said):
    (tmp_path / name).write_text(content, encoding="utf-8")
    outcome = run(tmp_path / name, *arguments)
    assert isinstance(outcome.exception, JrhError)
    assert said in str(outcome.exception)


def test_the_real_benchmark_gets_the_findings_it_deserves():
    if not REAL.exists():
        pytest.skip("the real benchmark is not here (../shared/data/judgesense)")
    coherence, relevance = run(REAL / "coherence.jsonl").output, run(REAL / "relevance.jsonl").output
    for said in (coherence, relevance):
        assert "125 rows are 25 distinct pairs over 5 items" in said
        assert "0.37 to 1.00 by item, not 0.83 to 0.95 by row" in said
    assert "every gold label is A (5 items). A judge that always says A scores 100%" in relevance
    assert "It hides position bias" in relevance
    assert "constant-gold" not in coherence
    assert "opposite-polarity" not in coherence + relevance


def test_long_texts_take_the_memory_of_numbers() -> None:
    """Each distinct word triple was an entry of two dictionaries: some 250 bytes, and 30 now, 8 of them at the end."""
    draw = random.Random(3)
    texts = [" ".join(str(draw.randrange(5000)) for _ in range(200)) for _ in range(500)]
    tracemalloc.start()
    assert similar(texts, 0.8).pairs == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (peak - 4 * 2**20) / (500 * 198) < 60
