"""Host programs with a network inside, which only include n6_network.h.

They are in C and C++, with n6build's runtime and ST's, with and without an operating system. All
give the result of the reference interpreter for the same recording.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from firmware_build import CPU
from reference_interpreter import outputs
from samples import sample

from end_to_end.conftest import st_core
from end_to_end.hosts import ROOT, Host

KEYWORD = ROOT / "models/keyword/keyword.tflite"
UNTIL = "N6_BOARD_OPTIONS=probe=virtual until=text:'host: done'"
MAIN = """
#include "n6_network.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "sensor.h"
#include "uart.h"
#ifdef __cplusplus
}
#define NONE nullptr
#else
#define NONE 0
#endif

static int8_t samples[4096];

void n6_network_print(const char *text)
{
    uart_write(text);
}

bool n6_network_clocks(void)
{
    uart_write("host: clocks\\n");
    return CLOCKS;
}

int main(void)
{
    n6_network_result_t opened = n6_network_open();
    uint32_t bytes = n6_network_input_bytes(0), count = 0;
    uart_write("host: ");
    uart_write(n6_network_name(0));
    uart_write(opened.why);
    uart_write(opened.what);
    sensor_read(samples, bytes);
    if (opened.why[0] == '\\0' && n6_network_run(0, samples, bytes)) {
        const int8_t *scores = (const int8_t *)n6_network_output(0, NONE, &count);
        uart_write("\\nhost: scores");
        for (uint32_t i = 0; i < count; i++) {
            uart_write(" ");
            uart_write_number(scores[i]);
        }
    }
    uart_write("\\nhost: done\\n");
    return 0;
}
"""
CPP_RULE = """
$(BUILD)/%.o: %.cpp
	@mkdir -p $(@D)
	arm-none-eabi-g++ $(CPPFLAGS) $(CPU) -std=c++17 -fno-exceptions -fno-rtti -Os -g -Wall -Wextra -Werror -c -o $@ $<

clean:
"""


def recording(count: int) -> np.ndarray:
    """Return the samples that sensor_read in the examples makes."""
    state, samples = 1, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFF_FFFF
        samples.append(state >> 24)
    return np.array(samples, np.uint8).view(np.int8)


def expected() -> str:
    scores = outputs(KEYWORD.read_bytes(), recording(490))[0].ravel()
    return " ".join(["host: scores", *map(str, scores)])


def with_main(host: Host, language: str, clocks: str = "true") -> None:
    """Replace the example's main()."""
    (host.root / "src/main.c").unlink()
    (host.root / f"src/main.{language}").write_text(MAIN.replace("CLOCKS", clocks))
    if language == "cpp":
        host.replace("Makefile", "src/main.c ", "")
        host.replace(
            "Makefile",
            "OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o)",
            "OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o) build/src/main.o",
        )
        host.replace("Makefile", "\nclean:\n", CPP_RULE)


def with_runtime_of_st(host: Host, release: str) -> None:
    host.replace("Makefile", "model=keyword", "model=keyword backend=reference")
    host.environment |= st_core(sample(f"core/{release}"))


@pytest.mark.parametrize(
    ("language", "release"),
    [
        ("c", ""),
        pytest.param("cpp", "", marks=pytest.mark.slow),
        pytest.param("cpp", "3.0", marks=pytest.mark.slow),
        pytest.param("c", "2.2", marks=pytest.mark.slow),
    ],
    ids=["C", "C++", "C++ and ST's runtime 3.0", "C and ST's runtime 2.2"],
)
def test_a_program_has_a_network(language: str, release: str, tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    with_main(host, language)
    if release:
        with_runtime_of_st(host, release)
    ran = host.call("make", "-j2", "all", "n6-run", UNTIL)
    assert f"Console {expected()}\n" in ran
    # The program's own hooks replace those that do nothing.
    said = re.findall(r"Console ((?:host|weights).*)", ran)
    assert said[:3] == ["host: clocks", "weights xSPI2 in place", "host: keyword"]
    assert ("ll_aton_runtime.c" in ran) and (str(sample(f"core/{release}")) in ran if release else True)


@pytest.mark.slow
def test_clocks_that_do_not_run_are_said(tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    with_main(host, "c", clocks="false")
    ran = host.call("make", "-j2", "all", "n6-run", UNTIL)
    assert "Console host: keywordN6-FW-035 the clocks do not run: n6_network_clocks" in ran


@pytest.mark.slow
def test_a_project_of_freertos(tmp_path: Path) -> None:
    """The printing task runs in the middle of the inferences.

    Each task has its own Helium registers.
    """
    host = Host(tmp_path, "freertos")
    kernel = tmp_path / "kernel"
    shutil.copytree(sample("freertos/Source"), kernel)
    run = ("make", "-j2", f"FREERTOS_DIR={kernel}", "all", "n6-run", UNTIL)
    ran = host.call(*run)
    assert ran.count(f"Console {expected()}\n") == 3
    assert ran.index("host: waiting") < ran.index("host: scores") < ran.rindex("host: waiting")
    assert not re.search(r"^arm-none-eabi-gcc", host.call(*run), re.MULTILINE)


def test_threadx_only_compiles(tmp_path: Path) -> None:
    """A few declarations replace ThreadX's headers, as docs/embedding/rtos.md says."""
    (tmp_path / "tx_api.h").write_text(
        "typedef unsigned int UINT; typedef unsigned long ULONG; typedef struct { int unused; } TX_THREAD;\n"
        "#define VOID void\n#define TX_NO_TIME_SLICE 0u\n#define TX_AUTO_START 1u\n"
        "void tx_thread_relinquish(VOID); VOID tx_kernel_enter(VOID);\n"
        "UINT tx_thread_create(TX_THREAD *, char *, VOID (*)(ULONG), ULONG, VOID *, ULONG, UINT, UINT, ULONG, UINT);\n"
    )
    (found,) = re.findall(r"<!-- threadx -->\n```c\n(.*?)```", (ROOT / "docs/embedding/rtos.md").read_text(), re.DOTALL)
    (tmp_path / "main.c").write_text(found)
    command = ["arm-none-eabi-gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-mcpu=cortex-m55", "-fsyntax-only"]
    subprocess.run([*command, f"-I{ROOT / 'firmware/appli'}", "main.c"], cwd=tmp_path, check=True)


HAL = (
    *("Drivers/CMSIS/Core/Include", "Drivers/CMSIS/Device/ST/STM32N6xx/Include", "Drivers/STM32N6xx_HAL_Driver/Inc"),
    "Projects/GS/Inc",
)


@pytest.mark.parametrize(
    ("language", "order"),
    [("c", ("stm32n6xx_hal.h", "n6_network.h")), ("c++", ("n6_network.h", "stm32n6xx_hal.h"))],
)
def test_the_header_lives_beside_hal_and_cmsis(language: str, order: tuple[str, ...], tmp_path: Path) -> None:
    audio = sample("apps/audio")
    includes = [f"-isystem{audio / folder}" for folder in HAL]
    text = "".join(f'#include "{header}"\n' for header in order)
    # CMSIS does the maintenance, and the hook has the prototype of n6_network.h.
    text += (
        "void n6_dcache_clean(uintptr_t at, uint32_t bytes) { SCB_CleanDCache_by_Addr((void *)at, (int32_t)bytes); }\n"
    )
    command = ["arm-none-eabi-gcc", "-x", language, "-Wall", "-Wextra", "-Werror", "-DSTM32N657xx", "-DUSE_HAL_DRIVER"]
    command += [*CPU, "-fsyntax-only", f"-I{ROOT / 'firmware/appli'}", *includes]
    subprocess.run([*command, "-"], input=text.encode(), cwd=tmp_path, check=True)


def names_of(archive: Path) -> set[str]:
    listed = subprocess.run(
        ["arm-none-eabi-nm", "-g", "--defined-only", archive], capture_output=True, text=True, check=True
    )
    return {
        name for kind, name in re.findall(r"^[0-9a-f]+ ([A-Z]) (\S+)$", listed.stdout, re.MULTILINE) if kind not in "VW"
    }


@pytest.mark.slow
def test_the_library_only_defines_names_with_a_prefix(tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    host.call("make", "-j2", "n6-library")
    archive = host.root / "build/n6build/libn6networks.a"
    assert {name for name in names_of(archive) if not name.startswith(("n6_", "n6k_", "LL_ATON_"))} == set()
