"""Train the baseline judge and ask it; kept apart because scikit-learn takes longer to import than a plan takes.

Texts are rows of a sparse matrix: TF-IDF of words and characters, and standardised style statistics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from attrs import evolve, frozen
from jrh import Json, Judgement, Mode, Question, Status, Task, Verdict
from jrh.plugins import BatchJudge
from jrh.text import flat_text, utf8_text
from jrh.values import Example
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from jrh_baseline.models import Choices, Classes, Levels, Numbers, Pairs
from jrh_baseline.options import BaselineOptions
from jrh_baseline.predictions import FREE, CannotLearnError, FittedModel, Prediction, abstention


class Document(NamedTuple):
    """One judged text with the request it answers."""

    text: str
    request: str


def documents_of(fields: Mapping[str, Json], judged: Iterable[str]) -> tuple[Document, ...]:
    """Return one document per judged field, in their order; missing fields are empty."""
    request = utf8_text(flat_text(fields.get("request")))
    return tuple(Document(utf8_text(flat_text(fields.get(name))), request) for name in judged)


NAMES: Final = (
    "log words",
    "log sentences",
    "words per sentence",
    "type-token ratio",
    "root type-token ratio",
    "share of long words",
    "characters per word",
    "punctuation per word",
    "commas per word",
    "share of the request's words used",
    "share of words from the request",
)
"""Names of the statistics, in order."""

_LONG_WORD: Final = 7
_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)*")
_SENTENCE_END: Final = re.compile(r"[.!?\u2026\u3002\uff01\uff1f]+")
"""Full stops and the like, also the ellipsis and the full-width marks of Chinese and Japanese."""
_PUNCTUATION: Final = re.compile(r"[^\w\s]")


def style(document: Document) -> tuple[float, ...]:
    """Return the statistics named in `NAMES`; all are 0 for a text without words.

    The type-token ratio is distinct words / words; its root variant, distinct words / sqrt(words), is Guiraud's index,
    which depends less on length. Long words have seven characters or more.
    """
    words = _words(document.text)
    n = len(words)
    # The ratios by the number of words are not defined here.
    if not n:
        return (0.0,) * len(NAMES)
    kinds, request_words = set(words), set(_words(document.request))
    sentences = sum(1 for part in _SENTENCE_END.split(document.text) if _WORD.search(part))
    return (
        math.log1p(n),
        math.log1p(sentences),
        n / sentences,
        len(kinds) / n,
        len(kinds) / math.sqrt(n),
        sum(len(word) >= _LONG_WORD for word in words) / n,
        sum(map(len, words)) / n,
        len(_PUNCTUATION.findall(document.text)) / n,
        document.text.count(",") / n,
        len(kinds & request_words) / len(request_words) if request_words else 0.0,
        sum(word in request_words for word in words) / n,
    )


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


_BUCKETS: Final = 2**18
"""Columns per kind of n-gram. Hashing needs no vocabulary, so texts without words need no special case."""
_REQUEST: Final = 0.5
"""Weight of the request's words: they say which question it is, and less about how well it was answered."""
_WEIGHTS: Final = ((1.0, 1.0), (0.3, 1.0), (0.03, 0.0))
"""Weights of the style statistics and of the request's words that a model may choose from."""
_LIMIT: Final = 4.0
"""Clip style statistics at this many standard deviations: one odd text must not outweigh all words."""

_WORDS: Final[Mapping[str, Any]] = {"analyzer": "word", "ngram_range": (1, 2)}
_ANALYSERS: Final[tuple[Mapping[str, Any], ...]] = (_WORDS, {"analyzer": "char_wb", "ngram_range": (3, 5)})


@frozen(kw_only=True)
class Features:
    """Features fitted to training texts: document frequencies, means and deviations of the statistics."""

    weights: tuple[Any, ...]
    """One fitted `TfidfTransformer` per kind of n-gram."""
    columns: tuple[Any, ...]
    """Columns that occur in training, per kind of n-gram; all others would have weight 0 and cost time."""
    scaler: Any
    """A fitted `StandardScaler`."""
    requests: bool
    """The words of the request are features of their own."""

    @classmethod
    def fit(cls, documents: Sequence[Document], *, requests: bool) -> Features:
        """Learn from training texts; at least one is needed."""
        # Counted once: weights and columns are both learnt from these counts.
        counted = _count(documents, requests)
        return cls(
            requests=requests,
            weights=tuple(TfidfTransformer(sublinear_tf=True).fit(counts) for counts in counted),
            columns=tuple(np.unique(counts.indices) for counts in counted),
            scaler=StandardScaler().fit(_statistics(documents)),
        )

    def weightings(self) -> list[NDArray[np.float64]]:
        """Return weights of the columns that a model may choose from, the first of them 1.

        Each style statistic varies by 1, and all n-grams of a text together by about as much: at equal weight a penalty
        that is right for the words hardly touches the statistics. Where only words of the response matter, these are
        noise, and so are the words of requests that are not asked again.
        """
        sizes = [len(columns) for columns in self.columns]
        asked = sizes.pop() if self.requests else 0
        return [np.repeat((1.0, request, style), (sum(sizes), asked, len(NAMES))) for style, request in _WEIGHTS]

    def transform(self, documents: Sequence[Document]) -> csr_matrix:
        """Return one row per document; a row depends only on its own document."""
        counted = _count(documents, self.requests)
        grams = [
            weight.transform(counts)[:, columns]
            for weight, columns, counts in zip(self.weights, self.columns, counted, strict=True)
        ]
        if self.requests:
            grams[-1] = grams[-1] * _REQUEST
        statistics = np.clip(self.scaler.transform(_statistics(documents)), -_LIMIT, _LIMIT)
        return csr_matrix(hstack([*grams, csr_matrix(statistics)], format="csr"))


def _count(documents: Sequence[Document], requests: bool) -> list[csr_matrix]:
    texts = [document.text for document in documents]
    counts = [_grams(texts, analyser) for analyser in _ANALYSERS]
    return [*counts, _grams([document.request for document in documents], _WORDS)] if requests else counts


def _grams(texts: Sequence[str], analyser: Mapping[str, Any]) -> csr_matrix:
    return HashingVectorizer(n_features=_BUCKETS, alternate_sign=False, norm=None, **analyser).transform(texts)


def _statistics(documents: Sequence[Document]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([style(document) for document in documents], dtype=np.float64)


NAME: Final = "baseline: TF-IDF + style statistics"
"""Every rationale begins with it."""

_PAIR: Final = 2


def train_judge(examples: Sequence[Example], options: BaselineOptions, task: Task) -> BatchJudge:
    """Return a judge trained on these examples.

    Raises:
        CannotLearnError: nothing can be learnt from them.
    """
    # Multi-threaded sums depend on the number of threads; with one, every machine adds in the same order.
    with threadpool_limits(limits=1):
        return _fit(examples, options, task)


def _fit(examples: Sequence[Example], options: BaselineOptions, task: Task) -> BatchJudge:
    needed = options.min_examples
    if len(examples) < needed:
        raise CannotLearnError(f"{len(examples)} labelled examples outside the fold; needs at least {needed}")
    fields = [example.fields for example in examples]
    documents = [text for item_fields in fields for text in documents_of(item_fields, task.judged_fields)]
    # The request is the same for all responses of a comparison: its own words say nothing about which is better.
    features = Features.fit(documents, requests=task.mode is not Mode.PAIRWISE)
    rows = rows_of(features, fields, task)
    # An example without a group is a group of its own.
    groups = [example.group or str(place) for place, example in enumerate(examples)]
    model = _model(rows, [example.gold for example in examples], groups, options, task, features.weightings())
    return Trained(task=task, features=features, model=model)


def _model(
    rows: Any,
    golds: Sequence[str],
    groups: Sequence[str],
    options: BaselineOptions,
    task: Task,
    weightings: Sequence[Numbers],
) -> FittedModel:
    if task.mode is Mode.PAIRWISE and len(task.judged_fields) > _PAIR:
        return Choices.fit(rows, golds, groups, task.scale, options)
    if task.mode is Mode.PAIRWISE:
        return Pairs.fit(rows, golds, groups, task.scale, options)
    if task.scale.ordered:
        return Levels.fit(rows, golds, groups, task.scale, options)
    return Classes.fit(rows, golds, groups, options, weightings)


@frozen(kw_only=True)
class Trained:
    """A baseline judge after training."""

    task: Task
    features: Features
    model: FittedModel

    def judge_batch(self, questions: Sequence[Question]) -> Sequence[Judgement]:
        """Return one judgement per question in the given order; each depends only on its own question."""
        if not questions:
            return []
        with threadpool_limits(limits=1):
            rows = rows_of(self.features, [question.fields for question in questions], self.task)
            predictions = self.model.predict(rows)
        return [
            self._judgement(question, prediction) for question, prediction in zip(questions, predictions, strict=True)
        ]

    def _judgement(self, question: Question, prediction: Prediction) -> Judgement:
        # A template may bring another scale, whose labels this judge has never seen.
        if set(question.task.scale.labels) != set(self.task.scale.labels):
            return abstention("baseline: the question's scale differs from the one it was trained on")
        if prediction.label is None:
            return abstention(f"baseline: {prediction.detail}")
        verdict = Verdict(
            status=Status.OK,
            presented=prediction.label,
            rationale=f"{NAME}, {self.model.method}",
            probabilities=prediction.probabilities,
        )
        return Judgement(verdict=verdict, reply=evolve(FREE, text=prediction.label))


def rows_of(features: Features, fields: Sequence[Mapping[str, Json]], task: Task) -> Any:
    """Return one feature row per question; for pairs, the first response's features minus the second's.

    Of comparisons of more responses, return a matrix per response, each with one row per question. Each distinct text
    is analysed only once.
    """
    shown = [documents_of(item_fields, task.judged_fields) for item_fields in fields]
    places: dict[Document, int] = {}
    for documents in shown:
        for document in documents:
            places.setdefault(document, len(places))
    matrix = features.transform(list(places))
    rows = [matrix[[places[documents[number]] for documents in shown]] for number in range(len(task.judged_fields))]
    if len(rows) == _PAIR:
        return rows[0] - rows[1]
    # Three responses or more have no single difference; `Choices` makes them itself.
    return rows if len(rows) > _PAIR else rows[0]
