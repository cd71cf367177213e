"""provenance.json: tools, sources, models and options of the images.

The images are those of a flash manifest. The file is an in-toto Statement (v1) with the predicate
of SLSA provenance v1. It holds no dates, no host paths and no names of machines: the same build
gives the same file everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal, get_args

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, to_json
from n6build.base.paths import ROOT

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
# This type defines externalParameters as options of `n6build image`.
BUILD_TYPE = "urn:n6build:image:1"
_BUILDER = "urn:n6build"
_MAX_BYTES = 16 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
# This begins the name of a file that is neither in the project nor in n6build.
OUTSIDE = "<outside>"
_OUTSIDE_PARTS = 3
_HOME_PARTS = 2

Kind = Literal["source", "header", "tool"]


@dataclass(frozen=True)
class Material:
    """A file or tool that went into the images.

    Attributes:
        name: Name of a tool, or a path as of `portable_name`.
        sha256: SHA-256 of a file; for a tool, that of the list of its files with their digests.
        kind: Kind of material.
    """

    name: str
    sha256: str
    kind: Kind


@dataclass(frozen=True)
class Provenance:
    """The provenance of images.

    Attributes:
        subjects: Name -> SHA-256 of the flash manifest and of each image in it.
        options: Options as on the command line, those that decide the bytes.
        facts: Further facts that decide the bytes and are no options.
        materials: Files and tools.
        builder: Version of n6build.
    """

    subjects: Mapping[str, str]
    options: Mapping[str, str]
    facts: Mapping[str, object]
    materials: tuple[Material, ...]
    builder: str


def portable_name(path: str | PurePath) -> str:
    """Return a name that is equal on every machine.

    It is equal in n6build's checkout and in a project of its own. A file that is neither in the
    project nor in n6build keeps its name and at most two folders.

    Args:
        path: Path as a step names it.
    """
    given = PurePath(path)
    absolute = Path.cwd() / given
    if absolute.is_relative_to(ROOT):
        return f"<n6build>/{absolute.relative_to(ROOT).as_posix()}"
    if not given.is_absolute():
        return given.as_posix()
    # A home folder has a user's name in its path.
    parts = given.parts[1 + _HOME_PARTS :][-_OUTSIDE_PARTS:] or given.parts[-1:]
    return f"{OUTSIDE}/" + "/".join(parts)


def provenance_json(provenance: Provenance) -> str:
    """Return the statement as text, equal for equal values."""
    order = {kind: number for number, kind in enumerate(get_args(Kind))}
    materials = sorted(set(provenance.materials), key=lambda each: (order[each.kind], each.name, each.sha256))
    return to_json(
        {
            "_type": STATEMENT,
            "subject": [_descriptor(name, digest) for name, digest in sorted(provenance.subjects.items())],
            "predicateType": PREDICATE,
            "predicate": {
                "buildDefinition": {
                    "buildType": BUILD_TYPE,
                    "externalParameters": dict(sorted(provenance.options.items())),
                    "internalParameters": dict(sorted(provenance.facts.items())),
                    "resolvedDependencies": [
                        {**_descriptor(each.name, each.sha256), "annotations": {"kind": each.kind}}
                        for each in materials
                    ],
                },
                "runDetails": {"builder": {"id": _BUILDER, "version": {"n6build": provenance.builder}}},
            },
        }
    )


def _descriptor(name: str, digest: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": digest}}


def read_provenance(path: Path) -> Provenance:
    """Read a provenance.json.

    Raises:
        N6Error: N6-FILE-002; N6-FILE-003; N6-ORIGIN-001 if it is not a provenance of n6build.
    """
    try:
        document: Any = parse_json(read_at_most(path, _MAX_BYTES))
        if (document["_type"], document["predicateType"]) != (STATEMENT, PREDICATE):
            raise ValueError("it has another type")
        definition = document["predicate"]["buildDefinition"]
        if definition["buildType"] != BUILD_TYPE:
            raise ValueError(f"its build has type {definition['buildType']}, but this n6build reads {BUILD_TYPE}")
        materials = tuple(_material(each) for each in definition["resolvedDependencies"])
        return Provenance(
            {str(each["name"]): _sha256(each) for each in document["subject"]},
            {str(name): str(value) for name, value in definition["externalParameters"].items()},
            dict(definition["internalParameters"]),
            materials,
            str(document["predicate"]["runDetails"]["builder"]["version"]["n6build"]),
        )
    except WRONG_FIELDS as error:
        what = f"is not the provenance of an image: {error}"
        raise N6Error(
            "N6-ORIGIN-001", what, where=path.name, hint="pass the provenance.json beside flash_manifest.json"
        ) from error


def _material(value: Any) -> Material:
    kind = value["annotations"]["kind"]
    if kind not in get_args(Kind):
        raise ValueError(f"'{kind}' is not a kind of material")
    return Material(str(value["name"]), _sha256(value), kind)


def _sha256(value: Any) -> str:
    digest = value["digest"]["sha256"]
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise ValueError("a digest is not 64 hexadecimal digits")
    return digest


def different(one: Sequence[Material], other: Sequence[Material]) -> list[str]:
    """Return the differences between two lists of materials, in words, one a line."""
    before, after = ({(each.kind, each.name): each.sha256 for each in each_one} for each_one in (one, other))
    lines = []
    for key in sorted({*before, *after}):
        old, new = before.get(key, ""), after.get(key, "")
        if old != new:
            how = f"has SHA-256 {new[:12]}, was {old[:12]}" if old and new else "is new" if new else "is not there"
            lines.append(f"{key[0]} {key[1]} {how}")
    return lines
