"""Write the exports of one tool with its own SDK, from made-up answers, verdicts and labels of people.

    python write_exports.py langfuse|langsmith|phoenix|braintrust|mlflow|openai FILE   (with that SDK installed)

Nothing leaves the machine. An experiment of Phoenix is its own server's, on loopback; of the others the SDK's own
classes make and serialise what a server would return.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ANSWERS = [
    ("a1", "Paris is the capital of France.", True, True),
    ("a2", "Rome is the capital of France.", False, False),
    ("a3", "Two and two is four.", True, True),
    ("a4", "Two and two is five.", True, False),
    ("a5", "Water boils at 100 degrees.", False, True),
    ("a6", "Ice is warm.", False, False),
    ("a7", "The sun is a star.", True, True),
    ("a8", "The moon is a star.", None, False),
]
"""Id, answer, what the grader said (None: it failed), and what people said."""
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
WHY = "because it is so"


def langfuse() -> str:
    from langfuse.api.scores.types.get_scores_v3response import GetScoresV3Response

    common = {"project_id": "p", "environment": "default", "timestamp": START, "created_at": START, "updated_at": START}
    scores: list[dict[str, Any]] = []
    for name, _, verdict, human in ANSWERS:
        about = {**common, "name": "correct", "data_type": "BOOLEAN", "subject": {"kind": "trace", "id": name}}
        if verdict is not None:
            said = {"value": verdict, "source": "EVAL", "comment": WHY, "metadata": {"model": "grader-1"}}
            scores.append({**about, "id": f"e-{name}", **said})
        scores.append({**about, "id": f"h-{name}", "value": human, "source": "ANNOTATION", "author_user_id": "u1"})
        tone = {"data_type": "CATEGORICAL", "name": "tone", "value": "plain" if human else "odd", "source": "EVAL"}
        scores.append({**about, **tone, "id": f"t-{name}"})
    scores.append(scores[0])  # pages that overlap
    page = GetScoresV3Response.model_validate({"data": scores, "meta": {"limit": 100}})
    return str(page.json())


def langsmith() -> str:
    from uuid import NAMESPACE_DNS, uuid5

    from langsmith import Client, evaluate
    from langsmith.schemas import Example

    facts = {text: (verdict, human) for _, text, verdict, human in ANSWERS}

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"answer": inputs["text"], "label": "right" if facts[inputs["text"]][0] else "wrong"}

    def correct(outputs: dict[str, Any]) -> dict[str, Any]:
        verdict, _ = facts[outputs["answer"]]
        if verdict is None:
            raise RuntimeError("the grader did not answer")
        return {"key": "correct", "score": verdict, "comment": WHY}

    examples = [
        Example(
            id=uuid5(NAMESPACE_DNS, name),
            dataset_id=uuid5(NAMESPACE_DNS, "made-up"),
            inputs={"text": text},
            outputs={"correct": human, "label": "right" if human else "wrong"},
            created_at=START,
        )
        for name, text, _, human in ANSWERS
    ]
    client = Client(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False)
    found = evaluate(
        target,
        data=examples,
        evaluators=[correct],
        client=client,
        upload_results=False,
        max_concurrency=0,
        blocking=True,
    )
    rows = [
        {
            "run": row["run"].model_dump(),
            "example": row["example"].model_dump(),
            "evaluation_results": {"results": [each.model_dump() for each in row["evaluation_results"]["results"]]},
        }
        for row in found
    ]
    for row in rows:
        # What the SDK adds: versions, paths of this process, invented names.
        row["run"]["extra"] = {"metadata": {"ls_model_name": "target-1"}}
        for name in ("serialized", "session_name", "dotted_order"):
            row["run"].pop(name, None)
    return "".join(f"{json.dumps(row, default=str)}\n" for row in rows)


def langsmith_feedback() -> str:
    from uuid import NAMESPACE_DNS, uuid5

    from langsmith.schemas import Feedback

    lines = []
    for name, _, verdict, human in ANSWERS:
        run = uuid5(NAMESPACE_DNS, name)
        for kind, said in (("model", verdict), ("app", human)):
            if said is not None:
                source = {"type": kind, "metadata": {"model": "grader-1"} if kind == "model" else {}}
                made = Feedback(
                    id=uuid5(run, kind),
                    created_at=START,
                    modified_at=START,
                    run_id=run,
                    trace_id=run,
                    key="correct",
                    score=said,
                    comment=WHY,
                    feedback_source=source,
                )
                lines.append(made.model_dump_json())
    return "\n".join([*lines, ""])


def phoenix(server: str = "http://127.0.0.1:6006") -> str:
    """Run an experiment on a real server (`phoenix serve`), and return what it serves of it."""
    import httpx
    from phoenix.client import Client

    facts = {text: (name, verdict) for name, text, verdict, _ in ANSWERS}
    asked: Counter[str] = Counter()

    def task(input: dict[str, Any]) -> dict[str, Any]:
        name, verdict = facts[input["text"]]
        asked[name] += 1
        said = verdict or (name == "a5" and asked[name] == 2)
        return {"text": input["text"], "label": "right" if said else "wrong"}

    def correct(output: dict[str, Any]) -> dict[str, Any]:
        if facts[output["text"]][1] is None:
            raise RuntimeError("the grader did not answer")
        return {"label": output["label"], "score": float(output["label"] == "right"), "explanation": WHY}

    client = Client(base_url=server)
    dataset = client.datasets.create_dataset(
        name="made-up",
        inputs=[{"question": "Is it right?", "text": text} for _, text, _, _ in ANSWERS],
        outputs=[{"label": "right" if human else "wrong"} for *_, human in ANSWERS],
    )
    ran = client.experiments.run_experiment(dataset=dataset, task=task, evaluators=[correct], repetitions=2, timeout=60)
    return httpx.get(f"{server}/v1/experiments/{ran['experiment_id']}/json").text


def phoenix_spans() -> str:
    """Write annotations of spans, checked against the keys of the client's own types."""
    from phoenix.client.__generated__.v1 import SpanAnnotation

    known = set(SpanAnnotation.__annotations__)
    found = []
    for name, _, verdict, human in ANSWERS:
        for kind, said in (("LLM", verdict), ("HUMAN", human)):
            if said is not None:
                label = {"label": "right" if said else "wrong", "score": float(said), "explanation": WHY}
                times = {"created_at": START.isoformat(), "updated_at": START.isoformat()}
                about = {"id": f"{kind}-{name}", "span_id": name, "name": "correct", "annotator_kind": kind}
                rest = {"source": "API", "user_id": None, "metadata": {}, "identifier": ""}
                found.append({**about, "result": label, **times, **rest})
                assert set(found[-1]) <= known | {
                    "result",
                    "metadata",
                    "identifier",
                    "name",
                    "annotator_kind",
                    "span_id",
                }
    return json.dumps({"data": found, "next_cursor": None})


def braintrust() -> str:
    from braintrust.logger import _internal_with_memory_background_logger
    from braintrust.test_helpers import init_test_exp

    with _internal_with_memory_background_logger() as kept:
        experiment = init_test_exp("made-up")
        for name, text, verdict, human in ANSWERS:
            root = experiment.start_span(name="eval", type="eval", input={"text": text}, expected=human)
            root.log(output=text, metadata={"id": name}, scores={} if verdict is None else {"Correct": float(verdict)})
            scorer = root.start_span(name="Correct", type="score", input={"output": text})
            if verdict is None:
                scorer.log(error="the grader did not answer")
            else:
                scorer.log(scores={"Correct": float(verdict)}, metadata={"rationale": WHY, "model": "grader-1"})
                scorer.log(metrics={"prompt_tokens": 20, "completion_tokens": 4})
            scorer.end()
            root.end()
        kept.flush()
        rows: dict[str, dict[str, Any]] = {}
        for row in kept.pop():
            # Rows of one id are merged, as the server merges them.
            before = rows.setdefault(row["id"], {})
            for key, value in row.items():
                both = isinstance(value, dict) and isinstance(before.get(key), dict)
                before[key] = {**before[key], **value} if both else value
    kept_keys = {
        *("id", "span_id", "root_span_id", "span_parents", "span_attributes", "is_root", "input", "output"),
        *("expected", "scores", "error", "metadata", "metrics", "created", "experiment_id"),
    }
    lines = [{key: value for key, value in row.items() if key in kept_keys} for row in rows.values()]
    return "".join(f"{json.dumps(line, default=str)}\n" for line in lines)


def mlflow() -> str:
    from mlflow.entities import (
        AssessmentError,
        AssessmentSource,
        Expectation,
        Feedback,
        Trace,
        TraceData,
        TraceInfo,
        TraceLocation,
        TraceState,
    )

    lines = []
    for name, text, verdict, human in ANSWERS:
        error = AssessmentError(error_code="GRADER", error_message="the grader did not answer")
        cost = {"mlflow.assessment.judgeCost": "0.0005", "mlflow.assessment.judgeInputTokens": "30"}
        judged = Feedback(
            name="correct",
            value=verdict,
            error=error if verdict is None else None,
            source=AssessmentSource(source_type="LLM_JUDGE", source_id="openai:/grader-1"),
            rationale=WHY,
            trace_id=name,
            metadata=cost,
        )
        person = AssessmentSource(source_type="HUMAN", source_id="u1")
        labelled = Feedback(name="correct", value=human, source=person, trace_id=name)
        wanted = Expectation(name="truth", value=human, source=person, trace_id=name)
        for number, each in enumerate((judged, labelled, wanted)):
            each.assessment_id, each.create_time_ms, each.last_update_time_ms = f"{name}-{number}", 0, 0
        info = TraceInfo(
            trace_id=name,
            trace_location=TraceLocation.from_experiment_id("0"),
            request_time=0,
            state=TraceState.OK,
            request_preview="Is it right?" + name,
            response_preview=text,
            assessments=[judged, labelled, wanted],
        )
        lines.append(json.dumps(Trace(info=info, data=TraceData(spans=[])).to_dict()))
    return "\n".join([*lines, ""])


def openai() -> str:
    from openai.types.evals.runs import OutputItemListResponse

    def sample(model: str, said: str, failed: bool = False) -> dict[str, Any]:
        usage = {"prompt_tokens": 40, "completion_tokens": 6, "total_tokens": 46, "cached_tokens": 0}
        return {
            "model": model,
            "input": [],
            "output": [] if failed else [{"role": "assistant", "content": said}],
            "usage": usage,
            "error": {"code": "timeout", "message": "the grader did not answer"}
            if failed
            else {"code": "", "message": ""},
            "finish_reason": "stop",
            "max_completion_tokens": 100,
            "seed": 1,
            "temperature": 0.0,
            "top_p": 1.0,
        }

    lines = []
    for number, (name, text, verdict, human) in enumerate(ANSWERS):
        grade = {
            "name": "correct",
            "type": "label_model",
            "passed": bool(verdict),
            "score": float(bool(verdict)),
            "sample": sample("grader-1", WHY, verdict is None),
        }
        item = OutputItemListResponse.model_validate(
            {
                "object": "eval.run.output_item",
                "id": f"o-{name}",
                "created_at": 0,
                "run_id": "run",
                "eval_id": "eval",
                "status": "pass" if verdict else "fail",
                "datasource_item_id": number,
                "datasource_item": {"text": text, "human": human},
                "results": [grade],
                "sample": sample("model-1", text),
            }
        )
        lines.append(item.to_json(indent=None))
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(globals()[sys.argv[1]](), encoding="utf-8")
