"""The published schemas, each checked and compiled once: checking one takes a third of a second."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"


def validate(document: object, name: str) -> None:
    """Raise `jsonschema.ValidationError` where a document does not fit `schemas/NAME.schema.json`."""
    _validator(name).validate(document)


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
