"""The command `n6build new`: a project with a network that builds at once.

The project is for GNU make, CMake or SCons.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import say, show
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import cannot_write, files_in, is_file, is_folder, read_text, write_atomically
from n6build.base.paths import EXAMPLES
from n6build.cli.arguments import CommandParser, is_model
from n6build.describe.choices import Choices
from n6build.describe.folder_name import folder_name

if TYPE_CHECKING:
    from n6build.describe.hardware.board import Board
    from n6build.describe.model import Model

HELP = "creates a complete project in a new folder: n6build new my_app net.tflite --with cmake"
# Board and model in the build scripts of the examples.
_BOARD, _MODEL = "nucleo-n657", "keyword"
_OWN_START = ("src/startup.c", "board.ld")


@dataclass(frozen=True)
class _Program:
    """A program that a project begins with.

    Attributes:
        example: Folder of the example that the files come from.
        files: C files and headers.
        run: Options of a run, as each build system writes them.
    """

    example: str
    files: tuple[str, ...]
    run: Mapping[str, str]

    @property
    def c_files(self) -> str:
        """Return the C files with the start-up code, in one text."""
        own, drivers = [[each for each in self.files if each.startswith(at)] for at in ("src/", "drivers/")]
        return " ".join(each for each in (*own, "src/startup.c", *drivers) if each.endswith(".c"))


@dataclass(frozen=True)
class _Kind:
    """A build system.

    Attributes:
        example: Folder of the example that the files come from.
        files: Files that are copied as they are.
        scripts: Files that are copied with another board, model and program: file -> board and model
            in it.
        usage: Commands that build, program and run the project. {run}: the options of a run.
    """

    example: str
    files: tuple[str, ...]
    scripts: Mapping[str, str]
    usage: tuple[str, ...]


KINDS = {
    "make": _Kind(
        "make",
        _OWN_START,
        {"Makefile": "board={board} model={model}"},
        ("make", "make n6-build", "make n6-run N6_BOARD_OPTIONS='probe=virtual {run}'"),
    ),
    "cmake": _Kind(
        "cmake",
        (*_OWN_START, "CMakePresets.json", "toolchain.cmake"),
        {"CMakeLists.txt": "MODEL {model} BOARD {board}"},
        (
            "cmake --preset release -Dn6build_DIR=$(n6build --cmake-dir)",
            "cmake --build build",
            "cmake --build build -t app_n6_run",
        ),
    ),
    # Start-up and linker script are n6build's.
    "scons": _Kind("make", (), {}, ("scons", "scons n6.probe=virtual {run}flash run")),
}
_USUAL = _Program(
    "make",
    ("src/main.c", "src/sensor.c", "src/sensor.h", "drivers/uart.c", "drivers/uart.h"),
    {"make": 'until="text:host: done"', "cmake": '"until=text:host: done"', "scons": ""},
)
# Programs for other purposes than a call of the network.
TEMPLATES = {
    "camera": _Program(
        "camera",
        ("src/main.c", "drivers/camera.c", "drivers/camera.h", "drivers/display.c", "drivers/display.h"),
        {
            "make": "camera=street.jpg display=out until=frames:3",
            "cmake": "camera=${CMAKE_SOURCE_DIR}/street.jpg display=${CMAKE_CURRENT_SOURCE_DIR}/out until=frames:3",
            "scons": "n6.camera=street.jpg n6.display=out n6.until=frames:3 ",
        },
    )
}
_SCONSTRUCT = """\
# A program with a network. Start-up, linker script and FSBL are n6build's.
from subprocess import check_output

tools = check_output(["n6build", "--scons-dir"], text=True).strip()
env = Environment(tools=["default", "n6"], toolpath=[tools], CPPPATH=["#src", "#drivers"])
app = env.N6Appli("app", sources=[Glob("src/*.c"), Glob("drivers/*.c")], model="{model}", board="{board}")
env.N6Flash(app)
env.N6Run(app{until})
Default(app.files)
"""


def new(words: Sequence[str]) -> None:
    """Make a project, and print the commands that build it.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-NEW-001 for a folder that is in use; N6-NEW-002 if the template does not fit;
            N6-OPTION-001, -002 and -019 for invalid words; N6-BOARD-001, N6-MODEL-001 and -002 for a
            board or a model that does not exist; N6-FILE-001 if nothing can be written.
    """
    from n6build.describe.hardware.boards import home_of_board, load_board
    from n6build.describe.model import load_model, models_folder

    options = new_parser().parse_intermixed_args(words)
    given = _given(options.words)
    folder, kind = Path(options.folder), KINDS[options.kind]
    program = TEMPLATES[options.template] if options.template else _USUAL
    if is_file(folder) or (is_folder(folder) and files_in(folder)):
        what = f"'{folder}' exists and is not empty"
        raise N6Error("N6-NEW-001", what, hint="name a new folder")
    described = load_board(given["board"], home_of_board(given["board"]))
    board = described.name
    # A faulty model is refused before anything is written.
    loaded = load_model(given["model"], models_folder(given["model"]))
    if options.template:
        _check_camera(described, loaded)
    try:
        model = _copied_model(given["model"], folder)
        for example, files in ((program.example, program.files), (kind.example, kind.files)):
            for file in files:
                _copy(EXAMPLES / example / file, folder / file)
    except OSError as error:
        raise cannot_write(folder, error) from error
    run = program.run[options.kind]
    for file, place in kind.scripts.items():
        text = read_text(EXAMPLES / kind.example / file)
        text = text.replace(place.format(board=_BOARD, model=_MODEL), place.format(board=board, model=model))
        text = text.replace(_USUAL.c_files, program.c_files).replace(_USUAL.run["cmake"], run)
        write_atomically(folder / file, text)
    if options.kind == "scons":
        until = "" if options.template else ', until="text:host: done"'
        write_atomically(folder / "SConstruct", _SCONSTRUCT.format(board=board, model=model, until=until))
    write_atomically(folder / ".gitignore", "build/\n")
    say("Project", str(folder), f"{options.kind}, board {board}, model {model}")
    show("\n".join([f"  cd {folder}", *(f"  {line.format(run=run)}" for line in kind.usage)]))


def _check_camera(board: Board, model: Model) -> None:
    """Check that a board has a camera and a panel, and a model a decoder.

    Raises:
        N6Error: N6-NEW-002 if one of them lacks.
    """
    from n6build.describe.hardware.boards import home_of_board, known_boards, load_board

    if board.camera is None or board.display is None:
        able = [name for name in known_boards() if load_board(name, home_of_board(name)).camera]
        what = f"{board.title} has no camera and display in its board.yaml"
        raise N6Error("N6-NEW-002", what, hint=f"choose board={' or board='.join(able)}")
    if model.postprocess is None:
        what = f"model {model.name} has no postprocess in its model.yaml: the program would not know what it finds"
        raise N6Error(
            "N6-NEW-002", what, hint="add for example postprocess: {decoder: classification} (docs/postprocess.md)"
        )


def _given(words: Sequence[str]) -> dict[str, str]:
    """Return board and model by the names of their options."""
    usual = Choices()
    found = {"board": usual.board, "model": ",".join(usual.models)}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals and is_model(word):
            found["model"] = word
        elif not equals:
            raise N6Error("N6-OPTION-019", f"'{word}' is neither a model nor an option", hint="run n6build new --help")
        elif name not in found:
            raise N6Error("N6-OPTION-001", f"unknown option '{name}'", hint=did_you_mean(name, found))
        elif not value:
            raise N6Error(
                "N6-OPTION-002", f"'{name}=' has an empty value", hint=f"write for example {name}={found[name]}"
            )
        else:
            found[name] = value
    return found


def _copied_model(model: str, folder: Path) -> str:
    """Return the model as the project names it.

    A file or a folder is copied into the project; a model that comes with n6build keeps its name.
    """
    source = Path(model)
    if is_file(source):
        name = f"model/{folder_name(source.stem)}{source.suffix}"
        _copy(source, folder / name)
        return name
    if is_folder(source):
        name = f"model/{folder_name(source.resolve().name)}"
        shutil.copytree(source, folder / name)
        return name
    return model


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def new_parser() -> CommandParser:
    """Return the parser of the words behind `n6build new`."""
    parser = CommandParser(
        prog="n6build new",
        usage=f"n6build new FOLDER [MODEL_FILE] [board=BOARD] [model=MODEL] [--with {'|'.join(KINDS)}] "
        f"[--template {'|'.join(TEMPLATES)}]",
        description=f"{HELP}. Without a model, the project gets one of n6build's models.",
        allow_abbrev=False,
    )
    parser.add_argument("folder", metavar="FOLDER", help="folder of the project; it must be new or empty")
    parser.add_argument("words", nargs="*", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--with", dest="kind", choices=[*KINDS], default="make", help="the build system; default: make")
    purpose = "a program that shows a camera's picture with what the network finds"
    parser.add_argument("--template", choices=[*TEMPLATES], help=purpose)
    return parser
