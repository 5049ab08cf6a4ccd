"""How good the baseline judge is with nested folds, on simulated safety data and on two real data sets.

`python -m tests.studies.baseline [--studies 2] [--seed 1]` prints a line per data set: items, groups, what the judge
reaches on held-out groups, with a 95% interval by bootstrap of whole groups (predictions held fixed), and what the most
frequent label would. For labels, a second judge shows what the words and characters of these data allow: scikit-learn's
logistic regression on TF-IDF of words and characters, its penalty chosen in the same way. Everything that the judge
chooses it chooses inside of the training groups. Simulated are 600 responses to 200 requests, half of them harmful, in
two worlds: only words tell, or refusals are shorter, too; `--studies` counts the seeds of each. PandaLM and the essays
are read from the directory of shared data, and left out where they are not.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from jrh import Question, Scale, Task
from jrh.values import Example
from jrh_baseline.judge import Baseline
from jrh_baseline.options import BaselineOptions

from tests.studies.command import print_study

DATA: Final = Path(__file__).parents[3] / "shared" / "data"
GROUPS, EACH, WORDS, SIGNAL, FOLDS, RESAMPLES = 200, 3, 2000, 0.3, 5, 2000
SAFETY: Final = Scale.of_labels("YES", "NO")
Score = Callable[[Sequence[str], Sequence[str]], float]
Predict = Callable[[Sequence[Example]], list[str]]
Fit = Callable[[Sequence[Example], Scale], Predict]


def safety(seed: int, *, short_refusals: bool) -> list[Example]:
    """Make responses whose words lean to one of two sides: common words less, rare ones as often as in real texts."""
    random = np.random.default_rng(seed)
    lean = random.normal(0, 1, WORDS)
    frequency = 1 / np.arange(1, WORDS + 1)
    examples = []
    for group in range(GROUPS):
        topic = random.integers(0, WORDS, 6)
        for _ in range(EACH):
            harmful = bool(random.random() < 0.5)
            tilt = frequency * np.exp(SIGNAL * lean * (1 if harmful else -1))
            length = int(random.lognormal(4 if harmful or not short_refusals else 3.6, 0.5)) + 5
            words = [*random.choice(WORDS, length, p=tilt / tilt.sum()), *random.choice(topic, length // 4)]
            text = " ".join(f"w{word}x" for word in words)
            request = " ".join(f"w{word}x" for word in topic)
            examples.append(
                Example(
                    fields={"request": request, "response": text}, gold="YES" if harmful else "NO", group=str(group)
                )
            )
    return examples


def pandalm() -> list[Example]:
    """Read the first response of every comparison in which most people preferred one: was it the preferred one?"""
    examples = []
    for row in json.loads((DATA / "pandalm" / "testset-v1.json").read_text("utf-8")):
        votes = Counter(str(row[f"annotator{number}"]) for number in (1, 2, 3))
        choice, count = votes.most_common(1)[0]
        if choice != "0" and count > 1:
            request = "\n".join(filter(None, (row["instruction"], row["input"])))
            fields = {"request": request, "response": row["response1"]}
            examples.append(Example(fields=fields, gold="YES" if choice == "1" else "NO", group=request))
    return examples


def essays() -> list[Example]:
    """Read the essays with their level, each a group of its own."""
    with (DATA / "persuade" / "essays.csv").open(encoding="utf-8", newline="") as file:
        return [
            Example(
                fields={"request": row["assignment"], "response": row["full_text"]},
                gold=row["holistic_essay_score"],
                group=str(place),
            )
            for place, row in enumerate(csv.DictReader(file))
        ]


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the share of right predictions."""
    return float(np.mean(np.array(gold) == np.array(predicted)))


def kappa(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the quadratic weighted kappa; 0 where all predictions are equal."""
    from sklearn.metrics import cohen_kappa_score

    return 0.0 if len(set(predicted)) == 1 else float(cohen_kappa_score(gold, predicted, weights="quadratic"))


def fit_baseline(examples: Sequence[Example], scale: Scale) -> Predict:
    """Train the judge."""
    judge = Baseline(options=BaselineOptions(), task=Task(name="study", scale=scale))
    trained = judge.fit(list(examples))

    def predict(held: Sequence[Example]) -> list[str]:
        questions = [
            Question(trial_id=str(place), task=judge.task, fields=example.fields) for place, example in enumerate(held)
        ]
        return [str(answer.verdict.presented) for answer in trained.judge_batch(questions)]

    return predict


def fit_reference(examples: Sequence[Example], scale: Scale) -> Predict:
    """Train what scikit-learn offers for texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import make_pipeline, make_union

    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
    characters = TfidfVectorizer(sublinear_tf=True, analyzer="char_wb", ngram_range=(2, 5), min_df=2)
    model = make_pipeline(make_union(words, characters), LogisticRegression(max_iter=1000))
    penalties = {"logisticregression__C": [0.1, 0.3, 1, 3, 10, 30]}
    search = GridSearchCV(model, penalties, scoring="neg_log_loss", cv=GroupKFold(FOLDS))
    texts = [str(example.fields["response"]) for example in examples]
    search.fit(texts, [example.gold for example in examples], groups=[example.group for example in examples])
    return lambda held: [str(label) for label in search.predict([str(each.fields["response"]) for each in held])]


def predict(examples: Sequence[Example], scale: Scale, fit: Fit, seed: int) -> list[str]:
    """Predict every example by a judge that saw none of its group."""
    names = sorted({example.group for example in examples})
    fold_of = dict(zip(names, np.random.default_rng(seed).permutation(len(names)) % FOLDS, strict=True))
    predicted = [""] * len(examples)
    for fold in range(FOLDS):
        held = [place for place, example in enumerate(examples) if fold_of[example.group] == fold]
        trained = fit([example for example in examples if fold_of[example.group] != fold], scale)
        for place, label in zip(held, trained([examples[place] for place in held]), strict=True):
            predicted[place] = label
    return predicted


def line(name: str, examples: Sequence[Example], scale: Scale, score: Score, seed: int) -> str:
    """Return the line of a data set."""
    gold = [str(example.gold) for example in examples]
    predicted = predict(examples, scale, fit_baseline, seed)
    reference = "" if scale is not SAFETY else f"{score(gold, predict(examples, scale, fit_reference, seed)):.3f}"
    groups: dict[str, list[int]] = {}
    for place, example in enumerate(examples):
        groups.setdefault(example.group, []).append(place)
    members, random = [np.array(places) for places in groups.values()], np.random.default_rng(seed)
    samples = []
    for _ in range(RESAMPLES):
        rows = np.concatenate([members[place] for place in random.integers(0, len(members), len(members))])
        samples.append(score([gold[row] for row in rows], [predicted[row] for row in rows]))
    low, high = np.quantile(samples, (0.025, 0.975))
    frequent = Counter(gold).most_common(1)[0][0]
    numbers = f"{score(gold, predicted):.3f} [{low:.3f}, {high:.3f}]"
    return (
        f"{name} | {len(examples)}, {len(groups)} | {numbers} | {reference} | {score(gold, [frequent] * len(gold)):.2f}"
    )


def lines(studies: int, seed: int) -> Iterator[str]:
    """Yield the table, as Markdown."""
    yield "data | items, groups | held out | TF-IDF | most frequent label"
    for short in (True, False):
        world = "refusals shorter" if short else "only words tell"
        for number in range(seed, seed + studies):
            examples = safety(number, short_refusals=short)
            yield line(f"simulated safety, {world}, seed {number}", examples, SAFETY, accuracy, seed)
    if DATA.is_dir():
        yield line("PandaLM, was it preferred", pandalm(), SAFETY, accuracy, seed)
        yield line("essays, quadratic kappa", essays(), Scale.of_levels(1, 6), kappa, seed)


if __name__ == "__main__":
    print_study("baseline", lines, studies=2, about="the baseline judge")
