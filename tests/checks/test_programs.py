"""Findings about third-party programs: one row for each fault.

Sound programs have rows, too.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from n6build.base.findings import Finding
from n6build.check.checked_board import checked_board
from n6build.check.run import run_checks
from n6build.check.subject import ForeignProgram, Subject
from n6build.describe.hardware.boards import load_board
from n6build.place.image.elf_reader import Section, Symbol
from n6build.place.image.foreign import Role, StartedProgram, started_program
from n6build.place.image.memory_regions import MemoryRegion
from n6build.place.image.program_board import program_board
from samples import sample

from checks.test_checks import on_npu, sound, with_own_input  # noqa: F401 - a fixture

START = StartedProgram(0x3400_0400, 0x4000, 0x3410_0000, 0x3400_0501)
TABLE = Symbol("g_pfnVectors", 0x3400_0400, 4 * 211)
CODE = Section(".text", 0x3400_0400, 0x4000, is_code=True)
SOUND = ForeignProgram(
    "app.elf",
    start=START,
    sections=(CODE, Section(".bss", 0x3401_0000, 0x1000)),
    symbols=(TABLE, Symbol("Reset_Handler", 0x3400_0500, 32), Symbol("frames", 0x3401_0000, 0x800)),
    place=lambda symbol: f"src/{symbol.name}.c:7" if symbol.name != "frames" else "",
)


def findings(subject: Subject, id: str, **changes: object) -> list[Finding]:
    programs = (replace(SOUND, **changes),) if changes else (SOUND,)  # type: ignore[arg-type]
    (result,) = [result for result in run_checks(replace(subject, programs=programs)) if result.id == id]
    return list(result.findings)


def test_a_sound_program_passes_and_nothing_is_left_out(sound: Subject) -> None:  # noqa: F811
    results = run_checks(replace(sound, programs=(SOUND,)))
    states = {result.id[-3:]: result.state for result in results if "026" <= result.id[-3:] <= "032"}
    # The program has no buffer of a network, and no network is for the NPU.
    idle = dict.fromkeys(("030", "031"), "not applicable")
    assert states == {**dict.fromkeys(("026", "027", "028", "029", "032"), "passed"), **idle}


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ({"stack": 0}, "the initial stack pointer 0x00000000 is outside the RAM of nucleo-n657"),
        ({"stack": 0x2000_0000}, "0x20000000 is outside the RAM"),
        ({"stack": 0x7000_1000}, "0x70001000 is outside the RAM"),
        ({"stack": 0x3410_0002}, "0x34100002 is not a multiple of 4"),
        ({"stack": 0x2430_0000}, "0x24300000 is in AXISRAM5, which is off when the program starts"),
        ({"reset": 0x3400_0500}, "the reset vector 0x34000500 ('Reset_Handler') has no Thumb bit"),
        ({"reset": 0x3400_4401}, "the reset vector 0x34004401 is outside the code of the program"),
        ({"reset": 0x0800_0501}, "the reset vector 0x08000501 is outside the code"),
        ({"address": 0x3400_0600, "reset": 0x3400_0601}, ""),
    ],
    ids=lambda value: str(value)[:40],
)
def test_vector_tables(start: dict[str, int], words: str, sound: Subject) -> None:  # noqa: F811
    found = findings(sound, "N6-CHECK-027", start=replace(START, **start))  # type: ignore[arg-type]
    assert [words in finding.what for finding in found] == ([True] if words else [])
    # The finding has the line of the table, if the table is at its place.
    assert {finding.where for finding in found} <= {"src/g_pfnVectors.c:7"}


@pytest.mark.parametrize(("entries", "found"), [(16, 0), (32, 0), (33, 1), (64, 1), (211, 1)])
def test_a_table_is_aligned_to_its_size(entries: int, found: int, sound: Subject) -> None:  # noqa: F811
    table = replace(TABLE, address=0x3400_0480, bytes=4 * entries)
    told = findings(sound, "N6-CHECK-027", start=replace(START, address=0x3400_0480), symbols=(table,))
    assert len(told) == found
    assert all(f"with {entries} vectors" in finding.what for finding in told)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"_Min_Stack_Size": 0x400}, ["the stack of app.elf has 256 bytes at 0x342041A8"]),
        ({"_Min_Heap_Size": 0x800, "_end": 0x3420_42A8 - 16}, ["the heap of app.elf has 16 bytes at 0x34204298"]),
        ({"_Min_Heap_Size": 0x800}, []),
    ],
)
def test_heap_and_stack_without_a_section(labels: dict[str, int], words: list[str], sound: Subject) -> None:  # noqa: F811
    (pool,) = [pool for pool in sound.plan.pools if pool.used and pool.address == 0x3420_0000]
    assert pool.used == 0x42A8
    stack = 0x3420_45A8 if "_Min_Stack_Size" in labels else START.stack
    found = findings(sound, "N6-CHECK-026", labels=labels, start=replace(START, stack=stack))
    assert len(found) == len(words)
    assert all(word in finding.what for word, finding in zip(words, found, strict=True))


def test_the_largest_symbol_is_named_by_its_line_and_the_region_by_its_script(sound: Subject) -> None:  # noqa: F811
    (finding,) = findings(
        sound,
        "N6-CHECK-026",
        sections=(CODE, Section(".frames", 0x3420_0000, 0x2000)),
        symbols=(
            Symbol("small", 0x3420_0000, 4),
            Symbol("camera", 0x3420_0100, 0x1800),
            Symbol("main", 0x3400_0500, 4),
        ),
        regions=(MemoryRegion("FRAMES", 0x3420_0000, 0x1_0000, "own.ld", 5),),
    )
    assert finding.where == "src/camera.c:7"
    assert "section .frames of app.elf has 8192 bytes at 0x34200000, 6144 of them 'camera', in pool" in finding.what
    assert finding.hint.endswith("(region FRAMES, own.ld:5)")


@pytest.mark.parametrize(
    ("address", "size", "missing"),
    [
        (0x3406_4000, 0x19C000, None),  # AXISRAM1 and 2 are adjacent
        (0x2400_0000, 0x1000, None),
        (0x3442_0000, 4, 0x3442_0000),
        (0x0800_0000, 4, 0x0800_0000),
        (0x9000_0000, 4, 0x9000_0000),  # no external RAM on this board
        (0x73FF_FFFC, 8, 0x7400_0000),
        (0x3001_FFF0, 64, 0x3002_0000),
    ],
)
def test_sections_in_memory_that_is_not_there(address: int, size: int, missing: int | None, sound: Subject) -> None:  # noqa: F811
    found = findings(sound, "N6-CHECK-029", sections=(CODE, Section(".data", address, size)))
    assert len(found) == (missing is not None)
    assert all(f"has no memory at 0x{missing:08X}" in finding.what for finding in found)


@pytest.mark.parametrize(
    ("symbols", "words"),
    [
        ((Symbol("network_input_0", 0x3401_0000, 512),), ""),
        ((Symbol("network_input_0", 0x3401_0010, 512),), "does not begin on a cache line of 32 bytes"),
        ((Symbol("network_input_0", 0x3401_0000, 256),), "has 256 bytes of 512: it was compiled for another network"),
        ((Symbol("main", 0x3400_0500, 4),), "has no buffer 'network_input_0' for input 0 of keyword"),
    ],
)
def test_buffers_of_a_network(symbols: tuple[Symbol, ...], words: str, sound: Subject) -> None:  # noqa: F811
    results = run_checks(with_own_input(sound, *symbols))
    (result,) = [result for result in results if result.id == "N6-CHECK-031"]
    assert [words in finding.what for finding in result.findings] == ([True] if words else [])


def test_a_cache_that_is_cleaned_is_well(sound: Subject) -> None:  # noqa: F811
    subject = on_npu(sound)
    cleaned = frozenset({"SCB_EnableDCache", "SCB_CleanDCache_by_Addr"})
    assert findings(subject, "N6-CHECK-030", functions=cleaned) == []
    assert len(findings(subject, "N6-CHECK-030", functions=frozenset({"SCB_EnableDCache"}))) == 1


def test_what_nobody_can_read_is_said(sound: Subject) -> None:  # noqa: F811
    assert "has no symbols" in findings(sound, "N6-CHECK-032", symbols=())[0].what
    region = MemoryRegion("RAM", None, 4096, "own.ld", 3)
    (finding,) = findings(sound, "N6-CHECK-032", regions=(region,))
    assert finding.where == "own.ld:3"
    assert "was not checked" in finding.what


def test_interrupts_of_the_npu_reach_their_handlers(sound: Subject) -> None:  # noqa: F811
    subject = on_npu(sound)
    handlers = (Symbol("NPU0_IRQHandler", 0x3400_0700, 4), Symbol("Default_Handler", 0x3400_0720, 4))
    vectors = [0] * 16 + [0x3400_0721] * 195
    (finding,) = findings(subject, "N6-CHECK-034", symbols=handlers, start=replace(START, vectors=tuple(vectors)))
    assert "vector 69 of app.elf, for NPU0, is Default_Handler instead of NPU0_IRQHandler" in finding.what
    assert finding.where == "src/NPU0_IRQHandler.c:7"
    vectors[69] = 0x3400_0701
    assert findings(subject, "N6-CHECK-034", symbols=handlers, start=replace(START, vectors=tuple(vectors))) == []


@pytest.mark.parametrize(
    ("role", "name"),
    [
        *(("fsbl", name) for name in ("LoadAndRun-FSBL-trusted", "PSRAM-FSBL-trusted", "XIP-FSBL-trusted")),
        *(("appli", name) for name in ("LoadAndRun-Appli-trusted", "PSRAM-Appli-trusted", "XIP-Appli-trusted")),
        ("fsbl", "fsbl_fw_lrun_v1.2.0"),
        ("appli", "aed_bm"),
    ],
)
def test_what_st_publishes_has_a_vector_table_that_starts_it(role: Role, name: str, sound: Subject) -> None:  # noqa: F811
    board = load_board("stm32n6570-dk")
    file = sample("boot") / f"{name}.bin"
    start = started_program(file, role, program_board(board), copied_by_ours=False)
    assert start is not None and len(start.vectors) == 16 + 195
    # The FSBL copies this image to 0x91000400, an address that is not in the image.
    assert (start.address is None) == (name == "PSRAM-Appli-trusted")
    program = ForeignProgram(file.name, role, start, has_elf=False)
    (result,) = [
        each
        for each in run_checks(replace(sound, board=checked_board(board), programs=(program,)))
        if each.id == "N6-CHECK-027"
    ]
    assert (result.state, result.findings) == ("passed", ())
