"""Tables for papers: structure, numbers and marks."""

from __future__ import annotations

import re

from attrs import evolve
from jrh_testing import empty_report


def rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))]
        for line in text.splitlines()
        if line.endswith(r"\\")
    ]


def test_judges_by_tests_with_estimate_interval_and_size(render, report) -> None:
    found = rows(render("latex", report))

    assert found[0] == ["Judge", "reference", "format", "stochastic"]
    assert found[1] == ["baseline", "0.71", "0.71", "0.71"]
    assert found[2] == ["", *[r"\footnotesize {[}0.66, 0.74{]}"] * 3]
    assert found[3] == ["", *[r"\footnotesize $n$ = 60"] * 3]
    assert found[4][0] == "gpt-4o-mini"
    assert found[6][1] == r"\footnotesize $n$ = 60, 3 verdicts missing"
    assert found[7][0] == "yes-man (simulated)"


def test_the_table_is_one_that_booktabs_prints(render, report) -> None:
    text = render("latex", report)
    lines = text.splitlines()

    assert r"\usepackage{booktabs}" in lines[1]
    assert lines[1].startswith("%")
    order = [r"\begin{table}[htbp]", r"\centering", r"\label{tab:jrh-1}", r"\begin{tabular}{lccc}", r"\toprule"]
    order += [r"\midrule", r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    places = [lines.index(line) for line in order]
    assert places == sorted(places)
    assert r"estimates with 95\,\% intervals" in text
    assert "Simulated judges have planted behaviour" in text
    for command in re.findall(r"\\(?:begin|end)\{(\w+)\}", text):
        assert text.count(rf"\begin{{{command}}}") == text.count(rf"\end{{{command}}}")


def test_more_tests_than_fit_stand_below(render, report) -> None:
    first = render("latex", report, tests=2).partition(r"\end{table}")[0]

    assert re.findall(r"\\begin\{tabular\}\{(\w+)\}", first) == ["lcc", "lc"]


def test_every_layer_of_the_heat_map_has_a_table_with_digits_on_request(render, report) -> None:
    text = render("latex", report, digits=3)

    assert r"\caption{Flip rate, task essays" in text
    assert ["baseline", "---", "0.033", "0.033"] in rows(text)
    assert ["baseline", "---", "$-$0.001", "---"] in rows(text)
    assert ["yes-man (simulated)", "---", "not estimable (degenerate)", "---"] in rows(text)


def test_the_tables_of_sections_follow_once_each(render, report, measure) -> None:
    text = render("latex", evolve(report, measures=(*report.measures, measure("pearson", estimate=0.5))))

    assert r"\caption{Ordinal scales: Agreement with the gold levels}" in text
    assert text.count(r"\caption{Judges by tests") == 0
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels)) == text.count(r"\begin{table}")


def test_an_empty_run_has_no_table(render) -> None:
    assert r"\begin{table}" not in render("latex", empty_report())


def test_a_name_cannot_leave_its_cell(render, report) -> None:
    evil = r"a & b \\ \input{x} % [*"
    hostile = evolve(
        report,
        judges=(evil,),
        simulated=frozenset(),
        measures=tuple(evolve(each, judge=evil) for each in report.measures if each.judge == "baseline"),
    )
    shown = r"a \& b \textbackslash{}\textbackslash{} \textbackslash{}input\{x\} \% {[}{*}"

    assert [shown, "0.71", "0.71", "0.71"] in rows(render("latex", hostile))
