"""Convert plain values strictly: no coercion, and a readable message with its place for every rejected value."""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, cast, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.errors import AttributeValidationNote, BaseValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from jrh.document import option_types
from jrh.document.positions import UTF16, Location, did_you_mean, not_utf8, read_plain, unknown_key
from jrh.errors import JrhError, PluginError
from jrh.values.json_values import Json
from jrh.values.option_values import Text

Mistake: TypeAlias = tuple[Location, str]
"""Path relative to the converted value, and the message."""

# As the validators of attrs write it.
_COMPARED: Final = re.compile(r"(?s)(Length of )?'\w+' must be (>=|<=|>|<|==) (\S+): (.*)")
_COMPARISONS: Final = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than", "==": "exactly"}


class Mistakes(Exception):
    """Report all mistakes within one value."""

    def __init__(self, found: Sequence[Mistake]) -> None:
        """Keep what was found, in the order of the text."""
        super().__init__("; ".join(message for _, message in found))
        self.found = tuple(found)

    @classmethod
    def of(cls, message: str, *at: str | int) -> Mistakes:
        """Report a single mistake."""
        return cls([(at, message)])


def mistakes_of(error: Exception) -> list[Mistake]:
    """Describe conversion errors in readable messages; re-raise unexpected exceptions, which are bugs."""
    if isinstance(error, Mistakes):
        return list(error.found)
    if isinstance(error, BaseValidationError):
        return [mistake for part in error.exceptions for mistake in _mistakes_of_part(part, error.cl)]
    if isinstance(error, JrhError) and not isinstance(error, PluginError):
        return [((), str(error))]
    if isinstance(error, ValueError | TypeError) and error.args and isinstance(error.args[0], str):
        return [((), _validator_words(error.args[0]))]
    raise error


def _mistakes_of_part(error: Exception, cls: type) -> list[Mistake]:
    if isinstance(error, ForbiddenExtraKeysError):
        known = option_types.field_names(cls)
        return [((key,), unknown_key(key, known)) for key in sorted(map(str, error.extra_fields))]
    notes = [note for note in getattr(error, "__notes__", ()) if isinstance(note, AttributeValidationNote)]
    if not notes:
        return mistakes_of(error)
    name = notes[-1].name
    if isinstance(error, KeyError) and error.args == (name,):
        return [((), f"missing key '{name}'")]
    return [((name, *at), message) for at, message in mistakes_of(error)]


def _validator_words(message: str) -> str:
    """Rewrite the message of an attrs validator for readers who do not know Python."""
    compared = _COMPARED.fullmatch(message)
    if compared is None:
        return re.sub(r"^'\w+' (?=must)", "", message)
    length, comparison, bound, value = compared.groups()
    wanted = f"{_COMPARISONS[comparison]} {bound}"
    return f"the length must be {wanted}, got {value}" if length else f"must be {wanted}, got {value}"


Hook: TypeAlias = Callable[[Any, Any], Any]


def strict_converter(base: Path) -> Converter:
    """Build the converter for user-written values; relative paths start at `base`."""
    converter = Converter(structure_fallback_factory=_reject_type)

    def add(predicate: Callable[[Any], bool], hook: Hook) -> None:
        converter.register_structure_hook_func(predicate, hook)

    converter.register_structure_hook_factory(option_types.is_attrs, lambda cls: _attrs_hook(cls, converter))
    add(option_types.is_sequence, lambda value, kind: _sequence(value, kind, converter))
    add(option_types.is_mapping, lambda value, kind: _mapping(value, kind, converter))
    add(option_types.is_union, lambda value, kind: _union(value, kind, converter))
    add(option_types.is_newtype, lambda value, kind: _newtype(value, kind, converter))
    add(option_types.is_choice, _choice)
    add(option_types.is_json, _json)
    # Register by class, not by predicate: cattrs' own hooks for these classes would take precedence.
    for leaf, hook in _LEAVES.items():
        converter.register_structure_hook(leaf, hook)
    converter.register_structure_hook(Path, lambda value, _: _path(value, base))
    converter.register_structure_hook(Text, lambda value, _: _text(value, base))
    return converter


def _reject_type(kind: Any) -> Hook:
    raise Mistakes.of(f"this option has a type that a suite cannot express: {kind}; tell the plugin author")


def _type_mistake(kind: Any, value: object) -> Mistakes:
    unquoted = isinstance(value, bool | int | float) and str in (kind, *get_args(kind))
    hint = "; write it in quotes" if unquoted else ""
    return Mistakes.of(f"expected {option_types.describe_type(kind)}, got {option_types.describe_value(value)}{hint}")


def _each(parts: Iterable[tuple[str | int, object, Any]], read: Hook) -> list[Any]:
    """Convert all parts, given as position, value and type, before reporting any mistake."""
    done: list[Any] = []
    mistakes: list[Mistake] = []
    for at, value, kind in parts:
        try:
            done.append(read(value, kind))
        except Exception as error:
            mistakes.extend(((at, *deeper), message) for deeper, message in mistakes_of(error))
    if mistakes:
        raise Mistakes(mistakes)
    return done


def _leaf(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _type_mistake(kind, value)
    return value


def _float(value: object, kind: Any) -> float:
    # `True` is an int in Python, and no number in a suite.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _type_mistake(kind, value)
    if isinstance(value, float) and not math.isfinite(value):
        raise Mistakes.of(f"expected a finite number, got {value}")
    try:
        return float(value)
    # An int has any size in Python, a float has not.
    except OverflowError:
        raise Mistakes.of("the number is too large") from None


def _json(value: object, kind: Any) -> Json:
    if isinstance(value, float):
        return _float(value, float)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        keys = [_leaf(key, str) for key in value]
        return dict(zip(keys, _each(((key, value[key], kind) for key in keys), _json), strict=True))
    if isinstance(value, list | tuple):
        return _each(((at, part, kind) for at, part in enumerate(value)), _json)
    raise _type_mistake(kind, value)


_LEAVES: Final[Mapping[Any, Hook]] = {**dict.fromkeys((str, int, bool, types.NoneType), _leaf), float: _float}


def _choice(value: object, kind: Any) -> Any:
    alternatives = option_types.choices(kind)
    if any(type(value) is type(known) and value == known for known in alternatives):  # because `1 == True`
        return kind(value) if isinstance(kind, type) else value
    texts = [known for known in alternatives if isinstance(known, str)]
    close = did_you_mean(value, texts).strip() if isinstance(value, str) else ""
    raise Mistakes.of("\n".join(filter(None, [str(_type_mistake(kind, value)), close])))


def _newtype(value: object, kind: Any, converter: Converter) -> Any:
    if kind in option_types.REFERENCES and not isinstance(value, str):
        raise _type_mistake(kind, value)
    return converter.structure(value, kind.__supertype__)


def _path(value: object, base: Path) -> Path:
    if value == "":
        raise Mistakes.of("expected a path, got the empty text")
    if not isinstance(value, str | Path):
        raise _type_mistake(Path, value)
    written = Path(value)
    # Only `~` itself: `~name` would be the home of another user.
    return base / (written.expanduser() if written.parts[:1] == ("~",) else written)


def _text(value: object, base: Path) -> Text:
    if isinstance(value, str):
        return Text(content=value)
    if not isinstance(value, Mapping) or list(value) != ["file"]:
        raise _type_mistake(Text, value)
    name = value["file"]
    if not isinstance(name, str) or not name:
        raise Mistakes.of(f"expected the name of a file, got {option_types.describe_value(name)}", "file")
    try:
        content = read_plain(_path(name, base))
        # Every end of a line becomes the same: a file saved on another system asks the same question.
        return Text(content="\n".join(content.decode("utf-8-sig").replace("\r\n", "\n").split("\r")), source=name)
    except UnicodeDecodeError as error:
        wrong = not_utf8(content) if content[:2] in UTF16 else f"not UTF-8 text: byte {error.start + 1} cannot be read"
        raise Mistakes.of(f"'{name}' is {wrong}", "file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Mistakes.of(f"cannot read '{name}': {reason}", "file") from None


def _sequence(value: object, kind: Any, converter: Converter) -> Any:
    if not isinstance(value, list | tuple):
        raise _type_mistake(kind, value)
    members = get_args(kind)
    if get_origin(kind) is not tuple or members[-1] is Ellipsis:
        members = (members[0],) * len(value)
    if len(value) != len(members):
        raise Mistakes.of(f"expected a list of {len(members)}, got {len(value)}")
    places = zip(range(len(value)), value, members, strict=True)
    return option_types.SEQUENCES[get_origin(kind)](_each(places, converter.structure))


def _mapping(value: object, kind: Any, converter: Converter) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise _type_mistake(kind, value)
    key_kind, value_kind = get_args(kind)
    keys = _each(((str(key), key, key_kind) for key in value), converter.structure)
    parts = _each(((str(key), value[key], value_kind) for key in value), converter.structure)
    return dict(zip(keys, parts, strict=True))


def _union(value: object, kind: Any, converter: Converter) -> Any:
    """Convert the value to the first member of the union that accepts its shape."""
    shape = _shape_of(value)
    members = [member for member in get_args(kind) if shape in _shapes(member)]
    # YAML writes 1 where 1.0 is meant.
    if not members and shape is int and float in get_args(kind):
        members = [float]
    mistakes: list[Mistake] = []
    for member in members:
        try:
            return converter.structure(value, member)
        except Exception as error:
            # Those of the first member: they are shown only where no other has the shape.
            mistakes = mistakes or mistakes_of(error)
    # If only one member has this shape, its own error is more helpful than a list of all alternatives.
    raise Mistakes(mistakes) if len(members) == 1 else _type_mistake(kind, value)


_SHAPES: Final[Mapping[Any, tuple[Any, ...]]] = {
    **{leaf: (leaf,) for leaf in _LEAVES},
    Path: (str,),
    Text: (str, Mapping),
}


def _shape_of(value: object) -> Any:
    if isinstance(value, Mapping):
        return Mapping
    return list if isinstance(value, list | tuple) else type(value)


def _shapes(kind: Any) -> tuple[Any, ...]:
    while option_types.is_newtype(kind):
        kind = kind.__supertype__
    if option_types.is_choice(kind):
        return tuple(type(value) for value in option_types.choices(kind))
    if kind in _SHAPES:
        return _SHAPES[kind]
    return (list,) if option_types.is_sequence(kind) else (Mapping,)


def _attrs_hook(cls: type, converter: Converter) -> Hook:
    overrides = {
        field.name: override(struct_hook=_field_hook(field, converter)) for field in option_types.settable_fields(cls)
    }
    read: Hook = make_dict_structure_fn(
        cls,
        converter,
        _cattrs_forbid_extra_keys=True,
        # Each mistake then says at which field it is, and one does not hide the others.
        _cattrs_detailed_validation=True,
        **overrides,  # type: ignore[arg-type]
    )

    def hook(value: object, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _type_mistake(cls, value)
        return read(value, cls)

    return hook


def _field_hook(field: attrs.Attribute[Any], converter: Converter) -> Hook:
    """Convert a field and validate it at once, so that a validator's error is attributed to this field."""

    def hook(value: object, _: Any) -> Any:
        read: Any = converter.structure(value, cast(type, field.type))
        if field.validator is not None:
            try:
                field.validator(None, field, read)
            except AttributeError:
                # This validator needs other fields; the class calls it once they are all set.
                return read
        return read

    return hook
