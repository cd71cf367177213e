"""Edits that people and tools make to inputs of a build, at random from a seed."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random

from n6build.base.files import sha256
from n6build.base.regular_file import content_of

_BINARY = frozenset({".tflite", ".onnx", ".npy", ".npz", ".bin", ".wav", ".raw"})
# Kinds of files by their suffix, each as likely as its weight; templates have the suffix of the file that they make before .j2.
_KINDS = {".py": 8, ".c": 4, ".h": 3, ".j2": 3, ".yaml": 3, ".tflite": 2, ".npy": 1, "": 1}
_COMMENTS = {".py": "#", ".yaml": "#", ".toml": "#", ".txt": "#", ".c": "//", ".h": "//"}
_MARKER = b'\nstatic const char n6_proof_of_shadow[] __attribute__((used)) = "n6build prove";\n'
_OLDER_NS = 86_400 * 1_000_000_000
_NAME = re.compile(r"\b[A-Za-z_]\w{2,}\b")
_OPPOSITE = {
    **{"==": "!=", "!=": "==", "<=": "<", ">=": ">", "<": "<=", ">": ">="},
    **{"+": "-", "-": "+", "and": "or", "or": "and", "&&": "||", "||": "&&"},
}
# Ways to replace a file. Editors write it; `mv` and `cp -p` bring a time along.
MANNERS = ("written", "moved there with an older time", "written, with its old time")


@dataclass(frozen=True)
class Edit:
    """An edit and its inverse.

    Attributes:
        where: file:line, file or option, for people.
        what: The change, in a few words.
        files: Path below the edited folder -> new content, None to remove the file.
        words: Options for the command line, which replace others of the same name.
        manner: One of `MANNERS`.
    """

    where: str
    what: str
    files: Mapping[str, bytes | None]
    words: tuple[str, ...] = ()
    manner: str = MANNERS[0]


@dataclass(frozen=True)
class Inputs:
    """Everything that edits are chosen from.

    Attributes:
        folder: Absolute folder of all paths here.
        files: Sorted paths of files that the build reads, and of modules that it imports.
        others: Sorted paths of further files.
        described: Sorted paths of descriptions, which may name digests of other files.
        headers: Path of a header that does not exist -> the header that compilers include in its
            place.
        tools: Path of a program that does not exist, in the first folder of PATH -> the command
            that it is to call.
        options: option=value that the build can be called with.
    """

    folder: Path
    files: Sequence[str]
    others: Sequence[str]
    described: Sequence[str]
    headers: Mapping[str, str]
    tools: Mapping[str, str]
    options: Sequence[str]


def matching(inputs: Inputs, pattern: str) -> Inputs | None:
    """Return the inputs whose path or option matches a shell pattern, or None."""

    def is_meant(name: str) -> bool:
        return fnmatchcase(name, pattern) or fnmatchcase(name.split("/", 1)[-1], pattern)

    found = replace(
        inputs,
        files=list(filter(is_meant, inputs.files)),
        others=list(filter(is_meant, inputs.others)),
        headers={name: hidden for name, hidden in inputs.headers.items() if is_meant(hidden)},
        tools={name: tool for name, tool in inputs.tools.items() if is_meant(name)},
        options=list(filter(is_meant, inputs.options)),
    )
    return found if any((found.files, found.others, found.headers, found.tools, found.options)) else None


def choose(random: Random, inputs: Inputs) -> Edit:
    """Return a random edit. Equal seeds and inputs give equal edits."""
    kinds: list[tuple[int, Callable[[Random, Inputs], Edit]]] = []
    kinds += [(20, _content), (1, _touched), (1, _removed)] if inputs.files or inputs.others else []
    kinds += [(1, _shadowed_module)] if any(path.endswith(".py") for path in inputs.files) else []
    kinds += [(2, _shadowed_header)] if inputs.headers else []
    kinds += [(1, _tool)] if inputs.tools else []
    kinds += [(2, _option)] if inputs.options else []
    (kind,) = random.choices([each for _, each in kinds], [weight for weight, _ in kinds])
    return kind(random, inputs)


def apply(edit: Edit, folder: Path) -> Edit:
    """Carry out an edit and return its inverse.

    The inverse restores content in the same manner.
    """
    before: dict[str, bytes | None] = {}
    for name, data in edit.files.items():
        path = folder / name
        before[name] = content_of(path) if path.is_file() else None
        _put(path, data, edit.manner)
    return Edit(edit.where, "back", before, (), edit.manner)


def difference(edit: Edit, folder: Path) -> str:
    """Return an edit as a diff, before it is carried out.

    People repeat the edit by hand with it.
    """
    parts = [f"on the command line: {word}\n" for word in edit.words]
    for name, data in sorted(edit.files.items()):
        path = folder / name
        old = content_of(path) if path.is_file() else None
        if Path(name).suffix in _BINARY:
            parts += [f"{name}: {edit.what}\n"]
        else:
            ends = (f"a/{name}" if old is not None else os.devnull, f"b/{name}" if data is not None else os.devnull)
            parts += difflib.unified_diff(_lines(old), _lines(data), *ends, n=0)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in parts)


def _put(path: Path, data: bytes | None, manner: str) -> None:
    if data is None:
        path.unlink()
        if path.name == "__init__.py" and not any(path.parent.iterdir()):
            path.parent.rmdir()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    state = path.stat() if path.exists() else None
    if manner == MANNERS[1]:
        new = path.with_name(f"{path.name}.n6new")
        new.write_bytes(data)
        if state:
            new.chmod(state.st_mode)
            os.utime(new, ns=(state.st_atime_ns, state.st_mtime_ns - _OLDER_NS))
        new.rename(path)
    else:
        path.write_bytes(data)
        if manner == MANNERS[2] and state:
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    if data.startswith(b"#!"):
        path.chmod(0o755)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _file(random: Random, inputs: Inputs) -> str:
    """Return a file; its kind is chosen first, as there are more modules than models.

    There are ten times as many modules.
    """
    if not inputs.files or (inputs.others and random.random() < 0.05):
        return random.choice(inputs.others)
    kinds: dict[str, list[str]] = {}
    for path in inputs.files:
        suffix = Path(path).suffix
        kinds.setdefault(suffix if suffix in _KINDS else "", []).append(path)
    (kind,) = random.choices(sorted(kinds), [_KINDS[each] for each in sorted(kinds)])
    return random.choice(kinds[kind])


def _content(random: Random, inputs: Inputs) -> Edit:
    name = _file(random, inputs)
    data = content_of(inputs.folder / name)
    manner = random.choice((MANNERS[0], *MANNERS))
    if Path(name).suffix in _BINARY and data:
        at, bit = random.randrange(len(data)), 1 << random.randrange(8)
        new = data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
        what = f"byte {at}: {data[at]:#04x} -> {data[at] ^ bit:#04x}"
        known = dict(_with_digest(data, new, inputs)) if random.random() < 0.8 else {}
        return Edit(name, what + "".join(f", sha256 in {other}" for other in known), {name: new, **known}, (), manner)
    lines = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    at = _line(random, lines)
    comment = _COMMENTS.get(Path(name).suffix, "")
    line, what = edited_line(random, lines[at], comment) if lines else ("\n", "a new line")
    text = "".join([*lines[:at], line, *lines[at + 1 :]])
    return Edit(f"{name}:{at + 1}", what, {name: text.encode("utf-8", "surrogateescape")}, (), manner)


def _with_digest(old: bytes, new: bytes, inputs: Inputs) -> Iterator[tuple[str, bytes]]:
    """Yield the descriptions that name a file by its digest, with the new digest.

    Other descriptions would refuse the file.
    """
    before, after = (sha256(data).encode() for data in (old, new))
    for name in inputs.described:
        text = content_of(inputs.folder / name)
        if before in text:
            yield name, text.replace(before, after)


def _line(random: Random, lines: Sequence[str]) -> int:
    """Return the index of a line with content; one of ten may be blank or a comment."""
    telling = [at for at, line in enumerate(lines) if not re.match(r"\s*(#(?!\w)|//|/?\*|$)", line)]
    return random.choice(telling) if telling and random.random() < 0.9 else random.randrange(max(1, len(lines)))


def edited_line(random: Random, line: str, comment: str) -> tuple[str, str]:
    """Return a line after an edit, and the edit in words.

    Args:
        random: Source of random choices.
        line: Line with its line break.
        comment: Begin of a comment in such a file, empty if there are none.
    """
    body = line.rstrip("\n")
    ways = [
        (12, list(_numbers(line))),
        (9, list(_texts(line))),
        (9, list(_operators(line))),
        (3, [_replaced(line, found, f"{found[0]}_n6") for found in _NAME.finditer(line)]),
        (3, [("", "line removed"), (line + line, "line doubled")]),
        (1, [(f"{body}  {comment} edited\n", "comment added")] if comment and not body.endswith("\\") else []),
    ]
    kinds = [(weight, kind) for weight, found in ways if (kind := [way for way in found if way[0] != line])]
    (kind,) = random.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])
    return random.choice(kind)


def _numbers(line: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(r"\b0[xX][0-9a-fA-F]+\b|\b\d+\b", line):
        is_hex = found[0][:2] in ("0x", "0X")
        value = int(found[0], 16 if is_hex else 10)
        for new in (value + 1, max(0, value - 1), value ^ 8):
            yield _replaced(line, found, f"{new:#x}" if is_hex else str(new))


def _texts(line: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(r"(?<=\")[^\"\n{}%\\]+(?=\")", line):
        yield _replaced(line, found, f"{found[0]}x")
        yield _replaced(line, found, found[0][:-1] + chr(ord(found[0][-1]) ^ 1))


def _operators(line: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(r"(?<= )(?:==|!=|<=|>=|<|>|\+|-|and|or|&&|\|\|)(?= )", line):
        yield _replaced(line, found, _OPPOSITE[found[0]])


def _replaced(line: str, found: re.Match[str], new: str) -> tuple[str, str]:
    return f"{line[: found.start()]}{new}{line[found.end() :]}", f"{found[0]} -> {new}"


def _touched(random: Random, inputs: Inputs) -> Edit:
    name = _file(random, inputs)
    return Edit(name, "the same content", {name: content_of(inputs.folder / name)}, (), MANNERS[1])


def _removed(random: Random, inputs: Inputs) -> Edit:
    name = _file(random, inputs)
    return Edit(name, "removed", {name: None}, (), random.choice(MANNERS))


def _shadowed_module(random: Random, inputs: Inputs) -> Edit:
    """Put a package beside a module, which Python then imports in its place."""
    modules = [path for path in inputs.files if path.endswith(".py") and not path.endswith("__init__.py")]
    name = random.choice(modules)
    lines = content_of(inputs.folder / name).decode().splitlines(keepends=True)
    numbered = [at for at, line in enumerate(lines) if re.search(r"= \d+$", line)]
    what = "a package beside it, the same"
    if numbered:
        at = random.choice(numbered)
        lines[at] = re.sub(r"= (\d+)$", lambda found: f"= {int(found[1]) + 1}", lines[at])
        what = f"a package beside it, with {lines[at].strip()}"
    return Edit(name, what, {f"{name.removesuffix('.py')}/__init__.py": "".join(lines).encode()})


def _shadowed_header(random: Random, inputs: Inputs) -> Edit:
    """Put a header in a folder that compilers search first."""
    name = random.choice(sorted(inputs.headers))
    shadowed = inputs.headers[name]
    guarded = b"\n#ifndef N6_PROOF_OF_SHADOW\n#define N6_PROOF_OF_SHADOW" + _MARKER + b"#endif\n"
    content = content_of(inputs.folder / shadowed) + guarded
    return Edit(name, f"a header that hides {shadowed}", {name: content}, (), random.choice(MANNERS))


def _tool(random: Random, inputs: Inputs) -> Edit:
    name = random.choice(sorted(inputs.tools))
    return Edit(name, f"a script: {inputs.tools[name]}", {name: f"#!/bin/sh\nexec {inputs.tools[name]}\n".encode()})


def _option(random: Random, inputs: Inputs) -> Edit:
    word = random.choice(inputs.options)
    return Edit(word, "on the command line", {}, (word,))
