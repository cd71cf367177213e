"""Meanings of fields or arguments, read from docstrings of Google's style.

The fields are those of a dataclass, the arguments those of a function.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import inspect
import re

# Names follow the first headings of sections; nothing about names follows the others.
_NAMES, _OTHERS = (
    re.compile(r"^\s*(?:Attributes|Args):$", re.MULTILINE),
    re.compile(r"^\s*(?:Returns|Raises|Yields):$", re.MULTILINE),
)


def meanings(kind: type) -> dict[str, str]:
    """Return the meanings of a dataclass's fields, also of those that it inherits."""
    names = [field.name for field in dataclasses.fields(kind)]
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if dataclasses.is_dataclass(each):
            found |= parts(each.__doc__ or "", names)[1]
    return found


def introduction(kind: type) -> str:
    """Return the docstring of a dataclass without the meanings of its fields."""
    # The docstring of a dataclass without one is its signature.
    doc = "" if (kind.__doc__ or "").startswith(f"{kind.__name__}(") else kind.__doc__
    return parts(doc or "", [field.name for field in dataclasses.fields(kind)])[0]


def parts(doc: str, names: list[str]) -> tuple[str, dict[str, str]]:
    """Return a docstring's text in front of names, and the meaning of each of `names`.

    The names are those of fields or arguments.
    """
    described = _OTHERS.split(inspect.cleandoc(doc))[0]
    words = " ".join(_NAMES.sub("", described).split())
    places = _places(words, names)
    ends = [*(place.start() for place in places), len(words)]
    said: dict[str, str] = {}
    for place, end in zip(places, ends[1:], strict=True):
        for pattern in place["names"].split(", "):
            said |= dict.fromkeys(fnmatch.filter(names, pattern), words[place.end() : end].strip())
    return words[: ends[0]].strip(), said


def _places(words: str, names: list[str]) -> list[re.Match[str]]:
    """Return the places at which the meaning of a name, or of several, begins."""
    places = re.finditer(r"(?:^|(?<=[.;:] ))(?P<names>[\w*]+(?:, [\w*]+)*): ", words)
    return [place for place in places if all(fnmatch.filter(names, each) for each in place["names"].split(", "))]
