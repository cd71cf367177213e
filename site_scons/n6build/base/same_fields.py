"""Dataclasses that share fields with another one."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T", bound=DataclassInstance)


def with_fields_of(kind: type[T], *sources: object, **others: object) -> T:
    """Return a dataclass with values from objects that have fields of the same names.

    Args:
        kind: Type of the dataclass.
        *sources: Objects with values, the preferred ones first.
        **others: Values of further fields, and of fields with another meaning in the sources.
    """
    found = {
        each.name: getattr(source, each.name)
        for source in reversed(sources)
        for each in fields(kind)
        if hasattr(source, each.name)
    }
    return kind(**{**found, **others})
