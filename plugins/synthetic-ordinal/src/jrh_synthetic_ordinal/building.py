"""Build the perturber of the options: a rule, or rounds of attempts until every bucket is full or given up."""

from __future__ import annotations

from asyncio import to_thread
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen
from jrh import BuildContext, Draft, Equals, Item, JrhError, Json, Skip, Task
from jrh.plugins import Logger, SetPerturber
from jrh.running import for_each
from jrh_authoring import SentenceEncoder, VectorRows, WrittenBy, required_model
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from jrh_synthetic_ordinal.buckets import NO_TEXT, Attempt, Bucket, Ramp, buckets, has_text, variant
from jrh_synthetic_ordinal.options import SyntheticOrdinalOptions
from jrh_synthetic_ordinal.writing import GRADINGS, Shelf, Writer

_WORD: Final = r"(?u)\b\w+\b"
_FEATURES: Final = 2**20
"""Hash buckets for words, so that words no item has also count, with the weight of the rarest."""
_DIGITS: Final = 6
"""Similarities are rounded so that the summation order cannot affect a decision."""


class Words:
    """TF-IDF vectors, weighed by how few of some texts have a word; the order of those texts does not matter."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Weigh the words by these texts."""
        self._counts = HashingVectorizer(
            n_features=_FEATURES, alternate_sign=False, norm=None, token_pattern=_WORD, lowercase=True
        )
        self._weights = TfidfTransformer(sublinear_tf=True).fit(self._counts.transform([*texts] or [""]))

    def vectors(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return one sparse row per text."""
        return list(csr_matrix(self._weights.transform(self._counts.transform(texts)))) if texts else []


class Meanings:
    """Sentence embeddings."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        """Embed with this encoder."""
        self._encoder = encoder

    def vectors(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return one dense vector per text."""
        return list(self._encoder.encode(texts)) if texts else []


def space_of(encoder: str | None, base: Path, texts: Sequence[str]) -> Words | Meanings:
    """Return how texts are compared: by a model that is named, or by TF-IDF with the weights of some texts."""
    if encoder is None:
        return Words(texts)
    named = {"component": "synthetic-ordinal", "distribution": "jrh-synthetic-ordinal"}
    return Meanings(SentenceEncoder(encoder, base, **named))


class Similarity:
    """Compares vectors with those of the items' responses, and with those kept so far."""

    def __init__(self, space: Words | Meanings, seeds: Sequence[str]) -> None:
        """Compute the vectors of the items' responses, all at once."""
        self.space = space
        self._seeds, self._kept = VectorRows(), VectorRows()
        # Equal responses have equal vectors, and one of them is enough for the highest cosine.
        for vector in space.vectors([*dict.fromkeys(seeds)]):
            self._seeds.append(vector)

    def to_seeds(self, vectors: Sequence[Any]) -> list[float]:
        """Return for each vector the highest cosine with the response of an item."""
        return [round(value, _DIGITS) for value in self._seeds.highest(vectors)]

    def to_kept(self, vector: Any) -> float:
        """Return the highest cosine with a vector kept before."""
        return round(self._kept.highest([vector])[0], _DIGITS)

    def keep(self, vector: Any) -> None:
        """Add a vector to those kept."""
        self._kept.append(vector)


def outcome(bucket: Bucket, longest: int, fingerprint: str) -> Draft | Skip:
    """Return the draft or the skip of a bucket; both record all its attempts.

    Args:
        bucket: full, or given up.
        longest: the number of attempts after which a level is given up.
        fingerprint: the model that writes.
    """
    tried: list[Json] = [attempt.details() for attempt in bucket.attempts]
    details: dict[str, Json] = {"by": "model", "place": bucket.place, "attempts": tried}
    # The attempts are in the skip as well: they show how near the level came.
    if bucket.kept is None:
        reason = f"no response reached level {bucket.level} in {longest} attempts"
        return Skip(reason=reason, variant=variant(bucket.level), details=details)
    return Draft(
        variant=variant(bucket.level),
        fields={"response": bucket.kept.text},
        expectation=Equals(label=bucket.level),
        model=fingerprint,
        details={
            **details,
            "kept": bucket.kept.details(),
            "examples_from_other_levels": _borrows_examples(bucket.kept),
        },
    )


def _borrows_examples(kept: Attempt) -> bool:
    """Return whether the examples came from another level because the wanted level has none."""
    return any(level != kept.wanted for level in kept.examples_of)


TO_SEEDS: Final = "too similar to an item's own text"
TO_KEPT: Final = "too similar to a draft already kept"


class Filters:
    """Checks responses and remembers those that were kept."""

    def __init__(self, items: Sequence[Item], options: SyntheticOrdinalOptions, base: Path) -> None:
        """Take the items' responses as seeds, and load the model that encodes texts where one is named."""
        texts = [item.fields.get("response") for item in sorted(items, key=lambda item: item.id)]
        seeds = [text for text in texts if isinstance(text, str)]
        self._similarity = Similarity(space_of(options.encoder, base, seeds), seeds)
        self._max_to_seeds, self._max_to_kept = options.max_to_seeds, options.max_to_kept
        self._texts: set[str] = set()
        """Kept texts, for exact look-up only."""
        self._arrived: dict[str, tuple[Any, float]] = {}
        """The texts of this round: vector, and similarity to the seeds."""

    def arrive(self, texts: Sequence[str]) -> None:
        """Compute the vectors of a round's texts in one batch; those of the round before are forgotten."""
        fresh = [*dict.fromkeys(texts)]
        vectors = self._similarity.space.vectors(fresh)
        self._arrived = dict(zip(fresh, zip(vectors, self._similarity.to_seeds(vectors), strict=True), strict=True))

    def look(self, attempt: Attempt) -> Attempt:
        """Return the attempt, whose text has arrived, with its similarities and, if it is rejected, the reason."""
        vector, to_seeds = self._arrived[attempt.text]
        to_kept = self._similarity.to_kept(vector)
        rejected = ""
        if self._max_to_seeds is not None and to_seeds > self._max_to_seeds:
            rejected = TO_SEEDS
        # The exact copy is looked up apart: without a limit on similarity it would pass.
        elif _bare(attempt.text) in self._texts or (self._max_to_kept is not None and to_kept > self._max_to_kept):
            rejected = TO_KEPT
        return evolve(attempt, to_seeds=to_seeds, to_kept=to_kept, rejected=rejected)

    def keep(self, attempt: Attempt) -> None:
        """Remember a response that fills a bucket."""
        self._similarity.keep(self._arrived[attempt.text][0])
        self._texts.add(_bare(attempt.text))


def _bare(text: str) -> str:
    return " ".join(text.split())


OTHER_LEVEL: Final = "another level"
AT_ONCE: Final = 64
"""Concurrent requests; the models have their own limits too."""


@frozen(kw_only=True)
class BucketManager:
    """Lets a model write responses for every source item and level.

    In each round all open buckets ask once, concurrently. The replies are compared in one batch, graded concurrently,
    and applied in the order of the buckets, so the order of arrival does not affect the result.
    """

    options: SyntheticOrdinalOptions
    task: Task
    levels: tuple[str, ...]
    base: Path
    """The suite's directory, for a model on disk that encodes texts."""
    data: Callable[[], Sequence[Item]]
    """Reads all items of the data source, also those outside of the sample."""
    ramp: Ramp
    writer: Writer
    log: Logger

    def most_calls(self, items: Sequence[Item]) -> Mapping[str, int]:
        """Return the most calls to each model: every bucket uses all attempts, and every response is graded."""
        sources = [item for item in items if has_text(item)]
        attempts = len(buckets(self.task, sources, self.levels, self.options.samples)) * self.ramp.longest
        calls = Counter({self.writer.client.name: attempts})
        # Added, as one model may both write and grade.
        calls[self.writer.grader.client.name] += attempts * GRADINGS
        return calls

    async def perturb_set(self, items: Sequence[Item]) -> Sequence[tuple[Item, Draft | Skip]]:
        """Return a draft for every bucket that was filled and a skip for every other, in the order of the items."""
        sources = [item for item in items if has_text(item)]
        every = buckets(self.task, sources, self.levels, self.options.samples)
        # A writer that copies an example from outside of the sample must be caught, so all responses are seeds.
        whole = [item for item in {each.id: each for each in (*self.data(), *items)}.values() if has_text(item)]
        shelf = Shelf.of(self.task.scale, whole)
        if every:
            await self._fill(every, await to_thread(Filters, whole, self.options, self.base), shelf)
        self._tell(every, shelf)
        made: dict[str, list[Draft | Skip]] = {item.id: [] for item in items}
        for bucket in every:
            made[bucket.item.id].append(outcome(bucket, self.ramp.longest, self.writer.client.fingerprint))
        return [(item, result) for item in items for result in made[item.id] or [NO_TEXT]]

    async def _fill(self, every: Sequence[Bucket], filters: Filters, shelf: Shelf) -> None:
        for _ in range(self.ramp.longest):
            asking = [bucket for bucket in every if bucket.temperature(self.ramp) is not None]
            if not asking:
                return
            self._apply(every, await self._round(asking, filters, shelf), filters)

    async def _round(
        self, asking: Sequence[Bucket], filters: Filters, shelf: Shelf
    ) -> Sequence[tuple[Bucket, Attempt]]:
        """Ask once for every bucket, concurrently; return the attempts in the order of the buckets."""
        made: dict[int, Attempt] = {}

        async def write(place: int) -> None:
            made[place] = await self.writer.write(asking[place], self.ramp, shelf)

        async def grade(place: int) -> None:
            made[place] = await self.writer.grade(asking[place], made[place])

        places = range(len(asking))
        await for_each(places, write, AT_ONCE)
        # A refused or empty text has nothing to compare.
        usable = [place for place in places if not made[place].rejected]
        await to_thread(filters.arrive, [made[place].text for place in usable])
        made |= {place: filters.look(made[place]) for place in usable}
        # After the filter: a text that is too similar is not worth a call of the grader.
        await for_each(places, grade, AT_ONCE)
        return [(bucket, made[place]) for place, bucket in enumerate(asking)]

    def _apply(self, every: Sequence[Bucket], made: Sequence[tuple[Bucket, Attempt]], filters: Filters) -> None:
        """Fill buckets with a round's responses: first those that reached their own level, then the rest."""
        done: dict[int, Attempt] = {}
        for place, (bucket, attempt) in enumerate(made):
            if attempt.achieved == bucket.level:
                done[place] = _fill_first(attempt, [bucket], filters)
        for place, (bucket, attempt) in enumerate(made):
            if attempt.achieved is not None and place not in done:
                alternatives = _open(every, bucket.item.id, attempt.achieved) if self.options.fill_other else []
                done[place] = _fill_first(attempt, alternatives, filters)
        for place, (bucket, attempt) in enumerate(made):
            bucket.attempts.append(done.get(place, attempt))

    def _tell(self, every: Sequence[Bucket], shelf: Shelf) -> None:
        """Log which levels are covered, and which had no example of their own."""
        for level in self.levels:
            level_buckets = [bucket for bucket in every if bucket.level == level]
            filled = sum(bucket.kept is not None for bucket in level_buckets)
            self.log.info("coverage", of_level=level, filled=filled, wanted=len(level_buckets))
            if level in shelf.empty_levels:
                self.log.warning("no item has this gold level; examples come from the nearest levels", of_level=level)


def _open(every: Sequence[Bucket], item_id: str, level: str) -> list[Bucket]:
    return [bucket for bucket in every if bucket.item.id == item_id and bucket.level == level and bucket.kept is None]


def _fill_first(attempt: Attempt, candidates: Sequence[Bucket], filters: Filters) -> Attempt:
    """Fill the first candidate, unless something kept in the same round is too similar."""
    if not candidates:
        return evolve(attempt, rejected=OTHER_LEVEL)
    # Again, as a response of this round may have been kept since the batch was compared.
    looked = filters.look(attempt)
    if looked.rejected:
        return looked
    attempt_filled = evolve(looked, filled=candidates[0].level)
    filters.keep(attempt_filled)
    candidates[0].kept = attempt_filled
    return attempt_filled


@frozen(kw_only=True)
class Unordered:
    """Replaces the test on a scale without levels; a suite may also have a task with levels."""

    async def perturb_set(self, items: Sequence[Item]) -> Sequence[tuple[Item, Draft | Skip]]:
        """Skip every item."""
        return [(item, Skip(reason="the scale has no levels")) for item in items]


def build(options: SyntheticOrdinalOptions, context: BuildContext) -> SetPerturber:
    """Build the perturber by a rule or by a model.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    # No error: one suite may have tasks of both kinds, and the test is for one of them.
    if not context.task.scale.ordered:
        return Unordered()
    build_by = _by_rule if WrittenBy.of(options.by, options.model) is WrittenBy.RULES else _with_model
    return build_by(options, context, _levels(options, context.task))


def _levels(options: SyntheticOrdinalOptions, task: Task) -> tuple[str, ...]:
    for level in options.levels:
        if level not in task.scale:
            raise JrhError(f"synthetic-ordinal: level '{level}' is not on the scale {', '.join(task.scale.labels)}")
    return options.levels or task.scale.labels


def _by_rule(options: SyntheticOrdinalOptions, context: BuildContext, levels: tuple[str, ...]) -> SetPerturber:
    from jrh_synthetic_ordinal.buckets import Scrambler

    return Scrambler(scale=context.task.scale, levels=levels, samples=options.samples, seed=context.seed)


def _with_model(options: SyntheticOrdinalOptions, context: BuildContext, levels: tuple[str, ...]) -> SetPerturber:
    # Late, as the manager imports scikit-learn, which the rules do not need.
    from jrh_synthetic_ordinal.buckets import Ramp
    from jrh_synthetic_ordinal.writing import Grader, Wording, Writer

    model = required_model(options.model, "synthetic-ordinal")
    # Without a grader any text would count as having reached its level.
    if options.grader is None:
        raise JrhError(
            "synthetic-ordinal: name a `grader`, a model in the suite that judges which level a response reached; "
            "preferably not the model that writes"
        )
    wording = Wording.of(options.prompt, options.grader_prompt)
    return BucketManager(
        task=context.task,
        levels=levels,
        options=options,
        base=context.base,
        data=context.data,
        ramp=Ramp.of(
            options.initial_temperature,
            options.temperature_step,
            options.max_temperature,
            options.attempts_per_temperature,
        ),
        writer=Writer(
            task=context.task,
            client=context.model(model),
            grader=Grader(task=context.task, client=context.model(options.grader), wording=wording),
            wording=wording,
            examples=options.examples,
            seed=context.seed,
        ),
        log=context.log,
    )
