"""The model that a compiled network was made from.

It is found beside the network by name, and verified by its hash.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import file_size, is_file, read_bytes, read_in_chunks, read_part, remembered
from n6build.base.json_value import JsonValue, read_json
from n6build.describe.compiled_folder import is_whole, source_of

# ST's compiler opens network.c with its options, below a licence: 2 to 4 KiB.
_HEAD = 16 << 10
# ST Edge AI Core hands the model to the compiler as ONNX, named after the model and the version of the converter.
_ORIGIN = re.compile(rb'^ \* --onnx-input = "(?:[^"\r\n]*[/\\])?([^"\r\n/\\]{1,255})\.onnx"', re.MULTILINE)
_CONVERTED = re.compile(r"_OE_\d+_\d+_\d+$", re.ASCII)
_MD5 = re.compile(r"0x([0-9a-f]{32})", re.ASCII)
_CORE = "ST.EdgeAI.Core"
_MOST_TOOLS = 16
# Linux allows names of at most this number of bytes.
_LONGEST_LINK = 255
_NAME_IT = "name it in a model.yaml: reference.model"


@remembered
def origin_name(source: Path) -> str:
    """Return the name of the model that a network was compiled from, without suffix.

    Args:
        source: network.c.

    Returns:
        The name, empty if network.c does not contain it.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-006.
    """
    found = _ORIGIN.search(read_part(source, 0, _HEAD))
    return _CONVERTED.sub("", found[1].decode("utf-8", "replace")) if found else ""


@dataclass(frozen=True)
class Origin:
    """The model of a compiled network.

    Attributes:
        file: Model file, None if it is unknown.
        why_not: Reason why the file is unknown.
    """

    file: Path | None
    why_not: str = ""


def origin_of(folder: Path, name: str | None, suffixes: tuple[str, ...]) -> Origin:
    """Find the model of a network, in the folder of the network or in the one above.

    Args:
        folder: Folder of the network. ST's projects keep one network for each board in folders
            below that of the model.
        name: Name of the network, None if the folder holds only one.
        suffixes: Suffixes of model files, the preferred one first.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-006.
    """
    source = source_of(folder, name)
    model = origin_name(source) if source else ""
    if source is None or not model:
        return Origin(None, f"network.c does not name its model; {_NAME_IT}")
    # If network.c is a link, as `n6build adopt` makes them, the model may be beside the link's target.
    places = dict.fromkeys(near for each in (folder, source.resolve().parent) for near in (each, each.parent))
    beside = [path for each in places for suffix in suffixes if is_file(path := each / (model + suffix))]
    if not beside:
        return Origin(None, f"its model {model} is not in the same folder; {_NAME_IT}")
    damage = {path: _placeholder(path) for path in beside}
    whole = next((path for path, why in damage.items() if not why), None)
    return Origin(whole, "" if whole else f"{beside[0].name} {damage[beside[0]]}")


def _placeholder(path: Path) -> str:
    """Return a description of a file that is only a placeholder; empty for a model."""
    if not is_whole(path):
        return "is empty, or Git LFS has not downloaded it"
    if file_size(path) > _LONGEST_LINK:
        return ""
    text = read_bytes(path).decode("utf-8", "replace")
    is_link = text.isprintable() and is_file(path.parent / text)
    return "contains only a path: Git wrote it in place of a link" if is_link else ""


def require_origin(c_info: Path, model: Path) -> None:
    """Refuse a model that a network was not compiled from.

    Args:
        c_info: Description of the network; ST Edge AI Core writes the MD5 of the model file into
            it.
        model: File that is said to be the network's model.

    Raises:
        N6Error: N6-PRE-005 if the file has other content; N6-NET-020, N6-FILE-002.
    """
    named = _hash_of_model(read_json(c_info))
    if named is None:
        return
    digest = hashlib.md5(usedforsecurity=False)
    for chunk in read_in_chunks(model):
        digest.update(chunk)
    if digest.hexdigest() == named[1]:
        return
    raise N6Error(
        "N6-PRE-005",
        f"is not the model of the network: {c_info.name} names {named[0]} with the MD5 {named[1]}, but this file "
        f"has {digest.hexdigest()}",
        where=model.name,
        hint="compile the model again, or restore the file that the network was compiled from",
    )


def _hash_of_model(c_info: JsonValue) -> tuple[str, str] | None:
    """Return name and MD5 of the model file, None if there are none or several.

    Of several files it is unknown which one is the model.
    """
    for tool in c_info["environment"]["tools"].at_most(_MOST_TOOLS):
        model = tool.get("input_model") if tool["name"].text() == _CORE else None
        files = list(model["model_files"].at_most(_MOST_TOOLS)) if model else []
        if len(files) == 1 and (match := _MD5.fullmatch(files[0]["signature"].text())):
            return files[0]["name"].text(), match[1]
    return None
