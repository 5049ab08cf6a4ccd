"""Read the results of promptfoo: `promptfoo eval --output results.json`, or `.jsonl`.

With a metric, the assertion is the judge and the model's output the item. With `output`, the provider is the judge: its
answer is the verdict, the prompts are templates, and `--repeat` gives repeats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from jrh import REFERENCE, Status
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import OUTPUT, ExportRow, ScoreOptions, imported_scores, read_objects

from jrh_import.exports.values import Names, at, labels_in, listed, mapping, number, text

_FAILED: Final = 2
"""`failureReason` of a result whose provider failed."""
_FIRST: Final = "prompt-1"
_LONGEST_LABEL: Final = 40
_UNMAPPED: Final = (
    "scores that promptfoo combines over assertions (score, namedScores, derived metrics)",
    "the rendered prompts and variables, shares and stats of the evaluation",
)


class Promptfoo:
    """Read the results of promptfoo."""

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one metric, or the outputs."""
        results = list(read_objects(path, "results.results", "results"))
        first = results[0][1] if results else {}
        if "vars" not in first or "provider" not in first:
            raise OtherToolError(
                f"'{path}' has no promptfoo results; write them with `promptfoo eval --output results.json`"
            )
        rows = _Rows(self._options)
        found = list(rows.of(results))
        return imported_scores(found, self._options, str(path), notes=rows.notes(), unmapped=_UNMAPPED)


class _Rows:
    def __init__(self, options: ScoreOptions) -> None:
        self._options = options
        self._tests = Names("test")
        self._prompts = Names("prompt")
        self._asked: Counter[tuple[str, str, str]] = Counter()
        self._failed = 0
        self._ungraded = 0

    def notes(self) -> list[str]:
        told = []
        if self._failed:
            told.append(f"Results without an output, where the provider failed: {self._failed}; they are left out.")
        if self._ungraded:
            told.append(f"Verdicts missing, where the grader failed: {self._ungraded}; promptfoo shows them as 0.")
        return told

    def of(self, results: list[tuple[str, Mapping[str, Any]]]) -> Iterator[ExportRow]:
        # promptfoo writes results as they come in; their own numbers tell which repeat and which prompt was first.
        for place, result in sorted(results, key=_position):
            test = self._tests.of(result.get("vars"), at(result, "testCase", "description"))
            # The raw prompt has the variables of its test filled in; the label is that of the template.
            label = text(at(result, "prompt", "label")) or text(result.get("promptIdx"))
            number_of = self._prompts.of(label)
            prompt = label if 0 < len(label) <= _LONGEST_LABEL else number_of
            provider = _provider(result.get("provider"))
            repeat = self._asked[test, prompt, provider]
            self._asked[test, prompt, provider] += 1
            golds = {
                **labels_in(result.get("vars"), "vars"),
                **labels_in(at(result, "testCase", "metadata"), "metadata"),
            }
            if self._options.output is not None:
                yield self._answer(place, result, test, (prompt, number_of == _FIRST), provider, repeat, golds)
            elif result.get("failureReason") == _FAILED or at(result, "response", "output") is None:
                self._failed += 1
            else:
                item = f"{test}/{provider}/{prompt}" + (f"/{repeat + 1}" if repeat else "")
                yield from self._graded(place, result, item, test, provider, golds)

    def _answer(
        self,
        place: str,
        result: Mapping[str, Any],
        test: str,
        prompt: tuple[str, bool],
        provider: str,
        repeat: int,
        golds: dict[str, Any],
    ) -> ExportRow:
        equal = [each.get("value") for each in listed(at(result, "testCase", "assert")) if each.get("type") == "equals"]
        keys = self._options.output or ()
        failed = result.get("error") if result.get("failureReason") == _FAILED else at(result, "response", "error")
        name, first = prompt
        usage = mapping(at(result, "response", "tokenUsage"))
        return ExportRow(
            place=place,
            id=text(result.get("id")),
            item=test,
            metric=self._options.metric or OUTPUT,
            value=at(at(result, "response", "output"), *keys) if not failed else None,
            judge=provider,
            golds={**golds, **({"assert.equals": equal[0]} if equal else {})},
            default_gold="assert.equals",
            fields={
                "test": REFERENCE if first else "templates",
                "variant": "" if first else name,
                "template": name,
                "repeat": repeat,
                "status": Status.PROVIDER_ERROR if failed else None,
                "detail": text(failed)[:200] if failed else None,
                "cost": number(result.get("cost")),
                "prompt_tokens": number(usage.get("prompt")),
                "completion_tokens": number(usage.get("completion")),
                "latency": _per_thousand(result.get("latencyMs")),
            },
        )

    def _graded(
        self, place: str, result: Mapping[str, Any], item: str, test: str, provider: str, golds: dict[str, Any]
    ) -> Iterator[ExportRow]:
        names: Counter[str] = Counter()
        for part in listed(at(result, "gradingResult", "componentResults")):
            assertion = mapping(part.get("assertion"))
            name = text(assertion.get("metric")) or text(assertion.get("type")) or "assertion"
            names[name] += 1
            failed = _grader_failed(part)
            self._ungraded += failed
            tokens = mapping(part.get("tokensUsed"))
            yield ExportRow(
                place=place,
                id=text(result.get("id")),
                item=item,
                metric=name if names[name] == 1 else f"{name} ({names[name]})",
                value=None if failed else number(part.get("score")),
                passed=part.get("pass") if isinstance(part.get("pass"), bool) else None,
                judge=_provider(assertion.get("provider")),
                golds=golds,
                fields={
                    "status": Status.UNPARSABLE if failed else None,
                    "rationale": text(part.get("reason")),
                    "detail": text(part.get("reason"))[:200] if failed else None,
                    "content": text(at(result, "response", "output")),
                    "group": test,
                    "stratum": provider,
                    "prompt_tokens": number(tokens.get("prompt")),
                    "completion_tokens": number(tokens.get("completion")),
                },
            )


def _position(result: tuple[str, Mapping[str, Any]]) -> tuple[float, float]:
    test, prompt = (number(result[1].get(key)) or 0 for key in ("testIdx", "promptIdx"))
    return test, prompt


def _grader_failed(part: Mapping[str, Any]) -> bool:
    """Tell whether a grade of 0 stands for a grader that gave none."""
    return at(part, "metadata", "graderError") is True or part.get("score") is None


def _provider(value: Any) -> str:
    return text(value) if not isinstance(value, Mapping) else text(value.get("label")) or text(value.get("id"))


def _per_thousand(value: Any) -> float | None:
    milliseconds = number(value)
    return None if milliseconds is None else milliseconds / 1000
