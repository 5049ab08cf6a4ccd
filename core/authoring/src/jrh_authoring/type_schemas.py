"""JSON Schema (draft 2020-12) of the types that `convert` reads and writes."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Collection, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args, get_origin

import attrs
from attrs import define, field
from jrh.document import option_types
from jrh.document.convert import EXPECTATIONS, to_json
from jrh.values.cases import Same
from jrh.values.option_values import Text

from jrh_authoring.structured import object_schema

Schema: TypeAlias = dict[str, Any]

_LEAVES: Final[Mapping[Any, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
    Path: {"type": "string", "minLength": 1},
}
_FILE: Final[Schema] = {"type": "string", "description": "A UTF-8 file, relative to the suite."}
_TEXT: Final[Schema] = {"anyOf": [{"type": "string"}, object_schema({"file": _FILE})]}
_BOUNDS: Final[Mapping[str, str]] = {
    ">=": "minimum",
    ">": "exclusiveMinimum",
    "<=": "maximum",
    "<": "exclusiveMaximum",
}


@define(kw_only=True)
class TypeSchemas:
    """Describes types, and keeps the descriptions of classes for `$defs`."""

    written: bool
    """What people write, with defaults left out and short forms; otherwise what the kernel writes, every field."""
    kinds: Mapping[type, tuple[type, ...]] = field(factory=dict)
    """Protocol -> the classes that follow it."""
    definitions: dict[str, Schema] = field(factory=dict)

    def of(self, kind: Any) -> Schema:
        """Return the schema of a type."""
        if kind in _LEAVES:
            return dict(_LEAVES[kind])
        if kind is Text:
            return dict(_TEXT)
        if option_types.is_json(kind):
            return {}
        if option_types.is_newtype(kind):
            role = option_types.REFERENCES.get(kind)
            return self.of(kind.__supertype__) | ({"description": f"The name of a {role}."} if role else {})
        if option_types.is_choice(kind):
            return {"enum": option_types.choices(kind)}
        return self._compound(kind)

    def properties(self, cls: type, *, leave_out: Collection[str] = ()) -> dict[str, Schema]:
        """Return the schema of every field of an attrs class but these, with help and defaults."""
        attributes = [attribute for attribute in option_types.settable_fields(cls) if attribute.name not in leave_out]
        return {attribute.name: self._property(cls, attribute) for attribute in attributes}

    def mapping(self, properties: Mapping[str, Schema], *, required: list[str], description: str = "") -> Schema:
        """Return the schema of a mapping with these keys and no others."""
        return {
            "type": "object",
            **({"description": description} if description else {}),
            "properties": dict(properties),
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    def _compound(self, kind: Any) -> Schema:
        if option_types.is_union(kind) or kind in self.kinds:
            # Expectations are written with a `kind`: all but one have no fields that could tell which of them is meant.
            if Same in get_args(kind):
                return self._expectation(kind)
            return {"anyOf": [self.of(member) for member in self.kinds.get(kind, get_args(kind))]}
        if option_types.is_mapping(kind):
            return {
                "type": "object",
                "additionalProperties": self.of((get_args(kind) or (str, option_types.JsonValue))[1]),
            }
        if option_types.is_attrs(kind):
            return self._reference(kind)
        members = get_args(kind)
        if get_origin(kind) is tuple and members[-1] is not Ellipsis:
            fixed = {"prefixItems": [self.of(member) for member in members], "items": False}
            return {"type": "array", **fixed, "minItems": len(members)}
        return {"type": "array", "items": self.of(members[0])}

    def _expectation(self, kind: Any) -> Schema:
        tagged = []
        for name, cls in EXPECTATIONS.items():
            properties = {"kind": {"const": name}, **self.properties(cls)}
            tagged.append(self.mapping(properties, required=list(properties), description=_first_line(cls)))
        return {"anyOf": [*tagged, *([{"type": "null"}] if types.NoneType in get_args(kind) else [])]}

    def _reference(self, cls: type) -> Schema:
        package = cls.__module__.partition(".")[0]
        # Plugins may have classes of the same name, the kernel has not.
        name = cls.__name__ if package == "jrh" else f"{package}.{cls.__name__}"
        if name not in self.definitions:
            self.definitions[name] = {}  # a class may hold itself
            required = [
                attribute.name
                for attribute in option_types.settable_fields(cls)
                if not self.written or attribute.default is attrs.NOTHING
            ]
            self.definitions[name] = self.mapping(self.properties(cls), required=required, description=_first_line(cls))
        return {"$ref": f"#/$defs/{name}"}

    def _property(self, cls: type, attribute: attrs.Attribute[Any]) -> Schema:
        schema = self.of(attribute.type) | _bounds(attribute.validator)
        described = attribute.metadata.get("help") or _field_docs(cls).get(attribute.name)
        if described:
            schema["description"] = described
        default = attribute.default
        # A default made by a factory has no single value to print.
        if self.written and not isinstance(default, attrs.Factory) and default is not attrs.NOTHING:  # type: ignore[arg-type]
            schema["default"] = to_json(default)
        return schema


def any_of(schemas: list[Schema]) -> Schema:
    """Return the schema of what fits one of several; where there are none, nothing fits."""
    return {"anyOf": schemas} if schemas else {"not": {}}


def _first_line(cls: type) -> str:
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def _bounds(validator: Any) -> Schema:
    """Return the bounds that attrs' own comparing validators set."""
    # `optional(ge(0))` wraps a validator, `and_` holds several; others have no bounds.
    inner = getattr(validator, "validator", None) or validator
    parts = getattr(inner, "_validators", None) or [inner]
    operators = [(getattr(part, "compare_op", ""), part) for part in parts]
    return {_BOUNDS[operator]: part.bound for operator, part in operators if operator in _BOUNDS}


@cache
def _field_docs(cls: type) -> Mapping[str, str]:
    """Return the docstrings below the fields of a class in its source."""
    docs: dict[str, str] = {}
    # From the base down, so that a class replaces what its base says of a field.
    for base in reversed(cls.__mro__[:-1]):
        try:
            body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        except (OSError, TypeError):
            continue  # a class made without a source file has no such texts
        statements = body.body if isinstance(body, ast.ClassDef) else []
        for statement, below in pairwise(statements):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                text = below.value if isinstance(below, ast.Expr) else None
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    docs[statement.target.id] = inspect.cleandoc(text.value)
    return docs
