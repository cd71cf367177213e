"""What the fields of a dataclass mean: this project writes `name: what it means.` into docstrings."""

from __future__ import annotations

import dataclasses
import fnmatch
import inspect
import re


def meanings(kind: type) -> dict[str, str]:
    """Of the fields that its docstring, or one of a class that it is derived from, says something about."""
    names = [field.name for field in dataclasses.fields(kind)]
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if dataclasses.is_dataclass(each):
            found |= parts(each.__doc__ or "", names)[1]
    return found


def introduction(kind: type) -> str:
    """What the docstring says before it comes to the fields."""
    # That of a dataclass without a docstring is its signature.
    doc = "" if (kind.__doc__ or "").startswith(f"{kind.__name__}(") else kind.__doc__
    return parts(doc or "", [field.name for field in dataclasses.fields(kind)])[0]


def parts(doc: str, names: list[str]) -> tuple[str, dict[str, str]]:
    """What a docstring says first, and what it says of each of `names`: fields, or arguments."""
    words = " ".join(inspect.cleandoc(doc).split())
    places = _places(words, names)
    ends = [*(place.start() for place in places), len(words)]
    said: dict[str, str] = {}
    for place, end in zip(places, ends[1:], strict=True):
        for pattern in place["names"].split(", "):
            said |= dict.fromkeys(fnmatch.filter(names, pattern), words[place.end() : end].strip())
    return words[: ends[0]].strip(), said


def _places(words: str, names: list[str]) -> list[re.Match[str]]:
    """Where it begins to say something of a name, or of several."""
    places = re.finditer(r"(?:^|(?<=[.;:] ))(?P<names>[\w*]+(?:, [\w*]+)*): ", words)
    return [place for place in places if all(fnmatch.filter(names, each) for each in place["names"].split(", "))]
