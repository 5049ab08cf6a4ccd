"""Judges that ask a function, an address or a classifier for scores: one call for a response or for every option."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from jrh import BuildContext, JrhError, Judgement, Mode, Question, Reply, Status, Verdict
from jrh.plugins import Judge
from jrh_authoring import Asker, Bounds, Call, Outcome, as_values, build_endpoint, failure, function_call

from jrh_reward.deciding import Decider, safe_repr, score_of
from jrh_reward.options import ClassifierOptions, Decision, ScoreFunctionOptions, ScoreHttpOptions, Shown

_Asked = tuple[Outcome, int, float]


class ScoreJudge:
    """Asks for scores, and turns them into verdicts."""

    def __init__(
        self,
        call: Call,
        bounds: Bounds,
        decider: Decider,
        *,
        fingerprint: str,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Keep what asks, its limits, what decides, and the clean-up for the end."""
        self._asker = Asker(call, bounds)
        self._cost = bounds.cost
        self._decider = decider
        self._fingerprint = fingerprint
        self._close = close

    async def judge(self, question: Question) -> Judgement:
        """Ask for the scores; failures and what is no number become statuses."""
        # All options at once; a score depends on its own response alone, so that no order can matter.
        answers = await asyncio.gather(*(self._asker.ask(values) for values in _prompts(question)))
        return Judgement(verdict=self._verdict(answers, question), reply=self._reply(answers))

    async def aclose(self) -> None:
        """Close the judge's resources; asking again reopens them."""
        if self._close is not None:
            await self._close()

    def _verdict(self, asked: list[_Asked], question: Question) -> Verdict:
        scores: list[float] = []
        for outcome, _, _ in asked:
            # One missing score leaves a comparison undecided, so that the first failure is the verdict.
            if outcome.status is not Status.OK:
                return Verdict(status=outcome.status, detail=outcome.detail)
            score = score_of(outcome.value)
            if isinstance(score, Verdict):
                return score
            scores.append(score)
        return self._decider.verdict(scores, question.task.scale)

    def _reply(self, asked: list[_Asked]) -> Reply:
        attempts = sum(number for _, number, _ in asked)
        failed = next((outcome for outcome, _, _ in asked if outcome.status is not Status.OK), Outcome())
        return Reply(
            status=failed.status,
            text="\n".join(outcome.text or safe_repr(outcome.value)[:200] for outcome, _, _ in asked),
            cost=None if self._cost is None else self._cost * attempts,
            # The options are asked at the same time, so that the slowest one is the latency.
            latency=max(seconds for _, _, seconds in asked),
            fingerprint=self._fingerprint,
            detail=failed.detail,
            attempts=attempts,
        )


def _prompts(question: Question) -> list[Callable[[], dict[str, object]]]:
    """Return what asks about each response: of a comparison, every option alone, as the field `response`."""
    if question.task.mode is not Mode.PAIRWISE:
        return [lambda: as_values(question)]
    names = question.task.judged_fields

    def alone(name: str) -> dict[str, object]:
        values = as_values(question)
        fields, task = values["fields"], values["task"]
        assert isinstance(fields, dict)
        assert isinstance(task, dict)
        other_fields = {key: value for key, value in fields.items() if key not in names}
        shown = {**other_fields, "response": fields.get(name)}
        # A reward model scores one response: seen from there the task is pointwise and has no labels.
        return {**values, "task": {**task, "mode": Mode.POINTWISE.value}, "labels": [], "fields": shown}

    # The default binds the name now; a plain closure would see the last one in every call.
    return [lambda name=name: alone(name) for name in names]  # type: ignore[misc]


def function_judge(options: ScoreFunctionOptions, context: BuildContext) -> Judge:
    """Load the callable and make a judge of it.

    Raises:
        JrhError: The callable cannot be loaded, or scores cannot become labels of the scale.
    """
    decider = _decider(options.decide, context)
    return ScoreJudge(function_call(options, context), options, decider, fingerprint=f"function/{options.function}")


def http_judge(options: ScoreHttpOptions, context: BuildContext) -> Judge:
    """Make a judge of the endpoint.

    Raises:
        JrhError: The environment variable for the token is not set, or scores cannot become labels of the scale.
    """
    endpoint, decider = build_endpoint(options, context), _decider(options.decide, context)
    return ScoreJudge(endpoint.call, options, decider, fingerprint=endpoint.fingerprint, close=endpoint.aclose)


def _decider(decision: Decision, context: BuildContext) -> Decider:
    return Decider.of(decision, context.task, context.name)


_TWO: Final = 2
_NO_LIMIT: Final = 1_000_000


def classifier_judge(options: ClassifierOptions, context: BuildContext) -> Judge:
    """Make a judge of the model, which is loaded for the first question.

    Raises:
        JrhError: transformers or torch is not installed, or scores cannot become labels of the scale.
    """
    try:
        # Looked for when the judge is built, so that a missing package stops the run before it starts.
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise JrhError(
            f"judge '{context.name}': needs torch and transformers; install them with "
            '`pip install "jrh-reward[classifier]"`'
        ) from error
    decider = Decider.of(options.decide, context.task, context.name)
    directory = context.base / options.model
    scorer = _Classifier(options, str(directory) if directory.is_dir() else options.model)
    return ScoreJudge(scorer.call, options, decider, fingerprint=f"classifier/{options.model}")


class _Classifier:
    """Scores one text at a time, on the device that torch uses by default."""

    def __init__(self, options: ClassifierOptions, source: str) -> None:
        self._options = options
        self._source = source
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    async def call(self, values: dict[str, object]) -> Outcome:
        """Score one response; failures are outcomes."""
        return await asyncio.to_thread(self._score, values["fields"])

    def _score(self, fields: Any) -> Outcome:
        # The first question loads the model, and the others wait for it.
        with self._lock:
            try:
                tokenizer, model = self._loaded or self._load()
                return self._of_texts(tokenizer, model, fields)
            except Exception as error:  # a failing model must not fail the run
                return failure(f"the classifier raised {type(error).__name__}: {error}", retry=False)

    def _load(self) -> tuple[Any, Any]:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        model = AutoModelForSequenceClassification.from_pretrained(self._source).eval()
        self._loaded = (AutoTokenizer.from_pretrained(self._source), model)
        return self._loaded

    def _of_texts(self, tokenizer: Any, model: Any, fields: Mapping[str, object]) -> Outcome:
        import torch

        request, response = fields.get("request") or "", fields.get("response")
        if not isinstance(request, str) or not isinstance(response, str):
            return failure("request and response have to be text", status=Status.UNPARSABLE, retry=False)
        if self._options.shown is Shown.CHAT:
            messages = [{"role": "user", "content": request}, {"role": "assistant", "content": response}]
            text = tokenizer.apply_chat_template(messages, tokenize=False)
            # The chat template has written the special tokens already.
            tokens = tokenizer(text, return_tensors="pt", add_special_tokens=False)
        else:
            tokens = tokenizer(request, response, return_tensors="pt")
        length, most = int(tokens["input_ids"].shape[-1]), self._most(tokenizer, model)
        if length > most:
            detail = f"{length:,} tokens; the model reads {most:,}"
            return failure(detail, status=Status.CONTEXT_OVERFLOW, retry=False)
        with torch.inference_mode():
            outputs = model(**tokens).logits[0].tolist()
        return self._of_outputs(outputs)

    def _most(self, tokenizer: Any, model: Any) -> int:
        if self._options.longest is not None:
            return self._options.longest
        places = getattr(model.config, "max_position_embeddings", None) or _NO_LIMIT
        # Tokenizers without a limit state a huge number, and some models state none.
        return int(min(tokenizer.model_max_length, places))

    def _of_outputs(self, outputs: list[float]) -> Outcome:
        chosen = self._options.output
        if chosen is not None:
            if chosen >= len(outputs):
                return failure(f"the model has {len(outputs)} outputs, none with number {chosen}", retry=False)
            return Outcome(value=outputs[chosen])
        if len(outputs) > _TWO:
            return failure(f"the model has {len(outputs)} outputs; say which is the score with `output`", retry=False)
        # Of two outputs the difference of logits, which orders texts as the probability of the second does.
        return Outcome(value=outputs[-1] - (outputs[0] if len(outputs) == _TWO else 0.0))
