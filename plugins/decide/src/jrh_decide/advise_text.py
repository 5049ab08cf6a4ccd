"""Write the answer of `jrh advise` for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jrh.text import clean_text, count_noun, format_dollars
from jrh_measuring import closing_lines, plain_table, terminal_text

from jrh_decide.advise import Advised, Spending

_HEADINGS: Final = ("task", "add", "calls", "cost", "buys")


def advice_text(found: Advised) -> str:
    """Return the sentence, every way to go on, and what it rests on."""
    return terminal_text(_parts(found))


def first_sentence(found: Advised) -> str:
    """Return the next best spending, what it buys and what is left open."""
    best = found.best
    if best is None:
        return "Nothing to add: no claim is open, and the card has every line."
    bought = f"Add {_add(best)} to task '{clean_text(best.task, 60)}' ({_price(best)}): it {clean_text(best.buys, 200)}"
    if not found.open:
        return f"No claim is open. {bought}."
    least = (
        f"{found.hopeless:,} of {count_noun(found.open, 'open claim')} would take more than 2,000 items, or no number"
    )
    return f"{bought}, of {found.open:,} in all." + (f" {least}." if found.hopeless else "")


def _add(spending: Spending) -> str:
    return clean_text(spending.add, 200).replace("`", "")


def _price(spending: Spending) -> str:
    if not spending.calls:
        return "no calls, people's time"
    cost = "price unknown" if spending.cost is None else format_dollars(spending.cost)
    return f"{count_noun(spending.calls, 'call')}, {cost}"


def _cells(spending: Spending) -> Iterator[str]:
    calls, _, cost = _price(spending).partition(", ")
    yield from (clean_text(spending.task, 60), _add(spending), calls, cost, clean_text(spending.buys, 200))


def _parts(found: Advised) -> Iterator[Any]:
    yield first_sentence(found)
    yield ""
    yield plain_table(_HEADINGS, map(_cells, found.spendings))
    yield ""
    yield (
        "Rests on the report: an open claim is an inconclusive finding about one measure, decided with 80% power at "
        "the effect that its rule names by the upper number of items there. Further items are like today's, for all "
        "judges and tests; calls and prices are means of the run. Halving an interval takes four times the items."
    )
    yield "Decide on a number once: adding items until a claim is decided makes false claims likelier."
    yield "Repeats: by their design effect, at today's disagreement of reruns. Labels of people are no calls."
    yield from closing_lines(found.simulated, found.notes)
