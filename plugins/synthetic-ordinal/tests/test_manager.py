"""The bucket manager against a simulated writer: coverage, ramp, filters, and the order of replies.

The writer puts the level it reaches into the text, and the grader reads it there. Its hit rate depends on the
temperature, and it repeats itself on purpose. Everything follows from the request's seed: the same request gets the
same reply.
"""

import asyncio
import json
import random
import re
from collections import Counter

import jrh_synthetic_ordinal.plugin
import pytest
from attrs import define
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Draft, Equals, Item, Reply, Scale, Skip, Status, Task
from jrh_synthetic_ordinal.buckets import Ramp
from jrh_synthetic_ordinal.building import OTHER_LEVEL
from jrh_testing import ScriptedModel, build, loop_over

TASK = Task(name="levels", instruction="Grade it.", rubric="Better is higher, " * 5, scale=Scale.of_levels(1, 5))
WORDS = [f"word{number}" for number in range(4_000)]


def fresh_text(draws, level):
    """Return thirty words that no other text has, and the level in a word of its own."""
    return " ".join([f"level{level}", *(WORDS[int(draws.random() * len(WORDS))] for _ in range(30))])


@define
class Writer:
    """Made up: hits the wanted level with a probability that rises with the temperature."""

    base: float = 0.3
    slope: float = 0.5
    repeats: float = 0.0
    """Share of replies that are one and the same text."""
    never: tuple = ()
    """Levels it never reaches."""
    misses_to: str = "3"
    delays: int = 0
    """Replies come in an order that this number decides."""
    asked: int = 0
    fingerprint: str = "simulated/writer"
    name: str = "writer"

    async def ask(self, request, *, repeat=0, purpose=""):
        self.asked += 1
        draws = random.Random(request.sampling.seed)
        if self.delays:
            order = random.Random(f"{self.delays} {request.sampling.seed}").random()
            for _ in range(int(order * 8)):
                await asyncio.sleep(0)
        wanted = re.search(r"a careful judge gives level (\d+)", request.messages[-1].content)[1]
        hit = draws.random() < self.base + self.slope * request.sampling.temperature
        level = wanted if hit and wanted not in self.never else self.misses_to
        text = fresh_text(draws, level)
        if draws.random() < self.repeats:
            text = f"level{level} " + " ".join(WORDS[:30])
        return Reply(status=Status.OK, text=json.dumps({"response": text}))


@define
class Grader:
    """Made up: reads the level from the text; the truth about the writer's work."""

    asked: int = 0
    fingerprint: str = "simulated/grader"
    name: str = "grader"

    async def ask(self, request, *, repeat=0, purpose=""):
        self.asked += 1
        level = re.search(r"<response[^>]*>\s*level(\d+)", request.messages[-1].content)[1]
        return Reply(status=Status.OK, text=json.dumps({"rationale": "[simulated]", "level": level}))


def items(golds):
    """Return an item for each gold level, the texts unlike each other and unlike what the writer writes."""
    return [
        Item(
            id=f"item-{number}",
            fields={"request": "Write.", "response": " ".join(f"seed{number}x{word}" for word in range(20))},
            gold=gold,
        )
        for number, gold in enumerate(golds)
    ]


GOLDS = ("1", "2", "3", "4", "5")


def perturber(writer, grader=None, *, task=TASK, seed=0, data=(), **options):
    return build(
        jrh_synthetic_ordinal.plugin,
        "synthetic-ordinal",
        options={"model": "writer", "grader": "grader", **options},
        task=task,
        models={"writer": writer, "grader": grader or Grader()},
        data=data,
        seed=seed,
    )


def split(results):
    drafts = [(item, result) for item, result in results if isinstance(result, Draft)]
    skips = [(item, result) for item, result in results if isinstance(result, Skip)]
    return drafts, skips


def attempts(results):
    """Return every attempt of a run, each once: those of a bucket are in its own outcome."""
    return [attempt for _, result in results for attempt in result.details["attempts"]]


async def test_a_sure_writer_fills_every_level_of_every_item_at_the_first_temperature():
    results = await perturber(Writer(base=1.0)).perturb_set(items(GOLDS))
    drafts, skips = split(results)
    assert skips == []
    assert Counter(item.id for item, _ in drafts) == dict.fromkeys([f"item-{n}" for n in range(5)], 5)
    for _, draft in drafts:
        assert draft.expectation == Equals(label=draft.variant.removeprefix("level-"))
        assert draft.fields["response"].startswith(f"level{draft.expectation.label} ")
        assert draft.model == "simulated/writer"
        assert [attempt["temperature"] for attempt in draft.details["attempts"]] == [0.7]
        assert draft.details["kept"]["achieved"] == draft.expectation.label


@settings(max_examples=40, deadline=None)
@given(
    base=st.floats(0, 1),
    slope=st.floats(0, 1),
    repeats=st.sampled_from([0.0, 0.4, 1.0]),
    never=st.sets(st.sampled_from(GOLDS), max_size=3),
    fill_other=st.booleans(),
    samples=st.integers(1, 2),
    per_temperature=st.integers(1, 2),
    seed=st.integers(0, 1000),
)
@pytest.mark.slow
async def test_whatever_the_writer_does_the_promises_hold(
    base, slope, repeats, never, fill_other, samples, per_temperature, seed
):
    writer, grader = Writer(base=base, slope=slope, repeats=repeats, never=tuple(never)), Grader()
    made = perturber(
        writer, grader, fill_other=fill_other, samples=samples, attempts_per_temperature=per_temperature, seed=seed
    )
    sources = items(("1", "4"))
    results = await made.perturb_set(sources)
    drafts, skips = split(results)
    # Coverage: every bucket ends as a draft or as a skip.
    assert len(results) == len(sources) * 5 * samples
    assert Counter((item.id, result.variant) for item, result in results) == {
        (item.id, f"level-{level}"): samples for item in sources for level in GOLDS
    }
    # A case is only what the grader put on its level.
    for _, draft in drafts:
        assert draft.fields["response"].startswith(f"level{draft.expectation.label} ")
    # No response is kept twice.
    texts = [draft.fields["response"] for _, draft in drafts]
    assert len(set(texts)) == len(texts)
    # Bounded: 4 temperatures, 0.7, 0.9, 1.1, 1.3; every attempt that was paid for is recorded.
    assert all(len(skip.details["attempts"]) == 4 * per_temperature for _, skip in skips)
    assert writer.asked == len(attempts(results))
    assert grader.asked <= writer.asked
    # The ramp: misses of the bucket, and nothing else, raise the temperature.
    ramp = (0.7, 0.9, 1.1, 1.3)
    for _, result in results:
        for number, attempt in enumerate(result.details["attempts"]):
            assert attempt["temperature"] == ramp[number // per_temperature]
            assert attempt["wanted"] == result.variant.removeprefix("level-")
    # Only what was kept has no reason against it; there is exactly one such attempt for every draft.
    kept = [attempt for attempt in attempts(results) if not attempt["rejected"]]
    assert len(kept) == len(drafts)
    assert fill_other or all(attempt["filled"] == attempt["wanted"] for attempt in kept)
    # A level that is never reached is given up with its name.
    reached = {level for level in GOLDS if level not in never} | {writer.misses_to}
    assert {draft.expectation.label for _, draft in drafts} <= reached
    for _, skip in skips:
        assert skip.reason == f"no response reached {skip.variant.replace('-', ' ')} in {4 * per_temperature} attempts"


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 50), st.integers(1, 50), st.floats(0, 0.8))
@pytest.mark.slow
async def test_the_order_of_replies_and_of_items_decides_nothing(seed, one, other, repeats):
    sources = items(("1", "3"))
    shuffled = sorted(sources, key=lambda item: random.Random(f"{one}{item.id}").random())
    made = []
    for given_items, delays in ((sources, one), (sources, other), (shuffled, one)):
        writer = Writer(base=0.2, repeats=repeats, delays=delays)
        results = await perturber(writer, seed=seed).perturb_set(given_items)
        made.append(sorted(((item.id, result.variant, repr(result)) for item, result in results)))
    assert made[0] == made[1] == made[2]


async def test_a_higher_temperature_is_reached_only_after_the_misses_and_helps():
    # It never hits below 1.0 and always from there on.
    class Warm(Writer):
        async def ask(self, request, *, repeat=0, purpose=""):
            self.base = 1.0 if request.sampling.temperature >= 1.0 else 0.0
            return await super().ask(request, repeat=repeat, purpose=purpose)

    made = perturber(Warm(slope=0.0), attempts_per_temperature=3, fill_other=False, levels=["1", "5"])
    results = await made.perturb_set(items(("2", "4")))
    for _, draft in results:
        assert [attempt["temperature"] for attempt in draft.details["attempts"]] == [0.7] * 3 + [0.9] * 3 + [1.1]
        assert [attempt["rejected"] for attempt in draft.details["attempts"]] == [OTHER_LEVEL] * 6 + [""]


@loop_over(
    ("initial", "step", "highest", "temperatures"),
    [
        (0.7, 0.2, 1.3, (0.7, 0.9, 1.1, 1.3)),
        (0.7, 0.4, 1.3, (0.7, 1.1, 1.3)),
        (1.0, 0.0, 1.3, (1.0,)),
        (1.0, 0.5, 1.0, (1.0,)),
        (0.0, 0.1, 0.3, (0.0, 0.1, 0.2, 0.3)),
    ],
)
def test_the_temperatures_rise_by_the_step_to_the_highest(initial, step, highest, temperatures):
    ramp = Ramp.of(initial, step, highest, 2)
    assert ramp.temperatures == temperatures
    assert ramp.longest == 2 * len(temperatures)
    assert [ramp.temperature(misses) for misses in range(ramp.longest)] == [t for t in temperatures for _ in range(2)]
    assert ramp.temperature(ramp.longest) is None


async def test_a_writer_that_never_reaches_a_level_is_given_up_and_the_rest_goes_on():
    results = await perturber(Writer(base=1.0, never=("5",))).perturb_set(items(("1", "2")))
    drafts, skips = split(results)
    assert [(item.id, skip.reason) for item, skip in skips] == [
        ("item-0", "no response reached level 5 in 8 attempts"),
        ("item-1", "no response reached level 5 in 8 attempts"),
    ]
    assert len(drafts) == 8


async def test_what_reached_another_empty_level_fills_it_if_the_option_says_so():
    # Whatever is wanted, it writes for level 3.
    writer = {"base": 0.0, "slope": 0.0, "misses_to": "3"}
    options = {"levels": ["3", "5"], "samples": 3, "attempts_per_temperature": 1, "temperature_step": 0.0}
    results = await perturber(Writer(**writer), **options, fill_other=True).perturb_set(items(("1",)))
    drafts, skips = split(results)
    # One round: three hits of their own, and three strays that find level 3 full.
    assert [draft.variant for _, draft in drafts] == ["level-3"] * 3
    assert {attempt["rejected"] for _, skip in skips for attempt in skip.details["attempts"]} == {OTHER_LEVEL}

    class OnlyWhenFiveIsWanted(Writer):
        async def ask(self, request, *, repeat=0, purpose=""):
            self.misses_to = "3" if "gives level 5" in request.messages[-1].content else "1"
            return await super().ask(request, repeat=repeat, purpose=purpose)

    results = await perturber(
        OnlyWhenFiveIsWanted(base=0.0, slope=0.0), **options | {"samples": 1}, fill_other=True
    ).perturb_set(items(("1",)))
    drafts, skips = split(results)
    assert [draft.variant for _, draft in drafts] == ["level-3"]
    assert drafts[0][1].details["kept"]["wanted"] == "5"
    assert [attempt["rejected"] for attempt in drafts[0][1].details["attempts"]] == [OTHER_LEVEL]
    assert skips[0][1].details["attempts"][0]["filled"] == "3"
    results = await perturber(
        OnlyWhenFiveIsWanted(base=0.0, slope=0.0), **options | {"samples": 1}, fill_other=False
    ).perturb_set(items(("1",)))
    assert split(results)[0] == []


async def test_a_writer_that_repeats_itself_is_kept_once():
    results = await perturber(Writer(base=1.0, repeats=1.0), levels=["2"], fill_other=False).perturb_set(
        items(("1", "3", "5"))
    )
    drafts, skips = split(results)
    assert [item.id for item, _ in drafts] == ["item-0"]
    for _, skip in skips:
        assert {attempt["rejected"] for attempt in skip.details["attempts"]} == {"too similar to a draft already kept"}
        assert skip.details["attempts"][-1]["to_kept"] == pytest.approx(1.0)


async def test_without_limits_the_same_words_again_are_still_no_second_case():
    made = perturber(Writer(base=1.0, repeats=1.0), levels=["2"], max_to_kept=None, max_to_seeds=None)
    drafts, skips = split(await made.perturb_set(items(("1", "3"))))
    assert len(drafts) == len(skips) == 1


async def test_what_is_too_near_to_an_items_own_response_is_not_even_graded():
    sources = items(("1", "2"))
    copied = sources[1].fields["response"]
    grader = ScriptedModel([])
    writer = ScriptedModel(json.dumps({"response": copied + " and"}))
    results = await perturber(writer, grader, levels=["2"], temperature_step=0.0).perturb_set(sources[:2])
    _, skips = split(results)
    assert [attempt["rejected"] for attempt in attempts(results)] == ["too similar to an item's own text"] * 4
    assert 0.9 < attempts(results)[0]["to_seeds"] < 1
    assert len(skips) == 2
    assert grader.asked == []


async def test_examples_are_of_the_wanted_level_and_never_the_source():
    sources = items(("1", "1", "2", "5", "5"))
    results = await perturber(Writer(base=0.0, slope=0.0, misses_to="9" * 3), examples=2).perturb_set(sources)
    gold = {item.id: item.gold for item in sources}
    for item, skip in results:
        for attempt in skip.details["attempts"]:
            assert item.id not in attempt["examples"]
            assert 1 <= len(attempt["examples"]) <= 2
            found = {gold[example] for example in attempt["examples"]}
            nearest = {
                ("1", "item-2"): {"1"}, ("2", "item-2"): {"1"}, ("3", "item-2"): {"5"} | {"1"},
            }.get((attempt["wanted"], item.id))  # fmt: skip
            if attempt["wanted"] in ("1", "5"):
                assert found == {attempt["wanted"]}
            if attempt["wanted"] == "2" and item.id != "item-2":
                assert found == {"2"}
            if nearest:
                assert found <= nearest
            if attempt["wanted"] == "4":  # no item has it; the nearest level is 5
                assert found == {"5"}


async def test_levels_without_an_item_borrow_examples_and_say_so():
    made = perturber(Writer(base=1.0), levels=["3", "5"])
    results = await made.perturb_set(items(("2", "5", "5")))
    borrowed = {(item.id, draft.variant): draft.details["examples_from_other_levels"] for item, draft in results}
    assert borrowed["item-0", "level-3"] is True
    assert borrowed["item-0", "level-5"] is False
    warned = [entry.values["of_level"] for entry in made.log.entries if entry.level == "warning"]
    assert warned == ["3"]
    covered = {entry.values["of_level"]: entry.values for entry in made.log.entries if entry.level == "info"}
    assert covered["3"] == {"of_level": "3", "filled": 3, "wanted": 3}


async def test_items_without_a_text_are_skipped():
    sources = [*items(("1",)), Item(id="x", fields={"request": "?", "response": " "}, gold="2")]
    results = await perturber(Writer(base=1.0)).perturb_set(sources)
    assert [result for item, result in results if item.id == "x"] == [
        Skip(reason="field 'response' is empty or not text")
    ]
    assert await perturber(Writer()).perturb_set([]) == []


async def test_examples_come_from_the_whole_data_set_and_a_copy_of_one_is_rejected():
    whole = items(GOLDS)
    sampled, outside = whole[:1], whole[3]  # the sample has level 1 only; level 4 is outside of it
    copied = json.dumps({"response": outside.fields["response"]})
    writer = ScriptedModel(lambda request: copied)
    made = perturber(writer, data=whole, levels=["4"], attempts_per_temperature=1, temperature_step=0.6)
    ((_, skip),) = await made.perturb_set(sampled)
    for attempt in skip.details["attempts"]:
        assert ([*attempt["examples"]], [*attempt["examples_of"]]) == (["item-3"], ["4"])
        assert (attempt["rejected"], attempt["to_seeds"]) == ("too similar to an item's own text", 1.0)
    assert outside.fields["response"] in writer.asked[0].request.messages[-1].content
