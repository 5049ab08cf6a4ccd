"""The agreement of the voters of a validator, over all drafts it saw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh.store.cases_table import KEPT, REJECTED, SKIPPED, DraftRow
from jrh.store.run_store import Store
from jrh.values.cases import Case, Draft, Provenance, Skip
from jrh.values.items import Item
from jrh_measuring.measure_stage import agreements, vote_agreement

VOTES = {"y": True, "n": False, "-": None}


def of(item_id: str) -> Item:
    return Item(id=item_id, fields={})


def write(store: Store, test: str, *outcomes: tuple[Item, Draft | Skip, str]) -> None:
    """Write what became of drafts; a kept one is the case it became."""
    cases, rows = [], []
    for place, (item, draft, rejection) in enumerate(outcomes):
        state = SKIPPED if isinstance(draft, Skip) else REJECTED if rejection else KEPT
        name = f"{test}-{place}" if state == KEPT else None
        if name is not None:
            made = Provenance(details=draft.details)
            fields = dict.fromkeys(item.fields, "")
            case = Case(id=name, task="t", test=test, item_id=item.id, fields=fields, label_map={}, provenance=made)
            cases.append(case)
        rows.append(DraftRow(item_id=item.id, draft=draft, state=state, reason=rejection, case_id=name))
    writing = store.cases.writing("t", test)
    writing.put(cases, rows)
    writing.finish("1")


def ballot(votes: str) -> dict[str, Any]:
    return {f"voter {place}": VOTES[vote] for place, vote in enumerate(votes)}


def reference(rows: Sequence[str]) -> float:
    """Compute alpha for two values by the closed form of Krippendorff (2011): 1 - (n - 1) o_yn / (n_y n_n)."""
    units = [(row.count("y"), row.count("n")) for row in rows if row.count("y") + row.count("n") > 1]
    disagreeing = sum(yes * no / (yes + no - 1) for yes, no in units)
    all_yes, all_no = (sum(counts) for counts in zip(*units, strict=True))
    return 1 - (all_yes + all_no - 1) * disagreeing / (all_yes * all_no)


def test_the_estimate_is_krippendorffs_alpha_of_the_votes_that_were_cast() -> None:
    rows = ["yyy", "yyn", "nnn", "yn-", "y--", "nny"]
    found = vote_agreement("vote", [(str(place), ballot(row)) for place, row in enumerate(rows)], 0.9)
    assert found.estimate == pytest.approx(reference(rows))
    assert (found.drafts, found.comparable, found.voters, found.missing) == (6, 5, 3, 3)
    assert found.interval is not None
    assert found.interval.low < found.estimate < found.interval.high
    assert found.interval.level == 0.9


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="yn-", min_size=3, max_size=3), min_size=2, max_size=12))
def test_whatever_the_votes_it_is_alpha_or_says_why_it_is_not(rows: list[str]) -> None:
    found = vote_agreement("vote", [(str(place), ballot(row)) for place, row in enumerate(rows)], 0.95)
    cast = [row.replace("-", "") for row in rows]
    pairable = [votes for votes in cast if len(votes) > 1]
    if len(set("".join(pairable))) < 2:
        assert (found.estimate, found.interval) == (None, None)
        assert found.flags == (("degenerate",) if pairable else ("empty",))
    else:
        assert found.estimate == pytest.approx(reference(rows))
    assert found.comparable == len(pairable)
    assert found.missing == sum(row.count("-") for row in rows)


def test_drafts_of_one_item_are_one_cluster() -> None:
    rows = ["yy", "yn", "nn", "yy", "ny", "nn"] * 4
    apart = vote_agreement("vote", [(str(place), ballot(row)) for place, row in enumerate(rows)], 0.95)
    together = vote_agreement("vote", [(str(place % 6), ballot(row)) for place, row in enumerate(rows)], 0.95)
    assert apart.estimate == pytest.approx(together.estimate)
    assert apart.interval != together.interval


def test_accepted_and_rejected_drafts_count_and_skips_and_other_details_do_not(store: Store) -> None:
    def draft(votes: str, validator: str = "validator:panel") -> Draft:
        return Draft(variant=votes, details={validator: {"score": 1.0, "votes": ballot(votes)}})

    plain = Draft(variant="plain", details={"validator:panel": {"score": 0.5}, "votes": {"a": 1}, "word": "votes"})
    rows = ["yyy", "yyn", "nnn", "y-n"]
    outcomes = [(of(votes), draft(votes), "" if "yy" in votes else "panel: no") for votes in rows]
    outcomes += [(of("p"), plain, ""), (of("o"), draft("yn", "validator:other"), "")]
    skip = Skip(reason="none", details={"validator:panel": {"votes": ballot("nnn")}})
    write(store, "change", *outcomes, (of("s"), skip, ""))
    write(store, "elsewhere", (of("x"), draft("nn"), ""))
    panel, other = agreements(store, "t", "change", 0.95)
    assert (panel.validator, panel.drafts, panel.missing) == ("panel", 4, 1)
    assert panel.estimate == pytest.approx(reference(rows))
    assert (other.validator, other.drafts, other.voters) == ("other", 1, 2)
    assert agreements(store, "t", "change", 0.95) == (panel, other)


def test_drafts_of_items_that_share_a_group_are_one_cluster(store: Store) -> None:
    rows = ["yy", "yn", "nn", "yy", "ny", "nn"] * 4
    items = [Item(id=str(place), fields={}, group=f"g{place % 6}") for place in range(len(rows))]
    store.items.write({"t": items})
    outcomes = tuple(
        (item, Draft(variant="v", details={"validator:panel": {"votes": ballot(row)}}), "")
        for item, row in zip(items, rows, strict=True)
    )
    write(store, "change", *outcomes)
    (found,) = agreements(store, "t", "change", 0.95)
    grouped = [(f"g{place % 6}", ballot(row)) for place, row in enumerate(rows)]
    assert found == vote_agreement("panel", grouped, 0.95)


def test_without_votes_there_is_no_agreement(store: Store) -> None:
    outcome = (of("1"), Draft(details={"validator:rules": {"score": 1.0}}), "")
    write(store, "change", outcome)
    assert agreements(store, "t", "change", 0.95) == ()
