"""SCons tool: the Cortex-M55 compiler, asked for by name, with the one set of flags that all our C is built with.

Construction variable N6_CCFLAGS: further flags of the project around, which may be those of an ST project.
"""

from __future__ import annotations

import shutil
from typing import Any

from n6build.console import line
from n6build.errors import N6Error
from n6build.network.runtimes import without_unknown_flags
from n6build.paths import ROOT
from n6scons import only_informs, stop_with, timed_spawn

PREFIX = "arm-none-eabi-"
CPU = ["-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"]


def generate(env: Any) -> None:
    if not exists(env) and not only_informs():
        missing = N6Error(
            "N6-TOOL-001",
            f"the compiler {PREFIX}gcc was not found in PATH",
            hint="`make setup` installs it (gcc-arm-none-eabi and libnewlib-arm-none-eabi); `scons doctor` shows what is there",
        )
        stop_with(missing)
    for tool in ("cc", "gcc", "link", "gnulink"):
        env.Tool(tool)
    # A host path in debug information would make equal sources differ between machines; the flag itself is not signed.
    prefix_map = ["$(", f"-ffile-prefix-map={ROOT}=.", "$)"]
    env.Replace(
        CC=f"{PREFIX}gcc",
        LINK=f"{PREFIX}gcc",
        PROGSUFFIX=".elf",
        CFLAGS=["-std=c11"],
        CCFLAGS=[
            *CPU,
            "-O2",
            "-g",
            "-ffunction-sections",
            "-fdata-sections",
            "-Wall",
            "-Wextra",
            "-Werror",
            *prefix_map,
            *without_unknown_flags(env.get("N6_CCFLAGS", [])),
        ],
        LINKFLAGS=[
            *CPU,
            "-nostartfiles",
            "--specs=nano.specs",
            "-Wl,--gc-sections",
            "-Wl,--build-id=none",
            "-Wl,--nmagic",
            "-Wl,--fatal-warnings",
        ],
    )
    if not env.get("N6_VERBOSE"):
        env.Replace(CCCOMSTR=line("Compile", "$SOURCE"), LINKCOMSTR=line("Link", "$TARGET"))
    env["SPAWN"] = timed_spawn(env["SPAWN"])


def exists(env: Any) -> bool:
    return shutil.which(f"{PREFIX}gcc", path=env["ENV"].get("PATH")) is not None
