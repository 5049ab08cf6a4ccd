"""Read the results of promptfoo: `promptfoo eval --output results.json`, or `.jsonl`.

With a metric, the assertion is the judge and the model's output the item. With `output`, the provider is the judge: its
answer is the verdict, the prompts are templates, and `--repeat` gives repeats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from jrh import REFERENCE, Status

from jrh_import.exports.reader import Entries, Entry, Export, Kind
from jrh_import.exports.values import Names, find, mappings, number, text, thousandths

_FAILED: Final = 2
"""`failureReason` of a result whose provider failed."""
_LONGEST_LABEL: Final = 40
_GOLDS: Final = {"vars": "^/vars", "metadata": "^/testCase/metadata"}


def _provider(value: Any) -> str:
    return text(find(value, "label or id") if isinstance(value, Mapping) else value)


def _failure(result: Entry) -> str:
    if result.get("failureReason") == _FAILED:
        return text(result.get("error")) or "the provider failed"
    return text(find(result, "response/error"))


def _grader_failed(part: Entry) -> bool:
    """Return whether the grader failed, which promptfoo may show as a grade of 0."""
    return find(part, "metadata/graderError") is True or part.get("score") is None


class Promptfoo(Export):
    """Read the results of promptfoo."""

    lists = ("results.results", "results")
    wrong = "has no promptfoo results; write them with `promptfoo eval --output results.json`"
    unmapped = (
        "scores that promptfoo combines over assertions (score, namedScores, derived metrics)",
        "the rendered prompts and variables, shares and stats of the evaluation",
    )
    kinds = (
        Kind(
            keys=("vars", "provider"),
            scores="graded",
            id="^/id",
            item="^/item",
            metric="name",
            value="score",
            passed="pass",
            judge=lambda part: _provider(find(part, "assertion/provider")),
            error=lambda part: (text(part.get("reason")) or "the grader failed") if _grader_failed(part) else "",
            failed=Status.UNPARSABLE,
            golds=_GOLDS,
            fields={
                "rationale": "reason",
                "content": "^/response/output",
                "group": "^/test",
                "stratum": "^/judge",
                "prompt_tokens": "tokensUsed/prompt",
                "completion_tokens": "tokensUsed/completion",
            },
        ),
        Kind(
            keys=("vars", "provider"),
            id="id",
            item="test",
            value="response/output",
            judge="judge",
            error=_failure,
            golds={**_GOLDS, "assert.equals": "equal"},
            default_gold="assert.equals",
            fields={
                "test": lambda result: REFERENCE if result["first"] else "templates",
                "variant": lambda result: "" if result["first"] else result["template"],
                "template": "template",
                "repeat": "repeat",
                "cost": "cost",
                "prompt_tokens": "response/tokenUsage/prompt",
                "completion_tokens": "response/tokenUsage/completion",
                "latency": thousandths("latencyMs"),
            },
        ),
    )

    def entries(self, found: Entries) -> Entries:
        """Name tests, prompts and repeats; promptfoo writes results as they come in, with numbers for their order."""
        if not all("vars" in result and "provider" in result for _, result in found):
            return found
        tests, prompts = Names("test"), Names("prompt")
        counts: Counter[tuple[str, str, str]] = Counter()
        entries: Entries = []
        # Repeats and names must not depend on which provider was fastest.
        for place, result in sorted(found, key=_position):
            test = tests.of(result.get("vars"), find(result, "testCase/description"))
            # The raw prompt has the variables of its test filled in; the label is that of the template.
            label = text(find(result, "prompt/label")) or text(result.get("promptIdx"))
            name = prompts.of(label)
            # A long label is the whole prompt, which is no name.
            template = label if 0 < len(label) <= _LONGEST_LABEL else name
            key = (test, template, _provider(result.get("provider")))
            repeat, counts[key] = counts[key], counts[key] + 1
            named = {"test": test, "template": template, "first": name == "prompt-1", "judge": key[2], "repeat": repeat}
            item = f"{test}/{key[2]}/{template}" + (f"/{repeat + 1}" if repeat else "")
            entries.append((place, {**result, **named, "item": item, **_grades(result)}))
        if self.options.output is not None:
            return entries
        answered = [
            (place, result)
            for place, result in entries
            if result.get("failureReason") != _FAILED and find(result, "response/output") is not None
        ]
        lost = len(entries) - len(answered)
        if lost:
            self.notes.append(f"Results without an output, where the provider failed: {lost}; they are left out.")
        ungraded = sum(_grader_failed(part) for _, result in answered for part in result["graded"])
        if ungraded:
            self.notes.append(f"Verdicts missing, where the grader failed: {ungraded}; promptfoo shows them as 0.")
        return answered


def _grades(result: Entry) -> dict[str, Any]:
    """Return the grades of a result, each with a name of its own, and what an assertion says the output equals."""
    names: Counter[str] = Counter()
    graded = []
    for part in mappings(find(result, "gradingResult/componentResults")):
        name = text(find(part, "assertion/metric or assertion/type")) or "assertion"
        names[name] += 1
        # Two assertions of one type are two metrics.
        graded.append({**part, "name": name if names[name] == 1 else f"{name} ({names[name]})"})
    assertions = mappings(find(result, "testCase/assert"))
    equal = [assertion.get("value") for assertion in assertions if assertion.get("type") == "equals"]
    return {"graded": graded, "equal": equal[0] if equal else None}


def _position(result: tuple[str, Entry]) -> tuple[float, float]:
    test, prompt = (number(result[1].get(key)) or 0 for key in ("testIdx", "promptIdx"))
    return test, prompt
