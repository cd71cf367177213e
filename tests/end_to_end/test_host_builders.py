"""SCons builders for host projects: N6Network, N6Appli, N6Image, N6Flash, N6Run.

The example and scripts that imitate hosts use them.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from reference_interpreter import outputs

from end_to_end.conftest import ROOT, Project, Result

LINES = re.compile(r"^.*\bN6|tools=.*n6", re.MULTILINE)
HEAD = 'env = Environment(tools=["default", "n6"], toolpath=["{tools}"])\n'
MAIN = '#include "n6_network.h"\nint main(void) { return (int)n6_network_count(); }\n'
APPLI = 'env.N6Appli("app", sources="main.c", model="net.tflite", board="nucleo-n657")\n'


@pytest.fixture
def example(project: Project, tmp_path: Path) -> Project:
    """Return a copy of the example beside n6build."""
    theirs = tmp_path / "theirs"
    shutil.copytree(
        ROOT / "examples/scons", theirs, ignore=shutil.ignore_patterns("build", "*.o", "*.elf", ".sconsign*")
    )
    return Project(theirs, project.home)


@pytest.fixture
def host(project: Project, tmp_path: Path) -> Project:
    """Return a project with one C file and a model."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    shutil.copy(project.root / "models/anomaly/anomaly.tflite", theirs / "net.tflite")
    (theirs / "main.c").write_text(MAIN)
    return Project(theirs, project.home)


def write(host: Project, text: str) -> None:
    tools = host.home.parent / "project/site_scons/site_tools"
    (host.root / "SConstruct").write_text(HEAD.format(tools=tools) + text)


def scons_of_example(example: Project, *arguments: str) -> Result:
    # PYTHONPATH is empty, as in the shell of a user who has not installed n6build.
    return example.scons(f"N6BUILD={example.home.parent / 'project'}", *arguments, PYTHONPATH="")


def test_the_example_has_few_lines_for_n6build() -> None:
    texts = [(ROOT / f"examples/scons/{name}").read_text() for name in ("SConstruct", "app/SConscript")]
    found = [line for text in texts for line in text.splitlines() if LINES.search(line) and not line.startswith("#")]
    assert 4 <= len(found) <= 5


# In every run: test_host_project.py::test_a_script_in_a_subfolder_uses_the_tools, test_host_programs.py[C].
@pytest.mark.slow
def test_the_example_runs_on_either_start_up(example: Project) -> None:
    """The words on the console are those of the reference interpreter.

    Both hear the same recording.
    """
    result = scons_of_example(example, "n6.probe=virtual", "greeting=moin", "run", "run-own-startup").done()
    model = ROOT / "models/keyword/keyword.tflite"
    recording = (np.arange(490) % 251).astype(np.int8)
    word = int(np.argmax(outputs(model.read_bytes(), recording)[0]))
    heard = f"Console spotter: moin\n{f'    Console spotter: word {word}{chr(10)}' * 3}    Console spotter: done"
    assert result.output.count(heard) == 2
    assert scons_of_example(example, "greeting=moin").output.count("is up to date") >= 4


@pytest.mark.slow
def test_a_section_in_the_memory_of_a_network_is_found(example: Project) -> None:
    example.replace(
        "own_startup/own.ld",
        "    .stack (NOLOAD)",
        "    .frames 0x34200000 (NOLOAD) : { KEEP(*(.frames)) }\n    .stack (NOLOAD)",
    )
    example.replace(
        "own_startup/own.ld",
        "LENGTH = 0x000FFC00\n",
        "LENGTH = 0x000FFC00\n    FRAMES (rw) : ORIGIN = 0x34200000, LENGTH = 64K\n",
    )
    example.replace("own_startup/own.ld", "{ KEEP(*(.frames)) }", "{ KEEP(*(.frames)) } > FRAMES")
    example.replace(
        "own_startup/startup.c",
        "int main(void);",
        'char frames[4096] __attribute__((section(".frames")));\nint main(void);',
    )
    result = scons_of_example(example).refused()
    found = "error N6-CHECK-026: section .frames of spotter.elf has 4096 bytes at 0x34200000, 4096 of them 'frames', in pool"
    assert f"own_startup/startup.c:11: {found}" in result.output
    assert "own_startup/own.ld:5: warning" not in result.output
    # The host chooses the names of the script and the linker map.
    script = 'linker_map=File("spotter.map"), linker_script="own.ld"'
    example.replace("own_startup/SConscript", "own.N6Image(elf, nn)", f"own.N6Image(elf, nn, {script})")
    example.replace("own_startup/SConscript", '"-Wl,--gc-sections"', '"-Wl,--gc-sections,-Map,own_startup/spotter.map"')
    example.replace("own_startup/SConscript", 'own.Depends(elf, "own.ld")', 'own.SideEffect("spotter.map", elf)')
    example.replace("own_startup/SConscript", '"-O2", "-g",', '"-O2",')
    result = scons_of_example(example).refused()
    assert f"own_startup/startup.o: {found}" in result.output
    assert "region FRAMES, own_startup/own.ld:5" in result.output


@pytest.mark.slow
def test_a_linker_script_for_another_board_is_told_by_its_line(example: Project) -> None:
    example.replace("own_startup/SConscript", "N6Image(elf, nn)", 'N6Image(elf, nn, linker_script="own.ld")')
    assert scons_of_example(example).status == 0
    example.replace("own_startup/own.ld", "LENGTH = 0x000FFC00", "LENGTH = 0x005FFC00")
    result = scons_of_example(example).refused()
    assert "own_startup/own.ld:4: error N6-CHECK-029: region RAM is 0x34000400..0x34600000" in result.output
    assert "nucleo-n657 has no memory at 0x34420000" in result.output
    example.replace("own_startup/SConscript", 'linker_script="own.ld"', 'profile="noextmem"')
    refused = scons_of_example(example, "build")
    assert "own_startup/SConscript:10: error N6-HOST-004: N6Image has option 'profile'" in refused.output


@pytest.mark.slow
def test_an_option_of_the_host_compiles_only_what_it_affects(example: Project) -> None:
    assert scons_of_example(example).status == 0
    result = scons_of_example(example, "greeting=moin").done()
    compiled = [action for action in result.actions if action.startswith(("Compile", "Network"))]
    assert compiled == ["Compile app/main.c", "Compile app/spotter.c", "Compile drivers/serial.c"]


@pytest.mark.slow
def test_an_edit_of_a_host_s_header_compiles_who_includes_it(example: Project) -> None:
    assert scons_of_example(example).status == 0
    example.replace("drivers/serial.h", "void serial_open(void);", "void serial_open(void); /* first */")
    result = scons_of_example(example)
    assert [action for action in result.actions if action.startswith("Compile")] == [
        "Compile app/main.c",
        "Compile drivers/serial.c",
    ]


@pytest.mark.slow
def test_options_of_n6build_have_a_prefix_on_the_command_line(host: Project) -> None:
    write(host, APPLI + 'print("board is", ARGUMENTS.get("board"))\n')
    result = host.done("-n", "board=theirs", "n6.board=openmv-n6", "build/openmv-n6/net-app/flash_manifest.json")
    assert "board is theirs" in result.output
    assert "N6-OPTION-001: unknown option 'bord'" in host.scons("n6.bord=openmv-n6").refused().output


def test_a_mistake_in_a_script_is_named_by_its_line(host: Project) -> None:
    write(host, APPLI.replace(")\n", ', profil="noextmem")\n'))
    assert "SConstruct:2: error N6-OPTION-001: unknown option 'profil'" in host.scons().refused().output
    write(host, APPLI.replace(")\n", ', loader="reloc")\n'))
    assert "SConstruct:2: error N6-HOST-002: 'app' links its networks" in host.scons().output
    write(host, APPLI.replace("nucleo-n657", "nucleo-n65"))
    assert "SConstruct:2: error N6-BOARD-001: no board 'nucleo-n65'" in host.scons().output
    write(host, "\n" + APPLI.replace("net.tflite", "keywrd"))
    assert "SConstruct:3: error N6-MODEL-001: no model 'keywrd'" in host.scons().output
    write(host, APPLI.replace("main.c", "main.cpp"))
    assert "main.cpp: error N6-HOST-001: main.cpp is not a C source" in host.scons().output


@pytest.mark.slow
def test_a_board_is_looked_for_only_by_who_asks_for_it(host: Project) -> None:
    write(host, f'app = {APPLI}env.N6Flash(app)\nenv.N6Run(app)\nenv.Command("plain", [], Touch("$TARGET"))\n')
    assert host.scons("plain").status == 0
    assert host.scons("build/nucleo-n657/net-app/flash_manifest.json").status == 0
    assert "N6-FLASH-010" in host.scons("flash").refused().output


@pytest.mark.slow
def test_what_depends_on_a_board_without_naming_it_is_refused(host: Project) -> None:
    write(host, f'app = {APPLI}env.Alias("all", env.N6Flash(app))\n')
    assert "N6-HOST-003: 'flash' needs a board" in host.scons("n6.probe=virtual", "all").refused().output
    assert host.scons("n6.probe=virtual", "flash", "all").status == 0


@pytest.mark.slow
def test_two_boards_in_one_script(host: Project) -> None:
    script = 'for board in ("nucleo-n657", "stm32n6570-dk"):\n    app = ' + APPLI.replace('"nucleo-n657"', "board")
    write(host, script + "    env.N6Flash(app)\n    Default(app.files)\n")
    result = host.done("-j2", "n6.probe=virtual", "flash")
    assert {*re.findall(r"Flashed (\S+) \(virtual\)", result.output)} == {"nucleo-n657", "stm32n6570-dk"}
    assert host.scons().output.count("' is up to date") == 12
    # Each network is compiled for its own board.
    assert {path.parts[-4] for path in host.root.glob("build/*/net-app/network/network.c")} == {
        "nucleo-n657",
        "stm32n6570-dk",
    }


@pytest.mark.slow
def test_two_programs_on_one_board_have_virtual_boards_of_their_own(host: Project) -> None:
    one = f'app = {APPLI}env.N6Flash(app)\nenv.N6Run(app, until="instructions:1_000_000")\n'
    other = (
        one.replace('"app"', '"other"')
        .replace("(app)", '(app, "flash-other")')
        .replace("(app, u", '(app, "run-other", u')
    )
    write(host, one + other)
    host.done("-j2", "n6.probe=virtual", "run", "run-other")
    assert len(list(host.root.glob("build/virtual_board/nucleo-n657/*/nor.bin"))) == 2


@pytest.mark.slow
def test_a_variant_folder_and_files_that_the_host_generates(host: Project) -> None:
    (host.root / "src").mkdir()
    (host.root / "main.c").write_text('#include "n6_network.h"\n#include "made.h"\nint main(void) { return MADE; }\n')
    for name in ("main.c", "net.tflite"):
        (host.root / name).rename(host.root / "src" / name)
    script = 'Import("env")\nenv.Textfile("made.h", "#define MADE 7")\n'
    script += 'env.Textfile("extra.c", "int extra;")\nnames = ["main.c", "extra.c"]\n'
    script += 'app = env.N6Appli("app", sources=names, model="net.tflite", board="nucleo-n657", CPPPATH=["."])\n'
    (host.root / "src/SConscript").write_text(script + "Default(app.files)\n")
    write(host, 'env.Tool("textfile")\nenv.Replace(N6_BUILD="out/nn")\n')
    with (host.root / "SConstruct").open("a") as file:
        file.write('SConscript("src/SConscript", exports="env", variant_dir="out/debug")\n')
    result = host.done()
    assert {"Compile src/main.c", "Compile out/debug/extra.c"} <= {*result.actions}
    assert "out/nn/nucleo-n657/net-app/flash_manifest.json' is up to date" in host.scons().output
    assert not (host.root / "build").exists()


@pytest.mark.slow
def test_a_header_that_the_host_generates_comes_before_its_compilation(host: Project) -> None:
    """The compiler alone can find out that the header is read.

    The header's rule comes after N6Appli, and another header includes it.
    """
    (host.root / "main.c").write_text('#include "n6_network.h"\n#include "outer.h"\nint main(void) { return MADE; }\n')
    (host.root / "outer.h").write_text('#include "deep/made.h"\n')
    (host.root / "value.txt").write_text("7")
    script = 'app = env.N6Appli("app", sources=["main.c", "late.c"], model="net.tflite", board="nucleo-n657", '
    script += 'CPPPATH=["gen", "."])\n'
    script += """
def generate(target, source, env):
    import time
    time.sleep(1)
    with open(str(target[0]), "w") as file:
        file.write("#define MADE " + source[0].get_text_contents())

env.Command("gen/deep/made.h", "value.txt", Action(generate, "Generate"))
env.Command("late.c", "value.txt", Action(generate, "Generate"))
Default(app.files)
"""
    write(host, script)
    host.done("-j8")
    before = (host.root / "build/nucleo-n657/net-app/appli/appli.elf").read_bytes()
    again = host.scons("-j8")
    assert (again.actions, "Generate" in again.output) == ([], False)
    (host.root / "value.txt").write_text("8")
    result = host.scons("-j8")
    assert "Generate" in result.output
    assert sorted(action for action in result.actions if "Compile" in action) == ["Compile late.c", "Compile main.c"]
    assert (host.root / "build/nucleo-n657/net-app/appli/appli.elf").read_bytes() != before


# In every run: tests/embed, with Make and CMake.
@pytest.mark.slow
def test_an_own_program_finds_the_headers_of_its_board_and_model(host: Project) -> None:
    (host.root / "main.c").write_text(
        '#include "n6_board_clock.h"\n#include "n6_console.h"\n#include "n6_network.h"\nint main(void) { n6_console_open(); }\n'
    )
    script = 'nn = env.N6Network(model="net.tflite", board="nucleo-n657")\n'
    script += (
        'env.Replace(CC="arm-none-eabi-gcc", CCFLAGS=["-mcpu=cortex-m55"], **nn.flags(env))\nenv.Object("main.c")\n'
    )
    write(host, script)
    assert host.scons("-j4", "main.o").status == 0
    assert "`main.o' is up to date" in host.scons("main.o").output
    assert (host.root / "build/nucleo-n657/net-host/include/n6_made.h").is_file()


@pytest.mark.slow
def test_an_elf_file_of_the_host_without_a_network_goes_to_flash(host: Project) -> None:
    (host.root / "main.c").write_text(MAIN)
    write(host, APPLI.replace("env.", "app = env.", 1) + "Default(app.files)\n")
    assert host.scons().status == 0
    shutil.copy(host.root / "build/nucleo-n657/net-app/appli/appli.elf", host.root / "theirs.elf")
    write(host, 'app = env.N6Image("theirs.elf", board="nucleo-n657")\nDefault(app.files)\n')
    host.done()
    manifest = json.loads((host.root / "build/nucleo-n657/programs-theirs/flash_manifest.json").read_text())
    assert [segment["name"] for segment in manifest["segments"]] == ["fsbl", "appli"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["with space", "${__import__('os').system('touch PWNED')}`touch PWNED`", "näme"])
def test_folders_of_the_host_may_have_any_name(project: Project, tmp_path: Path, name: str) -> None:
    theirs = tmp_path / name
    theirs.mkdir()
    shutil.copy(project.root / "models/anomaly/anomaly.tflite", theirs / "net.tflite")
    (theirs / "main.c").write_text(MAIN)
    host = Project(theirs, project.home)
    write(host, APPLI.replace("env.", "app = env.", 1) + "Default(app.files)\n")
    host.done()
    assert not list(tmp_path.rglob("PWNED"))


def test_the_header_for_hosts_is_c_and_cpp() -> None:
    for language in ("c", "c++"):
        subprocess.run(
            ["arm-none-eabi-gcc", "-x", language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"],
            input=b'#include "n6_network.h"\n',
            cwd=ROOT / "firmware/appli",
            check=True,
        )


def test_compile_commands_are_those_of_the_host_and_ours(host: Project) -> None:
    (host.root / "tool.c").write_text("int main(void) { return 0; }\n")
    script = 'env.Tool("compilation_db")\nenv.Program("tool.c")\ntheirs = env.CompilationDatabase("theirs.json")\n'
    write(host, f"{script}{APPLI}env.N6CompileCommands(theirs)\nDefault(None)\n")
    host.done("compile_commands.json")
    entries = json.loads((host.root / "compile_commands.json").read_text())
    files = {entry["file"] for entry in entries}
    assert {"tool.c", "main.c"} <= files
    assert any(file.endswith("firmware/kernels/fully_connected.c") for file in files)
    (ours,) = [entry for entry in entries if entry["file"] == "main.c"]
    assert (ours["directory"], ours["arguments"][0]) == (str(host.root), "arm-none-eabi-gcc")
    # The command works as written.
    (host.root / ours["output"]).parent.mkdir(parents=True)
    assert host.scons("build/nucleo-n657/include/n6_soc.h").status == 0
    subprocess.run(ours["arguments"], cwd=ours["directory"], check=True)
    (host.root / "theirs.txt").write_text("{}")
    write(host, f'{APPLI}env.N6CompileCommands("theirs.txt")\n')
    assert "theirs.txt: error N6-STEP-016" in host.scons("compile_commands.json").output


@pytest.mark.slow
def test_compile_commands_of_this_project(project: Project) -> None:
    result = project.done("model=anomaly", "compile_commands.json")
    assert result.actions == []
    entries = json.loads((project.root / "compile_commands.json").read_text())
    assert {"firmware/fsbl/main.c", "build/nucleo-n657/anomaly/network/network.c"} <= {
        entry["file"] for entry in entries
    }


@pytest.mark.slow
def test_the_shared_cache_of_n6build_holds_what_it_compiles_for_a_host(host: Project, tmp_path: Path) -> None:
    write(host, APPLI.replace("env.", "app = env.", 1) + "Default(app.files)\n")
    cache = f"n6.cache={tmp_path / 'cache'}"
    assert host.scons(cache, PYTHONPATH="").status == 0
    shutil.rmtree(host.root / "build")
    result = host.done(cache, PYTHONPATH="")
    assert [action for action in result.actions if action.startswith("Compile")] == []
