import numpy as np
import pytest


def _rows(ref, row):
    generator = np.random.default_rng(1)
    rows = [r for i in range(60) for r in ref(i, "YES", "YES" if i % 9 else "NO", gold="YES")]
    for test, flips in (("a", 0.05), ("b", 0.15), ("c", 0.3), ("d", 0.6)):
        for i in range(60):
            label = "NO" if generator.random() < flips else "YES"
            rows.append(row(i, label, test=test, gold="YES"))
    return rows


@pytest.mark.parametrize(
    ("metric", "name"), [("accuracy-change", "accuracy-change"), ("noise-excess", "excess-disagreement")]
)
def test_both_adjusted_p_values_stand_beside_the_plain_ones_and_are_those_of_statsmodels(
    metric, name, measures, ref, row
) -> None:
    from statsmodels.stats.multitest import multipletests

    found = [m for m in measures(metric, _rows(ref, row)) if not m.cell]
    plain, holm, bh = (
        {m.test: m.estimate for m in found if m.name == f"{name}-p{end}"} for end in ("", "-holm", "-bh")
    )
    tests = sorted(plain)
    p = [plain[test] for test in tests]

    assert tests == ["a", "b", "c", "d"]
    assert [holm[test] for test in tests] == pytest.approx(multipletests(p, method="holm")[1])
    assert [bh[test] for test in tests] == pytest.approx(multipletests(p, method="fdr_bh")[1])
    assert holm["b"] > plain["b"]


def test_one_test_alone_is_not_adjusted(measures, ref, row) -> None:
    rows = [r for r in _rows(ref, row) if r["test"] in ("reference", "c")]
    names = {m.name for m in measures("accuracy-change", rows)}

    assert "accuracy-change-p" in names
    assert not names & {"accuracy-change-p-holm", "accuracy-change-p-bh"}


@pytest.mark.parametrize("metric", ["accuracy-change", "noise-excess"])
@pytest.mark.parametrize("answered", [0, 3])
def test_a_p_value_counts_the_same_missing_verdicts_as_its_estimate(metric, answered, measures, ref, row) -> None:
    rows = [r for i in range(4) for r in ref(i, "YES", "NO", gold="YES")]
    rows += [row(i, "YES" if i < answered else None, gold="YES") for i in range(4)]
    found = {m.name: m for m in measures(metric, rows) if not m.cell}
    name = "accuracy-change" if metric == "accuracy-change" else "excess-disagreement"
    estimate, p = found[name], found[f"{name}-p"]

    assert p.missing == estimate.missing == {"unparsable": 4 - answered}
    assert ("all-missing" in p.flags) == ("all-missing" in estimate.flags) == (answered == 0)
