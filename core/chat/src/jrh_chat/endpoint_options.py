"""Validate what options of model providers say about an endpoint, as attrs validators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import Attribute
from jrh import Json

_ENVIRONMENT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_FIELDS: Final = ("model", "messages", "stream", "n")


def check_address(_instance: object, attribute: Attribute[Any], value: str | None) -> None:
    """Refuse a value that is not an HTTP address, or that contains a user name or a password.

    Raises:
        ValueError: the value cannot be used.
    """
    if value is None:
        return
    parts = urlsplit(value)
    if "@" in parts.netloc:
        # Options are kept in the run's store and shown in reports; a password must not get there.
        raise ValueError(f"{attribute.name} contains a user name or a password; name a variable in api_key_env instead")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{attribute.name} '{value}' is not a URL such as https://host/v1")


def check_variable_name(_instance: object, attribute: Attribute[Any], value: str | None) -> None:
    """Refuse a value that cannot be the name of an environment variable, without showing it.

    Raises:
        ValueError: the value cannot be used.
    """
    if value is not None and not _ENVIRONMENT_NAME.fullmatch(value):
        # The value is not shown: it may be the key itself, written where its variable's name belongs.
        raise ValueError(f"{attribute.name} is not the name of an environment variable, such as OPENAI_API_KEY")


def check_header_variables(instance: object, attribute: Attribute[Any], value: Mapping[str, str]) -> None:
    """Refuse a value that does not map HTTP headers to names of environment variables.

    Raises:
        ValueError: the value cannot be used.
    """
    for header, variable in value.items():
        if not _HEADER_NAME.fullmatch(header):
            raise ValueError(f"{attribute.name}: '{header}' is not the name of an HTTP header")
        check_variable_name(instance, attribute, variable)


def check_extra_fields(_instance: object, attribute: Attribute[Any], value: Mapping[str, Json]) -> None:
    """Refuse further fields of a request that jrh sets itself.

    Raises:
        ValueError: the value has one of them.
    """
    for name in _OWN_FIELDS:
        if name in value:
            raise ValueError(f"{attribute.name} cannot contain '{name}': jrh sets it itself")
