"""Define the commands `jrh gate-risk` and those that answer other decisions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

import click
from attrs import AttrsInstance, asdict
from jrh.cli.shared_options import plugins_option, typed_words
from jrh.text import FiniteRange, say, say_next

_SHARE: Final = FiniteRange(0.001, 0.5)


def _say_answer(found: AttrsInstance, sentence: str, text: str, *, form: str) -> None:
    """Print an answer as text, or as the document that its schema describes, with all numbers in full precision."""
    if form == "json":
        document = {"sentence": sentence, **asdict(found, value_serializer=_plain)}
        text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    say(text, nl=False, data=form == "json")


def _plain(_of: object, _field: object, value: object) -> object:
    return value.value if isinstance(value, Enum) else value


@click.command("gate-risk")
@click.argument("runs", metavar="SUITE_OR_RUN [RUN]...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE", help="Rule to check instead of the suite's. Repeatable."
)
@click.option(
    "--loss",
    type=_SHARE,
    default=0.05,
    show_default=True,
    help="Share of verdicts that a worse judge gets wrong in addition.",
)
@click.option(
    "--target",
    type=FiniteRange(0.005, 0.5),
    default=0.05,
    show_default=True,
    help="Largest probability wanted of a red gate with nothing changed, and of a green one after the loss.",
)
@click.option(
    "--nights", type=click.IntRange(10, 100_000), default=300, show_default=True, help="Simulated nights of an answer."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the simulation.")
@plugins_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def gate_risk(*, runs: tuple[Path, ...], form: str, **question: Any) -> int:
    """Tell how often a gate is red with nothing changed, and green although the judge got worse.

    Simulates nights from the verdicts of stored runs of one suite and puts each to its gate. Red is every exit code but
    0. The file of a suite means its run in runs/. Makes no model calls.
    """
    from jrh_decide.gate_risk import find_gate_risk
    from jrh_decide.gate_risk_text import first_sentence, risk_text
    from jrh_decide.stored import run_directory

    found = find_gate_risk([run_directory(run) for run in runs], **question)
    _say_answer(found, first_sentence(found), risk_text(found, runs), form=form)
    return 0


@click.command("swap")
@click.argument("runs", metavar="OLD_RUN [NEW_RUN]", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--old", default="", metavar="JUDGE", help="The judge to be replaced; needed where a run has several.")
@click.option("--new", default="", metavar="JUDGE", help="The judge that may replace it.")
@click.option(
    "--margin",
    type=FiniteRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="Largest difference of a share that does not matter, chosen before seeing the data.",
)
@click.option(
    "--mark",
    type=FiniteRange(0, 1),
    default=0.5,
    show_default=True,
    help="Pass mark to translate, where it is a share of verdicts (two labels).",
)
@click.option("--flips", type=click.IntRange(0, 1000), default=5, show_default=True, help="Changed cases listed.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def swap(runs: tuple[Path, ...], old: str, new: str, margin: float, mark: float, flips: int, form: str) -> int:
    """Tell whether a new judge may replace the old one.

    Compares two judges on the same cases, from two runs or, with --old and --new, from one. Answers: equivalent within
    the margin, worse, better, or too few items and how many would decide. Translates the pass mark. Read-only; makes no
    model calls.
    """
    from jrh_decide.swap import find_swap
    from jrh_decide.swap_text import first_sentence, swap_text

    if len(runs) > 2:  # noqa: PLR2004
        raise click.UsageError("pass the run of the old judge and that of the new one, or one run of both")
    found = find_swap(runs, old=old, new=new, margin=margin, mark=mark, most_flips=flips)
    _say_answer(found, first_sentence(found), swap_text(found), form=form)
    return 0


@click.command("card")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--judge", default="", metavar="NAME", help="The judge; needed where the run has several.")
@click.option("--task", default="", metavar="NAME", help="The task; needed where the run has several.")
@plugins_option
@click.option("--badge", type=click.Path(path_type=Path, dir_okay=False), help="Write a small SVG image, too.")
@click.option("--format", "form", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True)
def card(run: Path, judge: str, task: str, plugins: Sequence[str], badge: Path | None, form: str) -> int:
    """Write the card of a judge: one page on how far its verdicts can be trusted.

    Agreement beyond chance, noise floor, order, layout, human ceiling, missing verdicts and limits, as measured in the
    run, and what was not run. Makes no model calls.
    """
    from jrh_measuring.documents import write_whole

    from jrh_decide.card import card_badge, card_json, card_markdown, make_card

    made = make_card(run, judge=judge, task=task, plugins=plugins)
    if badge is not None:
        write_whole(badge, card_badge(made).encode())
    say(card_json(made) if form == "json" else card_markdown(made), nl=False, data=True)
    return 0


@click.command("advise")
@click.argument("run", metavar="SUITE_OR_RUN", type=click.Path(path_type=Path))
@plugins_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def advise(run: Path, plugins: Sequence[str], form: str) -> int:
    """Tell what to spend next on a run: items, repeats, labels or conditions, and what each would buy.

    Which open claims further items decide is what the report says; prices are those of the run. Makes no model calls.
    """
    from jrh_decide.advise import advise as find_advice
    from jrh_decide.advise_text import advice_text, first_sentence
    from jrh_decide.stored import run_directory

    found = find_advice(run_directory(run), plugins=plugins)
    _say_answer(found, first_sentence(found), advice_text(found), form=form)
    if form == "text":
        say_next("view", run_directory(run))
    return 0


@click.command("automate")
@click.argument("source", metavar="TABLE_OR_RUN", type=click.Path(path_type=Path))
@click.option("--human", "humans", metavar="COLUMN", multiple=True, help="Labels of a person. Repeatable.")
@click.option("--judge", "judges", metavar="NAME", multiple=True, help="Verdicts, or judge of a run; several: a panel.")
@click.option(
    "--cascade", metavar="A,B", help="Judges in turn: each decides where it is sure, the rest goes to people."
)
@click.option("--confidence", metavar="COLUMN", help="Stated probability of the verdict.  [default: agreement]")
@click.option("--item", metavar="COLUMN", help="Column that names the item; its rows are repeats.  [default: each row]")
@click.option("--group", metavar="COLUMN", help="Column that names what items share, such as their source.")
@click.option("--by", metavar="COLUMN", help="Column of segments; the worst is named.")
@click.option("--missing", metavar="TEXT", multiple=True, help="Text that means no verdict. Repeatable.")
@click.option("--error", type=_SHARE, default=0.05, show_default=True, help="Share of decisions that may be wrong.")
@click.option("--alpha", type=_SHARE, default=0.05, show_default=True, help="Probability of issuing a broken promise.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the split into halves.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def automate(*, form: str, cascade: str | None, **question: Any) -> int:
    """Tell which items a judge may decide alone if at most a share of these decisions may be wrong.

    Chooses a threshold of confidence on one half of the clusters and guarantees it on the other. Confidence is a stated
    probability, or the agreement of repeats or of a panel. With --cascade it says what each of several judges decides,
    cheapest first, and what that costs. Makes no model calls.
    """
    from jrh_decide import automate_text, cascade_text
    from jrh_decide.automate import Automation, choose_threshold, promised_error
    from jrh_decide.cascade import Cascade, choose_cascade, read_cascade
    from jrh_decide.decisions import Question, read_decisions
    from jrh_decide.stored import run_directory

    found: Automation | Cascade
    if cascade is not None:
        # A name that holds a comma is quoted, as in a table.
        names = [name.strip() for name in map("".join, re.findall(r'\s*"([^"]*)"\s*|([^,]+)', cascade)) if name.strip()]
        if question["judges"] or not names:
            raise click.UsageError("--cascade names the judges, such as A,B; leave --judge out")
        question["judges"] = tuple(names)
    asked = Question(**question, cascade=cascade is not None)
    promise = {"error": asked.error, "alpha": asked.alpha}
    if cascade is not None:
        found = choose_cascade(read_cascade(asked), seed=asked.seed, **promise)
        sentence, text = cascade_text.first_sentence(found), cascade_text.cascade_text(found)
    else:
        found = choose_threshold(read_decisions(asked), seed=asked.seed, **promise)
        sentence, text = automate_text.first_sentence(found), automate_text.automation_text(found)
    _say_answer(found, sentence, text, form=form)
    if form == "json":
        return 0
    error = promised_error(found.wrong if isinstance(found, Cascade) else found.first.wrong)
    if not found.issued and error is not None:
        say_next("automate", *typed_words(without=("error",)), "--error", error)
    elif asked.humans:
        # What `jrh check` has, too; it takes one column of labels.
        words = typed_words(without=("humans", "confidence", "by", "error", "alpha", "seed", "form", "cascade"))
        words = [*words, *(["--judge", asked.judges[-1]] if cascade else [])]
        say_next("check", *words, "--human", asked.humans[0], *(["--reruns"] if asked.item else []))
    else:
        say_next("view", run_directory(asked.source))
    return 0


@click.command("watch")
@click.argument("store", metavar="STORE", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("run", metavar="[RUN]", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--judge", default="", metavar="NAME", help="The judge; needed at the first look if the run has several.")
@click.option(
    "--alpha",
    type=_SHARE,
    help="Probability that a judge that never changes ever raises an alarm; set by the first look.  [default: 0.05]",
)
@click.option("--shift", type=_SHARE, default=0.05, show_default=True, help="Share of verdicts, for the delay.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON, as for a webhook.")
def watch(store: Path, run: Path | None, judge: str, alpha: float | None, shift: float, as_json: bool) -> int:
    """Tell whether a judge still answers as it did, from runs of the same items.

    Adds RUN to the file STORE, which the first call makes, and says whether the verdicts, their agreement with people,
    the failures or the served snapshot changed. Exit code 1 is an alarm. Makes no model calls.
    """
    from jrh_decide.watch import find_watch
    from jrh_decide.watch_text import next_words, watch_json, watch_text

    found = find_watch(store, run, judge=judge, alpha=alpha, shift=shift)
    say(watch_json(found) if as_json else watch_text(found), nl=False, data=as_json)
    if not as_json:
        say_next(*next_words(found))
    return int(bool(found.alarms))


@click.command("rank")
@click.argument("source", metavar="TABLE_OR_RUN", type=click.Path(path_type=Path))
@click.option("--system", "systems", metavar="COLUMN", multiple=True, help="System; in a table twice for comparisons.")
@click.option("--judge", "judges", metavar="NAME", multiple=True, help="Verdicts, or judge of a run. Repeatable.")
@click.option("--human", "humans", metavar="COLUMN", multiple=True, help="Labels of a person. Repeatable.")
@click.option("--group", metavar="COLUMN", help="Column that names what rows share, such as the question.")
@click.option("--positive", metavar="LABEL", help="Label that scores 1, where verdicts are labels; others score 0.")
@click.option("--missing", metavar="TEXT", multiple=True, help="Text that means no verdict. Repeatable.")
@click.option("--task", default="", metavar="NAME", help="The task; needed where the run has several.")
@click.option("--resamples", type=click.IntRange(100, 100_000), default=2000, show_default=True, help="Random draws.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the draws.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rank(*, form: str, **question: Any) -> int:
    """Tell which system is first, with intervals of all ranks, under each judge and by people.

    Verdicts are scores of one system or comparisons of two; in a run, the covariate `system` names them. Where people
    labelled a part, rankings are corrected by it. Pairs of systems whose order a test turns round are listed. Makes no
    model calls.
    """
    from jrh_decide.rank import find_ranks
    from jrh_decide.rank_text import ranks_json, ranks_text
    from jrh_decide.stored import run_directory
    from jrh_decide.systems import RankQuestion

    asked = RankQuestion(**question)
    found = find_ranks(asked)
    say(ranks_json(found) if form == "json" else ranks_text(found), nl=False, data=form == "json")
    if form == "text" and asked.humans:
        words = typed_words(without=("systems", "humans", "positive", "resamples", "seed", "form", "task"))
        say_next("check", *words, "--human", asked.humans[0])
    elif form == "text" and asked.source.is_file() and asked.systems:
        say_next("rank", *typed_words(), "--format", "json")
    elif form == "text":
        say_next("view", run_directory(asked.source))
    return 0
