"""The metric `template-sensitivity`: JSS, flip rate and kappa between templates, raw and corrected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh import JrhError, Measure, MetricContext, Polarity, RecordTable, Status
from jrh_measuring import DEGENERATE, Answers, Basis, Mask, MeasureBuilder, Pairs, answers_by, complement
from jrh_stats import Estimate, cluster_sums, clustered_mean, opposition_test

from jrh_prompts.listing import select_pairs
from jrh_prompts.options import SensitivityOptions
from jrh_prompts.polarity import levels_by_template

_DEALS: Final = 9_999
"""Its smallest p-value, 0.0001, is claimed in a family of up to 500 tests."""


def correction(builder: MeasureBuilder, corrected: Pairs, raw: Pairs) -> Iterator[Measure]:
    """Yield `jss-correction`, the mean of corrected less raw agreement over pairs; nothing where all are equal."""
    both = corrected.usable & raw.usable
    change = np.where(both, corrected.scores - raw.scores, 0.0)
    if not change.any():
        return
    sums = cluster_sums(corrected.answers.clusters, change.sum(axis=1), both.sum(axis=1).astype(np.float64))
    # Clusters without a pair that is usable both ways have no weight.
    sums = sums[sums[:, 1] > 0]
    difference = clustered_mean(sums[:, 0], sums[:, 1], bounds=(-1.0, 1.0), level=builder.context.level)
    basis = Basis(corrected.answers.cell, corrected.rows, corrected.verdict_rows)
    note = "corrected minus raw JSS: the effect of template polarity"
    yield builder.measure("jss-correction", basis, difference, unit="difference", note=note)


def opposition_p(builder: MeasureBuilder, pairs: Pairs) -> Iterator[Measure]:
    """Yield the p-value of a kappa between templates whose interval lies below 0.

    The interval of kappa excludes 0 in 2 to 6% of small samples of random answers. So answers that are dealt again have
    to say the same. Other intervals need no test: they claim nothing.
    """
    kappa = pairs.kappa(level=builder.context.level)
    if kappa.value is None or kappa.high is None or kappa.high >= 0:
        return
    answers = pairs.answers
    test = opposition_test(
        answers.counts / np.maximum(answers.verdict_counts, 1)[:, :, None],
        np.stack([pairs.first, pairs.second], axis=1),
        answers.clusters,
        usable=pairs.usable,
        resamples=_DEALS,
        seed=builder.seed(answers.cell),
    )
    note = "permutation test, one-sided: each template's verdicts are dealt again over the items"
    yield builder.p_value("template-kappa-p", Basis(answers.cell, pairs.rows, pairs.verdict_rows), test.p, note=note)


ACROSS = "across"
"""The cell of pairs whose templates are in different languages."""
WITHOUT = "without"
"""The factor of cells that leave out templates; the level is the name of the exclusion."""
_PAIR = "pair"
_TEMPLATE = "template"
_MOST_TEMPLATES = 30
"""With more templates there is no table of each with and without the exclusions."""
_DEGENERATE = "all verdicts have the same label: kappa is undefined"
_NO_PAIR = "no item has verdicts under two templates that are compared"


@frozen
class TemplateSensitivity:
    """Measure the agreement of a judge with itself between equivalent prompt templates.

    The judge sensitivity score (JSS) of the JudgeSense paper is the share of template pairs whose verdicts on an item
    agree. Templates are compared under the same option order, temperature and other conditions only. `jss-raw` compares
    the labels as presented, `jss` the labels they stand for. If a template is inverted, only `jss` describes the judge.
    """

    options: SensitivityOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield all measures per judge, task and test with at least two templates."""
        builder = MeasureBuilder.of(records, context, self.options, draws="prompts")
        self._check_without(builder)
        for answers in answers_by(builder.trials, "template"):
            if len(answers.levels) > 1:
                yield from self._of_test(builder, answers)

    def _check_without(self, builder: MeasureBuilder) -> None:
        known = sorted(filter(None, builder.trials.column("template").names))
        absent = [name for chosen in self.options.without.values() for name in chosen if name not in known]
        # A log without templates has none that could be misspelt.
        if absent and known:
            raise JrhError(f"without: there is no template '{absent[0]}'; templates: {', '.join(known)}")

    def _of_test(self, builder: MeasureBuilder, answers: Answers) -> Iterator[Measure]:
        items = builder.context.items.get(answers.cell.task, ())
        chosen = select_pairs(self.options.pairs, answers, items, builder.context.seed)
        languages = _languages(answers)
        excluded = _templates_left_out(answers, self.options.without)
        corrected, raw = (Pairs.of(labels, chosen) for labels in (answers, answers.as_presented()))
        for levels, part in _cells(corrected, languages, excluded):
            yield from self._agreement(builder, part, levels)
        for levels, part in _cells(raw, languages, excluded):
            yield _score(builder, part, levels, "jss-raw")
        yield from correction(builder, corrected, raw)
        yield from opposition_p(builder, corrected)
        yield from self._items(builder, corrected)
        yield from self._exclusions(builder, corrected)

    def _agreement(self, builder: MeasureBuilder, pairs: Pairs, levels: Mapping[str, str]) -> Iterator[Measure]:
        jss = _score(builder, pairs, levels, "jss")
        yield jss
        yield complement(jss, "template-flip-rate")
        if (_PAIR in levels or _TEMPLATE in levels) and not self.options.all:
            return
        kappa = pairs.kappa(level=builder.context.level)
        nothing = "" if kappa.value is not None else _NO_PAIR
        note = _DEGENERATE if DEGENERATE in kappa.flags else nothing
        basis, lacking = _basis(pairs, levels), Status.OFF_SCALE.value
        yield builder.measure("template-kappa", basis, kappa, note=note, unit="coefficient", unscored=lacking)

    def _items(self, builder: MeasureBuilder, pairs: Pairs) -> Iterator[Measure]:
        # A single item has no confidence interval over items.
        answers, used, scores, compared = pairs.answers, pairs.usable, pairs.scores, pairs.verdict_rows
        distinct, item = np.unique(answers.axes.items, return_inverse=True)
        if not self.options.all or len(distinct) > self.options.items:
            return
        looked_at = pairs.in_plan.any(axis=1)
        for code in np.unique(item[looked_at]):
            here = looked_at & (item == code)
            count = int(used[here].sum())
            # Rounded, so that the order of addition does not show in the last digit.
            value = round(float(scores[here][used[here]].mean()), 12) if count else None
            rows = answers.rows_at(np.broadcast_to(here[:, None], answers.trial_counts.shape))
            cell = answers.cell.part({"item": answers.items[int(np.argmax(here))]})
            basis = Basis(cell, rows, np.intersect1d(rows, compared, assume_unique=True))
            yield builder.measure("jss", basis, Estimate(value=value), note="" if count else _NO_PAIR)

    def _exclusions(self, builder: MeasureBuilder, pairs: Pairs) -> Iterator[Measure]:
        answers, rows = pairs.answers, pairs.rows
        shares = pairs.scores.sum(axis=1), pairs.in_plan.sum(axis=1), answers.clusters
        with_all = builder.proportion(*shares) if pairs.usable.any() else Estimate(value=None)
        basis = Basis(answers.cell, rows, rows[answers.label_codes[rows] >= 0])
        note = "excluded pairs count as flips" if with_all.value is not None else _NO_PAIR
        if self.options.all or self.options.also:
            yield builder.measure("jss-with-excluded", basis, with_all, note=note)
        lost = pairs.in_plan & ~pairs.usable
        yield self._excluded_share(builder, pairs, lost, {})
        for status in answers.missing_counts:
            gone = (answers.missing_counts[status] > 0) & (answers.verdict_counts == 0)
            # A pair is lost with either of its sides.
            either = gone[:, pairs.first] | gone[:, pairs.second]
            yield self._excluded_share(builder, pairs, lost & either, {"reason": status})

    def _excluded_share(self, builder: MeasureBuilder, pairs: Pairs, lost: Mask, levels: dict[str, str]) -> Measure:
        cell = pairs.answers.cell.part(levels)
        share = builder.proportion(lost.sum(axis=1), pairs.in_plan.sum(axis=1), pairs.answers.clusters)
        # This measures whether there is a verdict, so trials without one are usable too.
        rows = pairs.answers.rows
        return builder.measure("excluded-pairs", Basis(cell, rows, rows), share)


def _basis(pairs: Pairs, levels: Mapping[str, str]) -> Basis:
    return Basis(pairs.answers.cell.part(levels), pairs.rows, pairs.verdict_rows, pairs.answers.label_codes)


def _score(builder: MeasureBuilder, pairs: Pairs, levels: Mapping[str, str], name: str) -> Measure:
    """Measure the share of pairs that agree."""
    basis = _basis(pairs, levels)
    share = builder.proportion(pairs.scores.sum(axis=1), pairs.usable.sum(axis=1), pairs.answers.clusters)
    note = "" if share.value is not None else _NO_PAIR
    return builder.measure(name, basis, share, bounds=pairs.bounds, note=note, unscored=Status.OFF_SCALE.value)


def _cells(
    pairs: Pairs, languages: Mapping[str, str], excluded: Mapping[str, frozenset[str]]
) -> Iterator[tuple[dict[str, str], Pairs]]:
    """Yield the whole test, without each exclusion, every template pair, then within and across languages."""
    yield {}, pairs
    for name, templates in excluded.items():
        gone = np.array([level in templates for level in pairs.answers.levels])
        yield {WITHOUT: name}, pairs.select(np.flatnonzero(~(gone[pairs.first] | gone[pairs.second])))
    # The table of templates by exclusions grows with their product.
    if excluded and len(pairs.answers.levels) <= _MOST_TEMPLATES:
        yield from _by_template(pairs, excluded)
    # Prompts of an imported log may differ from item to item, so some pairs occur on no item.
    for pair in np.flatnonzero(pairs.in_plan.any(axis=0)):
        yield {_PAIR: pairs.name(int(pair))}, pairs.select(np.array([pair]))
    spoken = sorted(dict.fromkeys(languages.values()))
    # A template that is asked in several languages belongs to no part.
    if len(spoken) > 1 and len(languages) == len(pairs.answers.levels):
        of = np.array([spoken.index(languages[name]) for name in pairs.answers.levels])
        first, second = of[pairs.first], of[pairs.second]
        for place, language in enumerate(spoken):
            within = np.flatnonzero((first == place) & (second == place))
            if len(within):
                yield {"language": language or "unstated"}, pairs.select(within)
        yield {"language": ACROSS}, pairs.select(np.flatnonzero(first != second))


def _by_template(pairs: Pairs, excluded: Mapping[str, frozenset[str]]) -> Iterator[tuple[dict[str, str], Pairs]]:
    """Yield the pairs of each template, all of them and without each exclusion."""
    names = pairs.answers.levels
    for place, name in enumerate(names):
        with_template = np.flatnonzero((pairs.first == place) | (pairs.second == place))
        yield {_TEMPLATE: name}, pairs.select(with_template)
        for what, gone in excluded.items():
            left = [pair for pair in with_template if not {names[pairs.first[pair]], names[pairs.second[pair]]} & gone]
            if left:
                yield {_TEMPLATE: name, WITHOUT: what}, pairs.select(np.array(left))


def _templates_left_out(answers: Answers, named: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return the exclusions that leave out some templates of a test, but not all: inverted ones, and those named."""
    polarities = levels_by_template(answers, "polarity")
    inverted = {name for name, polarity in polarities if polarity == Polarity.INVERTED.value}
    chosen = {f"inverted: {', '.join(sorted(inverted))}": inverted} | {key: set(names) for key, names in named.items()}
    exclusions = {name: frozenset(templates & set(answers.levels)) for name, templates in chosen.items()}
    # A single template has no pair, so at least two have to remain.
    return {name: templates for name, templates in exclusions.items() if 0 < len(templates) < len(answers.levels) - 1}


def _languages(answers: Answers) -> dict[str, str]:
    """Return the language of each template; none of a template that is asked in several."""
    spoken = levels_by_template(answers, "language")
    number = Counter(name for name, _ in spoken)
    return {name: language for name, language in spoken if number[name] == 1}
