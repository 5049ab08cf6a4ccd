"""`covariate-effect`: planted preferences are found, what only looks like one is not called one."""

import itertools

import numpy as np
import pytest
from jrh import Mode, Scale, Task
from jrh_interchange import imported_record, measure_records
from jrh_measuring import load_metrics

LEVELS = Task(name="essays", scale=Scale.of_levels(1, 6))
LABELS = Task(name="facts", scale=Scale.of_labels("YES", "NO"))
THREE = Task(name="topics", scale=Scale.of_labels("red", "green", "blue"))
PAIRS = Task(name="pairs", scale=Scale.of_pairs(tie="T"), mode=Mode.PAIRWISE)
METRICS = load_metrics(["covariate-effect"])


def study(task, rows):
    """Measure rows of (item, judge, label, gold, covariates, group)."""
    records = [
        imported_record(task=task, item_id=item, judge=judge, label=label, gold=gold, covariates=known, group=group)
        for item, judge, label, gold, known, group in rows
    ]
    return measure_records("study", [task], records, metrics=METRICS)


def one(report, name="covariate-effect", judge="judge", **cell):
    (found,) = [each for each in report.measures if (each.name, each.judge, dict(each.cell)) == (name, judge, cell)]
    return found


def essays(rng, n=120, effect=0.0, noisy=False, clusters=None):
    """Grade essays; the better ones are longer."""
    own = np.arange(n) if clusters is None else np.repeat(np.arange(clusters), n // clusters)
    quality, length, error = (0.7 * rng.normal(size=own.max() + 1)[own] + 0.7 * rng.normal(size=n) for _ in range(3))
    length = length + 0.6 * quality
    seen = 3.5 + 1.2 * quality
    gold = np.clip(np.rint(seen + (0.8 * rng.normal(size=n) if noisy else 0.0)), 1, 6)
    given = np.clip(np.rint((seen if noisy else gold) + effect * length + 0.7 * error), 1, 6)
    for item in range(n):
        known = {"length": int(np.exp(7 + 0.4 * length[item]))}
        yield f"e{item}", "judge", f"{given[item]:.0f}", f"{gold[item]:.0f}", known, f"g{own[item]}"


def statements(report):
    return [(each.severity.value, each.statement) for each in report.findings if each.kind == "covariate-effect"]


@pytest.mark.parametrize(("effect", "word"), [(0.6, "higher"), (-0.6, "lower")])
def test_a_judge_that_grades_by_length_is_found_and_the_number_is_that_of_least_squares(effect, word) -> None:
    rows = list(essays(np.random.default_rng(1), n=200, effect=effect))
    report = study(LEVELS, rows)
    length = np.log1p([row[4]["length"] for row in rows])
    gold, given = (np.array([int(row[place]) for row in rows]) for place in (3, 2))
    design = np.column_stack([length / length.std(), gold[:, None] == np.unique(gold)])
    found = one(report, covariate="length")
    assert found.estimate == pytest.approx(np.linalg.lstsq(design, given, rcond=None)[0][0], abs=1e-8)
    assert (found.unit, found.n_items, found.n_clusters) == ("difference in levels", 200, 200)
    reverse = one(report, "covariate-reverse", covariate="length")
    design = np.column_stack([length / length.std(), given[:, None] == np.unique(given)])
    assert reverse.estimate == pytest.approx(np.linalg.lstsq(design, gold, rcond=None)[0][0], abs=1e-8)
    assert one(report, "covariate-effect-p", covariate="length").estimate < 0.001
    assert statements(report) == [("warning", f"Gives longer responses {word} grades at equal gold")]


@pytest.mark.parametrize(
    ("noisy", "clusters", "studies"),
    [
        (False, None, 30),
        (True, None, 30),
        *(pytest.param(*how, 150, marks=pytest.mark.study) for how in ((False, None), (False, 30), (True, None))),
    ],
)
def test_no_judge_without_a_preference_is_accused_more_often_than_one_in_twenty(noisy, clusters, studies) -> None:
    """With noisy gold the effect at equal gold alone would accuse nearly every judge.

    A judge is accused in one study of twenty at most. More than the 99.9% quantile of that is a failure.
    """
    from scipy.stats import binom

    accused = significant = 0
    for seed in range(studies):
        report = study(LEVELS, essays(np.random.default_rng([seed, noisy]), noisy=noisy, clusters=clusters))
        accused += any(severity == "warning" for severity, _ in statements(report))
        significant += one(report, "covariate-effect-p", covariate="length").estimate < 0.05
    assert accused <= binom.ppf(0.999, studies, 0.05)
    assert (significant > studies / 2) == noisy


def test_noise_that_could_explain_an_effect_is_said() -> None:
    report = study(LEVELS, essays(np.random.default_rng(5), n=400, noisy=True))
    ((severity, statement),) = statements(report)
    assert severity == "info"
    assert statement.endswith("label noise could explain it")


def test_a_fair_judge_is_not_accused_because_the_scale_ends_and_gold_is_noisier() -> None:
    """Verdict minus gold moves with the author, too, and confirmed a preference in 28% of studies of 800 items."""
    from scipy import stats

    rng, n = np.random.default_rng(12), 3000
    own = rng.random(n) < 0.4
    quality = rng.normal(size=n) + own
    gold, given = (np.clip(np.rint(3.5 + 1.8 * (quality + e * rng.normal(size=n))), 1, 6) for e in (1.0, 0.2))
    gap = stats.ttest_ind((given - gold)[own], (given - gold)[~own])
    assert gap.statistic > 0
    assert gap.pvalue < 0.05
    authors = np.where(own, "E", "other")
    rows = [(f"i{k}", "judge", f"{given[k]:.0f}", f"{gold[k]:.0f}", {"author": str(authors[k])}, "") for k in range(n)]
    report = study(LEVELS, rows)
    assert one(report, "covariate-reverse", covariate="author", level="E").interval.low > 0
    assert statements(report) == [
        ("info", "Gives responses with author 'E' higher grades at equal gold; label noise could explain it")
    ]


def test_two_labels_are_measured_as_the_probability_of_the_positive_one() -> None:
    rng, rows = np.random.default_rng(2), []
    for item in range(200):
        author, gold = ("ada", "bob")[item % 2], "YES" if rng.random() < 0.5 else "NO"
        label = "YES" if author == "ada" and rng.random() < 0.4 else gold
        rows.append((f"i{item}", "judge", label, gold, {"author": author}, ""))
    report = study(LABELS, rows)
    share, weight = 0.0, 0.0
    for gold in ("YES", "NO"):  # Mantel and Haenszel's difference of shares
        sides = [[row[2] == "YES" for row in rows if row[3] == gold and row[4]["author"] == a] for a in ("ada", "bob")]
        w = len(sides[0]) * len(sides[1]) / (len(sides[0]) + len(sides[1]))
        share, weight = share + w * (np.mean(sides[0]) - np.mean(sides[1])), weight + w
    ada, bob = (one(report, covariate="author", level=level) for level in ("ada", "bob"))
    assert ada.estimate == pytest.approx(share / weight, abs=1e-9)
    assert bob.estimate == pytest.approx(-share / weight, abs=1e-9)
    assert statements(report) == [("warning", "Says YES more often to responses with author 'ada' at equal gold")]


def test_of_three_labels_each_is_tested_and_the_largest_is_told() -> None:
    rng, rows = np.random.default_rng(2), []
    for item in range(300):
        gold, length = THREE.scale.labels[item % 3], float(rng.integers(10, 900))
        label = "blue" if length > 450 and rng.random() < 0.5 else gold
        rows.append((f"i{item}", "judge", label, gold, {"length": length}, ""))
    report = study(THREE, rows)
    assert {each.cell["label"] for each in report.measures if each.name == "covariate-effect"} == set(
        THREE.scale.labels
    )
    assert "times 3 comparisons" in one(report, "covariate-effect-p", covariate="length").note
    assert statements(report) == [("warning", "Says blue more often to longer responses at equal gold")]


def pair(item, choose, rng):
    gold = "AB"[rng.integers(2)]
    lengths = {option: int(np.exp(6 + 0.7 * rng.normal())) for option in "AB"}
    first, second = rng.permutation(["ours", "theirs"]).tolist()
    known = {"length": lengths, "author": {"A": first, "B": second}}
    return f"p{item}", "judge", choose(gold, known), gold, known, ""


def test_a_comparison_is_tested_for_the_difference_between_its_options() -> None:
    rng = np.random.default_rng(4)

    def longer(gold, known):
        longest = max(known["length"], key=known["length"].get)
        return gold if rng.random() < 0.6 else longest if rng.random() < 0.9 else "T"

    rows = [pair(item, longer, rng) for item in range(200)]
    report = study(PAIRS, rows)
    x = np.log1p([row[4]["length"]["A"] for row in rows]) - np.log1p([row[4]["length"]["B"] for row in rows])
    y = np.array([{"A": 1.0, "B": 0.0, "T": 0.5}[row[2]] for row in rows])
    gold = np.array([row[3] == "A" for row in rows])
    design = np.column_stack([x / np.sqrt(np.mean(x**2)), gold, ~gold])
    assert one(report, covariate="length").estimate == pytest.approx(
        np.linalg.lstsq(design, y, rcond=None)[0][0], abs=1e-8
    )
    assert statements(report)[0] == ("warning", "Prefers longer responses at equal gold")


def test_a_judge_that_prefers_its_own_author_is_found() -> None:
    rng = np.random.default_rng(8)

    def ours(gold, known):
        return gold if rng.random() < 0.6 else next(o for o, who in known["author"].items() if who == "ours")

    report = study(PAIRS, [pair(item, ours, rng) for item in range(200)])
    assert ("warning", "Prefers responses with author 'ours' at equal gold") in statements(report)


def test_without_gold_a_judge_is_held_against_the_others() -> None:
    rng, rows = np.random.default_rng(3), []
    for item in range(400):
        right, length = rng.random() < 0.5, int(np.exp(6 + 0.6 * rng.normal()))
        for judge in ("long", "fair", "plain"):
            says = right if rng.random() < 0.75 else length > 403 if judge == "long" else rng.random() < 0.5
            rows.append((f"i{item}", judge, "YES" if says else "NO", None, {"length": length}, ""))
    report = study(LABELS, rows)
    assert not [each for each in report.measures if each.name == "covariate-effect"]
    told = {each.judge: each.statement for each in report.findings if each.severity.value == "warning"}
    assert told["long"] == "Says YES more often to longer responses at equal verdicts of the other judges"
    reverse = one(report, "peer-covariate-reverse", judge="long", covariate="length")
    given = {(item, judge): label == "YES" for item, judge, label, *_ in rows}
    scored = np.log1p([row[4]["length"] for row in rows if row[1] == "long"])
    peers = [(given[f"i{item}", "fair"] + given[f"i{item}", "plain"]) / 2 for item in range(400)]
    said = np.array([given[f"i{item}", "long"] for item in range(400)])
    design = np.column_stack([scored / scored.std(), said, ~said])
    assert reverse.estimate == pytest.approx(np.linalg.lstsq(design, peers, rcond=None)[0][0], abs=1e-8)


def test_a_covariate_that_is_the_same_everywhere_or_unknown_has_no_measure_and_missing_verdicts_are_counted() -> None:
    rows = [(f"i{n}", "judge", "YES", "NO", {"length": 10, "words": n if n < 15 else ""}, "") for n in range(30)]
    report = study(LABELS, rows)
    assert {each.cell["covariate"] for each in report.measures} == {"words"}
    assert one(report, covariate="words").n_items == 15
    silent = [(item, judge, None if item == "i3" else label, *rest) for item, judge, label, *rest in rows]
    assert one(study(LABELS, silent), covariate="words").missing == {"unparsable": 1}


def test_rare_levels_are_put_together() -> None:
    names = [*itertools.repeat("ada", 10), *itertools.repeat("bob", 10), "c", "d", "e"]
    rows = [(f"i{n}", "judge", "YES" if n % 3 else "NO", "YES", {"author": name}, "") for n, name in enumerate(names)]
    levels = {each.cell.get("level") for each in study(LABELS, rows).measures if each.name == "covariate-effect"}
    assert levels == {"ada", "bob", "(other levels)"}


def test_the_length_of_the_content_is_known_without_being_named() -> None:
    record = imported_record(task=LABELS, item_id="i", judge="j", label="YES", content="two  words")
    assert record.covariates == '{"length":9}'
