"""The real thing: every essay, every layout."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from jrh import Draft, Item, derive_seed
from jrh_format.options import FormatOptions, Layout
from jrh_format.perturber import FormatPerturber
from jrh_format.words_unchanged import WordsUnchanged
from jrh_testing import sample_task

ESSAYS = Path(__file__).parents[3].parent / "shared/data/persuade/essays.csv"


@pytest.mark.skipif(not ESSAYS.is_file(), reason="the PERSUADE essays are not here (../shared/data/persuade)")
@pytest.mark.slow
async def test_nearly_every_essay_gets_every_layout_and_keeps_its_words():
    perturber = FormatPerturber.of(
        FormatOptions(strengths=(0.3, 1.0)), sample_task(), lambda *parts: derive_seed(7, *parts)
    )
    drafted: Counter[str] = Counter()
    with ESSAYS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:
        item = Item(id=row["essay_id"], fields={"response": row["full_text"]})
        drafts = [outcome for outcome in await perturber.perturb(item) if isinstance(outcome, Draft)]
        drafted.update({draft.variant for draft in drafts})
        for draft in drafts:
            assert (await WordsUnchanged().validate(item, draft)).accepted
            assert "".join(str(draft.fields["response"]).split()).strip("`#-")
    # Some essays are a single line, and some begin every paragraph with a very long sentence.
    assert {layout.value: drafted[layout.value] >= 0.9 * len(rows) for layout in Layout} == dict.fromkeys(
        (layout.value for layout in Layout), True
    )
