"""What makes a component's work this component's work: for ids, digests and the list of components in a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import attrs

from jrh.document.convert import unstructure
from jrh.models.client import header_digests
from jrh.models.replies import sampling_values
from jrh.plugins.component_identity import code_digest
from jrh.plugins.specs import ModelSpec, ParserSpec
from jrh.suite.definition import ModelUse
from jrh.suite.resolved import Resolved, ResolvedSuite, parts_of
from jrh.values.json_values import Json
from jrh.values.report import ComponentUsed


def identity(resolved: Resolved[Any], suite: ResolvedSuite) -> Json:
    """Return what makes a component's work this component's work: plugin, version, code, options, models, parts.

    Code is the digest of the source wherever it is not an installed release. Parts are the parsers and validators that
    its options refer to: with another version of the parser, another verdict
    may be read from the same reply.
    """
    base = suite.suite.base
    models = [model_identity(suite.models[name], base) for name in resolved.models]
    return {
        "component": resolved.entry.qualified,
        "version": resolved.entry.version,
        "code": code_digest(resolved.sources),
        "options": _options(resolved.options, base),
        "models": models,
        "parts": [identity(part, suite) for part in resolved.parts],
    }


def stage_identity(suite: ResolvedSuite, stage: str) -> Json:
    """Return what makes the work of a stage this work, as `identity`; None without its key in the suite."""
    return identity(suite.stages[stage], suite) if stage in suite.stages else None


def model_identity(resolved: Resolved[ModelSpec], base: Path) -> Json:
    """Return what makes a model's replies this model's: provider, version, options, sampling; not limits or prices."""
    assert isinstance(resolved.use, ModelUse)
    return [
        resolved.entry.qualified,
        resolved.entry.version,
        code_digest(resolved.sources),
        _options(resolved.options, base),
        unstructure(resolved.use.sampling),
    ]


def _options(options: Any, base: Path) -> Json:
    """Return options as part of an identity: of a variable the header value in it counts, not its name.

    A header can route to another model, so its value counts. A key does not, so a new one asks nothing again.
    """
    plain = dict(cast(Mapping[str, Json], unstructure(options, base=base)))
    for attribute in attrs.fields(type(options)):
        # By convention, such an option holds the name of an environment variable, or a mapping to such names.
        if attribute.name.endswith("_env"):
            named = plain.pop(attribute.name)
            if isinstance(named, Mapping) and named:
                values = {header: os.environ.get(str(variable), "").strip() for header, variable in named.items()}
                plain[attribute.name] = cast(Json, header_digests(values))
    return plain


def describe_component(role: str, resolved: Resolved[Any], base: Path, *, simulated: bool = False) -> ComponentUsed:
    """Describe a component for the report."""
    options = cast(Mapping[str, Json], unstructure(resolved.options, base=base))
    if isinstance(resolved.use, ModelUse):
        options = {**options, **sampling_values(resolved.use.sampling)}
    return ComponentUsed(
        role=role,
        name=resolved.use.name,
        component=resolved.entry.qualified,
        version=resolved.entry.version,
        digest=code_digest(resolved.sources),
        options=options,
        simulated=simulated,
    )


def parts_used(components: Iterable[Resolved[Any]], base: Path) -> list[ComponentUsed]:
    """Describe the parsers and validators that components refer to, each once."""
    parts: list[ComponentUsed] = []
    for part in parts_of(components):
        described = describe_component("parser" if isinstance(part.entry.spec, ParserSpec) else "validator", part, base)
        # A parser that several judges use is one line of the report.
        if described not in parts:
            parts.append(described)
    return parts
