"""Predict labels, levels and choices with linear models, whose penalty is chosen by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

import numpy as np
from attrs import frozen
from jrh import Scale
from numpy.typing import NDArray
from scipy.sparse import diags, vstack
from scipy.special import expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from jrh_baseline.options import BaselineOptions
from jrh_baseline.predictions import DIGITS, CannotLearnError, Prediction

_LEAST_SHARE: Final = 1e-6
ITERATIONS: Final = 5000
"""Iteration limit; far above what such problems need, as the solver stops on convergence."""


@frozen(kw_only=True)
class Classes:
    """A logistic regression over the labels seen in training."""

    regression: Any

    method: ClassVar[str] = "logistic regression"

    @classmethod
    def fit(
        cls,
        rows: Any,
        golds: Sequence[str],
        groups: Sequence[str],
        options: BaselineOptions,
        weightings: Sequence[Numbers] = (),
    ) -> Classes:
        """Fit to gold labels, with the penalty of the options or the best one on held-out groups.

        Args:
            rows: the feature rows, sparse.
            golds: the gold labels.
            groups: the group of every row.
            options: of the judge.
            weightings: weights of the columns to choose from, where there are enough examples; the first of them 1.

        Raises:
            CannotLearnError: All examples have the same label.
        """
        if len(set(golds)) == 1:
            raise CannotLearnError(f"all {len(golds)} training examples have the label '{golds[0]}'")
        labels = np.array(golds, dtype=object)
        held_out = partial(_fold_loss, labels, options)
        if options.regularisation or len(golds) < _LEAST_WEIGHTED or not weightings:
            penalty = options.regularisation or choose(rows, groups, held_out, total)
            return cls(regression=_regression(penalty, options).fit(rows, labels))
        found = [
            (*search(rows @ diags(weights), groups, held_out, total, WIDE_PENALTIES), weights) for weights in weightings
        ]
        _, penalty, weights = min(found, key=itemgetter(0))
        regression = _regression(penalty, options).fit(rows @ diags(weights), labels)
        # As coefficients of the unweighted features, so that nothing else has to know of the weights.
        regression.coef_ = regression.coef_ * weights
        return cls(regression=regression)

    def predict(self, rows: Any) -> list[Prediction]:
        """Return the likeliest label per row, with the probability of every label seen in training."""
        labels = [str(label) for label in self.regression.classes_]
        shares = self.regression.predict_proba(rows)
        return [
            Prediction(label=labels[best], probabilities=dict(zip(labels, row, strict=True)))
            for best, row in zip(shares.argmax(axis=1).tolist(), np.round(shares, DIGITS).tolist(), strict=True)
        ]


def _regression(penalty: float, options: BaselineOptions) -> LogisticRegression:
    return LogisticRegression(C=1 / penalty, class_weight="balanced" if options.balanced else None, max_iter=ITERATIONS)


def _fold_loss(
    labels: Any, options: BaselineOptions, rows: Numbers, train: Places, held: Places, penalty: float
) -> float:
    """Return the summed logarithmic loss of a fold; a label that is not in training has the least probability."""
    if len(set(labels[train])) == 1:
        return 0.0  # says nothing about the penalty
    regression = _regression(penalty, options).fit(rows[train], labels[train])
    shares = regression.predict_proba(rows[held])
    place = {label: number for number, label in enumerate(regression.classes_)}
    probabilities = [
        share[place[label]] if label in place else 0.0 for share, label in zip(shares, labels[held], strict=True)
    ]
    return float(-np.log(np.clip(probabilities, _LEAST_SHARE, 1.0)).sum())


Numbers: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
Fold = TypeVar("Fold")
HeldOut: TypeAlias = Callable[[Numbers, Places, Places, float], Fold]
"""Rows in few columns, training and held-out places, penalty -> what is known of the held-out ones."""

UNTUNED: Final = 1.0
"""Without enough groups to hold some out: scikit-learn's default."""
PENALTIES: Final = (UNTUNED, 0.3, 0.1, 0.03, 0.01)
"""Tried from the most cautious on; a smaller one has to be better, not as good. None is above the default: squared
error and log loss prefer shrunken predictions on small data, which cost agreement with the gold labels."""
WIDE_PENALTIES: Final = (10.0, 3.0, *PENALTIES)
"""Tried where the weights of the features are chosen as well."""
_LEAST_WEIGHTED: Final = 100
"""Examples from which on these are chosen: with fewer, one more choice would follow noise."""
_FOLDS: Final = 5
_LEAST: Final = 20
"""With fewer examples the search would choose noise."""
_DIGITS: Final = 6
"""Losses are rounded: the last bits of another processor must not choose another penalty."""
_NOISE: Final = 1e-10


def choose(rows: Any, groups: Sequence[str], held_out: HeldOut[Fold], loss: Callable[[Sequence[Fold]], float]) -> float:
    """Return the penalty with the least held-out loss; see `search`."""
    return search(rows, groups, held_out, loss, PENALTIES)[1]


def search(
    rows: Any,
    groups: Sequence[str],
    held_out: HeldOut[Fold],
    loss: Callable[[Sequence[Fold]], float],
    penalties: Sequence[float],
) -> tuple[float, float]:
    """Return the least held-out loss and its penalty; without enough examples or groups, 0 and the default.

    Args:
        rows: the feature rows, sparse.
        groups: the group of every row; no group is split.
        held_out: what a fold tells, such as its loss.
        loss: the loss of all folds.
        penalties: what to try; of equal losses, the first is taken.
    """
    places = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    folds = min(_FOLDS, len(places))
    if len(groups) < _LEAST or folds <= 1:
        return 0.0, UNTUNED
    # The search fits some 25 models; the L2 penalty sees rows only through their inner products, so that few columns
    # give the same fits.
    small = _reduce_columns(rows)
    codes = np.array([places[group] for group in groups])
    # By group: a copy of a training text among the held-out ones would make the weakest penalty look best.
    splits = list(GroupKFold(folds).split(small, groups=codes))
    losses = [
        round(loss([held_out(small, np.asarray(train), np.asarray(held), penalty) for train, held in splits]), _DIGITS)
        for penalty in penalties
    ]
    return min(zip(losses, penalties, strict=True), key=itemgetter(0))


def total(losses: Sequence[float]) -> float:
    """Return the summed loss of all folds."""
    return sum(losses)


def _reduce_columns(rows: Any) -> Numbers:
    """Return rows with the same inner products in as many columns as there are rows, at most."""
    products = np.asarray((rows @ rows.T).todense(), dtype=np.float64)
    values, vectors = np.linalg.eigh(products)
    # The smallest eigenvalues are rounding errors of zero, and their roots would be columns of noise.
    significant = values > max(float(values[-1]), 1.0) * _NOISE
    return np.asarray(vectors[:, significant] * np.sqrt(values[significant]))


@frozen(kw_only=True)
class Pairs:
    """A linear score of the difference between two responses: score(a, b) = -score(b, a), to the last bit."""

    scale: Scale
    weights: Any
    """One weight per feature."""
    tie_margin: float

    method: ClassVar[str] = "logistic regression on differences"

    @classmethod
    def fit(
        cls, rows: Any, golds: Sequence[str], groups: Sequence[str], scale: Scale, options: BaselineOptions
    ) -> Pairs:
        """Fit to preferences; rows are features of the first response minus those of the second.

        Training uses every pair in both orders, so gold labels that are all A are as good as balanced ones. Ties carry
        no direction and are left out.

        Raises:
            CannotLearnError: Fewer than `min_examples` pairs have a preference, or no pair differs in its features.
        """
        decided = [place for place, gold in enumerate(golds) if gold != scale.tie]
        if len(decided) < options.min_examples:
            raise CannotLearnError(
                f"{len(decided)} training pairs have a preference; needs at least {options.min_examples}"
            )
        differences = rows[decided]
        if not differences.nnz:
            raise CannotLearnError(f"the two responses are the same in all {len(decided)} training pairs")
        # Signs rather than labels, so that the mirrored pairs below are the negated ones.
        first = np.array([1.0 if golds[place] == scale.options[0] else -1.0 for place in decided])
        penalty = options.regularisation or choose(
            differences, [groups[place] for place in decided], partial(_pair_fold_loss, first), total
        )
        regression = _of_differences(penalty)
        # Both orders and no intercept: the score of a swapped pair is the negated score, and no position can be learnt.
        regression.fit(vstack([differences, -differences], format="csr"), np.concatenate([first, -first]))
        return cls(scale=scale, weights=regression.coef_[0], tie_margin=options.tie_margin)

    def predict(self, rows: Any) -> list[Prediction]:
        """Return the preferred option per row, or a tie if the scale has one and the margin is small."""
        return [self._prediction(score) for score in (rows @ self.weights).tolist()]

    def _prediction(self, score: float) -> Prediction:
        first, second = self.scale.options[:2]
        # Compute the smaller share from the larger, so that swapping the responses swaps exactly these two numbers.
        larger = round(float(expit(abs(score))), DIGITS)
        smaller = round(1 - larger, DIGITS)
        shares = {first: larger, second: smaller} if score > 0 else {first: smaller, second: larger}
        if self.scale.tie is not None and larger - 0.5 <= self.tie_margin:
            return Prediction(label=self.scale.tie, probabilities=shares)
        if score == 0:
            return Prediction(label=None, detail="the two responses have the same features")
        return Prediction(label=first if score > 0 else second, probabilities=shares)


def _of_differences(penalty: float) -> LogisticRegression:
    # Both orders double the weight of the data against the penalty; half the constant restores it.
    return LogisticRegression(C=0.5 / penalty, fit_intercept=False, max_iter=ITERATIONS)


def _pair_fold_loss(first: Numbers, rows: Numbers, train: Places, held: Places, penalty: float) -> float:
    """Return the summed logarithmic loss of a fold."""
    shown, right = np.vstack([rows[train], -rows[train]]), np.concatenate([first[train], -first[train]])
    scores = rows[held] @ _of_differences(penalty).fit(shown, right).coef_[0]
    return float(np.logaddexp(0.0, -first[held] * scores).sum())


@frozen(kw_only=True)
class Choices:
    """A linear score of one response; the chance of each is that of Luce's choice rule, the softmax of the scores.

    Another order of the responses gives the same scores in that order, to the last bit. Between two responses it is the
    model of `Pairs`.
    """

    scale: Scale
    weights: Any
    """One weight per feature."""
    tie_margin: float

    method: ClassVar[str] = "logistic regression on differences"

    @classmethod
    def fit(
        cls, shown: Sequence[Any], golds: Sequence[str], groups: Sequence[str], scale: Scale, options: BaselineOptions
    ) -> Choices:
        """Fit to preferences; ties carry no direction and are left out.

        Args:
            shown: per option, the features of its response in every example.
            golds: the gold label of every example.
            groups: the group of every example; the differences of an example stay in one group.
            scale: of the task.
            options: of the judge.

        Raises:
            CannotLearnError: Fewer than `min_examples` examples have a preference, or their responses do not differ.
        """
        places = {option: place for place, option in enumerate(scale.options)}
        decided = [(number, places[gold]) for number, gold in enumerate(golds) if gold in places]
        if len(decided) < options.min_examples:
            raise CannotLearnError(
                f"{len(decided)} training examples have a preference; needs at least {options.min_examples}"
            )
        pairs = [(number, best, other) for number, best in decided for other in range(len(shown)) if other != best]
        differences = vstack([shown[best][number] - shown[other][number] for number, best, other in pairs], "csr")
        if not differences.nnz:
            raise CannotLearnError(f"the responses are the same in all {len(decided)} training examples")
        # Every difference is best minus other, so that the first always wins; `Pairs` mirrors them.
        first = [scale.options[0]] * len(pairs)
        fitted = Pairs.fit(differences, first, [groups[number] for number, _, _ in pairs], scale, options)
        return cls(scale=scale, weights=fitted.weights, tie_margin=options.tie_margin)

    def predict(self, rows: Sequence[Any]) -> list[Prediction]:
        """Return the option with the highest score per question, or a tie if the scale has one and two are close."""
        scores = zip(*((matrix @ self.weights).tolist() for matrix in rows), strict=True)
        return [self._prediction(row) for row in scores]

    def _prediction(self, scores: Sequence[float]) -> Prediction:
        # The largest score is subtracted so that the exponential cannot overflow.
        odds = [math.exp(score - max(scores)) for score in scores]
        total = math.fsum(odds)  # exact, so that no order of the responses shows
        shares = dict(zip(self.scale.options, (round(odd / total, DIGITS) for odd in odds), strict=True))
        best, second = sorted(shares.values(), reverse=True)[:2]
        # For two responses this is the distance of the larger share from one half.
        if self.scale.tie is not None and (best - second) / 2 <= self.tie_margin:
            return Prediction(label=self.scale.tie, probabilities=shares)
        highest = [option for option, score in zip(self.scale.options, scores, strict=True) if score == max(scores)]
        # Choosing the first of equal ones would be a position bias.
        if len(highest) > 1:
            return Prediction(label=None, detail="the best responses have the same features")
        return Prediction(label=highest[0], probabilities=shares)


_LEAST_ERROR: Final = 1e-3
_MOST_STRETCH: Final = 3.0
"""Where held-out predictions hardly vary, the features say nothing, and noise is not to be stretched to the scale."""


@frozen(kw_only=True)
class Levels:
    """A linear model of the rank, cut at the half-way points between levels."""

    scale: Scale
    ridge: Any
    lowest: int
    """Rank of the lowest level in training; lower ones are never predicted."""
    highest: int
    centre: float
    """Mean rank in training."""
    stretch: float
    """How much predictions spread less than ranks do, 1 or more."""
    error: float
    """Root mean square error on held-out training examples, in levels."""

    method: ClassVar[str] = "ridge regression on levels"

    @classmethod
    def fit(
        cls, rows: Any, golds: Sequence[str], groups: Sequence[str], scale: Scale, options: BaselineOptions
    ) -> Levels:
        """Fit to gold levels, with the penalty of the options or the best one on held-out groups.

        Raises:
            CannotLearnError: All examples have the same level.
        """
        ranks = np.array([scale.rank(gold) for gold in golds], dtype=np.float64)
        if ranks.min() == ranks.max():
            raise CannotLearnError(f"all {len(golds)} training examples have the level '{golds[0]}'")
        penalty = options.regularisation or choose(
            rows, groups, partial(_fold_predictions, ranks), _lack_of_correlation
        )
        ridge = Ridge(alpha=penalty)
        # With a single group there is nothing to hold out by group; the error is then estimated by item.
        together = len(set(groups)) > 1
        folds = GroupKFold(min(_FOLDS, len(set(groups)))) if together else KFold(min(_FOLDS, len(ranks)))
        # The error of the training examples themselves would be too small, and the probabilities too sure.
        held_out = cross_val_predict(ridge, rows, ranks, cv=folds, groups=list(groups))
        # Ridge shrinks predictions towards the mean; unstretched, the outer levels would never be predicted.
        centre, stretch = float(ranks.mean()), _stretch(held_out, ranks)
        stretched = centre + stretch * (held_out - centre)
        return cls(
            scale=scale,
            ridge=ridge.fit(rows, ranks),
            lowest=int(ranks.min()),
            highest=int(ranks.max()),
            centre=centre,
            stretch=stretch,
            error=max(float(np.sqrt(np.mean((stretched - ranks) ** 2))), _LEAST_ERROR),
        )

    def predict(self, rows: Any) -> list[Prediction]:
        """Return the median level per row, with the probability of every level seen in training's range."""
        expected = self.centre + self.stretch * (self.ridge.predict(rows) - self.centre)
        levels = np.arange(self.lowest, self.highest + 1)
        labels = self.scale.labels[self.lowest : self.highest + 1]
        # The median of a normal distribution cut half-way between levels is the nearest level.
        chosen = np.clip(np.floor(expected + 0.5).astype(int), self.lowest, self.highest)
        cuts = norm.cdf((levels[:-1] + 0.5 - expected[:, None]) / self.error)
        edges = np.hstack([np.zeros((len(expected), 1)), cuts, np.ones((len(expected), 1))])
        shares = np.round(np.diff(edges, axis=1), DIGITS)
        return [
            Prediction(label=self.scale.labels[rank], probabilities=dict(zip(labels, row, strict=True)))
            for rank, row in zip(chosen.tolist(), shares.tolist(), strict=True)
        ]


def _stretch(held_out: Numbers, ranks: Numbers) -> float:
    """Return how much less held-out predictions spread than ranks do; 1 where they tell nothing of them."""
    if _lack_of_correlation([np.stack([held_out, ranks])]) >= 1:
        return 1.0
    return float(np.clip(ranks.std() / held_out.std(), 1.0, _MOST_STRETCH))


def _fold_predictions(ranks: Numbers, rows: Numbers, train: Places, held: Places, penalty: float) -> Numbers:
    """Return the predictions of a fold and the ranks, shape (2, held out)."""
    ridge = Ridge(alpha=penalty).fit(rows[train], ranks[train])
    return np.stack([ridge.predict(rows[held]), ranks[held]])


def _lack_of_correlation(folds: Sequence[Numbers]) -> float:
    predicted, ranks = np.concatenate(folds, axis=1)
    # A correlation with a constant is not defined.
    if predicted.std() < _LEAST_ERROR or ranks.std() < _LEAST_ERROR:
        return 1.0
    return 1.0 - float(np.corrcoef(predicted, ranks)[0, 1])
