"""Tested bits and loops in code of the compiler, at each level of optimisation."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from elf_symbols import symbols_of
from firmware_build import CPU, compiler
from n6build.base.elf_damage import open_elf
from n6build.board.virtual_board.thumb_loops import Memory, loop_at, polled_bits

REGISTER = "(*(volatile unsigned *)0x52005818u)"
WAITS = {
    "low": (f"while (!({REGISTER} & 1u)) {{}}", 1),
    "middle": (f"while (!({REGISTER} & 0x200u)) {{}}", 0x200),
    "high": (f"while (({REGISTER} & 0x80000000u) == 0u) {{}}", 0x80000000),
    "byte": (f"while (((({REGISTER}) >> 8) & 0xFFu) == 0u) {{}}", 0xFF00),
    "pair": (f"while (({REGISTER} & 0x30u) != 0x30u) {{}}", 0x30),
    "equal": (f"while ({REGISTER} != 5u) {{}}", 0xFFFFFFFF),
    "any": (f"while ({REGISTER} == 0u) {{}}", 0xFFFFFFFF),
}


def functions(folder: Path, source: str, *options: str) -> dict[str, Memory]:
    """Compile a source, and return the code of each function at address 0x1000."""
    (folder / "a.c").write_text(source)
    command = [compiler(), *CPU, "-std=c11", "-ffunction-sections", *options, "-c", "a.c", "-o", "a.o"]
    subprocess.run(command, cwd=folder, check=True)
    elf = open_elf(folder / "a.o")
    found = {}
    for symbol in symbols_of(elf):
        if symbol["st_info"]["type"] == "STT_FUNC":
            data = elf.get_section(symbol["st_shndx"]).data()
            found[symbol.name] = Memory(0x1000, data)
    return found


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-Os"])
def test_the_bits_of_a_loop_are_found(tmp_path: Path, level: str) -> None:
    source = "\n".join(f"void wait_{name}(void) {{ {loop} }}" for name, (loop, _) in WAITS.items())
    found = functions(tmp_path, source, level)
    for name, (_, bits) in WAITS.items():
        if (level, name) == ("-O0", "byte"):
            # The compiler shifts the value before it masks it.
            continue
        code = found[f"wait_{name}"]
        seen = {
            polled_bits(Memory(address, code.data[address - code.at :]), [0] * 15)
            for address, _, _ in code.instructions(0x1000)
        }
        assert bits in seen, (name, seen)


@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
def test_a_loop_is_found_from_each_of_its_instructions(tmp_path: Path, level: str) -> None:
    source = "extern volatile int flag; void wait(void) { while (!flag) {} }\nvoid hang(void) { for (;;) {} }"
    found = functions(tmp_path, source, level)
    code = found["wait"]
    registers = dict.fromkeys(range(13), 0x34000000)
    loops = [loop for address, _, _ in code.instructions(0x1000) if (loop := loop_at(code, address, registers))]
    assert loops
    assert all(loop.reads == (0x34000000,) for loop in loops if loop.start > 0x1000 or level != "-O0")
    hang = loop_at(found["hang"], 0x1000, {})
    assert hang is not None
    assert not hang.has_reads


def test_a_call_ends_a_loop(tmp_path: Path) -> None:
    source = "int ready(void); void wait(void) { while (!ready()) {} }"
    code = functions(tmp_path, source, "-O1")["wait"]
    assert {loop_at(code, address, {}) for address, _, _ in code.instructions(0x1000)} == {None}


@pytest.mark.parametrize("cut", range(9))
def test_code_that_is_cut_off_has_no_answer(cut: int) -> None:
    code = Memory(0x1000, bytes.fromhex("d0f82030984303d0fae7")[:cut])
    assert polled_bits(code, [0] * 15) in (None, 0)
    assert loop_at(code, 0x1000, {}) is None


def test_a_mask_on_the_stack_is_found() -> None:
    # ldr r2, [r3, #32]; ldr r3, [r7, #8]; ands r3, r2; cmp r3, #0: HAL code without optimisation.
    code = Memory(0x1000, bytes.fromhex("1a6abb681340002b"))
    registers = [0] * 7 + [0x34001000] + [0] * 7
    stack = Memory(0x34001000, bytes(8) + (32).to_bytes(4, "little"))
    assert polled_bits(code, registers, stack) == 32
    assert polled_bits(code, registers) is None
