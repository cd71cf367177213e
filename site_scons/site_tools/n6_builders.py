"""SCons tool n6_builders: builders for the SConstruct of a host project.

Tool n6 loads it.

    nn = env.N6Network(model="net.tflite", board="nucleo-n657")
    app = env.N6Image(env.Program("app.elf", [Glob("*.c"), nn.objects], **nn.flags(env)), nn)
    env.N6Flash(app)

or, on n6build's start-up code:

    app = env.N6Appli("app", sources=Glob("*.c"), model="net.tflite", board="nucleo-n657")

Keywords take the values of n6build's options. Files are nodes, or paths from the folder of the
script. On the command line an option of n6build has the prefix n6., as in `scons n6.probe=virtual
flash`; all other options belong to the host project.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from n6build.base.paths import FIRMWARE, project_path
from n6build.describe.choices import Choices
from n6build.describe.host_program import HostProgram, refuse_options_of_network, refuse_two_libraries
from n6host import Application, Network, choices_of_host, compiled_program, place_of_call, planned_nodes
from n6scons import in_top, reported


def generate(env: Any) -> None:
    """Add N6Network, N6Appli and N6Image to the environment.

    SCons calls this for tools=['n6_builders'].
    """
    for name, method in (
        ("N6Network", _network),
        ("N6Appli", _appli),
        ("N6Image", _image),
    ):
        env.AddMethod(in_top(method), name)


def exists(env: Any) -> bool:
    """Return True, since the tool can always be used; SCons requires this function."""
    return True


def _network(env: Any, *, model: Any, board: str, name: str = "host", **options: Any) -> Network:
    """Return the networks for a Program of your own.

    Args:
        model: A name, a file or a folder, or a list of them.
        board: Name of the board.
        name: Name of the program, needed where several programs have the same networks.
    """
    choices = choices_of_host(env, HostProgram(name), {"model": model, "board": board, **options})
    plan, nodes = planned_nodes(env, choices, [])
    files = [nodes.get(file) or env.File(_literal(file)) for file in plan.goals["library"]]
    objects = [file for file in files if not str(file).endswith(".h")]
    return Network(choices, objects, [_include(), *{file.dir for file in files if str(file).endswith("n6_made.h")}])


def _appli(env: Any, name: str, *, sources: Any, model: Any, board: str, **options: Any) -> Application:
    """Return a program with networks, on n6build's start-up code and linker script.

    CPPPATH, CPPDEFINES and CCFLAGS are those of the environment, or keywords, as for Program.

    Args:
        name: Name of the program.
        sources: Its C files.
        model: A name, a file or a folder, or a list of them.
        board: Name of the board.
    """
    variables = {key: options.pop(key) for key in ("CPPPATH", "CPPDEFINES", "CCFLAGS") if key in options}
    program = compiled_program(env.Override(variables), name, sources)
    choices = choices_of_host(env, program, {"model": model, "board": board, **options})
    return _application(env, choices, "appli/appli.elf")


def _image(env: Any, elf: Any, network: Network | None = None, *, name: str = "", **options: Any) -> Application:
    """Return the files that go to flash for a program that your own script links.

    Args:
        elf: The program, as Program() returns it.
        network: Return value of N6Network if the networks are linked into the program; its options
            are used.
        name: Name of a program without networks, by default that of its file; such a program needs
            option board.
        **options: Options of n6build; linker_map and linker_script of the program are used by the
            checks.
    """
    (node,) = env.arg2nodes(elf, env.fs.File)[:1]
    path = project_path(node.get_abspath())
    program = HostProgram(name or Path(path).stem, elf=path)
    if network is None:
        choices = replace(choices_of_host(env, program, options), models=())
    else:
        with reported(env):
            refuse_options_of_network(options, place_of_call())
            refuse_two_libraries(map(str, node.sources), place_of_call())
        link = choices_of_host(env, program, options)
        assert network.choices.program is not None
        choices = replace(
            network.choices,
            program=replace(network.choices.program, elf=path),
            linker_map=link.linker_map,
            linker_script=link.linker_script,
        )
    return _application(env, choices, "")


def _application(env: Any, choices: Choices, elf: str) -> Application:
    plan, nodes = planned_nodes(env, choices, ["build"])
    files = [nodes[file] for file in plan.goals["build"]]
    program = choices.program
    assert program is not None
    name = program.elf or next(file for file in nodes if file.endswith(elf))
    return Application(choices, nodes.get(name) or env.fs.File(name, env.fs.Top), files)


def _literal(path: str) -> str:
    return str(Path(path).absolute()).replace("$", "$$")


def _include() -> str:
    return str(FIRMWARE / "appli").replace("$", "$$")
