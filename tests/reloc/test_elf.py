"""Code that a loader could not place is refused when the model is made.

The error names symbol, section and object.
"""

from __future__ import annotations

import shutil
import struct
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from n6build.base.captured import run_captured
from n6build.base.errors import N6Error
from n6build.compile.toolchain import CPU, Toolchain
from n6build.place.reloc.binary import model_file
from n6build.place.reloc.compilation import LINK, POSITION_INDEPENDENT
from n6build.place.reloc.linked_model import read_linked_model
from n6build.place.reloc.model_format import HEADER_FIELDS, WORD
from n6build.steps.reloc_networks import ModelSteps

from reloc.stage2 import carried_out, made_with, plan_of

PIC = list(POSITION_INDEPENDENT)
TIMEOUT_S = 60


def linked_with(made: ModelSteps, folder: Path, source: str, flags: list[str], link: list[str]) -> Path:
    """Link the model with another object, whose function `probe` is kept."""
    (folder / "probe.c").write_text(source)
    compile_probe = ["arm-none-eabi-gcc", *CPU, "-O2", "-ffunction-sections", "-fdata-sections", *flags]
    command = [*compile_probe, "-c", str(folder / "probe.c"), "-o", str(folder / "probe.o")]
    status, output = run_captured(command, TIMEOUT_S)
    assert status == 0, output
    elf = folder / "network_rel.elf"
    (of_model,) = [step for step in made.steps if made.elf in step.outputs]
    objects = [*(source for source in of_model.sources if source.endswith(".o")), str(folder / "probe.o")]
    (script,) = [source for source in of_model.sources if source.endswith(".ld")]
    options = [*CPU, *LINK, "-T", script, "-Wl,--undefined=probe", *link]
    command = ["arm-none-eabi-gcc", *options, f"-Wl,-Map={elf.with_suffix('.map')}", *objects, "-o", str(elf)]
    status, output = run_captured(command, TIMEOUT_S)
    assert status == 0, output
    return elf


TABLE = "int table[4]; int *probe(void) { return table + 1; }"
REFUSED = [
    ("an address in code", TABLE, ["-fno-pic"], [], "N6-RELOC-012", "R_ARM_ABS32 of symbol"),
    ("an address in two halves", TABLE, ["-fno-pic", "-mpure-code"], [], "N6-RELOC-012", "R_ARM_THM_MOVW_ABS_NC of symbol"),
    ("data at a distance from code", "static int table[4]; int *probe(int i) { table[i]++; return table; }",
     [flag for flag in PIC if "text-relative" not in flag], [], "N6-RELOC-012", "is a distance between segments"),
    ("a symbol that nobody defines", "__attribute__((weak)) void absent(void); void (*probe)(void) = absent;",
     PIC, [], "N6-RELOC-011", "symbol absent is not defined (R_ARM_ABS32 in .data"),
    ("an address that is none of the model's", "extern char reg[]; char *probe = reg;",
     PIC, ["-Wl,--defsym=reg=0x34200000"], "N6-RELOC-013", "is 0x34200000, which is in no segment"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "flags", "link", "id", "words"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_what_a_loader_cannot_carry_out(
    source: str, flags: list[str], link: list[str], id: str, words: str, made: ModelSteps, tmp_path: Path
) -> None:
    elf = linked_with(made, tmp_path, source, flags, link)
    with pytest.raises(N6Error, match=id) as caught:
        read_linked_model(elf, elf.with_suffix(".map"))
    assert words in caught.value.what
    assert caught.value.where == "probe.o"


def test_position_independent_code_is_taken(made: ModelSteps, tmp_path: Path) -> None:
    elf = linked_with(made, tmp_path, TABLE + " int *pointer = table; int **second(void) { return &pointer; }", PIC, [])
    more = read_linked_model(elf, elf.with_suffix(".map"))
    assert len(more.relocations) >= len(read_linked_model(Path(made.elf)).relocations)


def test_a_symbol_that_is_missing_is_the_linker_s_to_tell(network: Path, tmp_path: Path, toolchain: Toolchain) -> None:
    copy = tmp_path / "network"
    shutil.copytree(network, copy)
    text = (copy / "network.c").read_text()
    (copy / "network.c").write_text(text.replace("n6k_softmax(&op);", "ll_sw_forward_softmax(&op);"))
    with pytest.raises(N6Error, match="N6-LLATON-004"):
        made_with(copy, tmp_path, toolchain)
    # With n6build's runtime, a call into ST's library is found before anything is compiled.


def test_a_file_that_is_no_elf(tmp_path: Path) -> None:
    for data in (b"", b"\x7fELF", b"\x7fELF" + bytes(200)):
        (tmp_path / "x.elf").write_bytes(data)
        with pytest.raises(N6Error, match="N6-RELOC-010"):
            read_linked_model(tmp_path / "x.elf")


def test_a_header_that_names_a_large_table_costs_no_memory(made: ModelSteps, tmp_path: Path) -> None:
    damaged = bytearray(Path(made.elf).read_bytes())
    with Path(made.elf).open("rb") as file:
        section = ELFFile(file).get_section_by_name(".flash")
        assert section is not None
    start, end = (section["sh_offset"] + WORD * HEADER_FIELDS.index(name) for name in ("got_start", "got_end"))
    (address,) = struct.unpack_from("<I", damaged, start)
    struct.pack_into("<I", damaged, end, address + (16 << 20))
    (tmp_path / "network_rel.elf").write_bytes(damaged)
    tracemalloc.start()
    try:
        with pytest.raises(N6Error, match="N6-RELOC-01"):
            read_linked_model(tmp_path / "network_rel.elf")
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_weights_of_another_size_are_refused(made: ModelSteps) -> None:
    linked = read_linked_model(Path(made.elf))
    with pytest.raises(N6Error, match="N6-RELOC-014: the weights have 8 bytes"):
        model_file(linked, (0, 8))


def test_a_failing_compiler_s_words_are_shown(
    network: Path, tmp_path: Path, toolchain: Toolchain, capfd: pytest.CaptureFixture[str]
) -> None:
    fails = tmp_path / "fails"
    fails.write_text("#!/bin/sh\necho 'network.c:7: error: no such thing' >&2\nexit 1\n")
    fails.chmod(0o755)
    plan, model = plan_of(network, tmp_path, replace(toolchain, command=str(fails)))
    with pytest.raises(N6Error, match="N6-STEP-010: fails ended with status 1") as caught:
        carried_out(plan, model.files, tmp_path / "work")
    assert caught.value.where is not None
    assert caught.value.where.endswith(".c")
    assert "network.c:7: error: no such thing" in capfd.readouterr().out
    assert not Path(model.elf).exists()
    assert not Path(model.file).exists()
