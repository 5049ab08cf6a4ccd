import jrh_stochastic.plugin
import pytest
from jrh import Draft, Item, JrhError, Same, Sampling
from jrh_testing import build, loop_over

ITEM = Item(id="1", fields={"request": "2+2?", "response": "4"})


async def drafts(**options):
    return await build(jrh_stochastic.plugin, "stochastic", options=options).perturb(ITEM)


async def test_by_default_the_question_is_put_five_times_as_it_is():
    assert await drafts() == [Draft(repeats=5, vary_seed=True, expectation=Same(), fields={}, sampling=Sampling())]


async def test_every_temperature_is_a_variant_with_repeats_of_its_own():
    made = await drafts(repeats=3, temperatures=[0.0, 0.7, 1.0], vary_seed=False)
    assert [draft.variant for draft in made] == ["t=0.0", "t=0.7", "t=1.0"]
    assert [draft.sampling.temperature for draft in made] == [0.0, 0.7, 1.0]
    assert {(draft.repeats, draft.vary_seed, len(draft.fields)) for draft in made} == {(3, False, 0)}


async def test_no_other_sampling_setting_is_touched():
    (draft,) = await drafts(temperatures=[0.7])
    assert draft.sampling == Sampling(temperature=0.7, top_p=None, max_tokens=None, seed=None, reasoning_effort=None)


async def test_close_temperatures_keep_names_of_their_own():
    assert [draft.variant for draft in await drafts(temperatures=[0.7, 0.7000001])] == ["t=0.7", "t=0.7000001"]


@loop_over(
    ("options", "named"),
    [
        ({"repeats": 1}, "without a grid of `seeds`"),
        ({"repeats": 10_001}, "repeats"),
        ({"repeats": 2.5}, "repeats"),
        ({"temperatures": [-0.1]}, "temperatures"),
        ({"temperatures": [2.1]}, "temperatures"),
        ({"temperatures": [0.7, 0.7]}, "temperatures"),
        ({"vary_seed": "yes"}, "vary_seed"),
        ({"seeds": 0}, "seeds"),
        ({"seeds": [7, 7]}, "seeds"),
        ({"seeds": [-1]}, "seeds"),
        ({"seeds": [2**31]}, "seeds"),
        ({"seeds": [], "repeats": 2}, "seeds"),
        ({"seeds": 1, "repeats": 1}, "without a grid of `seeds`"),
    ],
)
async def test_options_that_make_no_sense_are_rejected(options, named):
    with pytest.raises(JrhError, match=named):
        await drafts(**options)


async def test_a_grid_asks_every_seed_as_often_and_shows_the_seeds():
    made = await drafts(seeds=[87, 5], repeats=3, temperatures=[0.0, 0.7])
    assert [draft.variant for draft in made] == ["t=0.0 seed=87", "t=0.0 seed=5", "t=0.7 seed=87", "t=0.7 seed=5"]
    assert [(draft.sampling.temperature, draft.sampling.seed) for draft in made] == [
        (0.0, 87),
        (0.0, 5),
        (0.7, 87),
        (0.7, 5),
    ]
    assert {(draft.repeats, draft.vary_seed) for draft in made} == {(3, False)}


async def test_a_number_of_seeds_is_derived_from_the_suites_seed():
    async def seeds(seed):
        made = await build(jrh_stochastic.plugin, "stochastic", options={"seeds": 4, "repeats": 1}, seed=seed).perturb(
            ITEM
        )
        return [draft.sampling.seed for draft in made]

    assert len(set(await seeds(0))) == 4
    assert await seeds(0) == await seeds(0) != await seeds(1)
    assert all(0 <= seed < 2**31 for seed in await seeds(0))
