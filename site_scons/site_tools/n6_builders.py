"""SCons tool: builders for the SConstruct of a surrounding project. Tool n6 brings it along.

    nn = env.N6Network(model="net.tflite", board="nucleo-n657")
    app = env.N6Image(env.Program("app.elf", [Glob("*.c"), nn.objects], **nn.flags(env)), nn)
    env.N6Flash(app)

or, on this project's start-up:

    app = env.N6Appli("app", sources=Glob("*.c"), model="net.tflite", board="nucleo-n657")

Values are those of n6build's options, as keywords; files are nodes, or paths from the folder of the script. On the command line
an option has the prefix n6., as in `scons n6.probe=virtual flash`: all others are the project's own.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from n6build.base.paths import FIRMWARE, project_path
from n6build.options.choices import Choices
from n6build.options.host_program import HostProgram, refuse_options_of_network, refuse_two_libraries
from n6host import Application, Network, choices_of_host, compiled_program, place_of_call, planned_nodes
from n6scons import in_top, reported


def generate(env: Any) -> None:
    """Adds N6Network, N6Appli and N6Image to the environment. SCons calls this for tools=['n6_builders']."""
    for name, method in (
        ("N6Network", _network),
        ("N6Appli", _appli),
        ("N6Image", _image),
    ):
        env.AddMethod(in_top(method), name)


def exists(env: Any) -> bool:
    """Whether the tool can be used: always. SCons requires this function."""
    return True


def _network(env: Any, *, model: Any, board: str, name: str = "host", **options: Any) -> Network:
    """The networks for a Program of your own. model: a name, a file or folder, or a list of them. board: by name. name: of the
    program that they are for, where several programs have the same networks."""
    choices = choices_of_host(env, HostProgram(name), {"model": model, "board": board, **options})
    plan, nodes = planned_nodes(env, choices, [])
    return Network(choices, [nodes.get(file) or env.File(_literal(file)) for file in plan.goals["library"]], _include())


def _appli(env: Any, name: str, *, sources: Any, model: Any, board: str, **options: Any) -> Application:
    """A program with networks, on n6build's start-up and linker script. CPPPATH, CPPDEFINES and CCFLAGS are those of the
    environment, or keywords, as for Program. name: of the program. sources: its C files. model: a name, a file or folder, or
    a list of them. board: by name."""
    variables = {key: options.pop(key) for key in ("CPPPATH", "CPPDEFINES", "CCFLAGS") if key in options}
    program = compiled_program(env.Override(variables), name, sources)
    choices = choices_of_host(env, program, {"model": model, "board": board, **options})
    return _application(env, choices, "appli/appli.elf")


def _image(env: Any, elf: Any, network: Network | None = None, *, name: str = "", **options: Any) -> Application:
    """What goes to flash for a program that your own script links. elf: as Program() returns it. network: what N6Network
    returned, if that is linked into it; its options hold. name: of a program without one, by default that of its file; such a
    program needs board. linker_map, linker_script: of the program, for the checks."""
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
