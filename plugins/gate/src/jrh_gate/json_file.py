"""Write the gate's findings as JSON; `schemas/gate.schema.json` describes it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from attrs import asdict
from attrs.filters import include
from jrh import Measure
from jrh.values import Finding
from jrh_measuring.gating.checking import Checked
from jrh_measuring.gating.deciding import Decision


def gate_json(checked: Checked) -> str:
    """Return the document: full-precision numbers, `null` for unknown; the same findings give the same bytes."""
    return json.dumps(_document(checked), indent=2, allow_nan=False) + "\n"


def _document(checked: Checked) -> Mapping[str, object]:
    return {
        "suite": checked.suite,
        "run_id": checked.run_id,
        "exit_code": checked.exit_code,
        "level": checked.level,
        "allow_missing": checked.terms.allow_missing,
        "unfinished": checked.unfinished,
        "counts": {outcome.value: count for outcome, count in checked.counts.items()},
        "look": {
            "number": checked.look.number,
            "share": checked.look.share,
            "error": checked.error,
            "recorded": not checked.look.unrecorded,
        },
        "rules": [{"rule": text, "outcome": outcome.value} for text, outcome in checked.rules.items()],
        "checks": [_decision(decision, checked) for decision in checked.decisions],
        "verdicts": [
            asdict(answered) | {"allowed": answered.share <= checked.terms.allow_missing}
            for answered in checked.answered
        ],
        "findings": [_write_finding(finding) for finding in checked.relevant_findings],
    }


def _decision(each: Decision, checked: Checked) -> Mapping[str, object]:
    return {
        "rule": each.rule.text,
        "threshold": each.rule.threshold,
        "judge": each.place.judge,
        "simulated": each.place.judge in checked.simulated,
        "served": list(checked.served.get(each.place.judge, ())),
        "task": each.place.task,
        "test": each.place.test,
        "cell": dict(each.rule.cell),
        "outcome": each.outcome.value,
        "reason": each.reason,
        "limits": _limits(each),
        "measure": None if each.measure is None else _measure(each.measure),
    }


def _limits(each: Decision) -> Mapping[str, object] | None:
    limits, ends = each.limits, each.ends
    # Without both limits nothing was decided by them.
    if limits is None or ends is None:
        return None
    return {
        "low": _finite(ends[0]),
        "high": _finite(ends[1]),
        "hold_error": limits.hold_error,
        "fail_error": limits.fail_error,
        "places": limits.places,
        "method": limits.hold.interval.method if limits.hold.interval else "",
    }


def _measure(measure: Measure) -> Mapping[str, object]:
    interval = measure.interval
    return {
        "name": measure.name,
        "estimate": _finite(measure.estimate),
        "low": _finite(interval.low) if interval else None,
        "high": _finite(interval.high) if interval else None,
        "level": interval.level if interval else None,
        "method": interval.method if interval else "",
        "unit": measure.unit,
        "trials": measure.n_trials,
        "items": measure.n_items,
        "clusters": measure.n_clusters,
        "missing": dict(measure.missing),
        "flags": list(measure.flags),
    }


def _write_finding(finding: Finding) -> Mapping[str, object]:
    shown = asdict(finding, filter=include("kind", "severity", "judge", "task", "tests", "statement", "sentence"))
    return shown | {"severity": finding.severity.value}


def _finite(value: float | None) -> float | None:
    # JSON has no NaN and no infinity.
    return value if value is not None and math.isfinite(value) else None
