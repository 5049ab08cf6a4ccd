"""Reject drafts that are too similar to existing texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import Factory, frozen
from jrh import BuildContext, Draft, Item, Json, Validation, content_id
from jrh_authoring import WORD, SentenceEncoder, VectorRows

from jrh_validators.drafts import text_changes
from jrh_validators.options import DiversityOptions, SimilarityOptions

_DIGITS: Final = 6
"""Similarities are rounded so that the summation order cannot affect a decision."""
_AT_ONCE: Final = 64
"""Drafts compared with all kept ones in one batch."""


@frozen(kw_only=True)
class CosineDiversity:
    """Keeps a draft that is not too similar to the items' own texts, nor to the drafts kept before it.

    The order is that of a hash of item, variant and text, so the order in which drafts arrive does not matter.
    """

    options: DiversityOptions
    base: Path

    @classmethod
    def build(cls, options: DiversityOptions, context: BuildContext) -> CosineDiversity:
        """Build the validator from its options."""
        return cls(options=options, base=context.base)

    async def validate_set(self, drafts: Sequence[tuple[Item, Draft]]) -> Sequence[Validation]:
        """Decide about all drafts; the score is the highest similarity found. A draft without text is accepted."""
        texts = [_text(draft.fields) for _, draft in drafts]
        seeds = [
            *dict.fromkeys(_text({name: item.fields.get(name) for name in draft.fields}) for item, draft in drafts)
        ]
        if not any(texts):
            return [Validation(accepted=True) for _ in drafts]
        vectors = vectors_of([*texts, *seeds], self.options.encoder, self.base)
        near = _Near.to(vectors[len(texts) :], self.options)
        validations = [Validation(accepted=True)] * len(drafts)
        # Which of two similar drafts stays depends on the order, so that the order must not be that of arrival.
        order = [place for place in sorted(range(len(drafts)), key=lambda place: _rank(*drafts[place])) if texts[place]]
        # A product per draft would be slow, and one for all of them would need every pair in memory.
        for start in range(0, len(order), _AT_ONCE):
            places = order[start : start + _AT_ONCE]
            for place, validation in zip(places, near.decide([vectors[place] for place in places]), strict=True):
                validations[place] = validation
        return validations


@frozen(kw_only=True)
class _Near:
    """The texts to which a draft must not be too similar."""

    options: DiversityOptions
    seeds: VectorRows = Factory(VectorRows)
    kept: VectorRows = Factory(VectorRows)

    @classmethod
    def to(cls, seeds: Sequence[Any], options: DiversityOptions) -> _Near:
        near = cls(options=options)
        for seed in seeds:
            near.seeds.append(seed)
        return near

    def decide(self, vectors: Sequence[Any]) -> Iterator[Validation]:
        """Decide about one draft after another: compare with seeds and kept drafts, and keep the accepted ones."""
        to_seeds, to_kept = self.seeds.highest(vectors), self.kept.highest(vectors)
        fresh = VectorRows()
        for vector, seed, kept in zip(vectors, to_seeds, to_kept, strict=True):
            # `fresh` holds those of this batch, which the product with the kept ones has not seen.
            validation = self._validation(round(seed, _DIGITS), round(max(kept, *fresh.highest([vector])), _DIGITS))
            if validation.accepted:
                self.kept.append(vector)
                fresh.append(vector)
            yield validation

    def _validation(self, to_seeds: float, to_kept: float) -> Validation:
        reason = ""
        if _above(to_seeds, self.options.max_to_seeds):
            reason = "too similar to an item's own text"
        elif _above(to_kept, self.options.max_to_kept):
            reason = "too similar to a draft already kept"
        details: dict[str, Json] = {"to_seeds": to_seeds, "to_kept": to_kept}
        return Validation(accepted=not reason, score=max(to_seeds, to_kept), reason=reason, details=details)


def _above(similarity: float, limit: float | None) -> bool:
    return limit is not None and similarity > limit


def _text(fields: Mapping[str, Json]) -> str:
    return "\n\n".join(value for value in fields.values() if isinstance(value, str))


def _rank(item: Item, draft: Draft) -> str:
    return content_id(item.id, draft.variant, draft.strength, _text(draft.fields))


@frozen(kw_only=True)
class CosineSimilarity:
    """Keeps a draft whose changed texts, prompt templates included, all stay close to what they replace."""

    options: SimilarityOptions
    base: Path

    @classmethod
    def build(cls, options: SimilarityOptions, context: BuildContext) -> CosineSimilarity:
        """Build the validator from its options."""
        return cls(options=options, base=context.base)

    async def validate_set(self, drafts: Sequence[tuple[Item, Draft]]) -> Sequence[Validation]:
        """Decide about all drafts; the score is the lowest similarity. A draft without a changed text is accepted."""
        pairs = [text_changes(item, draft) or {} for item, draft in drafts]
        # One list for all drafts: the weights of TF-IDF come from the texts themselves.
        texts = list(dict.fromkeys(text for changed in pairs for pair in changed.values() for text in pair))
        if not texts:
            return [Validation(accepted=True) for _ in drafts]
        vectors = dict(zip(texts, vectors_of(texts, self.options.encoder, self.base), strict=True))
        found = []
        for changed in pairs:
            scores = [self._cosine(vectors[one], vectors[other]) for one, other in changed.values()]
            lowest = round(min(scores, default=1.0), _DIGITS)
            kept = lowest >= self.options.min_to_original
            reason = "" if kept else "too far from the original"
            found.append(Validation(accepted=kept, score=lowest, reason=reason, details={"similarity": lowest}))
        return found

    @staticmethod
    def _cosine(one: Any, other: Any) -> float:
        rows = VectorRows()
        rows.append(one)
        return rows.highest([other])[0]


def vectors_of(texts: Sequence[str], encoder: str | None, base: Path) -> Sequence[Any]:
    """Return the vectors of texts.

    Args:
        texts: what to compare.
        encoder: a sentence-transformers model: a directory, relative to `base`, or a name. None: TF-IDF.
        base: the suite's directory.

    Raises:
        JrhError: sentence-transformers is not installed, or the model cannot be loaded.
    """
    if encoder is None:
        return tfidf(texts)
    loaded = SentenceEncoder(encoder, base, component="cosine-diversity", distribution="jrh-validators")
    return list(loaded.encode(texts))


def tfidf(texts: Sequence[str]) -> Sequence[Any]:
    """Weigh the words of each text by TF-IDF over all of them (scikit-learn: smoothed idf, L2 norm, lower case).

    The same texts in another order give the same weights. A text without a word is the zero vector.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(tokenizer=WORD.findall, token_pattern=None)
    if any(WORD.search(text) for text in texts):
        matrix = csr_matrix(vectorizer.fit_transform(texts))
    else:
        matrix = csr_matrix((len(texts), 1))
    return [matrix[row] for row in range(len(texts))]
