"""The decoder in C finds everything that the one in Python finds."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from compiled_objects import compile_objects
from compiler_cache import host_compiler
from kernels.cortex_m55 import virtual_board
from n6build.base.paths import FIRMWARE
from n6build.compile.toolchain import CPU
from n6build.describe.postprocess import Postprocess
from n6build.judge.postprocess.decode import decode
from n6build.judge.postprocess.found import Decoded
from n6build.judge.postprocess.header import decoder_header
from patience import NET_S

from postprocess.decoder_cases import CASES, DecoderCase, port

PROGRAM = Path(__file__).with_name("decoder_program.c")
DECODER = FIRMWARE / "postprocess/n6_postprocess.c"
SCRIPT = Path(__file__).parents[1] / "kernels/target_runner.ld"
WORD, LAST = struct.Struct("<I"), 0xFFFFFFFF
FOLDERS = [f"-I{FIRMWARE / name}" for name in ("postprocess", "kernels")]
FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wconversion"]
SANITIZE = ["-fsanitize=undefined,address", "-fno-sanitize-recover"]
# Exponentials are those of firmware/kernels/float_math.h, within a few units in the last place.
TOLERANCE = 3e-6
INPUTS = 40


def sources_of(case: DecoderCase, folder: Path) -> list[str]:
    """Write the decoder of a case, and return options for the program."""
    (folder / "n6_decoder.h").write_text(decoder_header(case.layout, "of this case"))
    sizes = ", ".join(str(output.bytes) for output in case.outputs)
    return [*FLAGS, *FOLDERS, "-I.", f"-DOUTPUT_BYTES={{{sizes}}}"]


def found_by_host(case: DecoderCase, folder: Path, outputs: bytes) -> bytes:
    """Return what the program finds on the host, where it is checked by sanitizers."""
    command = [*host_compiler(), *sources_of(case, folder), *SANITIZE]
    objects = compile_objects(folder, [DECODER, PROGRAM], command)
    subprocess.run([*command, *objects, "-lm", "-o", "decoder"], cwd=folder, check=True)
    return subprocess.run([folder / "decoder"], input=outputs, capture_output=True, check=True).stdout


def found_by_chip(case: DecoderCase, folder: Path, outputs: bytes) -> bytes:
    """Return what the program finds on the virtual board, with Helium."""
    machine = virtual_board()
    command = ["arm-none-eabi-gcc", *CPU, *sources_of(case, folder)]
    objects = compile_objects(folder, [DECODER, PROGRAM], command)
    places = {"code_base": machine.code_base, "stack_top": machine.stack_top}
    link = ["-nostartfiles", "--specs=nano.specs", "-Wl,--no-warn-rwx-segments", "-T", str(SCRIPT), "-o", "decoder.elf"]
    link += [f"-Wl,--defsym={symbol}={place:#x}" for symbol, place in places.items()]
    subprocess.run([*command, *link, *objects], cwd=folder, check=True)
    (folder / "outputs").write_bytes(outputs)
    subprocess.run([*machine.command, "decoder.elf"], cwd=folder, timeout=NET_S, check=True)
    return (folder / "found").read_bytes()


def read_found(written: bytes) -> list[tuple[list[list[float]], int]]:
    """Return the lines of each set of outputs, and its instructions."""
    found: list[tuple[list[list[float]], int]] = []
    lines: list[list[float]] = []
    place = 0
    while place < len(written):
        (length,) = WORD.unpack_from(written, place)
        place += WORD.size
        if length == LAST:
            found.append((lines, *WORD.unpack_from(written, place)))
            lines, length = [], 1
        else:
            lines.append([*struct.unpack_from(f"<{length}f", written, place)])
        place += 4 * length
    return found


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


@pytest.mark.parametrize("find", [found_by_host, found_by_chip])
@pytest.mark.parametrize("name", CASES)
def test_c_and_python_find_the_same(
    name: str, find: Callable[[DecoderCase, Path, bytes], bytes], tmp_path: Path
) -> None:
    case = CASES[name]
    given = [case.random(seed) for seed in range(INPUTS)]
    made = read_found(find(case, tmp_path, b"".join(given)))
    found_any = 0
    for data, (got, _) in zip(given, made, strict=True):
        wanted = lines_of(case, decode(case.layout, data))
        assert [len(line) for line in got] == [len(line) for line in wanted]
        for mine, theirs in zip(got, wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE)
        found_any += bool(wanted)
    assert found_any > INPUTS // 2


def test_the_decoder_compiles_for_the_chip_without_any_other_code(tmp_path: Path) -> None:
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", *FLAGS, *FOLDERS, "-c"]
    made = tmp_path / "decoder.o"
    subprocess.run([*command, str(DECODER), "-o", str(made)], check=True)
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


def test_eighty_classes_of_2100_boxes_take_fewer_than_three_instructions_a_value(tmp_path: Path) -> None:
    # 457,436 for 168,000 scores; 3.84 million value by value.
    names = tuple(f"class {number}" for number in range(80))
    output = port("out", (1, 84, 2100), "int8", 1 / 255, -128)
    case = DecoderCase(Postprocess("yolo_v8", score=0.9), (output,), names)
    low = np.full(output.shape, -60, np.int8).tobytes()
    ((lines, taken),) = read_found(found_by_chip(case, tmp_path, low))
    assert not lines
    assert taken < 3 * 80 * 2100
