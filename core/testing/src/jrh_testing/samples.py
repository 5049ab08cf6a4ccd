"""Make tasks, items and questions to test components: small, with awkward content."""

from __future__ import annotations

from typing import Final

from jrh import Item, Json, Mode, Question, Scale, Task, content_id, derive_seed
from jrh.values import Condition, Example, Truth

_REQUESTS: Final = (
    "Which river flows through Paris?",
    "What is 2 + 2?",
    "How do people in Japan greet in the morning?",
    "Write one line of a poem.",
    "Say nothing.",
    "Explain why the sky is blue, in two paragraphs.",
)

# One sentence more, a bare number, several scripts, layout, nothing, and paragraphs with a list.
_TEXTS: Final = (
    "The river is the Seine. It rises near Dijon, e.g. at Source-Seine. It ends in the English Channel.",
    "4",
    "おはようございます。 Ça va ? Zażółć gęślą jaźń — 😀👩‍👩‍👧 e\u0301 שלום.",
    "  Tigers,  burning bright;\n\tin the forests of the night.  \n",
    "",
    (
        "Sunlight is made of many colours. Air scatters blue light more than red light.\n\n"
        "At noon the path through the air is short. In the evening it is long, and the sky turns red.\n\n"
        "- blue: about 450 nm\n- red: about 700 nm"
    ),
)

_STRATA: Final = ("geography", "arithmetic", "language", "poetry", "language", "science")

ODD_TEXTS: Final = (
    "",
    " \n\t ",
    "\x00 a NUL and \x1b[31m a terminal colour",
    "e\u0301 \u202eright to left\u202c \ufeff 👩‍👩‍👧‍👦 \U0010ffff",
    "a lone surrogate: \ud800",
    "{{ request }} {% for %} {# never rendered #} ${x} %s",
    '<script>alert("x")</script> & ]]> </item>',
    "word " * 20_000,
)
"""Texts that a component meets sooner or later: empty, white space, controls, odd Unicode, template code, 100 kB."""


def sample_task(mode: Mode = Mode.POINTWISE, scale: Scale | None = None) -> Task:
    """Make a task of the mode.

    Args:
        mode: what the judge is shown.
        scale: the labels; by default A/B for pairs and YES/NO otherwise.
    """
    default = Scale.of_pairs() if mode is Mode.PAIRWISE else Scale.of_labels("YES", "NO")
    return Task(
        name=f"sample-{mode.value}",
        instruction="Judge the answer to the request.",
        rubric="A good answer is right and says no more than was asked.",
        scale=scale or default,
        mode=mode,
    )


def sample_tasks() -> tuple[Task, ...]:
    """Make one task for every kind of question: labels, levels, pairs with and without tie, transcripts."""
    return (
        sample_task(),
        sample_task(scale=Scale.of_levels(1, 6)),
        sample_task(Mode.PAIRWISE),
        sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE")),
        sample_task(Mode.TRANSCRIPT),
    )


def sample_items(task: Task | None = None) -> tuple[Item, ...]:
    """Make six items for a task: Unicode, an empty text, several paragraphs, loose white space.

    The gold labels go through the scale in turn and say nothing about the texts; the last item is unlabelled.
    """
    task = task or sample_task()
    labels = task.scale.labels
    last = len(_TEXTS) - 1
    return tuple(
        Item(
            id=f"sample-{index}",
            fields={"request": _REQUESTS[index], **_judged(task.mode, index)},
            # Without a label: components must not take gold for granted.
            gold=None if index == last else labels[index % len(labels)],
            stratum=_STRATA[index],
            # Two items of one author are one cluster; their ids do not say so.
            group=f"author-{index // 2}",
            origin=f"samples:{index + 1}",
        )
        for index in range(len(_TEXTS))
    )


def _judged(mode: Mode, index: int) -> dict[str, Json]:
    if mode is Mode.PAIRWISE:
        return {"response_a": _TEXTS[index], "response_b": _TEXTS[(index + 1) % len(_TEXTS)]}
    if mode is Mode.TRANSCRIPT:
        return {"transcript": _transcript(index)}
    return {"response": _TEXTS[index]}


def _transcript(index: int) -> Json:
    # A transcript is messages, or, from sources that have only that, plain text.
    if index == 1:
        return f"user: {_REQUESTS[index]}\nassistant: {_TEXTS[index]}"
    return (
        {"role": "user", "content": _REQUESTS[index]},
        {"role": "assistant", "content": "I look it up."},
        {"role": "tool", "content": '{"hits": 3}'},
        {"role": "assistant", "content": _TEXTS[index]},
    )


def with_text(item: Item, mode: Mode, text: str) -> dict[str, Json]:
    """Return the fields of an item with every judged text replaced."""
    # The judged text of a transcript is what the assistant says.
    replaced: Json = ({"role": "assistant", "content": text},) if mode is Mode.TRANSCRIPT else text
    return {**item.fields, **dict.fromkeys(mode.judged_fields, replaced)}


def sample_question(task: Task | None = None, item: Item | None = None, *, occasion: int = 0) -> Question:
    """Make the unperturbed question about an item."""
    task = task or sample_task()
    item = item or sample_items(task)[0]
    return Question(
        trial_id=content_id("trial", task.name, item.id, occasion),
        task=task,
        fields=item.fields,
        occasion=occasion,
        seed=derive_seed(0, item.id, occasion),
    )


def sample_truth(task: Task | None = None, item: Item | None = None) -> Truth:
    """Make the truth that a simulated judge gets with the unperturbed question about an item."""
    task = task or sample_task()
    item = item or sample_items(task)[0]
    return Truth(
        item_id=item.id,
        gold=item.gold,
        expected=item.gold,
        condition=Condition(),
        label_map=task.scale.identity_map(),
        reference_fields=item.fields,
    )


def sample_examples(task: Task | None = None) -> tuple[Example, ...]:
    """Make labelled examples for a trained judge, every label of the scale several times, in six groups."""
    task = task or sample_task()
    items = sample_items(task)
    return tuple(
        Example(
            fields=with_text(items[0], task.mode, f"{text} This is answer number {number} of grade {label}."),
            gold=label,
            group=f"group-{number % 6}",
        )
        # Every label occurs with every text: what a judge learns is the sentence that names the grade.
        for number, (label, text) in enumerate((label, text) for text in _TEXTS for label in task.scale.labels)
    )


def prompt_pair_row(number: int = 1, **changes: str) -> dict[str, str]:
    """Return one row of a paired-prompt file: two prompts about one text, which `text` replaces.

    Args:
        number: of the pair; rows of different numbers are about different texts.
        changes: columns that differ, and columns to add, such as `decision_a` and `decision_b` of a decision log.
    """
    text = changes.pop("text", f"text {number}")
    return {
        "pair_id": f"p{number}",
        "task_type": "facts",
        "prompt_a": f"Right?\n{text}",
        "prompt_b": f"{text}\nTrue or not?",
        "response_being_judged": text,
        "ground_truth_label": "YES",
        **changes,
    }
