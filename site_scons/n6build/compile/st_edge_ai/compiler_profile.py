"""Profile files of ST's network compiler (neural_art.json), in JSON with comments.

They hold options and memory pools by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import read_bytes
from n6build.compile.lossless import parse_strict

# A token is a text, which may lack its end and may have continued lines, or the start of a comment.
_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*', re.DOTALL)


def read_profiles(path: Path) -> dict[str, object]:
    """Read a profile file, without its comments.

    Raises:
        N6Error: N6-FILE-002, N6-PROFILE-00x.
    """
    return parse_profiles(read_bytes(path), path.name)


def parse_profiles(data: bytes, file: str) -> dict[str, object]:
    """Parse a profile file.

    Args:
        data: Content of the file.
        file: Name of the file, for messages.

    Raises:
        N6Error: N6-PROFILE-001 (not JSON, apart from comments); N6-PROFILE-002 (a key is missing or
            of another kind).
    """
    # Comments may contain any characters; the rest must be ASCII for the compiler.
    text = _without_comments(data.decode("utf-8", "replace"), file)
    document = parse_strict(text.encode(), file, "N6-PROFILE-001")
    if not isinstance(document, dict) or not isinstance(document.get("Profiles"), dict):
        raise N6Error("N6-PROFILE-002", "has no object 'Profiles'", where=file)
    for name in document["Profiles"]:
        options_in(document, name, file)
    return document


def _without_comments(text: str, file: str) -> str:
    """Replace comments by blanks, so that lines and columns stay.

    Continued lines of a text are joined.
    """
    parts = []
    position = 0
    while match := _TOKENS.search(text, position):
        parts.append(text[position : match.start()])
        position = match.end()
        if match[0].startswith('"'):
            parts.append(match[0].replace("\\\n", ""))
        elif match[0] == "/*":
            end = text.find("*/", position)
            if end < 0:
                where = f"{file}:{text.count(chr(10), 0, match.start()) + 1}"
                raise N6Error("N6-PROFILE-001", "a comment has no end", where=where)
            parts.append("\n" * text.count("\n", position, end))
            position = end + 2
    return "".join([*parts, text[position:]])


def options_in(document: Mapping[str, object], name: str, file: str) -> str:
    """Return the options of the compiler in a profile, as one text.

    Args:
        document: Result of `parse_profiles`.
        name: Name of the profile.
        file: Name of the file, for messages.

    Raises:
        N6Error: N6-PROFILE-003 with the nearest name; N6-PROFILE-002 with the key.
    """
    profiles = document["Profiles"]
    assert isinstance(profiles, dict)
    if name not in profiles:
        raise N6Error("N6-PROFILE-003", f"no profile '{name}'", where=file, hint=did_you_mean(name, profiles))
    profile = profiles[name]
    if not isinstance(profile, dict):
        raise N6Error("N6-PROFILE-002", "is not an object", where=f"{file}: Profiles.{name}")

    for key in ("memory_pool", "options"):
        if profile.get(key) is None:
            raise N6Error("N6-PROFILE-002", f"key '{key}' is missing", where=f"{file}: Profiles.{name}")
        if type(profile[key]) is not str:
            raise N6Error("N6-PROFILE-002", "is not text", where=f"{file}: Profiles.{name}.{key}")
    return str(profile["options"])


def profile_text(name: str, memory_pool: Path, options: str) -> str:
    """Return a profile file with one profile.

    Args:
        name: Name of the profile.
        memory_pool: Absolute path, since releases resolve a relative path differently.
        options: Options of the compiler.

    Raises:
        N6Error: N6-PROFILE-004 if the path is not ASCII.
    """
    if not str(memory_pool).isascii():
        raise N6Error(
            "N6-PROFILE-004", "the path is not ASCII: the network compiler crashes on it", where=str(memory_pool)
        )
    profile = {"memory_pool": str(memory_pool), "options": options}
    return json.dumps({"Globals": {}, "Profiles": {name: profile}}, indent=2) + "\n"
