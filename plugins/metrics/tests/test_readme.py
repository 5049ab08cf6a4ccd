"""The documentation lists what is declared, and the page of measures what a made-up run measures."""

import re
from pathlib import Path

import jrh_metrics.plugin
from jrh.plugins.loading import load_plugins

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")

SHIPPED = ("jrh-measuring", "jrh-metrics")


def test_every_metric_has_a_row() -> None:
    rows = "\n".join(line.split("|")[1] for line in TEXT.splitlines() if line.startswith("| [`"))
    listed = re.findall(r"`([^`]+)`", rows)

    assert sorted(listed) == sorted(spec.name for spec in jrh_metrics.plugin.jrh_metrics())


def test_every_measure_of_a_run_is_named(measures, ref, row) -> None:
    from jrh import Scale

    rows = [
        r
        for judge in ("a", "b", "c", "d")
        for i in range(20)
        for r in (
            *ref(i, str(1 + i % 3), str(1 + (i + (judge == "a" and i % 5 == 0)) % 3), gold=str(1 + i % 3), judge=judge),
            row(i, str(1 + (i + (i % 4 == 0)) % 3), gold=str(1 + i % 3), judge=judge),
            row(i, str(1 + i % 3), gold=str(1 + i % 3), judge=judge, test="other"),
        )
    ]
    unlabelled = [r for i in range(20, 40) for r in ref(i, str(1 + i % 3), judge="a")]
    names = set()
    for spec in jrh_metrics.plugin.jrh_metrics():
        for scale, labels in ((Scale.of_levels(1, 3), None), (Scale.of_labels("YES", "NO"), ("YES", "NO", "NO"))):
            asked = rows + unlabelled if spec.name == "corrected-prevalence" else rows
            these = asked if labels is None else [_renamed(r, labels) for r in asked]
            names |= {m.name for m in measures(spec.name, these, scale)}

    page = (Path(__file__).resolve().parents[3] / "docs" / "measures.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`([^`]+)`", page))
    plain = {re.sub(r"-p(-holm|-bh|-least)?$", "", name) for name in names}
    assert len(plain) > 40
    assert not {name for name in plain if name not in words and not name.startswith("compat-")}


def _renamed(record, labels):
    return record | {key: labels[int(record[key]) - 1] for key in ("canonical", "gold") if record.get(key)}


def test_every_flag_is_explained() -> None:
    flags = TEXT.split("## Flags\n")[1].split("\n## ")[0]
    declared = {each.spec.name for each in load_plugins().plugins.flags if each.distribution in SHIPPED}
    assert declared | {"simulated"} == set(re.findall(r"`([a-z-]+)`", flags)) - {
        "accuracy-equivalence",
        "excess-equivalence",
    }
