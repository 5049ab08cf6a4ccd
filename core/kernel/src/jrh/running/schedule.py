"""The plan of a run: which trials there are, in which order, and which of them put the identical question."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from jrh.document.convert import unstructure
from jrh.errors import DamagedStoreError
from jrh.hashing import ID_LENGTH, content_id
from jrh.plugins.specs import JudgeKind, JudgeSpec
from jrh.running.identity import identity
from jrh.store.records_table import TrialRow
from jrh.store.temporary import NumberTable
from jrh.suite.definition import JudgeUse
from jrh.suite.resolved import Resolved, ResolvedSuite, applies
from jrh.text.transcripts import without_passed_through
from jrh.values.cases import Case, Sampling
from jrh.values.items import Task


@frozen
class AskedCase:
    """A case as a plan sees it."""

    id: str
    task: str
    question: str
    """Equal for cases that differ in nothing a judge reads."""
    condition: str
    """Names the test, item and condition."""
    repeats: int
    unseen: bool
    """It changes only what a judge that reads no prompt never sees."""

    @classmethod
    def of(cls, case: Case, task: Task) -> AskedCase:
        """Return what a plan has to know of a case of a task."""
        condition = content_id(case.test, case.item_id, unstructure(case.condition), unstructure(case.sampling))
        return cls(case.id, case.task, question_id(case), condition, case.repeats, _unseen(case, task))


def question_id(case: Case) -> str:
    """Return the id of the question as put: equal for cases that differ in nothing a judge reads.

    How a model samples is left out: what a case sets may be what the suite sets for the model anyway. So is what the
    messages of a transcript only pass through: two runs of an agent that said the same have other message ids.
    """
    fields = {name: without_passed_through(value) for name, value in case.fields.items()}
    return content_id(case.task, fields, unstructure(case.prompt), unstructure(case.presented_task))


def _unseen(case: Case, task: Task) -> bool:
    sampled = evolve(case.sampling, seed=None) != Sampling() or case.condition.output != ""
    # What is asked about a criterion is in the fields, too.
    reworded = case.presented_task is not None and case.presented_task != task.presented(case.fields)
    return case.prompt is not None or reworded or sampled


def trial_id(case_id: str, judge_id: str, repeat: int) -> str:
    """Return the id of a trial; the id of the judge follows from its plugin, version, options and models."""
    # Records are found by this id: with another text here, every run would ask all its trials again.
    return hashlib.sha256(f"{case_id}:{judge_id}:{repeat}".encode()).hexdigest()[:ID_LENGTH]


def seed_of(trial: str) -> int:
    """Return a trial's own seed, from 0 to 2**31 - 1.

    A trial's id is a hash that the run's seed, the case, the judge and the repeat go into, so its digits serve.

    Raises:
        DamagedStoreError: it is no such hash.
    """
    try:
        # 31 bits, as in `derive_seed`: every library and provider accepts such a seed.
        return int(trial[-8:], 16) & 0x7FFFFFFF
    except ValueError:
        raise DamagedStoreError(
            "a stored trial has an id that jrh did not write; start in a new run directory"
        ) from None


class _Occasions:
    """Numbers the times that one judge is asked the identical question."""

    def __init__(self, earlier: Iterable[tuple[int, int, int]]) -> None:
        """Start from what earlier plans of the run handed out: place, question, occasion."""
        self._of_place = NumberTable()
        """Occasions of earlier plans; no place comes twice in one plan."""
        self._taken = NumberTable()
        """Numbers of a question and an occasion that earlier plans handed out."""
        self._next = NumberTable()
        self._seen = NumberTable()
        for place, question, occasion in earlier:
            self._of_place.put(place, occasion)
            self._taken.put(_number(f"{question}:{occasion}"), 1)

    def at(self, what: str, question: int) -> tuple[int, int]:
        """Return place and occasion of the next trial of a test, condition, item, judge and repeat."""
        place = _number(what)
        times = self._seen.get(place) + 1
        self._seen.put(place, times)
        if times > 1:  # two cases of one test that state the same condition
            place = _number(f"{what}:{times}")
        occasion = self._of_place.get(place, -1)
        # A trial of an earlier plan keeps its occasion, and with it its stored reply.
        if occasion < 0:
            occasion = self._next.get(question)
            # What an earlier plan handed out is paid for as another repeat, and must not answer this one.
            while self._taken and self._taken.get(_number(f"{question}:{occasion}")):
                occasion += 1
            self._next.put(question, occasion + 1)
        return place, occasion


def _number(text: str) -> int:
    """Return a number from 1 to 2**63 - 1, as SQLite holds it."""
    # 0 is no key of a `NumberTable`.
    return (int(hashlib.sha256(text.encode()).hexdigest()[:16], 16) >> 1) or 1


class TrialPlanner:
    """Plans the trials of all judges (with their ids): case by case, judge by judge, repeat by repeat.

    Trials that put the identical question to one judge get occasions 0, 1, 2 ... in this order, so that none of them is
    answered from another's reply: the reference condition, which comes first, has the first ones. What earlier plans
    of the run handed out holds on: a repeat that is new is not answered from what another test has paid for.
    """

    def __init__(
        self,
        judges: Sequence[tuple[Resolved[JudgeSpec], str]],
        tasks: Mapping[str, Task],
        earlier: Iterable[tuple[int, int, int]] = (),
    ) -> None:
        """Start a plan.

        Args:
            judges: with their ids.
            tasks: by name.
            earlier: place, question and occasion of the trials of earlier plans.
        """
        self._judges = judges
        self._tasks = tasks
        self._position = 0
        self._occasions = _Occasions(earlier)
        self.unseen: Counter[str] = Counter()
        """Judge -> number of cases that change only what it never sees."""

    def trials(self, cases: Iterable[Case]) -> Iterator[TrialRow]:
        """Yield the trials of cases, which follow those before them in the order of the suite."""
        return self.trials_of(AskedCase.of(case, self._tasks[case.task]) for case in cases)

    def trials_of(self, cases: Iterable[AskedCase]) -> Iterator[TrialRow]:
        """Do the same with what a plan has to know of the cases.

        A judge is asked only about tasks it is made for; one that does not read prompts is not asked about cases that
        change only what it never sees.
        """
        for case in cases:
            for judge, judge_id in self._judges:
                if not applies(judge, self._tasks[case.task]):
                    continue
                if case.unseen and not judge.entry.spec.reads_prompt:
                    self.unseen[judge.use.name] += 1
                    continue
                question = _number(f"{case.question}:{judge_id}")
                for repeat in range(case.repeats):
                    # The question is part of the place: one that changes takes over no occasion, and so no reply.
                    place, occasion = self._occasions.at(f"{question}:{case.condition}:{repeat}", question)
                    yield TrialRow(
                        position=self._position,
                        trial_id=trial_id(case.id, judge_id, repeat),
                        case_id=case.id,
                        judge=judge.use.name,
                        repeat=repeat,
                        occasion=occasion,
                        place=place,
                        question=question,
                    )
                    self._position += 1


def folds_of(groups: Sequence[tuple[str, str]], folds: int) -> dict[str, int]:
    """Deal groups into folds so that labels are spread evenly and the result depends on the content alone.

    Args:
        groups: (group, label) of every item; a group's most frequent label counts, of several the first in order.
        folds: how many folds; fewer are used where there are fewer groups.

    Returns:
        Group -> fold, 0-based.
    """
    labels: defaultdict[str, list[str]] = defaultdict(list)
    # Sorted, so that the order of the items decides no tie.
    for group, label in sorted(groups):
        labels[group].append(label)
    label_of = {group: Counter(labels_of_group).most_common(1)[0][0] for group, labels_of_group in labels.items()}
    # Within a label by a hash: names often follow the order in which the data were collected.
    dealt = sorted(label_of, key=lambda group: (label_of[group], content_id("fold", group), group))
    return {group: position % folds for position, group in enumerate(dealt)}


def judge_ids(resolved: ResolvedSuite, items_ids: Mapping[str, str]) -> list[tuple[Resolved[JudgeSpec], str]]:
    """Return the suite's judges with their ids, which follow from what determines their verdicts.

    That is what a judge is, the run's seed and its training; its name only if it is simulated. Judges that differ in
    their names alone are numbered in the order of the suite.

    Args:
        resolved: the suite.
        items_ids: the id of each task's items; what a trained judge learns from.
    """
    ids = []
    twins: Counter[str] = Counter()
    for judge in resolved.judges:
        assert isinstance(judge.use, JudgeUse)
        kind = judge.entry.spec.kind
        training = content_id(items_ids) if kind is JudgeKind.TRAINED else ""
        made_of = [identity(judge, resolved), resolved.suite.seed]
        judge_id = judge_identity(made_of, judge.use, training, named=kind is JudgeKind.SIMULATED)
        # Without a number, equal judges under two names would share their trials.
        ids.append((judge, content_id(judge_id, twins[judge_id]) if twins[judge_id] else judge_id))
        twins[judge_id] += 1
    return ids


def judge_identity(identity: object, use: JudgeUse, training: str, *, named: bool = False) -> str:
    """Return a judge's id: what it is, what it was trained on (empty for most), and its name if it draws by its name.

    A simulated judge draws by its name, so that two of equal options are independent. Others answer alike under any
    name, and are not asked again under another.
    """
    return content_id(use.name if named else "", identity, use.folds if training else None, training)
