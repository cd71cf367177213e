"""The files for linking a host's program, for any board, model and runtime."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from n6build.engine.step import Call, to_parameters
from n6build.steps.host_headers import HostLinkParameters, make_host_link

CPU = ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard")


def compiled(folder: Path, name: str, text: str) -> Path:
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["arm-none-eabi-gcc", *CPU, "-c", f"{name}.c"], cwd=folder, check=True)
    subprocess.run(["arm-none-eabi-ar", "rcsD", f"{name}.a", f"{name}.o"], cwd=folder, check=True)
    return folder / f"{name}.a"


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Return the call for networks with functions of their runtime and toolchain.

    They need one function of each.
    """
    place = tmp_path / "a place"
    place.mkdir()
    networks = "float sinf(float); int runtime(void); int n6(void); int n6(void) { return runtime() + (int)sinf(runtime()); }\n"
    archive = compiled(tmp_path, "networks", networks)
    library = compiled(place, "runtime", "int runtime(void); int runtime(void) { return 1; }\n")
    (tmp_path / "pools.ld").write_text("n6_pool = 0x34200000;\n")
    parameters = to_parameters(HostLinkParameters((str(library),), ("m",)))
    outputs = (tmp_path / "build/libn6networks.a", tmp_path / "build/n6_networks.ld")
    outputs[0].parent.mkdir()
    return Call(outputs, (archive, tmp_path / "pools.ld", library), parameters, tmp_path / "build")


def test_a_program_is_linked_with_these_two_files_alone(call: Call, tmp_path: Path) -> None:
    make_host_link(call)
    (tmp_path / "main.c").write_text(
        "extern char n6_pool[]; int n6(void); int main(void) { return n6() + (int)n6_pool; }\n"
    )
    command = ["arm-none-eabi-gcc", *CPU, "--specs=nosys.specs", "main.c", *map(str, call.outputs), "-o", "main.elf"]
    subprocess.run(command, cwd=tmp_path, check=True)
    symbols = subprocess.run(
        ["arm-none-eabi-nm", "main.elf"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert " T runtime\n" in symbols and " T sinf\n" in symbols and "34200000 A n6_pool\n" in symbols


def test_another_runtime_is_another_script(call: Call) -> None:
    make_host_link(call)
    before = call.outputs[1].read_text()
    call.sources[2].write_bytes(call.sources[2].read_bytes() + b"\n")
    make_host_link(call)
    assert call.outputs[1].read_text() != before
