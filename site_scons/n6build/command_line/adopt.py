"""The command `n6build adopt`: reads a project as it lies there, and writes the lines that bring n6build in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.adopt.compiler import write_compiler
from n6build.adopt.lines import Adoption, adoption_of
from n6build.adopt.programs import KINDS, Program
from n6build.adopt.project import Application, Project, read_project
from n6build.adopt.table import Row, rows_of, widest
from n6build.adopt.write import Result, add_block, add_links, add_step, block
from n6build.base.console import say, show, styled
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error, did_you_mean
from n6build.command_line.arguments import CommandParser
from n6build.hardware.boards import home_of_board, load_board

NAME = "adopt"
HELP = (
    "reads an STM32N6 project as it lies on the disk, says what it has and lacks, and adds n6build to its build script"
)
_OPTIONS = ("board", "model", "appli")
_STYLES = {"found": "good", "missing": "bad", "unfit": "bad"}
_TOLD: dict[Result, str] = {
    "written": "added at the end",
    "replaced": "replaced, since the project has changed",
    "there already": "there already, nothing to do",
    "differs": "left as it is: somebody has changed these lines; --print shows the new ones",
    "adopted by hand": "left as it is: it has lines for n6build already; --print shows these",
}
# Folders that hold the script of one build system of a program beside that of another.
_BESIDE = ("STM32CubeIDE", "EWARM", "MDK-ARM", "Debug", "Release")


def adopt(words: Sequence[str]) -> None:
    """Read a project, and add n6build to it.

    Args:
        words: Those behind the command.

    Raises:
        N6Error: N6-ADOPT-001 for a folder without anything, N6-ADOPT-004 for a file in the way, N6-ADOPT-005 where no program
            of the project can be adopted, N6-OPTION-001 and N6-OPTION-019 for words, N6-BOARD-001 for a board, and as
            `read_project`.
    """
    asked = adopt_parser().parse_intermixed_args(words)
    given = _given(asked.options)
    board = load_board(given["board"], home_of_board(given["board"])).name if "board" in given else ""
    root = Path(asked.folder).absolute()
    project = read_project(root)
    show(_table(project))
    if asked.gcc:
        _adapt_compiler(root / asked.gcc)
    models = tuple(given["model"].split(",")) if given.get("model") else ()
    adoptions = [
        adoption_of(application, project, board, models, given.get("appli", ""))
        for application in chosen_applications(project, asked.kind)
    ]
    for adoption in adoptions:
        _carry_out(adoption, root, only_print=asked.only_print)
    if not any(adoption.lines or adoption.commands for adoption in adoptions):
        raise _nothing(adoptions, project)


def adopt_parser() -> CommandParser:
    """Return the parser of the words behind `n6build adopt`."""
    parser = CommandParser(prog=f"n6build {NAME}", description=f"{HELP[0].upper()}{HELP[1:]}.", allow_abbrev=False)
    parser.add_argument("folder", metavar="FOLDER", help="of the project, such as the root of its repository")
    parser.add_argument(
        "options",
        nargs="*",
        metavar="OPTION=VALUE",
        help="board=NAME and model=FILE in place of what is found; appli=PROGRAM of a script that builds several",
    )
    parser.add_argument("--print", dest="only_print", action="store_true", help="shows the lines, and writes nothing")
    parser.add_argument("--for", dest="kind", choices=KINDS, help="the build system, where a program has several")
    parser.add_argument(
        "--gcc",
        metavar="FOLDER",
        help="writes a compiler there that takes the flags of ST's projects, such as build/gcc, from FOLDER of the project",
    )
    return parser


def _given(words: Sequence[str]) -> dict[str, str]:
    given = {}
    for word in words:
        name, equals, value = word.partition("=")
        if name not in _OPTIONS or not equals:
            raise N6Error("N6-OPTION-001", f"unknown option '{word}'", hint=did_you_mean(name, _OPTIONS))
        given[name] = value
    return given


def chosen_applications(project: Project, kind: str | None) -> list[Application]:
    """Return one application for each program, of the build system that is asked for, else of the one that needs least."""
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
    say("Compiler", str(folder), f"{made.compiler} {', '.join(changed) if changed else 'as it is'}")
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
        count = f"{len(adoption.lines)} line{'s' if len(adoption.lines) > 1 else ''}"
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
    what = "no script there builds a program for an STM32N6 that n6build reads"
    hint = f"{', '.join(KINDS)} are read; of any other program: n6build build appli=PROGRAM.elf board=NAME model=FOLDER"
    return N6Error("N6-ADOPT-005", what, where=str(project.root), hint=hint)
