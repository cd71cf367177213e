"""firmware/reloc/n6_reloc_format.h agrees with place/reloc/model_format.py.

The header is written by hand, because other builds use it.
"""

from __future__ import annotations

import subprocess
from enum import IntEnum
from pathlib import Path

from c_assertions import assertions
from firmware_build import CPU, WARNINGS, compiler
from n6build.base.c_format import Constant, Enumeration, Format, Member, Struct
from n6build.base.paths import FIRMWARE
from n6build.compile.ll_aton import own_version
from n6build.describe.hardware.cpu import CORTEX_M55
from n6build.place.reloc.model_format import (
    ABI_A,
    ABI_C,
    API,
    CACHED,
    HEADER_FIELDS,
    MAGIC,
    MAX_POOLS,
    OFFSET_MASK,
    WRITE,
    Flags,
    PoolContent,
    PoolDescriptor,
    PoolType,
    Segment,
    version_words,
)

NO_FLAGS = Flags.of(0)
NO_POOL = PoolDescriptor("", PoolType.RELOC, PoolContent.PARAM, 0, 0, 0, 0, 0)
_SEGMENTS = {each.name: each.value for each in Segment if each is not Segment.NULL}
Segments = IntEnum("Segments", _SEGMENTS)  # type: ignore[misc]
Entries = IntEnum("Entries", [name.upper() for name in ABI_C.entries], start=0)  # type: ignore[misc]

DESCRIBED = Format(
    "n6_reloc_format.h",
    (),
    constants=(
        Constant("N6_RELOC_MAGIC", MAGIC),
        Constant("N6_RELOC_API_MAJOR", API[0]),
        Constant("N6_RELOC_API_MINOR", API[1]),
        Constant("N6_RELOC_FLAG_ASYNC", NO_FLAGS._replace(asynchronous=True).word),
        Constant("N6_RELOC_FLAG_DEBUG_INFO", NO_FLAGS._replace(debug_info=True).word),
        Constant("N6_RELOC_FLAG_SECURE", NO_FLAGS._replace(secure=True).word),
        Constant("N6_RELOC_FLAG_FPU", NO_FLAGS._replace(fpu=True).word),
        Constant("N6_RELOC_TOOLCHAIN_GCC", NO_FLAGS._replace(toolchain=8).word),
        Constant("N6_RELOC_FP_ABI_HARD", NO_FLAGS._replace(fp_abi=2).word),
        Constant("N6_RELOC_CPU_MASK", NO_FLAGS._replace(cpu=0xFFF).word),
        Constant("N6_RELOC_CPU_CORTEX_M55", CORTEX_M55.part),
        Constant("N6_RELOC_OFFSET_MASK", OFFSET_MASK),
        Constant("N6_RELOC_OWN_VERSION", version_words(own_version())[0]),
        Constant("N6_RELOC_CONTEXT_WORD_OLD", ABI_A.context_word),
        Constant("N6_RELOC_CONTEXT_WORD", ABI_C.context_word),
        Constant("N6_RELOC_POOLS_MAX", MAX_POOLS),
        *(Constant(f"N6_RELOC_POOL_TYPE(0x{each << 24:X}u)", each) for each in PoolType),
        Constant("N6_RELOC_POOL_PARAM", PoolContent.PARAM),
        Constant("N6_RELOC_POOL_ACTIVATIONS", PoolContent.ACTIV),
        Constant("N6_RELOC_POOL_MIXED", PoolContent.MIXED),
        Constant("N6_RELOC_POOL_WRITE", WRITE << 8),
        Constant("N6_RELOC_POOL_CACHED", CACHED << 8),
        Constant(f"N6_RELOC_POOL_CONTENT({NO_POOL.flags}u)", PoolContent.PARAM),
        Constant("N6_RELOC_SEGMENT(0x2ABCDEF0u)", Segment.FLASH),
        Constant("N6_RELOC_OFFSET(0x2ABCDEF0u)", 0x0ABC_DEF0),
    ),
    enumerations=(
        Enumeration("", "N6_RELOC_SEGMENT_", Segments),
        Enumeration("", "N6_RELOC_POOL_", PoolType),
        Enumeration("n6_reloc_entry_t", "N6_RELOC_", Entries),
    ),
    structs=(
        Struct("n6_reloc_header_t", tuple(map(Member, HEADER_FIELDS))),
        Struct("n6_reloc_context_t", tuple(map(Member, ABI_C.context_fields))),
        Struct("n6_reloc_pool_t", tuple(map(Member, ("name", "flags", "offset_in_params", "destination", "bytes")))),
    ),
)


def test_c_and_python_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(assertions(DESCRIBED))
    folders = [f"-I{FIRMWARE / part}" for part in ("reloc", "runtime")]
    command = [compiler(), "-std=c11", *CPU, *WARNINGS, *folders, "-c", "a.c", "-o", "a.o"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_no_number_of_the_header_is_left_out() -> None:
    """Each #define of a value is in DESCRIBED."""
    text = (FIRMWARE / "reloc" / "n6_reloc_format.h").read_text()
    words = (line.split()[1] for line in text.splitlines() if line.startswith("#define"))
    defined = {word for word in words if "(" not in word and word != "N6_RELOC_FORMAT_H"}
    named = {each.name for each in DESCRIBED.constants}
    named |= {f"{each.prefix}{value.name}" for each in DESCRIBED.enumerations for value in each.values}
    assert defined - named == set()
