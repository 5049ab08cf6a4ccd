"""One entry of a suite in its three forms: a name, a name with options, or one mapping of name and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from jrh.document import option_types
from jrh.document.nodes import Node
from jrh.errors import JrhError
from jrh.plugins.registry import Plugins
from jrh.suite.definition import Use
from jrh.suite.syntax import Role


@frozen(kw_only=True)
class Written:
    """One entry, taken apart."""

    component: str
    settings: Any
    """An instance of the role's settings class."""
    options: Mapping[str, Any]
    place: Node
    """The mapping the options are in; of an entry that is just a name the entry itself."""

    def common(self) -> dict[str, Any]:
        """Return what every `Use` is made of."""
        name = self.settings.name or self.component.rpartition("/")[2]
        return {"name": name, "component": self.component, "options": self.options, "location": self.place.at}


def read_use(node: Node, role: Role, plugins: Plugins) -> Use | None:
    """Read an entry of a role whose only setting is the name."""
    written = read_entry(node, role, plugins)
    return None if written is None else Use(**written.common())


def read_entry(node: Node, role: Role, plugins: Plugins) -> Written | None:
    """Take an entry apart, in whichever form it is written."""
    value = node.value
    if isinstance(value, str):
        return _taken_apart(node.holding({}), value, role, plugins)
    if isinstance(value, Mapping) and role.key in value:
        return read_flat_entry(node, role, plugins)
    if isinstance(value, Mapping) and len(value) == 1:
        component, options = next(iter(value.items()))
        if options is None or isinstance(options, Mapping):
            return _taken_apart(node.holding(options or {}, component), component, role, plugins)
        node.report(f"expected a mapping of options, got {option_types.described(options)}", component)
        return None
    node.report(_no_entry(value, role))
    return None


def read_flat_entry(node: Node, role: Role, plugins: Plugins) -> Written | None:
    """Take apart an entry that is one mapping of name and options."""
    options = {key: part for key, part in node.value.items() if key != role.key}
    component = node.value[role.key]
    if isinstance(component, str) and component:
        return _taken_apart(node.holding(options), component, role, plugins)
    node.report(_no_name(component, role), role.key)
    return None


def own_options(plugins: Plugins, plural: str, component: str) -> frozenset[str]:
    """Return the names of a component's own options, which the suite's keys of the same name give way to."""
    try:
        entry = getattr(plugins, plural).find(component)
    except JrhError:
        return frozenset()  # reported where components are looked up
    return frozenset(option_types.field_names(entry.spec.options))


def _taken_apart(options: Node, component: str, role: Role, plugins: Plugins) -> Written | None:
    """Tell the suite's own keys from the component's options."""
    if not component:
        options.report(_no_name(component, role))
        return None
    own = own_options(plugins, role.plural, component) - ({"name"} if role.own_name else set())
    ours = set(option_types.field_names(role.settings)) - own
    return Written(
        component=component,
        settings=options.read_keys_of(role.settings, leave=own),
        options={key: part for key, part in options.value.items() if key not in ours},
        place=options,
    )


def _no_name(component: object, role: Role) -> str:
    return f"expected the name of a {role.key}, got {option_types.described(component)}"


def _no_entry(value: Any, role: Role) -> str:
    if not isinstance(value, Mapping):
        return f"expected the name of a {role.key} or a mapping, got {option_types.described(value)}"
    forms = f"`{role.key}: NAME` with the options next to it, or `NAME: {{options}}`"
    empty = next((key for key, part in value.items() if part is None), None)
    hint = f"; should the options of '{empty}' be indented further?" if empty else ""
    return f"no key '{role.key}' says which {role.key} this is{hint}\nWrite {forms}."
