"""Everything that a build depends on, as far as it can be edited."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from n6build.base.bounded import parse_json
from n6build.base.regular_file import content_of
from n6build.compile.toolchain import COMPILER
from n6build.describe.choices import Choices
from n6build.describe.hardware.boards import known_boards
from n6build.describe.model import known_models
from n6build.describe.option import options_of
from n6build.engine.plan import read_plan_json
from n6build.prove.builds import Copy
from n6build.prove.edits import Inputs

# This flag changes every object file and breaks nothing: without it, objects have a section .comment.
_FLAG = "-fno-ident"


def inputs_of(copy: Copy, words: tuple[str, ...], opened: Path, plan: Path) -> Inputs:
    """Return the inputs of a build that has just been made.

    Args:
        copy: Copy of the project.
        words: Targets and options of the build.
        opened: A file with the names of all files that the build opened.
        plan: Its plan.json.
    """
    prefix, made = f"{copy.folder}{os.sep}", f"{copy.build_folder}{os.sep}"
    places = tuple({f"{place}{os.sep}" for place in (copy.project, copy.library)})
    names = content_of(opened).decode("utf-8", "surrogateescape").splitlines()
    read = {name for name in names if name.startswith(places) and not name.startswith(made) and Path(name).is_file()}
    # All modules are read for signatures; those that were imported have byte code.
    read = {name for name in read if not name.endswith(".py") or copy.byte_code_of(name, is_clean=True).exists()}
    there = {str(path) for place in places for path in Path(place).rglob("*") if path.is_file()}
    return Inputs(
        copy.folder,
        sorted(name.removeprefix(prefix) for name in read),
        sorted(name.removeprefix(prefix) for name in there - read if not name.startswith(made)),
        sorted(name.removeprefix(prefix) for name in read if name.endswith((".yaml", ".json"))),
        dict(_hiding_headers(copy, plan)),
        {f"bin/{COMPILER}": f'{compiler} "$@" {_FLAG}'} if (compiler := shutil.which(COMPILER)) else {},
        sorted(_options(words)),
    )


def _hiding_headers(copy: Copy, plan: Path) -> Iterator[tuple[str, str]]:
    """Yield headers that could exist, each with the one that compilers use instead."""
    entries = copy.entries()
    for step in read_plan_json(parse_json(content_of(plan))).steps:
        if not step.depfile or step.name not in entries:
            continue
        places = [*(str(Path(source).parent) for source in step.sources), *step.include_folders]
        for header, digest in entries[step.name].inputs.items():
            # Without a digest, it had to be absent.
            is_read = digest and header.endswith(".h")
            home = max((place for place in places if is_read and header.startswith(f"{place}/")), key=len, default="")
            for place in places[: places.index(home)] if home else ():
                hiding = copy.project / place / os.path.relpath(header, home)
                hidden = copy.project / header
                if not hiding.exists() and all(_can_be_edited(path, copy) for path in (hiding, hidden)):
                    yield str(hiding.relative_to(copy.folder)), str(hidden.relative_to(copy.folder))


def _can_be_edited(path: Path, copy: Copy) -> bool:
    return copy.folder in path.parents and copy.build_folder not in path.parents


def _options(words: tuple[str, ...]) -> Iterator[str]:
    given = dict(word.split("=", 1) for word in words if "=" in word)
    values = {"board": known_boards(), "model": known_models(), "profile": ["extflash", "noextmem"]}
    for option in options_of(Choices):
        if not option.loader or given.get("loader") == option.loader:
            now = given.get(option.name, option.default)
            yield from (
                f"{option.name}={value}" for value in (*option.choices, *values.get(option.name, ())) if value != now
            )
