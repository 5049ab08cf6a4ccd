"""JSON Schemas of what people write and what a run writes, generated from the classes that read and write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from jrh.document import option_types
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.suite import syntax
from jrh.suite.definition import Limits, Price, SuiteSettings, Turns
from jrh.suite.syntax import Named, Role, all_modes
from jrh.values.cases import Sampling
from jrh.values.report import RunReport
from jrh.values.sections import Part, TablePart, TextPart
from jrh.values.verdicts import Record

from jrh_authoring.type_schemas import Schema, TypeSchemas, any_of

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
    record = schemas.definitions.pop("Record")
    return _document("One row of a run: trial, reply and verdict", record, schemas)


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
