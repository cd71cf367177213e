"""The decoder in C finds everything that the one in Python finds."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from compiled_objects import compile_objects
from compiler_cache import host_compiler
from n6build.base.paths import FIRMWARE
from n6build.judge.postprocess.decode import decode
from n6build.judge.postprocess.found import Decoded
from n6build.judge.postprocess.header import decoder_header

from postprocess.decoder_cases import CASES, DecoderCase, port

PROGRAM = Path(__file__).with_name("decoder_program.c")
FOLDERS = [f"-I{FIRMWARE / name}" for name in ("postprocess", "kernels")]
FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wconversion"]
SANITIZE = ["-fsanitize=undefined,address", "-fno-sanitize-recover"]
# Exponentials are those of firmware/kernels/float_math.h, within a few units in the last place.
TOLERANCE = 3e-6
INPUTS = 40


@cache
def built(name: str, folder: Path) -> Path:
    """Return the program for a case."""
    case, made = CASES[name], folder / "decoder"
    (folder / "n6_decoder.h").write_text(decoder_header(case.layout, name))
    sizes = ", ".join(str(output.bytes) for output in case.outputs)
    command = [*host_compiler(), *FLAGS, *SANITIZE, *FOLDERS]
    objects = compile_objects(folder, [FIRMWARE / "postprocess/n6_postprocess.c"], command)
    main = [*command, "-I.", f"-DOUTPUT_BYTES={{{sizes}}}", str(PROGRAM), *objects, "-lm", "-o", str(made)]
    subprocess.run(main, cwd=folder, check=True)
    return made


def lines_of(case: DecoderCase, found: Decoded) -> list[list[float]]:
    """Return the numbers that the program prints."""
    names = case.layout.names
    if found.mask:
        return [[number] for number, length in found.mask for _ in range(length)]
    lines = []
    for one in found.found:
        points = [number for point in one.points for number in (point.x, point.y, point.score)]
        if one.label == "pose":
            lines.append(points)
            continue
        number = names.index(one.label) if one.label in names else int(one.label.rpartition(" ")[2])
        box = [one.x, one.y, one.width, one.height] if case.layout.coding != "scores" else []
        lines.append([number, one.score, *box, *points])
    return lines


@pytest.mark.parametrize("name", CASES)
def test_c_and_python_find_the_same(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    given = [case.random(seed) for seed in range(INPUTS)]
    made = subprocess.run([built(name, tmp_path)], input=b"".join(given), capture_output=True, check=True)
    parts = made.stdout.decode().split("end\n")[:-1]
    assert len(parts) == INPUTS
    found_any = 0
    for data, text in zip(given, parts, strict=True):
        wanted = lines_of(case, decode(case.layout, data))
        got = [[float(number) for number in line.split()] for line in text.splitlines()]
        assert [len(line) for line in got] == [len(line) for line in wanted]
        for mine, theirs in zip(got, wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE)
        found_any += bool(wanted)
    assert found_any > INPUTS // 2


def test_the_decoder_compiles_for_the_chip_without_any_other_code(tmp_path: Path) -> None:
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", *FLAGS, *FOLDERS, "-c"]
    source, made = FIRMWARE / "postprocess/n6_postprocess.c", tmp_path / "decoder.o"
    subprocess.run([*command, str(source), "-o", str(made)], check=True)
    symbols = subprocess.run(["arm-none-eabi-nm", str(made)], capture_output=True, text=True, check=True).stdout
    assert {line.split()[-1] for line in symbols.splitlines() if " U " in line} <= {"memcpy", "memset", "memmove"}
    # Neither data nor state.
    assert not {line.split()[-2] for line in symbols.splitlines()} & {"b", "B", "d", "D"}


def test_names_and_numbers_are_valid_c() -> None:
    case = DecoderCase(CASES["ssd"].settings, CASES["ssd"].outputs, ('a "b"\\', "Straße??/"))
    header = decoder_header(case.layout, "x")
    assert '"a _b__"' in header
    assert '"Stra_e__/"' in header
    quantised = DecoderCase(CASES["classification"].settings, (port("out", (1, 3), "int8", 1e-7, -128),))
    assert "1.00000001e-07f, -128" in decoder_header(quantised.layout, "x") or "1e-07f" in decoder_header(
        quantised.layout, "x"
    )
