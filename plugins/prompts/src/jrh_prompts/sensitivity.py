"""The metric `template-sensitivity`: JSS, flip rate and kappa between templates, raw and corrected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable

from jrh_prompts import pairs as pairing
from jrh_prompts.answers import Cell, answers_of, cells_of
from jrh_prompts.measuring import Basis, Resampling, mirrored
from jrh_prompts.options import SensitivityOptions
from jrh_prompts.pairs import Pairs

ACROSS = "across"
"""The cell of pairs whose templates are in different languages."""
_DEGENERATE = "both streams are one and the same label: agreement by chance is certain and kappa is undefined"
_NO_PAIR = "no item has verdicts under two templates"


@frozen
class TemplateSensitivity:
    """Agreement of a judge with itself between prompt templates that ask for the same thing.

    The judge sensitivity score (JSS) of the JudgeSense paper: the share of template pairs whose verdicts on an item
    agree. `jss-raw` compares the labels as presented, `jss` those they mean: with a template of inverted polarity only
    the second is a statement about the judge.
    """

    options: SensitivityOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield all measures per judge, task and test in which there are two templates."""
        for cell, rows in cells_of(records, "template"):
            if len(dict.fromkeys(rows.text("template"))) > 1:
                yield from self._of_test(cell, rows, context)

    def _of_test(self, cell: Cell, rows: RecordTable, context: MetricContext) -> Iterator[Measure]:
        languages = _languages(rows)
        for label, suffix in (("canonical", ""), ("presented", "-raw")):
            answers = answers_of(cell, rows, by="template", label=label)
            pairs = Pairs.of(answers, sample=self.options.pairs, seed=context.seed)
            for levels, part in _cells(pairs, languages):
                yield from self._agreement(part, levels, suffix, context)
            if not suffix:
                yield from self._items(pairs)
                yield from self._exclusions(pairs, context)

    def _agreement(
        self, pairs: Pairs, levels: Mapping[str, str], suffix: str, context: MetricContext
    ) -> Iterator[Measure]:
        basis = Basis.of(pairs.of_levels(), self.options.few_items)
        jss = basis.measure(
            f"jss{suffix}",
            pairing.agreement(pairs, Resampling.of(context, pairs.answers.cell, levels)),
            context,
            levels=levels,
            bounds=pairing.bounds(pairs),
            nothing=_NO_PAIR,
        )
        yield jss
        yield mirrored(jss, f"template-flip-rate{suffix}")
        kappa = pairing.kappa(pairs, level=context.level)
        note = _DEGENERATE if "degenerate" in kappa.flags else ""
        yield basis.measure(
            f"template-kappa{suffix}",
            kappa,
            context,
            levels=levels,
            unit="coefficient",
            note=note,
            nothing=_NO_PAIR,
        )

    def _items(self, pairs: Pairs) -> Iterator[Measure]:
        # Of one item there is no interval over items, so that none is drawn.
        answers, used, scores = pairs.answers, pairs.usable, pairs.scores
        if len(answers.items) > self.options.items:
            return
        for row in np.flatnonzero(pairs.looked_at.any(axis=1)):
            count = int(used[row].sum())
            value = round(float(scores[row][used[row]].mean()), 12) if count else None
            missing = {name: int(found[row].sum()) for name, found in answers.missing.items() if found[row].any()}
            trials = int(answers.answered[row].sum())
            yield Measure(
                name="jss",
                judge=answers.cell.judge,
                task=answers.cell.task,
                test=answers.cell.test,
                cell={"item": answers.items[row]},
                estimate=value,
                n_trials=trials,
                n_items=int(trials > 0),
                missing=missing,
                note="" if count else _NO_PAIR,
            )

    def _exclusions(self, pairs: Pairs, context: MetricContext) -> Iterator[Measure]:
        planned = pairs.answers.planned
        compared = Basis.of(pairs.of_levels(), self.options.few_items)
        # Of whether there is a verdict, trials without one say as much as the others.
        basis = evolve(compared, n_trials=int(planned.sum()), n_items=int((planned.sum(axis=1) > 0).sum()))
        with_all = pairing.agreement_with_excluded(pairs, Resampling.of(context, pairs.answers.cell))
        yield compared.measure(
            "jss-with-excluded", with_all, context, note="excluded pairs count as flips", nothing=_NO_PAIR
        )
        yield self._excluded(pairs, basis, None, context)
        for status in pairs.answers.missing_by_status:
            yield self._excluded(pairs, basis, status, context)

    def _excluded(self, pairs: Pairs, basis: Basis, status: str | None, context: MetricContext) -> Measure:
        levels = {} if status is None else {"reason": status}
        found = pairing.excluded(pairs, status, Resampling.of(context, pairs.answers.cell, levels))
        measure = basis.measure("excluded-pairs", found, context, levels=levels)
        return evolve(measure, flags=tuple(flag for flag in measure.flags if flag == "few-items"))


def _cells(pairs: Pairs, languages: Mapping[str, str]) -> Iterator[tuple[dict[str, str], Pairs]]:
    """Yield the whole test, then every template pair, then within and across languages."""
    yield {}, pairs
    # Prompts of an imported log may differ from item to item; pairs that stand on no item are no cells.
    for pair in np.flatnonzero(pairs.looked_at.any(axis=0)):
        yield {"pair": pairs.name(int(pair))}, pairs.select(np.array([pair]))
    spoken = sorted(dict.fromkeys(languages.values()))
    if len(spoken) > 1:
        of = np.array([spoken.index(languages[name]) for name in pairs.answers.levels])
        first, second = of[pairs.first], of[pairs.second]
        for place, language in enumerate(spoken):
            within = np.flatnonzero((first == place) & (second == place))
            if len(within):
                yield {"language": language or "unstated"}, pairs.select(within)
        yield {"language": ACROSS}, pairs.select(np.flatnonzero(first != second))


def _languages(rows: RecordTable) -> dict[str, str]:
    if "language" not in rows.columns:
        return {}
    return {
        str(name): language or "" for name, language in zip(rows.text("template"), rows.text("language"), strict=True)
    }
