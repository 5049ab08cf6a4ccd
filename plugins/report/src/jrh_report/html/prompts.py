"""The section on prompt templates: agreement, constant verdicts apart, exclusions, and flips by pair and template."""

from __future__ import annotations

from typing import Final

from attrs import evolve
from jrh import Measure
from jrh_measuring import DEGENERATE

from jrh_report.html.found import Found
from jrh_report.html.listing import Column, Line, Table, by_test, columns, judge_mark, table
from jrh_report.tables import judge_label

SENSITIVITY: Final = columns(
    ("jss-raw", "JSS, raw"),
    ("jss", "JSS, corrected"),
    ("jss-correction", "difference"),
    ("template-flip-rate", "flip rate"),
    ("template-kappa", "kappa"),
)
PAIRS: Final = 40
"""Template pairs of a task that are listed, worst first; the others are counted."""
_KAPPA: Final = "template-kappa"


def prompt_tables(found: Found, task: str) -> tuple[Table, ...]:
    """Return the tables about prompt templates of a task that have lines."""
    whole = by_test(found, task, SENSITIVITY, "Agreement between prompt templates")
    made = (
        *_apart(found, task, whole),
        _without(found, task),
        _by_template(found, task),
        _flips(found, task),
        template_pairs(found, task),
    )
    return tuple(each for each in made if each is not None)


def _apart(found: Found, task: str, whole: Table | None) -> tuple[Table | None, Table | None]:
    """Divide the cells: where all verdicts are one label, agreement is certain and says nothing."""
    if whole is None:
        return None, None
    constant = [line for line in whole.lines if _is_constant(found, task, line)]
    others = tuple(line for line in whole.lines if line not in constant)
    shown = [place for place, column in enumerate(whole.columns) if column.name != _KAPPA]
    degenerate = table(
        task,
        "Constant verdicts: one label under every template, so agreement is certain and kappa is undefined",
        whole.heads,
        tuple(whole.columns[place] for place in shown),
        [evolve(line, cells=tuple(line.cells[place] for place in shown)) for line in constant],
    )
    return (evolve(whole, lines=others) if others else None), degenerate


def _is_constant(found: Found, task: str, line: Line) -> bool:
    kappa = found.whole(_KAPPA, task, *line.heads)
    return kappa is not None and DEGENERATE in kappa.flags


def _without(found: Found, task: str) -> Table | None:
    """Tabulate what leaving out templates changes."""
    left = [each for each in found.parts.get((task, "jss"), ()) if set(each.cell) == {"without"}]
    kappas = _by_key(found, task, _KAPPA, {"without"})
    lines = [
        Line(
            heads=(each.judge, each.test, each.cell["without"]),
            cells=(
                found.maybe(found.whole("jss", task, each.judge, each.test)),
                found.cell(each),
                found.maybe(found.whole(_KAPPA, task, each.judge, each.test)),
                found.maybe(kappas.get((each.judge, each.test, each.cell["without"]))),
            ),
            mark=judge_mark(found.report, each.judge),
        )
        for each in left
    ]
    of = columns(("jss", "JSS, all"), ("jss", "JSS, without"), (_KAPPA, "kappa, all"), (_KAPPA, "kappa, without"))
    return table(task, "Effect of leaving out templates", ("Judge", "Test", "left out"), of, lines)


def _by_template(found: Found, task: str) -> Table | None:
    """Tabulate the agreement of each template with the others, with and without what is left out."""
    own = [each for each in found.parts.get((task, "jss"), ()) if set(each.cell) == {"template"}]
    left = {
        (each.judge, each.test, each.cell["template"], each.cell["without"]): each
        for each in found.parts.get((task, "jss"), ())
        if set(each.cell) == {"template", "without"}
    }
    names = list(dict.fromkeys(name for *_, name in left))
    lines = [
        Line(
            heads=(each.judge, each.test, each.cell["template"]),
            cells=(
                found.cell(each),
                *(found.maybe(left.get((each.judge, each.test, each.cell["template"], name))) for name in names),
            ),
            mark=judge_mark(found.report, each.judge),
        )
        for each in own
    ]
    of = columns(("jss", "JSS with all others"), *(("jss", f"without {name}") for name in names))
    return table(task, "Agreement of each template with the others", ("Judge", "Test", "template"), of, lines)


def _flips(found: Found, task: str) -> Table | None:
    """Tabulate the flip rate of each template pair, judge by judge, the pair with the most flips first."""
    rates = _by_key(found, task, "template-flip-rate", {"pair"})
    judges = [judge for judge in found.report.judges if any(judge == each for each, *_ in rates)]
    if len(judges) < 2:  # noqa: PLR2004 - of one judge the pairs are listed anyway
        return None
    keys = sorted(dict.fromkeys((test, pair) for _, test, pair in rates), key=lambda key: -_total(rates, judges, *key))
    lines = [
        Line(
            heads=(pair, test),
            cells=tuple(found.maybe(rates.get((judge, test, pair))) for judge in judges),
        )
        for test, pair in keys
    ]
    of = tuple(Column(name="template-flip-rate", heading=judge_label(found.report, judge)) for judge in judges)
    return table(
        task, "Flip rate of each template pair by judge, most flips first", ("templates", "Test"), of, lines, PAIRS
    )


def _total(rates: dict[tuple[str, str, str], Measure], judges: list[str], test: str, pair: str) -> float:
    return sum(each.estimate or 0.0 for judge in judges if (each := rates.get((judge, test, pair))) is not None)


def _by_key(found: Found, task: str, name: str, factors: set[str]) -> dict[tuple[str, str, str], Measure]:
    """Return the measures of one factor by judge, test and level."""
    (factor,) = factors
    return {
        (each.judge, each.test, each.cell[factor]): each
        for each in found.parts.get((task, name), ())
        if set(each.cell) == factors
    }


def template_pairs(found: Found, task: str) -> Table | None:
    """Tabulate JSS per template pair, the least agreement first."""
    corrected = [each for each in found.parts.get((task, "jss"), ()) if set(each.cell) == {"pair"}]
    raw = _by_key(found, task, "jss-raw", {"pair"})
    corrected.sort(key=lambda each: 2.0 if each.estimate is None else each.estimate)
    lines = [
        Line(
            heads=(each.judge, each.test, each.cell["pair"]),
            cells=(found.maybe(raw.get((each.judge, each.test, each.cell["pair"]))), found.cell(each)),
            mark=judge_mark(found.report, each.judge),
        )
        for each in corrected
    ]
    caption = "Agreement of two templates' verdicts on the same items, least agreement first"
    return table(task, caption, ("Judge", "Test", "templates"), SENSITIVITY[:2], lines, PAIRS)
