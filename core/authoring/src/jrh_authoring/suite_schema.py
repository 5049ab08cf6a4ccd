"""JSON Schemas of what people write and what a run writes, generated from the classes that read and write it."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
import types
from collections.abc import Collection, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args, get_origin

import attrs
from attrs import define, field
from jrh import Record, RunReport, Same, Sampling, Text
from jrh.document import option_types
from jrh.document.convert import EXPECTATIONS, to_json
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.suite import syntax
from jrh.suite.definition import Limits, Price, SuiteSettings, Turns
from jrh.suite.syntax import Named, Role, all_modes
from jrh.values import Part, TablePart, TextPart

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


DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
FILES: Final = ("suite.schema.json", "record.schema.json", "results.schema.json")
"""What `write_schemas` writes."""


def suite_schema(plugins: Plugins) -> Schema:
    """Return the schema of a suite; components and their options are those that are installed."""
    return _SuiteSchema(plugins).build()


def record_schema() -> Schema:
    """Return the schema of a record as the kernel writes it."""
    schemas = TypeSchemas(written=False)
    schemas.of(Record)
    return _document("One row of a run: trial, reply and verdict", schemas.definitions.pop("Record"), schemas)


def results_schema(plugins: Plugins) -> Schema:
    """Return the schema of the report for programs: a `RunReport` without its records and their texts.

    Sections have parts of the kinds that are installed.
    """
    kinds = dict.fromkeys(kind for entry in plugins.sections for kind in entry.spec.part_kinds())
    schemas = TypeSchemas(written=False, kinds={Part: (TablePart, TextPart, *kinds)})
    # Records and evidence stay in the store of the run, see `RunReport.NOT_IN_RESULTS`.
    properties = schemas.properties(RunReport, leave_out=RunReport.NOT_IN_RESULTS)
    results = schemas.mapping(properties, required=list(properties))
    return _document("The results of a run, without its records", results, schemas)


def write_schemas(directory: Path, plugins: Plugins) -> list[Path]:
    """Write the three schemas into a directory; the same plugins give the same bytes."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, schema in zip(FILES, (suite_schema(plugins), record_schema(), results_schema(plugins)), strict=True):
        path = directory / name
        path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        written.append(path)
    return written


def _document(title: str, schema: Schema, schemas: TypeSchemas) -> Schema:
    # Sorted: the same plugins give the same bytes, whatever the order in which they were loaded.
    definitions = dict(sorted(schemas.definitions.items()))
    return {"$schema": DRAFT, "title": title, **schema, **({"$defs": definitions} if definitions else {})}


class _SuiteSchema:
    """Builds the schema of a suite, section by section."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins
        self._schemas = TypeSchemas(written=True)

    def build(self) -> Schema:
        task_options = dict.fromkeys(entry.spec.options for entry in all_modes(self._plugins))
        # Components are described once and referred to: a suite can name a perturber in several places.
        self._schemas.definitions |= {
            "data": any_of(self._flat(syntax.DATA)),
            "task": any_of([self._schemas.of(cls) for cls in task_options]),
            "perturber": self._entry(syntax.TEST),
            "chain": _list_of(_reference("perturber")),
            "test": self._test(),
            "model": any_of(self._models()),
            "parser": any_of(self._flat(syntax.PARSER)),
        }
        for role in (syntax.VALIDATOR, syntax.JUDGE, syntax.METRIC, syntax.ALLOCATOR, syntax.REPORTER):
            self._schemas.definitions[role.key] = self._entry(role)
        properties = {**self._sections(), **self._schemas.properties(SuiteSettings)}
        stages = [entry.spec for entry in self._plugins.stages if entry.spec.key and not entry.spec.of_data]
        properties |= {spec.key: any_of([*self._stage(spec.options), {"type": "null"}]) for spec in stages}
        sections = {**syntax.SECTIONS, **{spec.key: spec.summary for spec in stages}}
        described = {name: {**properties[name], "description": help_text} for name, help_text in sections.items()}
        suite = self._schemas.mapping(described, required=["name", "judges"])
        # One task at the top level, or a list of tasks: both or none is a mistake.
        suite["oneOf"] = [{"required": ["data", "task"]}, {"required": ["tasks"]}]
        return _document("A suite of jrh", suite, self._schemas)

    def _stage(self, options: type) -> list[Schema]:
        """Describe the options of a stage, and the value alone where there is one option."""
        alone = list(self._schemas.properties(options).values())
        return [*(alone if len(alone) == 1 else []), self._schemas.of(options)]

    def _sections(self) -> dict[str, Schema]:
        name = {"type": "string", "minLength": 1}
        single = {"name": name, "data": _reference("data"), "task": _reference("task")}
        tests = {"type": "array", "items": _reference("test")}
        task = self._schemas.mapping({**single, "tests": tests}, required=list(single))
        metrics = {"type": "array", "items": _reference("metric")}
        return {
            **single,
            "tasks": {"type": "array", "minItems": 1, "items": task},
            "models": {"type": "object", "additionalProperties": _reference("model")},
            "parsers": {"type": "object", "additionalProperties": _reference("parser")},
            "tests": tests,
            "judges": {"type": "array", "minItems": 1, "items": _reference("judge")},
            "metrics": any_of([metrics, self._schemas.mapping({syntax.ADD: metrics}, required=[syntax.ADD])]),
            "allocate": any_of([_reference("allocator"), {"type": "null"}]),
            "reports": {"type": "array", "items": _reference("reporter")},
        }

    def _entry(self, role: Role) -> Schema:
        """Describe the three forms of a list entry."""
        registry = self._registry(role)
        names = [name for entry in registry for name in _names(entry, registry)]
        return any_of([{"enum": names}, *self._short(role), *self._flat(role)] if names else [])

    def _test(self) -> Schema:
        """Describe an entry of `tests`: a perturber, a chain as a list or with settings, or a crossing."""
        ours = self._schemas.properties(syntax.TestSettings)
        ours["validate"] |= {"items": _reference("validator")}
        factor = any_of([_reference("perturber"), _reference("chain")])
        factors = {**_list_of(factor), "maxItems": syntax.MOST_FACTORS}
        written = [
            self._schemas.mapping({key: part, **ours}, required=[key], description=text)
            for key, part, text in (
                (syntax.CHAIN, _reference("chain"), "Several perturbers in turn, as one condition."),
                (syntax.CROSS, factors, "A test for every combination of several perturbers."),
            )
        ]
        return any_of([_reference("perturber"), _reference("chain"), *written])

    def _short(self, role: Role) -> list[Schema]:
        described = []
        registry = self._registry(role)
        for entry in registry:
            options = self._schemas.mapping(
                self._properties(entry, role), required=option_types.mandatory_names(entry.spec.options)
            )
            named = {name: {"anyOf": [options, {"type": "null"}]} for name in _names(entry, registry)}
            schema = self._schemas.mapping(named, required=[], description=entry.spec.summary)
            described.append({**schema, "minProperties": 1, "maxProperties": 1})
        return described

    def _flat(self, role: Role) -> list[Schema]:
        registry = self._registry(role)
        return [self._flat_entry(entry, registry, role.key, self._properties(entry, role)) for entry in registry]

    def _models(self) -> list[Schema]:
        registry = self._plugins.models
        ours = self._schemas.properties(Sampling) | self._schemas.properties(Limits) | self._schemas.properties(Turns)
        ours["price"] = self._schemas.of(Price)
        return [
            self._flat_entry(entry, registry, "provider", ours | self._schemas.properties(entry.spec.options))
            for entry in registry
        ]

    def _flat_entry(
        self, entry: Entry[Any], registry: Registry[Any], key: str, properties: dict[str, Schema]
    ) -> Schema:
        """Describe a component as a mapping that names it under a key, with its options next to it."""
        required = [key, *option_types.mandatory_names(entry.spec.options)]
        keys = {key: {"enum": _names(entry, registry)}, **properties}
        return self._schemas.mapping(keys, required=required, description=entry.spec.summary)

    def _properties(self, entry: Entry[Any], role: Role) -> dict[str, Schema]:
        options = self._schemas.properties(entry.spec.options)
        ours = self._schemas.properties(role.settings)
        if role is syntax.DATA:
            stages = (stage.spec for stage in self._plugins.stages if stage.spec.of_data)
            ours |= {spec.key: any_of(self._stage(spec.options)[:1]) for spec in stages}
        if issubclass(role.settings, syntax.TestSettings):
            ours["validate"] |= {"items": _reference("validator")}
        # `name` is the suite's name for the component even where the component has an option of that name.
        always = {"name": ours["name"]} if issubclass(role.settings, Named) else {}
        return {**ours, **options, **always}

    def _registry(self, role: Role) -> Registry[Any]:
        registry: Registry[Any] = getattr(self._plugins, role.plural)
        return registry


def _reference(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _list_of(entry: Schema) -> Schema:
    return {"type": "array", "minItems": 2, "items": entry}


def _names(entry: Entry[Any], registry: Registry[Any]) -> list[str]:
    """Return how an entry may be called: by its bare name only where that is unambiguous."""
    alone = sum(other.spec.name == entry.spec.name for other in registry) == 1
    return [entry.spec.name, entry.qualified] if alone else [entry.qualified]
