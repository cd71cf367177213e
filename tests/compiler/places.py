"""Further places of the compiler, and small programs built there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from compiler_cache import real_compiler
from n6build.base.environment import read_environment
from n6build.compile.toolchain import ARCHIVER, Toolchain, find_toolchain
from n6build.engine.step import Step
from n6build.steps.compile_c import Compilation, compile_step, link_step

PREFIX = "arm-none-eabi-"
# The program uses headers, inline functions and macros of the compiler and of its C library, and links a library of it.
SOURCE = """
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <arm_mve.h>
#include "where.h"
const char *const n6_where = WHERE;
uint64_t n6_divide(uint64_t a, uint64_t b) { assert(b); return a / b; }
int32x4_t n6_add(int32x4_t a, int32x4_t b) { return vaddq(a, b); }
int n6_finite(double value) { return isfinite(value) && !__signbitd(value); }
char *n6_copy(char *to, const char *from) { return strcpy(to, from); }
"""
ASSEMBLY = '#include "where.h"\n.text\n.thumb_func\n.global n6_entry\nn6_entry: bl n6_copy\n bl n6_divide\n b .\n'
SCRIPT = """
ENTRY(n6_entry)
SECTIONS { .text 0x34000000 : { KEEP(*(.text*)) *(.rodata*) *(.ARM.*) } .data : { *(.data* .bss* COMMON) } }
"""
STUBS = "".join(
    f"int {name}(void);\nint {name}(void) {{ return 0; }}\n" for name in ("_exit", "_sbrk", "_write", "_read")
)
STUBS += "".join(f"int {name}(void);\nint {name}(void) {{ return 0; }}\n" for name in ("_close", "_lseek", "_isatty"))
STUBS += "".join(f"int {name}(void);\nint {name}(void) {{ return 0; }}\n" for name in ("_fstat", "_kill", "_getpid"))


def copied_toolchain(place: Path) -> Path:
    """Make a copy of the compiler, with own headers and linked programs and libraries.

    Headers are files of their own, programs and libraries are links.

    Returns:
        The folder of its programs.
    """
    driver = Path(os.path.realpath(real_compiler() or ""))
    prefix = driver.parents[1]
    own = _found(driver, "-print-file-name=include").parent
    target = _found(driver, "-print-prog-name=ld").parents[1]
    (place / "bin").mkdir(parents=True)
    for name in ("gcc", "ar"):
        shutil.copy2(driver.with_name(PREFIX + name).resolve(), place / "bin" / (PREFIX + name))
    for folder in {own, _found(driver, "-print-prog-name=cc1").parent}:
        _link_content(folder, place / folder.relative_to(prefix))
    _link_content(target, place / target.relative_to(prefix))
    for folder in (own / "include", own / "include-fixed", target / "include"):
        if folder.is_dir():
            (place / folder.relative_to(prefix)).unlink()
            shutil.copytree(folder, place / folder.relative_to(prefix), ignore=shutil.ignore_patterns("c++"))
    return place / "bin"


def use(programs: Path) -> tuple[Toolchain, dict[str, str]]:
    """Return the compiler in this folder, and the variables of its commands."""
    variables = {"PATH": os.pathsep.join((str(programs), "/usr/bin", "/bin"))}
    return find_toolchain(read_environment(variables), None), variables


def steps_in(sources: Path, toolchain: Toolchain, flags: Sequence[str] = ()) -> tuple[Step, ...]:
    """Return steps that make objects, an archive, an ELF file and its map."""
    sources.mkdir(parents=True)
    (sources / "where.h").write_text("#define WHERE __FILE__\n")
    for name, text in (("a.c", SOURCE), ("b.S", ASSEMBLY), ("stubs.c", STUBS)):
        (sources / name).write_text(text)
    Path("link.ld").write_text(SCRIPT)
    how = Compilation(toolchain, flags=tuple(flags)).looking_in(sources)
    compiled = [compile_step(f"build/{name}.o", sources / name, how) for name in ("a.c", "b.S", "stubs.c")]
    objects = [step.name for step in compiled]
    archive = Step(
        verb="Archive",
        stage="link",
        outputs=("build/lib.a",),
        sources=tuple(objects),
        command=(ARCHIVER, "rcsD", "build/lib.a", *objects),
    )
    linked = link_step("build/all.elf", objects, toolchain, scripts=["link.ld"], system_libraries=["m"])
    return (*compiled, archive, linked)


def _found(driver: Path, option: str) -> Path:
    told = subprocess.run([driver, option], capture_output=True, text=True, check=True).stdout.strip()
    return Path(os.path.abspath(told))  # noqa: PTH100 - links in the prefix are kept


def _link_content(folder: Path, to: Path) -> None:
    to.mkdir(parents=True, exist_ok=True)
    for each in folder.iterdir():
        (to / each.name).symlink_to(each.resolve())
