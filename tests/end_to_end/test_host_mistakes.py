"""Mistakes and habits of hosts: they work, or the error names file and line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from end_to_end.conftest import Project
from end_to_end.hosts import ROOT, Host, steps_in
from end_to_end.test_host_builders import APPLI, host, write  # noqa: F401 - a fixture

BOTH = """
cpu = ["-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"]
env.Replace(CC="arm-none-eabi-gcc", CCFLAGS=cpu, LINKFLAGS=[*cpu, "-nostartfiles", "-Wl,-e,main"])
one = env.N6Network(model="net.tflite", board="nucleo-n657", name="one")
two = env.N6Network(model="net.tflite", board="nucleo-n657", name="two")
elf = env.Program("app.elf", ["main.c", one.objects, two.objects], **one.flags(env))
env.N6Image(elf, one)
"""


def test_a_network_twice_in_one_program(host: Project) -> None:  # noqa: F811
    write(host, BOTH)
    refused = host.scons().refused()
    assert (
        "SConstruct:8: error N6-HOST-005: the program is linked with build/nucleo-n657/net-one/libn6networks.a and "
        in refused.output
    )
    write(host, APPLI.replace('"net.tflite"', '["net.tflite", "net.tflite"]'))
    assert "net: error N6-NET-023: two networks of the application have the name 'net'" in host.scons().output


@pytest.mark.slow
def test_a_function_that_is_called_like_one_of_n6build(tmp_path: Path) -> None:
    host = Host(tmp_path, "make")  # noqa: F811
    ours = "bool n6_network_run(uint32_t a, const void *b, uint32_t c) { return a + c > 0u && b != 0; }\n"
    host.replace("src/main.c", "int main(void)", f"{ours}int main(void)")
    with pytest.raises(AssertionError, match="multiple definition of `n6_network_run'") as caught:
        host.call("make", "-j2", "all")
    assert "src/main.c:21: first defined here" in str(caught.value)


@pytest.mark.slow
def test_names_of_the_host_s_files_are_free(tmp_path: Path) -> None:
    host = Host(tmp_path / "mein Gerät", "make")  # noqa: F811
    (host.root / "modell").mkdir()
    shutil.copy(ROOT / "models/keyword/keyword.tflite", host.root / "modell/wörter 1.tflite")
    ours = "N6_BOARD = nucleo-n657\nN6_MODEL = modell/wörter 1.tflite\nN6_APPLI = $(ELF)\n"
    ours += "N6_OPTIONS = linker_map=$(BUILD)/app.map linker_script=board.ld"
    host.replace("Makefile", "N6_OPTIONS = board=nucleo-n657 model=keyword appli=$(ELF)", ours)
    host.replace("Makefile", "-Wl,--gc-sections", "-Wl,--gc-sections,-Map,$(BUILD)/app.map")
    # Two variants are built at the same time, each in its own folder.
    variants = [
        host.start("make", f"BUILD=build/{name}", f"N6_BUILD=build/{name}/n6build", "all", "n6-build")
        for name in ("debug", "release")
    ]
    for variant in variants:
        output, _ = variant.communicate()
        assert variant.returncode == 0, output
        assert "Checks" in output
    # A second call does nothing, though no rule names the linker's map.
    again = host.call("make", "BUILD=build/debug", "N6_BUILD=build/debug/n6build", "n6-build")
    assert steps_in(again) == []
    images = list(host.root.glob("build/*/n6build/nucleo-n657/w_rter_1-????????-foreign/appli_placed.bin"))
    assert len(images) == 2
    assert images[0].read_bytes() == images[1].read_bytes()
