"""Reproducible output of ST's compiler.

Dates, host paths and the host's build numbers are removed. c_info also loses digests of the model's
file, which would repeat all steps that read c_info although only a weight, or nothing, has changed.
Only comments and descriptions are edited; the code stays the compiler's, byte for byte.
"""

from __future__ import annotations

import json
import re
from typing import Any

from n6build.base.bounded import parse_json
from n6build.base.errors import N6Error

# The pattern matches an absolute path of any system in quotes, or after a blank or an equals sign.
_PATH = re.compile(r"(?:(?<=[\s\"'=@])|^)(?:[A-Za-z]:)?[/\\](?:[^\s\"'*<>|:/\\]{1,255}[/\\]){1,40}", re.M)
_DATES = (
    re.compile(r"^([ \t]*\*?[ \t]*(?:@date|Created date|date|BUILD_\w+)\b[^\n:\"]{0,40}[:\"]?)[^\n]*$", re.M | re.I),
    re.compile(r"^(elapsed time[^\n:]{0,40}:)[^\n]*$", re.M | re.I),
    re.compile(r"()\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,12})?(?:[+-]\d\d:?\d\d|Z)?"),
)
# These keys of c_info's environment are emptied. The report has the model's digest, and so does the provenance.
_EMPTIED: dict[str, object] = {
    "generated_time": "",
    "arguments": "",
    "environment": [],
    "signature": "",
    "network_signature": "",
    "size": 0,
}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def normalised_text(text: str) -> str:
    """Return a report in which paths are their last part and dates are removed."""
    for pattern in _DATES:
        text = pattern.sub(r"\1", text)
    return "".join(f"{line.rstrip()}\n" for line in _PATH.sub("", text).splitlines())


def normalised_c(text: str) -> str:
    """Return C code with normalised comments."""
    return _COMMENT.sub(lambda match: _normalised_comment(match[0]), text)


def _normalised_comment(comment: str) -> str:
    if "Equivalent hex address" in comment:
        return comment
    for pattern in _DATES:
        comment = pattern.sub(r"\1", comment)
    return _PATH.sub("", comment)


def normalised_c_info(data: bytes, file: str) -> str:
    """Return a normalised c_info.

    Args:
        data: Content of the file.
        file: Name of the file, for messages.

    Raises:
        N6Error: N6-NET-020 if it is not JSON.
    """
    try:
        document: Any = parse_json(data)
    except ValueError as error:
        raise N6Error("N6-NET-020", f"is not JSON: {error}", where=file) from error
    if isinstance(document, dict) and isinstance(document.get("environment"), dict):
        document["environment"] = _without_host(document["environment"])
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _without_host(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _EMPTIED[key] if key in _EMPTIED else _without_host(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_host(item) for item in value]
    return _PATH.sub("", value) if isinstance(value, str) else value
