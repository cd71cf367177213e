"""Generated parts of third-party sources: no other text changes.

A second run changes nothing.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.application.activation_buffers import Pictures, activation_block, buffers_header, place_pictures
from n6build.compile.application.h7_project import (
    camera_resolution,
    mismatch,
    picture_of,
    replace_block,
    replace_defines,
    replace_section,
)
from n6build.compile.artifacts.c_info_pools import ActivationPool, ActivationPools, read_activation_pools
from n6build.compile.artifacts.description import IoBuffer, PoolRange
from n6build.describe.application import Aspect
from samples import sample

ROOT = Path(__file__).resolve().parents[2]
START = b"    /*** @GENERATED CODE START - DO NOT TOUCH@ ***/\n"
STOP = b"  /*** @GENERATED CODE STOP - DO NOT TOUCH@ ***/\n"
FOLDER = Path("Application/STM32H747I-DISCO")
outside = st.binary(max_size=80).filter(lambda data: b"@GENERATED" not in data)


def pool(name: str, used: int, rights: str = "ACC_WRITE") -> PoolRange:
    return PoolRange(name, name, 0x2400_0000, 1 << 20, used, 0, rights, False)


@given(outside, outside, outside, st.text(alphabet="abc \n;", max_size=40))
def test_bytes_outside_the_markers_stay_and_twice_is_as_once(head: bytes, old: bytes, tail: bytes, block: str) -> None:
    data = head + b"\n" + START + old + b"\n" + STOP + tail
    patched = replace_block(data, block + "\n", "main.c")
    assert patched == head + b"\n" + START + block.encode() + b"\n" + STOP + tail
    assert replace_block(patched, block + "\n", "main.c") == patched


def test_line_ends_of_the_file_are_kept() -> None:
    data = START.replace(b"\n", b"\r\n") + b"old\r\n" + STOP.strip()
    assert replace_block(data, "one\ntwo\n", "main.c") == (
        START.replace(b"\n", b"\r\n") + b"one\r\ntwo\r\n" + STOP.strip()
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (STOP, "N6-APP-020: marker '@GENERATED CODE START' is missing"),
        (START, "N6-APP-020: marker '@GENERATED CODE STOP' is missing"),
        (b"", "marker '@GENERATED CODE START' is missing"),
        (STOP + START, "main.c:1: error N6-APP-021: '@GENERATED CODE STOP' comes before START"),
        (START + START + STOP, "main.c:2: error N6-APP-021: marker '@GENERATED CODE START' appears twice"),
    ],
)
def test_markers_that_are_not_there_once_in_order(data: bytes, message: str) -> None:
    with pytest.raises(N6Error) as caught:
        replace_block(data, "", "main.c")
    assert message in str(caught.value)


@given(st.lists(st.sampled_from([START, STOP, b"x\n", b"@GENERATED CODE START", b"\xff\r\n"]), max_size=6))
def test_any_file_is_patched_or_refused(parts: list[bytes]) -> None:
    try:
        patched = replace_block(b"".join(parts), "new\n", "main.c")
        assert b"new" in patched
    except N6Error as error:
        assert error.id in ("N6-APP-020", "N6-APP-021")


@pytest.mark.parametrize(
    ("line", "patched"),
    [
        (b"  #define  CAM_RES_WIDTH (1) \r\n", b"  #define  CAM_RES_WIDTH (VGA_RES_WIDTH) \r\n"),
        (b"#define CAM_RES_WIDTH\tOLD /* px */\n", b"#define CAM_RES_WIDTH\t(VGA_RES_WIDTH) /* px */\n"),
        (b"#define CAM_RES_WIDTH // none\n", b"#define CAM_RES_WIDTH (VGA_RES_WIDTH)// none\n"),
        (b"#define CAM_RES_WIDTH", b"#define CAM_RES_WIDTH (VGA_RES_WIDTH)"),
    ],
)
def test_macros_get_their_values_and_keep_what_is_around(line: bytes, patched: bytes) -> None:
    around = b"#define CAM_RES_WIDTH_MAX 7\r\n/* \xe9 */\n"
    values = {"CAM_RES_WIDTH": "VGA_RES_WIDTH"}
    assert replace_defines(around + line, values, "main.h") == around + patched
    assert replace_defines(around + patched, values, "main.h") == around + patched


@pytest.mark.parametrize(("text", "count"), [(b"", 0), (b"#define A 1\n#define A 2\n", 2)])
def test_a_macro_that_is_not_there_once(text: bytes, count: int) -> None:
    with pytest.raises(N6Error, match=f"N6-APP-022: macro A is defined {count} times"):
        replace_defines(text, {"A": "1"}, "main.h")


def test_a_variable_moves_to_another_ram() -> None:
    data = b'__attribute__((section(".CapturedImage_Buffer_SDRAM")))\n'
    assert replace_section(data, "CapturedImage_Buffer", "AXIRAM", "main.c") == data.replace(b"SDRAM", b"AXIRAM")
    with pytest.raises(N6Error, match="N6-APP-023"):
        replace_section(data, "RescaledImage_Buffer", "AXIRAM", "main.c")


@pytest.mark.parametrize(
    ("width", "height", "aspect", "mode", "buffer"),
    [
        (224, 224, "crop", "CAMERA_R320x240", (240, 240)),
        (240, 241, "crop", "CAMERA_R640x480", (480, 480)),
        # Borders above and below make the picture square.
        (320, 320, "padding", "CAMERA_R320x240", (320, 320)),
        (321, 10, "padding", "CAMERA_R640x480", (640, 640)),
        (320, 240, "fit", "CAMERA_R320x240", (320, 240)),
        (320, 241, "fit", "CAMERA_R640x480", (640, 480)),
        (640, 480, "fullscreen", "CAMERA_R640x480", (640, 480)),
    ],
)
def test_the_smallest_resolution_that_covers_the_network(
    width: int, height: int, aspect: Aspect, mode: str, buffer: tuple[int, int]
) -> None:
    resolution = camera_resolution(width, height, aspect)
    assert (resolution.mode, resolution.buffer) == (mode, buffer)


@pytest.mark.parametrize(("aspect", "beyond"), [("crop", 33), ("fit", 33)])
def test_a_network_beyond_vga_is_refused_with_the_pixels(aspect: Aspect, beyond: int) -> None:
    with pytest.raises(N6Error, match=f"N6-APP-010: .* exceeds VGA by {beyond} pixels"):
        camera_resolution(300, 513, aspect)


# external_memory_mgt.py in ST's model zoo writes this text.
TWO_BUFFERS = """\
__attribute__((section(".NN_Activation_Buffer_AXIRAM")))
__attribute__ ((aligned (32)))
static uint8_t NN_Activation_Buffer_AXIRAM[AI_ACTIVATION_1_SIZE_BYTES + 32 - (AI_ACTIVATION_1_SIZE_BYTES%32)];
__attribute__((section(".NN_Activation_Buffer_SDRAM")))
__attribute__ ((aligned (32)))
static uint8_t NN_Activation_Buffer_SDRAM[AI_ACTIVATION_2_SIZE_BYTES + 32 - (AI_ACTIVATION_2_SIZE_BYTES%32)];
ai_handle NN_Activation_Buffer[AI_ACTIVATION_BUFFERS_COUNT] = { NN_Activation_Buffer_AXIRAM, NN_Activation_Buffer_SDRAM, };
"""


def test_the_block_of_activation_buffers_is_that_of_sts_script() -> None:
    assert activation_block([ActivationPool("heap_overlay_pool", 64), ActivationPool("SDRAM", 500)]) == TWO_BUFFERS
    assert activation_block([]) == "ai_handle NN_Activation_Buffer[AI_ACTIVATION_BUFFERS_COUNT] = { };\n"


def test_buffers_as_a_header_of_their_own_compile(tmp_path: Path) -> None:
    first = IoBuffer("in", 0x2400_0000 + 70, 4, "uint8", (1, 4), 1.0, 0)
    pools = [replace(pool("big", 500), address=0x2500_0000), pool("heap_overlay_pool", 64), pool("mid", 100)]
    header = buffers_header(pools, [first])
    assert "#define AI_NETWORK_INPUTS_IN_ACTIVATIONS_INDEX 1\n" in header
    (tmp_path / "app_buffers.h").write_text(header)
    (tmp_path / "a.c").write_text(
        '#include "app_buffers.h"\n_Static_assert(sizeof NN_Activation_Buffer_big == 512, "");\n'
        '_Static_assert(sizeof NN_Activation_Buffer_AXIRAM == 96, "");\n'
    )
    subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-c", "a.c"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("pool", ["heap_overlay_pool", "AXIRAM"])
@pytest.mark.parametrize(
    ("left", "places"),
    [
        (40, Pictures("SDRAM", "SDRAM")),
        (41, Pictures("SDRAM", "AXIRAM")),
        (701, Pictures("AXIRAM", "SDRAM")),
        (741, Pictures("AXIRAM", "AXIRAM")),
    ],
)
def test_pictures_go_to_axi_ram_while_a_byte_is_left(left: int, places: Pictures, pool: str) -> None:
    pools = [ActivationPool(pool, 990), ActivationPool("SDRAM", 5000)]
    assert place_pictures(pools, 990 + left, captured_bytes=700, rescaled_bytes=40) == places


def make_project(folder: Path) -> Path:
    for part in ("Inc/CM7", "Src/CM7"):
        (folder / FOLDER / part).mkdir(parents=True)
    (folder / FOLDER / "Inc/CM7/main.h").write_bytes(
        b"#define CAMERA_RESOLUTION (CAMERA_R640x480)\n#define CAM_RES_WIDTH (1)\n#define CAM_RES_HEIGHT (1)\n"
    )
    (folder / FOLDER / "Src/CM7/main.c").write_bytes(
        b"int a;\n"
        + START
        + b"old;\n"
        + STOP
        + b'__attribute__((section(".CapturedImage_Buffer_SDRAM"))) uint8_t c[9];\n'
        b'__attribute__((section(".RescaledImage_Buffer_SDRAM"))) uint8_t r[9]; // \xe9 latin\n'
    )
    (folder / FOLDER / "Inc/CM7/ai_interface.h").write_bytes(b"\r\n" + START + STOP + b"end")
    (folder / "c_info.json").write_text(json.dumps(c_info(("heap_overlay_pool", 90_000))))
    (folder / "model").mkdir()
    (folder / "model/model.yaml").write_text("name: m\nfile: m.tflite\napplication: {aspect: crop}\n")
    (folder / "model/m.tflite").write_bytes((ROOT / "models/keyword/keyword.tflite").read_bytes())
    return folder


def c_info(*pools: tuple[str, int], holder: int = 0) -> dict[str, object]:
    """Return c_info for a Cortex-M.

    It has no addresses and no names of files, and its axes have names.

    Args:
        pools: Name and used bytes of each pool.
        holder: Index of the pool with the input.
    """
    known = [
        {"id": n, "name": name, "address": "NULL", "rights": "ACC_WRITE", "size_bytes": -1, "used_size_bytes": used}
        for n, (name, used) in enumerate(pools)
    ]
    weights = {"id": 99, "name": "weights_array", "rights": "ACC_READ", "used_size_bytes": 50_000}
    buffer = {"id": 1, "mpool_id": holder, "shape": [49, 10, 1], "shape_map": ["H", "W", "CH"]}
    return {
        "json_schema_version": "2.0",
        "graphs": [{"inputs": [1], "outputs": [1]}],
        "buffers": [buffer],
        "memory_pools": [*known, weights],
    }


def run(project: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/patch_project.py"), str(project)]
    command += [
        "--c-info",
        str(project / "c_info.json"),
        "--model",
        str(project / "model"),
        "--axiram",
        "300000",
        *more,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_project_is_patched_once(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    assert run(project, "--check").returncode == 1
    first = run(project)
    assert first.returncode == 0, first.stderr
    assert first.stdout.count("changed ") == 3
    source = (project / FOLDER / "Src/CM7/main.c").read_bytes()
    assert source.startswith(b"int a;\n" + START)
    assert b'(".CapturedImage_Buffer_AXIRAM")' in source
    assert source.endswith(b"// \xe9 latin\n")
    assert b"(QVGA_RES_HEIGHT)" in (project / FOLDER / "Inc/CM7/main.h").read_bytes()
    assert b"AI_ACTIVATION_1_SIZE_BYTES\n" in (project / FOLDER / "Inc/CM7/ai_interface.h").read_bytes()
    times = {path: path.stat().st_mtime_ns for path in project.rglob("*.[ch]")}
    second = run(project)
    assert (second.returncode, second.stdout) == (0, "nothing to change\n")
    assert {path: path.stat().st_mtime_ns for path in project.rglob("*.[ch]")} == times
    assert run(project, "--check").returncode == 0


def test_nothing_is_written_where_one_file_cannot_be_patched(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    broken = project / FOLDER / "Inc/CM7/ai_interface.h"
    broken.write_bytes(START)
    before = {path: path.read_bytes() for path in project.rglob("*.[ch]")}
    result = run(project)
    assert result.returncode == 2
    assert result.stderr.startswith("ai_interface.h: error N6-APP-020: marker '@GENERATED CODE STOP' is missing")
    assert {path: path.read_bytes() for path in project.rglob("*.[ch]")} == before


def read(tmp_path: Path, document: object) -> ActivationPools:
    (tmp_path / "c_info.json").write_text(json.dumps(document))
    return read_activation_pools(tmp_path / "c_info.json")


def test_pools_of_a_cortex_m(tmp_path: Path) -> None:
    found = read(tmp_path, c_info(("SDRAM", 7000), ("DTCMRAM", 100), ("unused", 0), holder=0))
    assert found == ActivationPools(
        (ActivationPool("DTCMRAM", 100), ActivationPool("SDRAM", 7000)), 1, (49, 10, 1), (49, 10, 1)
    )


def test_a_pool_whose_name_is_no_c_is_refused(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match=r"N6-NET-020: 'a\]; b' is not a name in C"):
        read(tmp_path, c_info(("a]; b", 7000)))


# The samples are of Core 2.0, whose pools name no files, of later releases, and for a Cortex-M.
@pytest.mark.parametrize(
    ("name", "pools", "picture"),
    [
        ("core-2.0-tiny_yolo_v2_224", {"hyperRAM": 351_232}, (224, 224, 3)),
        ("core-4.0.0-cortex-m", {"heap_overlay_pool": 23_936}, None),
    ],
)
def test_c_info_of_real_releases(
    name: str, pools: dict[str, int], picture: tuple[int, ...] | None, tmp_path: Path
) -> None:
    file = tmp_path / "c_info.json"
    file.write_bytes(gzip.decompress(sample(f"c_info/{name}.json.gz").read_bytes()))
    found = read_activation_pools(file)
    assert {pool.name: pool.used_bytes for pool in found.pools} == pools
    assert found.picture == picture


def test_the_picture_is_that_of_the_model_and_another_in_c_info_is_mentioned(tmp_path: Path) -> None:
    network = ActivationPools((), 0, (256, 32), None)
    picture = picture_of(network, ROOT / "models/keyword/keyword.tflite")
    assert picture == (49, 10, 1)
    assert mismatch(network, picture) == (
        "the model's input is 49 x 10 x 1, but that of c_info is 256 x 32: the files belong to different networks"
    )
    assert mismatch(ActivationPools((), 0, (1, 49, 10, 1), picture), picture) is None
    with pytest.raises(N6Error, match=r"N6-APP-011: .* \[256, 32\]"):
        picture_of(network, None)
    with pytest.raises(N6Error, match=r"N6-APP-011: .* \[8, 8, 2\]"):
        picture_of(ActivationPools((), 0, (8, 8, 2), (8, 8, 2)), None)
