"""GNU make host projects: rebuilds, parallel steps and builds, and refusals."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from end_to_end.conftest import make_project
from end_to_end.hosts import Host, digests_of, move_older_model_over, steps_in, times_of

ALL = ("make", "-j2", "--output-sync", "all", "n6-build")
OPTIONS = "N6_OPTIONS = board=nucleo-n657 model=keyword appli=$(ELF)"


def line_of(host: Host, text: str) -> int:
    lines = (host.root / "Makefile").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.slow
def test_each_change_rebuilds_what_it_must_and_nothing_else(tmp_path: Path) -> None:
    """All changes use one build folder, which finally equals a new one byte for byte."""
    project = make_project(tmp_path)
    host = Host(tmp_path, "make", project.root / "site_scons")
    shutil.copytree(project.root / "boards/nucleo-n657", host.root / "boards/nucleo-n657")
    host.replace("Makefile", "model=keyword", "model=own_model $(CHOSEN)")
    before = times_of(host.root)
    assert "n6build library" in host.call("make", "-n", "all")
    assert times_of(host.root) == before
    host.call(*ALL)

    def done(*more: str) -> list[str]:
        did = steps_in(host.call(*ALL, *more))
        at = times_of(host.root / "build/n6build")
        assert steps_in(host.call(*ALL, *more)) == []
        assert host.status("make", "-q", "all", "n6-build", *more)[0] == 0
        assert times_of(host.root / "build/n6build") == at
        return did

    board = host.root / "boards/nucleo-n657/board.yaml"
    board.write_text(board.read_text().replace("baud: 115_200", "baud: 230_400"))
    assert "Header n6_board_console.h" in done()
    header = next(path for path in (project.root / "firmware").rglob("n6_cache.h"))
    includes = [path for path in (project.root / "firmware").rglob("*.c") if '"n6_cache.h"' in path.read_text()]
    beside = next(path for path in includes if path.parent != header.parent)
    shutil.copy(header, beside.parent / "n6_cache.h")
    compiled = done()
    assert f"Compile {beside.name}" in compiled
    assert not any("conv_2d" in step for step in compiled)
    (host.root / "n6build.local.yaml").write_text("profile: noextmem\n")
    assert "Plan memory_plan.json" in done()
    # Other pools have another folder, which is up to date. The program is linked with the library there.
    assert set(done("CHOSEN=profile=extflash")) >= {"Library libn6networks.a"}

    made = digests_of(host.root / "build/n6build/nucleo-n657")
    host.call("make", "clean")
    assert not (host.root / "build").exists()
    host.call(*ALL, "CHOSEN=profile=extflash")
    clean = digests_of(host.root / "build/n6build/nucleo-n657")
    assert clean == {path: made[path] for path in clean}


def test_a_model_that_an_older_file_replaces_is_compiled_and_nothing_is_linked_for_a_weight(tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    host.replace("Makefile", "model=keyword", "model=own_model/keyword.tflite")
    host.call(*ALL)
    (weights,) = host.root.glob("build/n6build/*/*/weights_xSPI2.bin")
    program, before = host.root / "build/app.elf", weights.read_bytes()
    linked = program.stat().st_mtime_ns
    move_older_model_over(host.root / "own_model/keyword.tflite")
    assert host.status("make", "-q", *ALL[1:])[0] == 1
    assert "Network network.c" in steps_in(host.call(*ALL))
    assert weights.read_bytes() != before
    assert program.stat().st_mtime_ns == linked
    assert steps_in(host.call(*ALL)) == []


REFUSED = {
    "board": ("board=nucleo-n657", "board=nucleo-n658", "error N6-BOARD-001: no board 'nucleo-n658'"),
    "model": ("model=keyword", "model=own/keywrd.tflite", "error N6-MODEL-001"),
    "option": ("model=keyword", "modle=keyword", "error N6-OPTION-001: unknown option 'modle'"),
    "profile": ("model=keyword", "model=keyword profile=nosuch", "error N6-BOARD-009"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_names_the_line_of_the_host_once(tmp_path: Path, case: str) -> None:
    host = Host(tmp_path, "make")
    old, new, said = REFUSED[case]
    host.replace("Makefile", old, new)
    output = host.refused("make", "-j2", "all")
    assert output.count(said) == 1, output
    assert (
        f"Makefile:{line_of(host, 'N6_OPTIONS')}: {said}" in output
        or f"Makefile:{line_of(host, 'N6_OPTIONS')}: " in output
    )
    # The host uses variables of its own.
    host.replace("Makefile", OPTIONS.replace(old, new), "N6_MODEL = keyword\nN6_BOARD = nowhere\nN6_APPLI = $(ELF)")
    assert f"Makefile:{line_of(host, 'N6_BOARD')}: error N6-BOARD-001: no board 'nowhere'" in host.refused(
        "make", "all"
    )


def test_no_command_no_compiler_and_an_error_of_the_compiler(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    host = Host(tmp_path, "make", project.root / "site_scons")
    path = list(host.path)
    host.path = [folder for folder in path if not (Path(folder) / "n6build").exists()]
    place = f"Makefile:{line_of(host, 'include ')}"
    assert f"{place}: *** n6build is not in PATH" in host.refused("make", "all")
    few = tmp_path / "few"
    few.mkdir()
    for name in ("sh", "make", "mkdir", "cat", "rm"):
        (few / name).symlink_to(str(shutil.which(name)))
    host.path = [path[0], str(few)]
    assert f"{place}: error N6-TOOL-001: the compiler arm-none-eabi-gcc was not found" in host.refused(
        "make", "n6-library"
    )
    host.path = path
    kernel = project.root / "firmware/kernels/conv_2d.c"
    text = kernel.read_text()
    kernel.write_text(text + "#error this is wrong\n")
    said = host.refused("make", "all")
    assert f"conv_2d.c:{text.count(chr(10)) + 1}:2: error: #error this is wrong" in said
    assert said.count("conv_2d.c: error N6-STEP-010") == 1
    kernel.write_text(text)
    host.call(*ALL)


@pytest.mark.slow
def test_a_host_with_a_symbol_or_a_section_of_ours(tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    path = host.root / "src/sensor.c"
    text = path.read_text()
    path.write_text(text + "\nint n6_network_count(void);\nint n6_network_count(void)\n{\n    return 0;\n}\n")
    said = host.refused("make", "all")
    assert "multiple definition of `n6_network_count'" in said
    assert "src/sensor.c:" in said
    path.write_text(text + '\nchar frames[4096] __attribute__((section(".frames"), used));\n')
    board = (host.root / "board.ld").read_text()
    at = board.index("SECTIONS")
    more = board[at:].replace("{", "{\n    .frames 0x34200000 (NOLOAD) : { KEEP(*(.frames)) } > FRAMES\n", 1)
    memory = board[:at].replace("MEMORY\n{", "MEMORY\n{\n    FRAMES (rw) : ORIGIN = 0x34200000, LENGTH = 64K\n")
    (host.root / "board.ld").write_text(memory + more)
    said = host.refused("make", "all", "n6-build")
    assert "error N6-CHECK-026: section .frames" in said
    assert "app.elf" in said
