"""Ask a sequence classifier of transformers for scores."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any, Final

from jrh import BuildContext, JrhError, Status
from jrh.plugins import Judge
from jrh_authoring import Outcome, failed

from jrh_reward.deciding import Decider
from jrh_reward.judges import ScoreJudge
from jrh_reward.options import ClassifierOptions, Shown

_TWO: Final = 2
_NO_LIMIT: Final = 1_000_000


def classifier_judge(options: ClassifierOptions, context: BuildContext) -> Judge:
    """Make a judge of the model, which is loaded for the first question.

    Raises:
        JrhError: transformers or torch is not installed, or scores cannot become labels of the scale.
    """
    try:
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
        with self._lock:
            try:
                tokenizer, model = self._loaded or self._load()
                return self._of_texts(tokenizer, model, fields)
            except Exception as error:  # a failing model must not fail the run
                return failed(f"the classifier raised {type(error).__name__}: {error}", retry=False)

    def _load(self) -> tuple[Any, Any]:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        model = AutoModelForSequenceClassification.from_pretrained(self._source).eval()
        self._loaded = (AutoTokenizer.from_pretrained(self._source), model)
        return self._loaded

    def _of_texts(self, tokenizer: Any, model: Any, fields: Mapping[str, object]) -> Outcome:
        import torch

        request, response = fields.get("request") or "", fields.get("response")
        if not isinstance(request, str) or not isinstance(response, str):
            return failed("request and response have to be text", status=Status.UNPARSABLE, retry=False)
        if self._options.shown is Shown.CHAT:
            messages = [{"role": "user", "content": request}, {"role": "assistant", "content": response}]
            text = tokenizer.apply_chat_template(messages, tokenize=False)
            tokens = tokenizer(text, return_tensors="pt", add_special_tokens=False)
        else:
            tokens = tokenizer(request, response, return_tensors="pt")
        length, most = int(tokens["input_ids"].shape[-1]), self._most(tokenizer, model)
        if length > most:
            detail = f"{length:,} tokens; the model reads {most:,}"
            return failed(detail, status=Status.CONTEXT_OVERFLOW, retry=False)
        with torch.inference_mode():
            outputs = model(**tokens).logits[0].tolist()
        return self._of_outputs(outputs)

    def _most(self, tokenizer: Any, model: Any) -> int:
        if self._options.longest is not None:
            return self._options.longest
        places = getattr(model.config, "max_position_embeddings", None) or _NO_LIMIT
        return int(min(tokenizer.model_max_length, places))

    def _of_outputs(self, outputs: list[float]) -> Outcome:
        chosen = self._options.output
        if chosen is not None:
            if chosen >= len(outputs):
                return failed(f"the model has {len(outputs)} outputs, none with number {chosen}", retry=False)
            return Outcome(value=outputs[chosen])
        if len(outputs) > _TWO:
            return failed(f"the model has {len(outputs)} outputs; say which is the score with `output`", retry=False)
        return Outcome(value=outputs[-1] - (outputs[0] if len(outputs) == _TWO else 0.0))
