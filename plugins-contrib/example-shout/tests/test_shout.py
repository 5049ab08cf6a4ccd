"""What this plugin does, and that it holds the contract of its kind."""

from typing import ClassVar

import jrh_contrib_shout.plugin
import pytest
from jrh import Draft, Item, JrhError, Skip
from jrh_contrib_shout.shout import capitalise
from jrh_testing import (
    MetricContract,
    PerturberContract,
    RecordBench,
    RuleContract,
    build,
    loop_over,
    only_measure,
    sample_task,
)


class TestContract(PerturberContract):
    plugin = jrh_contrib_shout.plugin
    component = "shout"
    options: ClassVar = {"share": 0.5}


class TestMetricContract(MetricContract):
    plugin = jrh_contrib_shout.plugin
    component = "loud-agreement"
    silent = "no sample record is of a test that shouts"


class TestRuleContract(RuleContract):
    plugin = jrh_contrib_shout.plugin
    component = "minds-shouting"


@pytest.mark.parametrize(("share", "flags"), [(1.0, ()), (0.5, ("half-loud",))])
def test_the_metric_counts_kept_verdicts_and_flags_what_is_half_loud(share, flags):
    bench = RecordBench(sample_task())
    for item in range(40):
        bench.add(str(item), "", "YES", test="reference", family="reference")
        bench.add(str(item), "", "YES" if item < 30 else "NO", test="shout", variant="capitals", strength=share)
    found = only_measure(bench.measure(build(jrh_contrib_shout.plugin, "loud-agreement")), "loud-agreement")
    assert (found.estimate, found.n_items, found.flags) == (0.75, 40, flags)


async def perturb(response, **options):
    made = build(jrh_contrib_shout.plugin, "shout", options=options)
    return await made.perturb(Item(id="1", fields={"request": "?", "response": response}))


async def test_the_whole_response_is_in_capitals():
    assert await perturb("Yes, 42 it is.") == [
        Draft(variant="capitals", strength=1.0, fields={"response": "YES, 42 IT IS."})
    ]


async def test_a_response_without_letters_to_change_is_skipped():
    assert await perturb("42!") == [Skip(reason="no word that capitals change")]


async def test_a_response_that_is_not_text_is_skipped():
    assert await perturb(None) == [Skip(reason="field 'response' is not text")]


@loop_over(("share", "capitals"), [(0.1, 1), (0.25, 2), (0.5, 3), (1.0, 6)])
def test_the_share_counts_words_rounded_half_up_and_at_least_one(share, capitals):
    words = capitalise("one two three four five six 7", share, seed=3).split()
    assert sum(word.isupper() for word in words) == capitals


def test_a_larger_share_keeps_the_words_of_a_smaller_one():
    text = "one two three four five six"
    small, large = (capitalise(text, share, seed=3).split() for share in (0.3, 0.7))
    assert {word for word in small if word.isupper()} < {word for word in large if word.isupper()}


async def test_a_share_of_nothing_is_an_error():
    with pytest.raises(JrhError, match="share"):
        await perturb("Yes.", share=0.0)
