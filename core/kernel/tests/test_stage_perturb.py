"""Items in, cases out; what did not become a case is counted with its reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from jrh.errors import PluginError, StopReason, StopRun, SuiteError
from jrh.plugins.specs import PerturberSpec, Scope, ValidatorSpec
from jrh.running.gathering import attrition
from jrh.running.progress import Progress
from jrh.running.stages import cases_of_drafts as stage_cases
from jrh.running.stages import perturb as stage
from jrh.running.stages.cases_of_drafts import UNCHANGED, Perturbed, Writing, assign_id, reference_cases, stage_digest
from jrh.running.stages.load import read
from jrh.store.run_store import Store
from jrh.values.cases import Changes, Condition, Draft, Equals, Polarity, Prompt, Same, Sampling, Skip, Validation
from jrh.values.items import Item, Task
from jrh.values.report import Attrition
from jrh.values.scales import Scale

Drafts = Callable[[Item], Any]


class Acts:
    """A perturber that does what a function says."""

    def __init__(self, act: Any) -> None:
        self.act = act

    async def perturb(self, item: Item) -> Any:
        made = self.act(item)
        return await made if isinstance(made, Awaitable) else made

    async def perturb_set(self, items: Sequence[Item]) -> Any:
        return self.act(items)


class Says:
    """A validator that does what a function says."""

    def __init__(self, say: Any) -> None:
        self.say = say

    async def validate(self, item: Item, draft: Draft) -> Any:
        return self.say(item, draft)

    async def validate_set(self, drafts: Any) -> Any:
        return self.say(drafts)


def perturber(act: Any, **spec: Any) -> PerturberSpec:
    return PerturberSpec(name="change", summary="", factory=lambda options, context: Acts(act), **spec)


def validator(name: str, say: Any, **spec: Any) -> ValidatorSpec:
    return ValidatorSpec(name=name, summary="", factory=lambda options, context: Says(say), **spec)


LAB = Task(name="lab", scale=Scale.of_labels("YES", "NO"))


def write(store: Store, test: str, digest: str, made: Perturbed) -> None:
    """Write what a test made in one slice."""
    writing = Writing(store, LAB, test)
    writing.put(made)
    writing.finish(digest)


def upper(item: Item) -> list[Draft]:
    return [Draft(variant="upper", fields={"response": str(item.fields["response"]).upper()})]


async def run(lab: Any, act: Any, *validators: ValidatorSpec, suite: Any = None, spec: Any = None, **test: Any) -> Any:
    named = [each.name for each in validators if each.name not in (spec or {}).get("validators", ())]
    settings = {**test, **({"validate": named} if named else {})}
    builder = lab.builder(perturber(act, **(spec or {})), *validators, tests=[{"change": settings}], **(suite or {}))
    (resolved,) = builder.resolved.tests
    task = builder.resolved.suite.tasks[0].task
    return await lab.perturb(builder, resolved, task, lab.items)


def reasons(made: Any) -> list[str]:
    return [draft.reason if isinstance(draft, Skip) else rejection for _, draft, rejection in made.outcomes]


async def test_a_draft_becomes_a_case_with_everything_it_says(lab: Any) -> None:
    prompt = Prompt(name="terse", user="{{ response }}", language="de")
    task = Task(name="lab", scale=Scale.of_labels("BAD", "GOOD"))
    draft = Draft(
        variant="v",
        strength=0.5,
        fields={"response": "changed"},
        expectation=Changes(),
        label_map={"BAD": "YES", "GOOD": "NO"},
        option_order="BA",
        polarity=Polarity.INVERTED,
        prompt=prompt,
        task=task,
        sampling=Sampling(temperature=0.5),
        repeats=3,
        vary_seed=True,
        model="gpt",
        details={"edits": 2},
    )
    lab.items = (Item(id="1", fields={"request": "r", "response": "x"}, gold="YES", stratum="s", group="g"),)
    made = await run(lab, lambda item: [draft], suite={"seed": 9}, name="mine")
    (case,) = made.cases
    assert case.condition == Condition(
        family="change",
        variant="v",
        template="terse",
        option_order="BA",
        polarity=Polarity.INVERTED,
        strength=0.5,
        language="de",
    )
    assert (case.task, case.test, case.item_id, case.gold, case.stratum, case.group) == (
        "lab",
        "mine",
        "1",
        "YES",
        "s",
        "g",
    )
    assert case.fields == {"request": "r", "response": "changed"}
    assert (case.prompt, case.presented_task, case.expectation) == (prompt, task, Changes())
    assert case.label_map == {"BAD": "YES", "GOOD": "NO"}
    assert (case.sampling, case.repeats, case.vary_seed) == (Sampling(temperature=0.5), 3, True)
    provenance = case.provenance
    assert (provenance.component, provenance.version, provenance.model) == ("acme/change", "1.0", "gpt")
    assert (provenance.seed, provenance.details) == (9, {"edits": 2})


TURNED = {"YES": "NO", "NO": "YES"}


async def test_what_a_draft_leaves_out_stays_as_the_item_has_it(lab: Any) -> None:
    made = await run(lab, lambda item: [Draft()])
    case = made.cases[0]
    assert (case.fields, case.expectation, case.group) == (lab.items[0].fields, Same(), "i0")
    assert case.label_map == {"YES": "YES", "NO": "NO"}


async def test_an_unchanged_question_among_changed_ones_is_left_to_the_reference(lab: Any) -> None:
    def mixed(item: Item) -> list[Draft]:
        same = {"response": item.fields["response"]}
        return [Draft(variant="original"), Draft(variant="none", fields=same, strength=0.0), Draft(label_map=TURNED)]

    made = await run(lab, mixed)
    assert reasons(made)[:3] == [UNCHANGED, UNCHANGED, ""]
    assert [dict(case.label_map) for case in made.cases] == [TURNED] * len(lab.items)


async def test_a_test_that_changes_nothing_keeps_its_cases(lab: Any) -> None:
    made = await run(lab, lambda item: [Draft(repeats=5)])
    assert len(made.cases) == len(lab.items)


async def test_cases_come_in_the_order_of_the_items_whichever_is_ready_first(lab: Any) -> None:
    import asyncio

    async def slow(item: Item) -> list[Draft]:
        await asyncio.sleep(0.02 if item.id == "i0" else 0.0)
        return [Draft(variant="b", fields={"response": "b"}), Draft(variant="a", fields={"response": ""})]

    made = await run(lab, slow)
    assert [(case.item_id, case.condition.variant) for case in made.cases[:4]] == [
        ("i0", "b"),
        ("i0", "a"),
        ("i1", "b"),
        ("i1", "a"),
    ]


async def test_ids_follow_from_content_alone(lab: Any) -> None:
    first, again = await run(lab, upper), await run(lab, upper)
    assert [case.id for case in first.cases] == [case.id for case in again.cases]
    assert len({case.id for case in first.cases}) == 4
    lab.items = (evolve(lab.items[0], gold="YES"), *lab.items[1:])
    changed = await run(lab, upper)
    assert changed.cases[0].id != first.cases[0].id
    assert [case.id for case in changed.cases[1:]] == [case.id for case in first.cases[1:]]


async def test_the_suite_says_how_often_before_the_perturber_does(lab: Any) -> None:
    made = await run(lab, lambda item: [Draft(repeats=5)], repeats=2)
    assert {case.repeats for case in made.cases} == {2}


async def test_the_same_case_twice_is_put_once_and_the_other_is_counted(lab: Any) -> None:
    made = await run(lab, lambda item: [Draft(variant="a"), Draft(variant="a"), Draft(variant="b")])
    assert len(made.cases) == 8
    assert reasons(made)[:3] == ["", "jrh: the same case again", ""]


def test_the_reference_expects_the_gold_label_and_nothing_where_there_is_none(lab: Any) -> None:
    task = Task(name="t", scale=Scale.of_labels("YES", "NO"))
    items = lab.relabelled(i0=None)
    cases = reference_cases(task, items, 3)
    assert [case.expectation for case in cases] == [None, Equals(label="YES"), Equals(label="NO"), Equals(label="YES")]
    assert {(case.test, case.condition.family, case.repeats) for case in cases} == {("reference", "reference", 3)}
    assert [dict(case.fields) for case in cases] == [dict(item.fields) for item in items]


async def test_a_skip_is_counted_and_costs_the_other_drafts_nothing(lab: Any) -> None:
    made = await run(lab, lambda item: [Skip(reason="too short", variant="wrap"), *upper(item)])
    assert len(made.cases) == 4
    assert reasons(made)[:2] == ["too short", ""]


async def test_an_item_a_perturber_breaks_on_is_a_counted_skip(lab: Any) -> None:
    def breaks(item: Item) -> list[Draft]:
        if item.id == "i1":
            raise KeyError("secret item text")
        return upper(item)

    made = await run(lab, breaks)
    assert [case.item_id for case in made.cases] == ["i0", "i2", "i3"]
    assert reasons(made) == ["", "plugin error: KeyError", "", ""]
    assert [entry.event for entry in lab.log.entries] == ["perturber raised"]


@pytest.mark.parametrize("returned", [None, 3, [None], ["text"], [Draft(), object()]])
async def test_what_is_no_draft_is_the_plugins_error_and_not_the_runs(lab: Any, returned: Any) -> None:
    made = await run(lab, lambda item: returned)
    assert made.cases == ()
    assert reasons(made) == ["plugin error: TypeError"] * 4


async def test_the_end_of_a_run_is_not_an_error_of_the_plugin(lab: Any) -> None:
    def stops(item: Item) -> list[Draft]:
        raise StopRun(StopReason.BUDGET, "no more")

    with pytest.raises(StopRun):
        await run(lab, stops)


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        (Draft(fields={"respnse": "x"}), "jrh: changes a field the item does not have"),
        (Draft(label_map={"YES": "NO"}), "jrh: its label map leaves out a label"),
        (Draft(label_map={"YES": "NO", "NO": "MAYBE"}), "jrh: its label map leads to a label off the scale"),
        (Draft(expectation=Equals(label="MAYBE")), "jrh: expects a label that is not on the scale"),
        (Draft(repeats=0), "jrh: asks for fewer than 1 repeat"),
        (Draft(task=Task(name="t", scale=Scale.of_levels(1, 3))), "jrh: its label map leaves out a label"),
    ],
)
async def test_a_draft_that_breaks_the_contract_is_rejected_before_any_validator_sees_it(
    lab: Any, draft: Draft, reason: str
) -> None:
    seen: list[Draft] = []
    watch = validator("watch", lambda item, each: seen.append(each) or Validation(accepted=True))
    made = await run(lab, lambda item: [draft], watch)
    assert made.cases == ()
    assert set(reasons(made)) == {reason}
    assert seen == []


async def test_a_wider_presented_scale_may_lead_to_the_canonical_one(lab: Any) -> None:
    task = Task(name="t", scale=Scale.of_levels(1, 3))
    draft = Draft(task=task, label_map={"1": "NO", "2": "NO", "3": "YES"})
    made = await run(lab, lambda item: [draft])
    assert len(made.cases) == 4


async def test_a_rejected_draft_is_no_case_and_is_counted_by_validator_and_reason(lab: Any) -> None:
    short = validator("short", lambda item, draft: Validation(accepted=item.id != "i2", reason="too long"))
    made = await run(lab, upper, short)
    assert [case.item_id for case in made.cases] == ["i0", "i1", "i3"]
    assert reasons(made) == ["", "", "short: too long", ""]


async def test_a_rejection_without_a_reason_has_one(lab: Any) -> None:
    made = await run(lab, upper, validator("mute", lambda item, draft: Validation(accepted=False)))
    assert set(reasons(made)) == {"mute: rejected"}


async def test_validators_are_asked_in_order_and_only_about_what_is_left(lab: Any) -> None:
    asked: list[tuple[str, str]] = []

    def say(name: str, refused: str) -> Any:
        def validate(item: Item, draft: Draft) -> Validation:
            asked.append((name, item.id))
            return Validation(accepted=item.id != refused, reason="no")

        return validate

    made = await run(
        lab,
        upper,
        validator("a", say("a", "i0")),
        validator("b", say("b", "i1")),
        validator("own", say("own", "i3")),
        spec={"validators": ("own",)},
    )
    assert [name for name, _ in asked] == ["own"] * 4 + ["a"] * 3 + ["b"] * 2
    assert reasons(made) == ["a: no", "b: no", "", "own: no"]


async def test_a_validator_that_breaks_rejects_the_draft(lab: Any) -> None:
    made = await run(lab, upper, validator("broken", lambda item, draft: 1 / 0))
    assert made.cases == ()
    assert set(reasons(made)) == {"broken: plugin error: ZeroDivisionError"}


async def test_a_validator_that_answers_nonsense_rejects_the_draft(lab: Any) -> None:
    made = await run(lab, upper, validator("mumbles", lambda item, draft: True))
    assert set(reasons(made)) == {"mumbles: plugin error: TypeError"}


async def test_what_a_validator_found_is_in_the_provenance(lab: Any) -> None:
    found = validator("similar", lambda item, draft: Validation(accepted=True, score=0.9, details={"words": 3}))
    silent = validator("silent", lambda item, draft: Validation(accepted=True))
    made = await run(lab, upper, found, silent)
    assert made.cases[0].provenance.details == {"validator:similar": {"score": 0.9, "label": None, "words": 3}}


def labels(label: str | None) -> ValidatorSpec:
    return validator("judge", lambda item, draft: Validation(accepted=False, label=label, reason="mismatch"))


async def test_a_mismatch_rejects_unless_the_suite_says_otherwise(lab: Any) -> None:
    made = await run(lab, upper, labels("NO"))
    assert (made.cases, set(reasons(made))) == ((), {"judge: mismatch"})


async def test_relabel_makes_the_validators_label_the_expected_one(lab: Any) -> None:
    made = await run(lab, upper, labels("NO"), on_mismatch="relabel")
    assert [case.expectation for case in made.cases] == [Equals(label="NO")] * 4
    assert [case.gold for case in made.cases] == ["NO", "YES", "NO", "YES"]


@pytest.mark.parametrize("label", [None, "MAYBE"])
async def test_relabel_without_a_label_of_the_scale_rejects(lab: Any, label: str | None) -> None:
    made = await run(lab, upper, labels(label), on_mismatch="relabel")
    assert (made.cases, set(reasons(made))) == ((), {"judge: mismatch"})


async def test_keep_keeps_a_mismatch_with_its_own_expectation_but_not_a_plain_rejection(lab: Any) -> None:
    kept = await run(lab, upper, labels("NO"), on_mismatch="keep")
    assert [case.expectation for case in kept.cases] == [Same()] * 4
    assert (await run(lab, upper, labels(None), on_mismatch="keep")).cases == ()


async def test_a_set_validator_sees_all_drafts_at_once_and_answers_in_their_order(lab: Any) -> None:
    sizes: list[int] = []

    def every_other(pairs: Any) -> list[Validation]:
        sizes.append(len(pairs))
        return [Validation(accepted=position % 2 == 0, reason="too alike") for position in range(len(pairs))]

    made = await run(lab, upper, validator("diverse", every_other, scope=Scope.SET))
    assert sizes == [4]
    assert reasons(made) == ["", "diverse: too alike", "", "diverse: too alike"]


@pytest.mark.parametrize(
    "answer", [lambda pairs: 1 / 0, lambda pairs: [], lambda pairs: None, lambda pairs: ["yes"] * 4]
)
async def test_a_set_validator_that_breaks_rejects_every_draft_and_not_the_run(lab: Any, answer: Any) -> None:
    made = await run(lab, upper, validator("broken", answer, scope=Scope.SET))
    assert made.cases == ()
    assert all(reason.startswith("broken: plugin error: ") for reason in reasons(made))


async def test_a_set_perturber_sees_all_items_once_and_its_cases_come_in_their_order(lab: Any) -> None:
    def middle(items: Sequence[Item]) -> list[tuple[Item, Draft | Skip]]:
        return [(items[2], Draft(variant="two")), (items[0], Skip(reason="ends")), (items[1], Draft(variant="one"))]

    made = await run(lab, middle, spec={"scope": Scope.SET})
    assert [(case.item_id, case.condition.variant) for case in made.cases] == [("i1", "one"), ("i2", "two")]
    assert reasons(made) == ["ends", "", ""]


@pytest.mark.parametrize(
    "act", [lambda items: 1 / 0, lambda items: None, lambda items: [Draft()], lambda items: [(1, 2)]]
)
async def test_a_set_perturber_that_breaks_skips_every_item_and_not_the_run(lab: Any, act: Any) -> None:
    made = await run(lab, act, spec={"scope": Scope.SET})
    assert made.cases == ()
    assert len(made.outcomes) == 4
    assert all(reason.startswith("plugin error: ") for reason in reasons(made))


async def test_a_set_perturber_cannot_change_or_invent_items(lab: Any) -> None:
    def forges(items: Sequence[Item]) -> list[tuple[Item, Draft | Skip]]:
        return [
            (evolve(items[0], gold="YES", fields={**items[0].fields, "response": "forged"}), Draft()),
            (
                Item(id="new", fields={"request": "r", "response": "x"}),
                Draft(),
            ),
        ]

    made = await run(lab, forges, spec={"scope": Scope.SET})
    (case,) = made.cases
    assert (case.item_id, case.gold, case.fields["response"]) == ("i0", "NO", "answer 0.")
    assert reasons(made) == ["", "jrh: belongs to no item of the task"]


async def test_cases_and_attrition_can_be_read_back(lab: Any, store: Store) -> None:
    def mixed(item: Item) -> list[Draft | Skip]:
        if item.id == "i3":
            return [Skip(reason="no text"), Skip(reason="no text", variant="b")]
        return [
            Draft(variant="a", fields={"response": "a"}),
            Draft(variant="b", strength=0.25, fields={"response": "\ud800 odd"}),
        ]

    refuse = validator(
        "v", lambda item, draft: Validation(accepted=draft.variant == "a" or item.id == "i0", reason="b")
    )
    made = await run(lab, mixed, refuse)
    write(store, "change", "digest", made)
    assert tuple(store.cases.iterate("lab", "change")) == made.cases
    assert store.cases.digest("lab", "change") == "digest"
    assert attrition(store, "lab", "change", 4) == Attrition(
        task="lab", test="change", items=4, drafted=6, kept=4, rejected={"v: b": 2}, skipped={"no text": 2}
    )


async def test_odd_text_of_a_perturber_does_not_break_the_store(lab: Any, store: Store) -> None:
    made = await run(lab, lambda item: [Draft(variant="\ud800"), Skip(reason="odd \ud800")])
    write(store, "change", "digest", made)
    assert tuple(store.cases.iterate("lab", "change")) == made.cases
    assert attrition(store, "lab", "change", 4).skipped == {"odd ?": 4}


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("changing", ["i0", "i2", "i3", "none"])
async def test_slices_of_any_size_give_what_all_items_at_once_give(
    lab: Any, store: Store, monkeypatch: pytest.MonkeyPatch, size: int, changing: str
) -> None:
    def act(item: Item) -> list[Draft | Skip]:
        texts = [f"{item.id} changed"] if item.id == changing else []
        changed = [Draft(variant="b", fields={"response": text}) for text in texts]
        return [Draft(variant="same"), *changed, Skip(reason="c")]

    whole = await run(lab, act)
    assert bool(whole.unchanged) == (changing == "none"), "a test that changes nothing keeps its cases"
    monkeypatch.setattr(stage, "SLICE", size)
    writing = Writing(store, LAB, "change")
    builder = lab.builder(perturber(act), tests=["change"])
    task = builder.resolved.suite.tasks[0].task
    async for made in stage.in_slices(builder, builder.resolved.tests[0], task, lab.items, Progress(), lab.log):
        assert len(made.outcomes) <= 3 * size
        writing.put(made)
    assert tuple(store.cases.iterate("lab", "change")) == (), "a test is there when all of it is"
    writing.finish("digest")
    assert tuple(store.cases.iterate("lab", "change")) == whole.cases
    found = attrition(store, "lab", "change", 4)
    rejected = {} if changing == "none" else {UNCHANGED: 4}
    assert (found.kept, found.rejected, found.skipped) == (4 if changing == "none" else 1, rejected, {"c": 4})


async def test_writing_a_test_again_replaces_its_cases_and_leaves_the_others(lab: Any, store: Store) -> None:
    made = await run(lab, upper)
    write(store, "other", "1", await run(lab, lambda item: [Draft(variant="other")]))
    write(store, "change", "1", made)
    write(store, "change", "2", evolve(made, cases=made.cases[:1], outcomes=made.outcomes[:1]))
    assert tuple(store.cases.iterate("lab", "change")) == made.cases[:1]
    assert len(tuple(store.cases.iterate("lab", "other"))) == 4
    assert attrition(store, "lab", "change", 4).kept == 1


def test_the_digest_changes_with_everything_the_cases_depend_on(lab: Any) -> None:
    ok = validator("ok", lambda item, draft: Validation(accepted=True))

    def digest(items: str = "items", task: Any = None, version: str = "1.0", **changes: Any) -> str:
        spec = lab.entry(perturber(upper), version=version)
        builder = lab.builder(spec, ok, **{"tests": ["change"], **changes})
        (test,) = builder.resolved.tests
        return stage_digest(builder, test, task or builder.resolved.suite.tasks[0].task, items)

    others = [
        digest(items="others"),
        digest(version="1.1"),
        digest(seed=5),
        digest(tests=[{"change": {"repeats": 2}}]),
        digest(tests=[{"change": {"validate": ["ok"]}}]),
        digest(tests=[{"change": {"on_mismatch": "keep"}}]),
        digest(tests=[{"change": {"ids": ["i1"]}}]),
        digest(task=Task(name="lab", scale=Scale.of_labels("YES", "NO"), rubric="new")),
    ]
    assert len({digest(), *others}) == len(others) + 1
    assert digest() == digest(judges=[{"fixed": {"name": "renamed"}}])


async def test_a_factory_that_breaks_names_the_plugin(lab: Any, tmp_path: Path) -> None:
    def factory(options: Any, context: Any) -> Any:
        raise RuntimeError("no model file")

    builder = lab.builder(PerturberSpec(name="change", summary="", factory=factory), tests=["change"])
    task = builder.resolved.suite.tasks[0].task
    with pytest.raises(PluginError, match=r"'acme/change' \(1\.0\) could not be built: RuntimeError: no model file"):
        await lab.perturb(builder, builder.resolved.tests[0], task, lab.items)


async def test_a_perturber_that_asks_for_it_sees_the_items_outside_of_the_sample(lab: Any) -> None:
    seen: list[list[str]] = []

    class Looks(Acts):
        def __init__(self, options: Any, context: Any) -> None:
            super().__init__(lambda items: [(item, Draft(fields={"response": "x"})) for item in items])
            self.context = context

        async def perturb_set(self, items: Sequence[Item]) -> Any:
            seen.append([item.id for item in self.context.data()])
            return self.act(items)

    def built(**spec: Any) -> Any:
        declared = PerturberSpec(name="change", summary="", factory=Looks, scope=Scope.SET, **spec)
        data = {"source": "given", "sample": {"n": 1}}
        return lab.builder(declared, data=data, tests=["change"])

    def digest(**spec: Any) -> str:
        builder = built(**spec)
        return stage_digest(builder, builder.resolved.tests[0], builder.resolved.suite.tasks[0].task, "items")

    builder = built(whole_data=True)
    task = builder.resolved.suite.tasks[0].task
    made = await lab.perturb(builder, builder.resolved.tests[0], task, lab.items[:1])
    assert [case.item_id for case in made.cases] == ["i0"]
    assert seen == [["i0", "i1", "i2", "i3"]]
    # Its cases depend on every item, so a change to any of them makes the cases again. Other tests are unaffected.
    before = digest(whole_data=True), digest()
    lab.items = (*lab.items[:3], evolve(lab.items[3], gold="NO"))
    assert digest(whole_data=True) != before[0]
    assert digest() == before[1]


async def test_ids_choose_the_items_and_a_sample_is_drawn_from_them(lab: Any) -> None:
    made = await run(lab, upper, ids=["i1", "i3"])
    assert [case.item_id for case in made.cases] == ["i1", "i3"]
    assert reasons(made)[2:] == ["not in the test's sample"] * 2
    made = await run(lab, upper, ids=["i1", "i3"], sample={"n": 1, "seed": 2})
    assert len(made.cases) == 1
    assert made.cases[0].item_id in {"i1", "i3"}


def test_an_id_that_no_item_has_is_an_error(lab: Any) -> None:
    builder = lab.builder(perturber(upper), tests=[{"change": {"ids": ["i1", "item2"]}}])
    with pytest.raises(SuiteError, match=r"test 'change': `ids` names 'item2', which is not among the items"):
        read(builder)


async def test_a_case_gets_its_id_in_one_copy_whatever_id_it_had(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (case,) = (await run(lab, upper)).cases[:1]
    task, copies = Task(name="lab", scale=Scale.of_labels("YES", "NO")), []
    nameless = evolve(case, id="")

    def counted(value: Any, **changes: Any) -> Any:
        copies.append(value)
        return evolve(value, **changes)

    monkeypatch.setattr(stage_cases, "evolve", counted)
    named = assign_id(task, case)
    copies.clear()
    assert assign_id(task, nameless) == named
    assert len(copies) == 1
