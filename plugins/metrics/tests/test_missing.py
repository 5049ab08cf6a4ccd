import pytest


def test_missing_counts_every_status_but_ok(measure, ref, row) -> None:
    from scipy.stats import binomtest

    statuses = ["refused", "truncated", "timeout", "refused"]
    rows = [row(i, "YES") for i in range(16)] + [row(20 + i, None, status=status) for i, status in enumerate(statuses)]
    expected = binomtest(4, 20).proportion_ci(method="exact")
    found = measure("missing", rows)["judge", "t", ""]

    assert (found.estimate, found.n_trials, found.n_items) == (0.2, 20, 20)
    assert found.missing == {"refused": 2, "timeout": 1, "truncated": 1}
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))


def test_missing_is_told_for_the_reference_and_every_variant(measure, ref, row) -> None:
    rows = [*ref(1, "YES", None), row(1, None, variant="a"), row(1, "NO", variant="b")]
    found = measure("missing", rows)

    assert {key[1:]: m.estimate for key, m in found.items()} == {
        ("reference", ""): 0.5, ("t", ""): 0.5, ("t", "a"): 1.0, ("t", "b"): 0.0,
    }  # fmt: skip


def test_nothing_missing_is_an_empty_count_with_an_upper_limit(measure, row) -> None:
    found = measure("missing", [row(i, "YES") for i in range(20)])["judge", "t", ""]

    assert (found.estimate, found.missing, found.interval.low) == (0.0, {}, 0.0)
    assert found.interval.high == pytest.approx(1 - 0.025 ** (1 / 20))
