"""A stand-in for an installed ST Edge AI Core.

It has the files that a build needs, at ST's places.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

RUNTIME = Path(__file__).resolve().parents[1] / "firmware" / "runtime"
WITHOUT_NPU = Path(__file__).with_name("without_npu.c")
_EMPTY = (
    "ll_aton_rt_main.c",
    "ll_aton_util.c",
    "ll_aton_lib.c",
    "ll_aton_lib_sw_operators.c",
    "ll_sw_float.c",
    "ll_sw_integer.c",
    "ecloader.c",
)

# From this version on, the functions of an epoch have a second argument.
_TWO_ARGUMENTS = (1, 1, 3, 262)
_INSTANCE = "const struct NN_Instance_Struct *instance"


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def make_core(root: Path, ll_aton: tuple[int, int, int, int], *, device: str = "STM32N6XX") -> Path:
    """Write n6build's runtime under ST's names, and return the root.

    Args:
        ll_aton: Version of the runtime.
    """
    middleware = root / "Middlewares" / "ST" / "AI"
    folder, devices = middleware / "Npu" / "ll_aton", middleware / "Npu" / "Devices" / device
    libraries = middleware / "Lib" / "GCC" / "ARMCortexM55"
    for path in (folder, devices, libraries, middleware / "Inc"):
        path.mkdir(parents=True)
    for path in (*RUNTIME.glob("*.h"), *RUNTIME.glob("reloc/*")):
        shutil.copy2(path, folder)
    header = (RUNTIME / "ll_aton_version.h").read_text()
    for part, number in zip(("MAJOR", "MINOR", "MICRO", "DEV"), ll_aton, strict=True):
        header = re.sub(rf"(LL_ATON_VERSION_{part}) \d+", rf"\g<1> {number}", header)
    (folder / "ll_aton_version.h").write_text(header)
    if ll_aton >= _TWO_ARGUMENTS:
        _replace(
            folder / "ll_aton_NN_interface.h", "(const void *epoch_block);", f"(const void *epoch_block, {_INSTANCE});"
        )
        _replace(
            folder / "ll_aton_NN_interface.h",
            "typedef void (*EpochBlock",
            "struct NN_Instance_Struct;\ntypedef void (*EpochBlock",
        )
    for name in _EMPTY:
        (folder / name).write_text(f"extern int {name.removesuffix('.c')}_is_here;\n")
    shutil.copy2(RUNTIME / "ll_aton_runtime.c", folder)
    # ST's file has the NPU's driver. Networks that are linked with the stand-in have no epochs for the NPU.
    shutil.copy2(WITHOUT_NPU, folder / "ll_aton.c")
    if ll_aton >= _TWO_ARGUMENTS:
        for name in ("ll_aton_network_calls.h", "ll_aton_reloc_network.c"):
            _replace(folder / name, "    function(block);", "    function(block, instance);")
    shutil.copy2(RUNTIME / "ll_aton_caches.c", devices / "mcu_cache.c")
    (devices / "npu_cache.h").write_text("void npu_cache_init(void);\nvoid npu_cache_enable(void);\n")
    (devices / "npu_cache.c").write_text(
        '#include "npu_cache.h"\nvoid npu_cache_init(void) {}\nvoid npu_cache_enable(void) {}\n'
    )
    (devices / "ATON.h").touch()
    (middleware / "Inc/ai_platform.h").touch()
    for name in ("NetworkRuntime1000_CM55_GCC.a", "NetworkRuntime1100_CM55_GCC.a", "NetworkRuntime1100_CM55_GCC_PIC.a"):
        subprocess.run(["ar", "rc", libraries / name], check=True)
    return root
