"""Trials of edits: each is built incrementally and from nothing, and taken back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from n6build.base.bounded import parse_json
from n6build.base.errors import N6Error
from n6build.base.regular_file import content_of
from n6build.compile.toolchain import COMPILER
from n6build.describe.choices import Choices
from n6build.describe.hardware.boards import known_boards
from n6build.describe.model import known_models
from n6build.describe.option import options_of
from n6build.engine.plan import read_plan_json
from n6build.prove.builds import Built, Copy
from n6build.prove.edits import Edit, Inputs, apply

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


@dataclass(frozen=True)
class Verdict:
    """The outcome of an edit.

    Attributes:
        built: The incremental build.
        changed: Number of outputs that differ from those of a build without the edit.
        stale: Output that differs from that of the clean build -> step that makes it.
        wrong: Further defects, one line each.
    """

    built: Built
    changed: int = 0
    stale: Mapping[str, str] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()

    @property
    def is_found(self) -> bool:
        """Return whether the build is wrong."""
        return bool(self.stale or self.wrong)


@dataclass(frozen=True)
class Trial:
    """A copy that has been built without any edit.

    Attributes:
        copy: Copy of the project.
        words: Targets and options of its builds.
        inputs: Inputs of its builds.
        lacking: Defects of signatures that the project has without an edit.
        first: Digests of all outputs.
    """

    copy: Copy
    words: tuple[str, ...]
    inputs: Inputs
    lacking: tuple[str, ...]
    first: Mapping[str, str]

    def without_edit(self) -> Verdict:
        """Build incrementally from an empty build folder, and compare."""
        shutil.rmtree(self.copy.build_folder, ignore_errors=True)
        return self._compared(self.copy.incremental(self.words), self.first, self.lacking)

    def tried(self, edit: Edit) -> Verdict:
        """Build an edit and compare with a clean build; take it back, build and compare.

        After a defect, the next edit meets a build from nothing.
        """
        back = apply(edit, self.copy.folder)
        found = self._built(edit)
        apply(back, self.copy.folder)
        self.copy.forget(edit.files)
        if not found.is_found:
            again = self.copy.incremental(self.words)
            wrong = (f"it ends with {again} after the edit was undone",) if again.error else ()
            after = self._compared(again, self.first, wrong)
            if not after.is_found:
                return found
            found = Verdict(after.built, after.changed, after.stale, after.wrong or ("the edit was undone",))
        self.without_edit()
        return found

    def _built(self, edit: Edit) -> Verdict:
        words = replaced(self.words, edit.words)
        aside, kept = self.copy.folder / "aside", self.copy.build_folder
        self.copy.forget(edit.files)
        built = self.copy.incremental(words)
        kept.rename(aside)
        clean = self.copy.clean(words)
        if built.error != clean.error:
            # The first of several errors depends on the steps that run at the same time.
            clean = self.copy.clean(words, jobs=1)
            shutil.rmtree(kept, ignore_errors=True)
            aside.rename(kept)
            built = self.copy.incremental(words, jobs=1)
            kept.rename(aside)
        lacking: tuple[str, ...] = ()
        if not clean.error and any(name.endswith(".py") for name in edit.files):
            lacking = tuple(line for line in lacking_in(self.copy, words)[1] if line not in self.lacking)
        shutil.rmtree(kept, ignore_errors=True)
        aside.rename(kept)
        differs = (f"it ends with {built}, a clean build with {clean}",) if built.error != clean.error else ()
        return self._compared(built, {} if clean.error else clean.digests, (*differs, *lacking))

    def _compared(self, built: Built, expected: Mapping[str, str], wrong: tuple[str, ...]) -> Verdict:
        names = [] if built.error else [name for name in expected if built.digests.get(name) != expected[name]]
        makers = {name: entry.name for entry in self.copy.entries().values() for name in entry.outputs}
        # Others are left over from builds with other options.
        changed = sum(built.digests.get(name) != self.first.get(name) for name in expected)
        return Verdict(built, changed, {name: makers.get(name, "unknown") for name in names}, wrong)


def begin(copy: Copy, words: tuple[str, ...]) -> Trial:
    """Build a copy from nothing, without an edit.

    Raises:
        N6Error: N6-PROVE-001 if that fails.
    """
    opened = copy.folder / "opened.txt"
    first = copy.clean(words, opened=opened)
    if first.error:
        what = f"the project does not build before any edit: {first.error}"
        raise N6Error("N6-PROVE-001", what, where=str(copy.project), hint=first.output.strip()[-2000:])
    if f"{copy.path / 'n6build/engine/perform.py'}\n" not in content_of(opened).decode("utf-8", "replace"):
        raise N6Error("N6-PROVE-001", "another library builds the copy", where=str(copy.path))
    plan, lacking = lacking_in(copy, words)
    copy.share_byte_code()
    return Trial(copy, words, inputs_of(copy, words, opened, plan), lacking, first.digests)


def lacking_in(copy: Copy, words: tuple[str, ...]) -> tuple[Path, tuple[str, ...]]:
    """Call the functions of all steps again, on the outputs of a build.

    Returns:
        The plan, and one line for each name that a step has loaded and no signature covers.
    """
    plan = copy.folder / "plan.json"
    copy.run("-m", "n6build", "plan", "--write", str(plan), *words, is_clean=True)
    status, output = copy.run("-m", "n6build.prove.loaded", str(plan), is_clean=True)
    return plan, tuple(output.splitlines()) if status else ()


def replaced(words: tuple[str, ...], by: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words with other values of options."""
    names = {word.partition("=")[0] for word in by}
    return (*(word for word in words if "=" not in word or word.partition("=")[0] not in names), *by)
