"""Adoption of a project: the table of its contents, and lines for its programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.adopt.build_scripts import KINDS
from n6build.adopt.compiler import write_compiler
from n6build.adopt.lines import Adoption, adoption_of
from n6build.adopt.programs import Program
from n6build.adopt.project import Application, Project, read_project
from n6build.adopt.table import Row, rows_of, widest
from n6build.adopt.write import Result, add_block, add_links, add_step, block
from n6build.base.console import say, show, styled
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.size_text import counted

_STYLES = {"found": "good", "missing": "bad", "unfit": "bad"}
_TOLD: dict[Result, str] = {
    "written": "added at the end",
    "replaced": "replaced: the project has changed since",
    "there already": "already up to date",
    "differs": "kept: you changed these lines by hand; add --print to see the new ones",
    "adopted by hand": "kept: the script already calls n6build; add --print to see the lines to add",
}
# These folders contain a second script for the program of the folder above.
_BESIDE = ("STM32CubeIDE", "EWARM", "MDK-ARM", "Debug", "Release")


@dataclass(frozen=True)
class Wishes:
    """The options of the user.

    Attributes:
        board: name of the board, empty for the one that is found.
        models: files, folders and names of models, empty for the networks that are found.
        program: one of several programs of a script, empty for the first.
        kind: kind of build system, None for the one that needs least.
        only_print: whether no file is written.
        gcc: folder for a compiler that takes the flags of ST's projects, from the project's folder;
            None for no compiler.
    """

    board: str = ""
    models: tuple[str, ...] = ()
    program: str = ""
    kind: str | None = None
    only_print: bool = False
    gcc: str | None = None


def adopt_project(root: Path, wishes: Wishes) -> None:
    """Read a project, show its contents, and add n6build to its scripts.

    Args:
        root: folder of the project, absolute.
        wishes: options of the user.

    Raises:
        N6Error: N6-ADOPT-001 for a folder without a project; N6-ADOPT-004 for a file in the way;
            N6-ADOPT-005 if no program of the project can be adopted; the errors of `read_project`.
    """
    project = read_project(root)
    show(_table(project))
    if wishes.gcc:
        _adapt_compiler(root / wishes.gcc)
    adoptions = [
        adoption_of(application, project, wishes.board, wishes.models, wishes.program)
        for application in chosen_applications(project, wishes.kind)
    ]
    for adoption in adoptions:
        _carry_out(adoption, root, only_print=wishes.only_print)
    if not any(adoption.lines or adoption.commands for adoption in adoptions):
        raise _nothing(adoptions, project)


def chosen_applications(project: Project, kind: str | None) -> list[Application]:
    """Return one application for each program.

    It is of build system `kind`, or else of the one that needs least.
    """
    by_home: dict[Path, Application] = {}
    for application in project.applications:
        program = application.program
        if kind not in (None, program.kind):
            continue
        home = program.folder.parent if program.folder.name in _BESIDE else program.folder
        other = by_home.get(home)
        if other is None or _rank(program) < _rank(other.program):
            by_home[home] = application
    return list(by_home.values())


def _rank(program: Program) -> int:
    return KINDS.index(program.kind)


def _table(project: Project) -> str:
    rows = rows_of(project)
    width = widest(rows)
    return "\n".join(_row(row, width) for row in rows)


def _row(row: Row, width: int) -> str:
    why = f"; {row.why}" if row.why else ""
    return f"  {styled(f'{row.state:<8}', _STYLES[row.state])} {row.what:<{width}}  {row.text}{why}"


def _adapt_compiler(folder: Path) -> None:
    made = write_compiler(folder, read_environment().path)
    changed = [f"without {flag}" for flag in made.removed] + [f"with {flag}" for flag in made.added]
    say("Compiler", str(folder), f"{made.compiler} {', '.join(changed) if changed else 'no changes'}")
    show(f"              make GCC_PATH={folder.absolute()}, or PATH={folder.absolute()}:$PATH for CMake")


def _carry_out(adoption: Adoption, root: Path, *, only_print: bool) -> None:
    program = adoption.application.program
    where = str(program.script.relative_to(root))
    if adoption.lacks:
        say("Lacking", where, adoption.lacks)
        return
    is_cube = program.kind == "cubeide"
    if adoption.lines and only_print:
        say("Lines", where, "for its post-build step" if is_cube else "at the end")
        show("\n".join(adoption.lines) if is_cube else block(adoption.lines))
    elif adoption.lines:
        result = add_step(program.script, adoption.lines[0]) if is_cube else add_block(program.script, adoption.lines)
        count = counted(len(adoption.lines), "line")
        say("Adopted" if result in ("written", "replaced") else "Kept", where, f"{count} {_TOLD[result]}")
    for name, file in adoption.links:
        say("Link", f"{program.folder.relative_to(root) / name}", f"to {file.relative_to(root)}")
    if not only_print:
        add_links(program.folder, adoption.links)
    say("Then", f"in {program.folder}:")
    for command in adoption.commands:
        show(f"              {command}")


def _nothing(adoptions: Sequence[Adoption], project: Project) -> N6Error:
    if adoptions:
        first = adoptions[0]
        script = first.application.program.script.relative_to(project.root)
        return N6Error("N6-ADOPT-005", f"{script} is not adopted: {first.lacks}", where=str(project.root))
    what = "n6build found no build script for an STM32N6 that it can read"
    hint = (
        f"use one of {', '.join(KINDS)}; for any other program run n6build build appli=PROGRAM.elf board=NAME "
        "model=FOLDER"
    )
    return N6Error("N6-ADOPT-005", what, where=str(project.root), hint=hint)
