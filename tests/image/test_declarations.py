"""Source lines of a third-party program's variables and functions.

They come from its debug information or its linker map.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.place.image.declarations import Declarations
from n6build.place.image.elf_reader import allocated_sections, labels_of, symbols_of
from n6build.place.image.linker_map import object_at, read_linker_map
from n6build.place.image.memory_regions import MemoryRegion, read_memory_regions
from n6build.place.image.mpu_tables import MpuRegion, mpu_regions

CAMERA = """
static char frames[64];

int
camera(void)
{
    return frames[3];
}
"""
MAIN = """
static inline __attribute__((always_inline)) void enable(void) { *(volatile int *)0x20000000 = 1; }
namespace host { int frames[2]; struct s { static int count; void go(); }; int s::count; void s::go() { enable(); count++; } }
extern "C" int camera(void);
extern "C" int main(void) { host::s().go(); return camera() + host::frames[0]; }
"""
CPU = ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a program in several forms; return their folder.

    app.elf has a linker map, app5.elf and app4.elf have the two versions of DWARF, and bare.elf has no
    debug information.
    """
    folder = tmp_path_factory.mktemp("host with space")
    (folder / "src").mkdir()
    (folder / "src/camera.c").write_text(CAMERA)
    (folder / "src/main.cpp").write_text(MAIN)
    for name, flags in (("app5", ["-gdwarf-5"]), ("app4", ["-gdwarf-4"]), ("packed", ["-g", "-gz"]), ("bare", ["-g0"])):
        objects = []
        for source in ("src/camera.c", "src/main.cpp"):
            objects.append(f"{Path(source).stem}-{name}.o")
            command = ["arm-none-eabi-gcc", *CPU, *flags, "-O0", "-fno-exceptions", "-c", source, "-o", objects[-1]]
            subprocess.run(command, cwd=folder, check=True)
        link = ["-nostdlib", "-Wl,-e,main", "-Wl,--no-warn-rwx-segments", f"-Wl,-Map,{name}.map", "-o", f"{name}.elf"]
        subprocess.run(["arm-none-eabi-gcc", *CPU, *link, *objects], cwd=folder, check=True)
    return folder


def symbol_at(elf: Path, name: str) -> int:
    return next(symbol.address for symbol in symbols_of(elf) if symbol.name == name)


@pytest.mark.parametrize("name", ["app4", "app5", "packed"])
def test_a_symbol_is_found_by_its_name_and_address(name: str, build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(build)
    elf = Path(f"{name}.elf")
    declared = Declarations(elf)
    assert declared.place("frames", symbol_at(elf, "frames")) == "src/camera.c:2"
    assert declared.place("camera", symbol_at(elf, "camera")) == "src/camera.c:5"
    assert declared.place("main", symbol_at(elf, "main")) == "src/main.cpp:5"
    # Variables of C++ have the linker's names. A variable of a class has the line of its declaration.
    assert declared.place("_ZN4host6framesE", symbol_at(elf, "_ZN4host6framesE")) == "src/main.cpp:3"
    assert declared.place("_ZN4host1s5countE") == "src/main.cpp:3"
    # This function only exists inlined.
    assert declared.place("enable") == "src/main.cpp:2"
    assert declared.place("disable") == ""


def test_of_files_outside_the_project_only_the_name_is_told(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Declarations(build / "app5.elf").place("camera") == "camera.c:5"


def test_without_debug_information_the_linker_map_names_the_object(
    build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(build)
    elf = Path("bare.elf")
    assert Declarations(elf).place("camera") == ""
    mapped = read_linker_map(Path("bare.map"))
    assert object_at(mapped, symbol_at(elf, "frames")) == "camera-bare.o"
    assert object_at(mapped, symbol_at(elf, "_ZN4host6framesE")) == "main-bare.o"
    assert object_at(mapped, 4) == ""


@settings(deadline=None, max_examples=150)
@given(
    name=st.sampled_from(["app4", "app5", "packed"]),
    edits=st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=12),
    cut=st.integers(0, 1 << 16),
)
def test_no_elf_file_is_a_traceback(
    build: Path, tmp_path_factory: pytest.TempPathFactory, name: str, edits: list[tuple[int, int]], cut: int
) -> None:
    data = bytearray((build / f"{name}.elf").read_bytes())
    for place, value in edits:
        data[place % len(data)] = value
    if cut % 4 == 0:
        del data[cut % len(data) :]
    path = tmp_path_factory.mktemp("any") / "any.elf"
    path.write_bytes(bytes(data))
    for read in (symbols_of, labels_of, allocated_sections):
        try:
            read(path)
        except N6Error as error:
            assert error.id == "N6-IMAGE-001"
    declared = Declarations(path)
    assert isinstance(declared.place("frames", 0x8100), str)
    assert isinstance(declared.arrays_of("char"), list)


SCRIPT = """/* MEMORY { A (r) : ORIGIN = 1, LENGTH = 2 } */
_Min = 4;
MEMORY
{
  RAM (xrw)  : ORIGIN = 0x34000400, LENGTH = 1M - 0x400 /* all of
                                                           it */
  ROM(rx):org=0x70100000,len=64K
  NEXT : o = ORIGIN(RAM) + LENGTH(RAM), l = (2 + 2) * 1k
  ODD (rw) : ORIGIN = DEFINED(x) ? 1 : 2, LENGTH = 4
}
"""


def test_regions_of_a_linker_script_have_lines(tmp_path: Path) -> None:
    (tmp_path / "a.ld").write_text(SCRIPT)
    assert read_memory_regions(tmp_path / "a.ld", "a.ld") == (
        MemoryRegion("RAM", 0x34000400, 0xFFC00, "a.ld", 5),
        MemoryRegion("ROM", 0x70100000, 0x10000, "a.ld", 7),
        MemoryRegion("NEXT", 0x34100000, 4096, "a.ld", 8),
        MemoryRegion("ODD", None, 4, "a.ld", 9),
    )


@settings(deadline=None)
@given(st.text(alphabet='MEMORY{}():=,ORIGINLENGTH0123456789xkM+-*/ \n"$', max_size=300), st.integers(0, 60))
def test_no_linker_script_is_a_traceback(tmp_path_factory: pytest.TempPathFactory, text: str, depth: int) -> None:
    path = tmp_path_factory.mktemp("any") / "a.ld"
    path.write_text(f"MEMORY {{ A : ORIGIN = {'(' * depth}1{')' * depth}, LENGTH = {text[:40]} }}\n{SCRIPT}{text}")
    assert "RAM" in {region.name for region in read_memory_regions(path, "a.ld")}
    read_linker_map(path)


MPU = """
typedef struct { unsigned RBAR; unsigned RLAR; } ARM_MPU_Region_t;
const ARM_MPU_Region_t table[3] = {{0x34200000u | 3u << 1, 0x3420FFE0u | 1u}, {0x34300000u | 1u << 1, 0x3430FFE0u | 3u}, {0, 0}};
ARM_MPU_Region_t single = {1, 1}, later[2];
int main(void) { return (int)(table[later[0].RBAR].RBAR + single.RLAR); }
"""


@pytest.mark.parametrize("dwarf", [4, 5])
def test_tables_for_the_mpu_are_found_by_their_type(dwarf: int, tmp_path: Path) -> None:
    (tmp_path / "mpu.c").write_text(MPU)
    elf = tmp_path / "mpu.elf"
    command = [
        "arm-none-eabi-gcc",
        *CPU,
        f"-gdwarf-{dwarf}",
        "-O0",
        "-nostdlib",
        "-Wl,-e,main",
        "mpu.c",
        "-o",
        str(elf),
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    symbols = symbols_of(elf)
    (table,) = [symbol for symbol in symbols if symbol.name == "table"]
    assert mpu_regions(elf, Declarations(elf), symbols) == (
        MpuRegion(table, 0x3420_0000, 0x3421_0000, is_writable=False),
        MpuRegion(table, 0x3430_0000, 0x3431_0000, is_writable=True),
    )
