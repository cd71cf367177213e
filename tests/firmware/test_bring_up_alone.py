"""bring_up compiles in another project, without warnings.

It needs the generated headers and nothing else of n6build.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from firmware_build import CPU, WARNINGS, board_headers, bring_up, compiler, headers
from n6build.base.paths import FIRMWARE
from slow_rows import slow_rows


@pytest.mark.parametrize("optimisation", ["-O2", *slow_rows("-O0", "-Os")])
@pytest.mark.parametrize("source", bring_up(), ids=lambda source: source.name)
def test_compiles_alone_without_a_warning(tmp_path: Path, source: Path, optimisation: str) -> None:
    copy = tmp_path / "theirs"
    copy.mkdir()
    for file in source.parent.glob("*.[ch]"):
        (copy / file.name).write_bytes(file.read_bytes())
    include = headers(tmp_path / "include")
    command = [compiler(), "-std=c11", optimisation, *CPU, *WARNINGS, f"-I{include}", "-c", source.name, "-o", "out.o"]
    result = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_program_of_ones_own_has_everything_by_one_include(tmp_path: Path) -> None:
    """Each macro is defined, so n6_board.h includes all generated headers."""
    include = board_headers(tmp_path / "include")
    names = {
        name
        for header in include.glob("n6_*.h")
        for name in re.findall(r"^#define (N6_\w+) ", header.read_text(), re.MULTILINE)
    }
    assert {"N6_CPU_HZ", "N6_SLOT_APPLI_BYTES", "N6_IRQ_COUNT", "N6_USART1_CR1", "N6_TIM2_BASE"} <= names
    checks = "".join(f"#ifndef {name}\n#error {name}\n#endif\n" for name in sorted(names))
    (tmp_path / "theirs.c").write_text(f'#include "n6_board.h"\n{checks}int here = N6_CPU_HZ != N6_IRQ_COUNT;\n')
    command = [compiler(), "-std=c11", *CPU, *WARNINGS, f"-I{include}", "-c", "theirs.c", "-o", "out.o"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_no_file_of_ours_includes_everything() -> None:
    """A file that includes everything would be compiled again for each memory and pin."""
    files = [path for path in FIRMWARE.rglob("*") if path.suffix in (".c", ".h", ".j2")]
    found = [path.name for path in files if re.search(r'#include "n6_(board|soc)\.h"', path.read_text())]
    assert FIRMWARE / "fsbl" / "main.c" in files
    assert found == []
