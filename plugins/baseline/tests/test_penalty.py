"""The penalty is chosen inside the training examples, and pays where the default is too cautious."""

import time

import numpy as np
import pytest
from jrh import Question, Scale, Task
from jrh.values import Example
from jrh_baseline.judge import Baseline
from jrh_baseline.options import BaselineOptions

BEHAVIOURS, EACH, WORDS = 40, 15, 300


def _responses(seed: int) -> list[Example]:
    """Make 600 responses to 40 requests; which side many words are on decides the label, the request a part of it."""
    draws = np.random.default_rng(seed)
    side = draws.choice([-1.0, 1.0], WORDS)
    found = []
    for behaviour in range(BEHAVIOURS):
        harm = draws.integers(0, 4)
        for _ in range(EACH):
            words = draws.integers(0, WORDS, 40)
            score = side[words].mean() + 0.1 * (harm - 1.5) + draws.normal(0, 0.05)
            text = " ".join(f"word{number}x" for number in words)
            request = f"topic{harm}x please explain behaviour{behaviour}x"
            found.append(
                Example(
                    fields={"request": request, "response": text},
                    gold="YES" if score > 0 else "NO",
                    group=str(behaviour),
                )
            )
    return found


def _accuracy(options: BaselineOptions, examples: list[Example]) -> float:
    """Cross-fit with folds by behaviour, as the kernel does."""
    judge = Baseline(options=options, task=Task(name="t", scale=Scale.of_labels("YES", "NO")))
    right = 0
    for fold in range(5):
        inside = [each for each in examples if int(each.group) % 5 == fold]
        trained = judge.fit([each for each in examples if int(each.group) % 5 != fold])
        questions = [Question(trial_id="1", task=judge.task, fields=each.fields) for each in inside]
        answers = trained.judge_batch(questions)
        right += sum(answer.verdict.presented == each.gold for answer, each in zip(answers, inside, strict=True))
    return right / len(examples)


@pytest.mark.slow
def test_the_chosen_penalty_is_better_than_scikit_learns_default_on_held_out_behaviours() -> None:
    from jrh_baseline.models import UNTUNED

    examples = _responses(1)
    started = time.perf_counter()
    fixed = _accuracy(BaselineOptions(regularisation=UNTUNED), examples)
    between = time.perf_counter()
    chosen = _accuracy(BaselineOptions(), examples)
    ended = time.perf_counter()

    print(f"fixed {fixed:.3f} in {between - started:.1f} s, chosen {chosen:.3f} in {ended - between:.1f} s")
    assert chosen > fixed + 0.015  # 0.733 and 0.753
    assert ended - between < 5 * (between - started) + 5


def test_no_group_is_split_and_every_penalty_sees_the_same_folds() -> None:
    from jrh_baseline.models import PENALTIES, choose
    from scipy.sparse import csr_matrix

    draws = np.random.default_rng(2)
    rows = csr_matrix(draws.normal(size=(60, 5)))
    groups = [f"group {number % 12}" for number in range(60)]
    seen: dict[float, list[tuple[frozenset[str], frozenset[str]]]] = {}

    def loss(_: np.ndarray, train: np.ndarray, held: np.ndarray, penalty: float) -> float:
        sides = tuple(frozenset(groups[place] for place in side) for side in (train, held))
        seen.setdefault(penalty, []).append(sides)
        return abs(penalty - 0.1)

    assert choose(rows, groups, loss, sum) == 0.1
    assert set(seen) == set(PENALTIES)
    assert len({tuple(folds) for folds in seen.values()}) == 1
    for train, held in seen[0.1]:
        assert not train & held
    assert frozenset().union(*(held for _, held in seen[0.1])) == set(groups)


def test_an_equal_loss_keeps_the_default_and_so_do_few_examples_or_one_group() -> None:
    from jrh_baseline.models import UNTUNED, choose
    from scipy.sparse import csr_matrix

    rows = csr_matrix(np.eye(40))

    def never(*_: object) -> float:
        raise AssertionError("there is nothing to hold out")

    assert choose(rows, [str(place) for place in range(40)], lambda *_: 1.0, sum) == UNTUNED
    assert choose(rows, ["one"] * 40, never, sum) == UNTUNED
    assert choose(rows[:10], [str(place) for place in range(10)], never, sum) == UNTUNED


def test_the_search_in_few_columns_is_the_search_in_all() -> None:
    from jrh_baseline.models import choose
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import Ridge

    draws = np.random.default_rng(3)
    wide, target = csr_matrix(draws.normal(size=(40, 500))), draws.normal(size=40)

    def of(rows: object, train: np.ndarray, held: np.ndarray, penalty: float) -> np.ndarray:
        return Ridge(alpha=penalty).fit(rows[train], target[train]).predict(rows[held])

    def loss(small: np.ndarray, train: np.ndarray, held: np.ndarray, penalty: float) -> float:
        assert small.shape[1] <= 40
        assert of(small, train, held, penalty) == pytest.approx(of(wide.toarray(), train, held, penalty), abs=1e-5)
        return 0.0

    choose(wide, [str(place) for place in range(40)], loss, sum)


def test_noisy_statistics_get_less_weight_on_held_out_groups_and_few_examples_choose_nothing() -> None:
    from jrh_baseline.models import Classes
    from scipy.sparse import csr_matrix

    draws = np.random.default_rng(4)
    words = draws.normal(size=(300, 30)) / 30**0.5
    labels = np.where(words[:, :10].sum(axis=1) > 0, "YES", "NO").tolist()
    rows = csr_matrix(np.hstack([words, draws.normal(size=(300, 60))]))
    weightings = [np.ones(90), np.repeat((1.0, 0.1), (30, 60))]
    groups = [str(place // 2) for place in range(300)]

    def right(count: int, weights: list[np.ndarray]) -> float:
        fitted = Classes.fit(rows[:count], labels[:count], groups[:count], BaselineOptions(), weights)
        answers = [prediction.label for prediction in fitted.predict(rows[150:])]
        return float(np.mean([answer == label for answer, label in zip(answers, labels[150:], strict=True)]))

    # 0.75 and 0.87.
    assert right(150, weightings) > right(150, weightings[:1]) + 0.05
    assert right(90, weightings) == right(90, [])


@pytest.mark.parametrize("requests", [True, False])
def test_one_choice_leaves_the_request_out_and_hardly_counts_the_statistics(requests: bool) -> None:
    from jrh_baseline.training import NAMES, Document, Features

    documents = [Document("one two three", "a request"), Document("four five", "another")]
    features = Features.fit(documents, requests=requests)
    first, *_, last = features.weightings()
    columns = [len(columns) for columns in features.columns]
    assert len(first) == len(last) == features.transform(documents).shape[1] == sum(columns) + len(NAMES)
    assert set(first) == {1.0}
    assert set(last[-len(NAMES) :]) == {0.03}
    asked = columns[-1] if requests else 0
    of_requests = last[sum(columns) - asked : sum(columns)]
    assert len(of_requests) == asked
    assert not of_requests.any()
    assert set(last[: sum(columns) - asked]) == {1.0}
