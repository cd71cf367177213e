"""The firmware's parsers on the host, under the address and UB sanitizers."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from firmware.host_recovery import small_board
from firmware_build import board_headers
from n6build.base.c_format import header_text
from n6build.base.paths import FIRMWARE
from n6build.place.reloc.slots import Identity, SelfTest, name_crc32, slot_chunks
from n6build.steps.firmware_headers import FORMATS
from reloc.synthetic import Pool, synthetic_model
from virtual_board.npu.damage import SANITIZERS

_HERE = Path(__file__).parent / "c"
_FOLDERS = ("reloc", "runtime", "runtime/reloc", "appli", "appli_reloc", "bring_up", "recovery", "trial")
VERSION = (1, 1, 3, 8)
# One pool of each kind: placed, copied, cleared, and external RAM with content.
POOLS = (
    Pool("xSPI2", 0x01010500, 0, 0, 61),
    Pool("AXISRAM3", 0x02010200, 8, 0x342E0000, 40),
    Pool("AXISRAM5", 0x03020200, 0, 0x342E1000, 300),
    Pool("hyperRAM", 0x01030201, 16, 0, 24),
)


@dataclass(frozen=True)
class Tried:
    """The result of one run of a parser program.

    Attributes:
        inputs: Number of inputs.
        reached: Inputs that passed the first checks.
        said: The sanitizer's report, empty if it reported nothing.
    """

    inputs: int
    reached: int
    said: str


@dataclass(frozen=True)
class CParser:
    """A parser of the firmware and the program that runs it.

    Attributes:
        program: Name of the program in tests/fuzz/c.
        sources: Firmware sources that are linked with the program.
        seed: Function that returns a sound input.
    """

    name: str
    program: str
    sources: tuple[str, ...]
    seed: Callable[[], bytes]


def _model() -> bytes:
    return synthetic_model(VERSION, POOLS)


def _model_slot() -> bytes:
    return b"".join(slot_chunks([bytes(range(200))], Identity(name_crc32("keyword"), 1), SelfTest(b"abcdefgh", 4)))


C_PARSERS = (
    CParser("n6_link.c", "link", ("appli/n6_link.c", "bring_up/n6_frame.c", "bring_up/n6_crc32.c"), bytes),
    CParser(
        "n6_model_slot.c and n6_slot.c",
        "slots",
        ("appli_reloc/n6_model_slot.c", "appli/n6_slot.c", "bring_up/n6_crc32.c"),
        _model_slot,
    ),
    CParser(
        "n6_recovery.c",
        "recovery",
        ("recovery/n6_recovery.c", "bring_up/n6_frame.c", "bring_up/n6_crc32.c"),
        bytes,
    ),
    CParser(
        "n6_reloc_check.c and the loader",
        "reloc",
        ("reloc/n6_reloc_check.c", "runtime/reloc/ll_aton_reloc_network.c"),
        _model,
    ),
)


def built(
    parser: CParser, folder: Path, instead: Mapping[str, str] = MappingProxyType({}), *, guided: bool = False
) -> Path:
    """Compile the parser's program in a folder and return its path.

    Args:
        instead: Texts of the firmware's sources -> their replacements.
        guided: Link it with libFuzzer, which is of Clang.
    """
    for described in FORMATS:
        (folder / described.header).write_text(header_text(described))
    board_headers(folder, small_board())
    program = folder / parser.program
    includes = [f"-I{folder}", f"-I{_HERE}", *(f"-I{FIRMWARE / each}" for each in _FOLDERS)]
    sources = [
        str(_HERE / f"{parser.program}.c"),
        *(_for_host(FIRMWARE / each, folder, instead) for each in parser.sources),
    ]
    compiler = ["clang", "-fsanitize=fuzzer", "-DN6_GUIDED=1"] if guided else ["gcc"]
    command = [
        *compiler,
        "-std=gnu11",
        "-O1",
        "-w",
        "-DLL_ATON_RT_RELOC",
        "-DLL_ATON_EB_DBG_INFO",
        "-DN6_NOR_PAGE=256u",
    ]
    command += [*SANITIZERS, *includes]
    subprocess.run([*command, *sources, "-o", str(program)], check=True)
    return program


def _for_host(source: Path, folder: Path, instead: Mapping[str, str]) -> str:
    """Copy a source, changed to run on the host, and return the copy's path.

    Reads of CPU registers return the values of a Cortex-M55, and no code of a model is called.
    """
    text = source.read_text()
    text = text.replace(
        "*(volatile const uint32_t *)(uintptr_t)address", "address == CPUID ? 0x410FD220u : 0x00F00000u"
    )
    sizes = "(sizeof(LL_Buffer_InfoTypeDef) | sizeof(EpochBlock_ItemTypeDef) << 8)"
    text = text.replace(sizes, "0x3038u").replace("defined(__ARM_FEATURE_CMSE) && __ARM_FEATURE_CMSE == 3", "1")
    text = text.replace("__attribute__((naked, noinline)) ", "")
    text = re.sub(r'__asm volatile\("push.*?\);', "__builtin_trap();", text, flags=re.DOTALL)
    for old, new in instead.items():
        text = text.replace(old, new)
    copy = folder / source.name
    copy.write_text(text)
    return str(copy)


def tried(parser: CParser, program: Path, inputs: int, number: int) -> Tried:
    """Run a parser program on mutated inputs.

    Args:
        number: Seed of the mutations; another number makes other inputs.
    """
    seed = program.with_suffix(".seed")
    seed.write_bytes(parser.seed())
    command = [str(program), str(seed), str(inputs), str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return Tried(inputs, 0, done.stderr or f"status {done.returncode}")
    count, reached, *_ = map(int, done.stdout.split())
    return Tried(count, reached, "")
