"""Trees that differ from the samples of ST Edge AI Core as other releases are known to differ. They are made at run time, and
show that a difference was thought of, not that the release works: that needs the release."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from samples import sample

_LL_ATON = Path("Middlewares/ST/AI/Npu/ll_aton")


def _copy(release: str, root: Path) -> Path:
    """A copy that can be edited, whatever the rights of the samples are."""
    source = sample(f"core/{release}")
    for path in source.rglob("*"):
        if path.is_file():
            target = root / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return root


def _edit(path: Path, pattern: str, new: str, *, count: int = 1) -> None:
    text, done = re.subn(pattern, lambda _: new, path.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert done == count, (path, pattern, done)
    path.write_text(text)


def like_2_1(root: Path) -> Path:
    """Of 2.2: no ll_aton_rt_user_api.h, functions about buffers without an argument, and the version of 2.1."""
    ll_aton = _copy("2.2", root) / _LL_ATON
    api = ll_aton / "ll_aton_rt_user_api.h"
    for kind in ("Input", "Output", "Internal"):
        function = rf"static inline const LL_Buffer_InfoTypeDef \*LL_ATON_{kind}_Buffers_Info\([^)]*\)"
        _edit(api, rf"{function};", f"const LL_Buffer_InfoTypeDef *LL_ATON_{kind}_Buffers_Info(void);")
        _edit(api, rf"{function}\s*\{{.*?\n  \}}\n", "")
    _edit(ll_aton / "ll_aton_runtime.h", r'#include "ll_aton_rt_user_api\.h"', api.read_text())
    _edit(ll_aton / "ll_aton_rt_main.c", r'#include "ll_aton_rt_user_api\.h"', '#include "ll_aton_runtime.h"')
    api.unlink()
    version = ll_aton / "ll_aton_version.h"
    _edit(version, r"(?<=LL_ATON_VERSION_MICRO) \(1\)", " (0)")
    _edit(version, r"(?<=LL_ATON_VERSION_DEV)   \(14\)", " (31)")
    # 2.0 has this one, which does not compile there.
    (ll_aton / "ll_aton_stai_internal.c").write_text("#error\n")
    return root


def like_2_1_relocatable(root: Path) -> Path:
    """Of 2.2: the loader's header wants sizes of the model, also where sources of the runtime include it."""
    ll_aton = _copy("2.2", root) / _LL_ATON
    wanted = "".join(f"#if !defined({size})\n#error\n#endif\n" for size in ("EXT_RAM_SZ", "PARAMS_BIN_SZ"))
    _edit(
        ll_aton / "ll_aton_reloc_callbacks.c",
        "#undef BUILD_AI_NETWORK_RELOC",
        f"#include MODEL_CONF\n{wanted}#undef BUILD_AI_NETWORK_RELOC",
    )
    return root


def like_4_0(root: Path) -> Path:
    """Of 3.0: the driver of the NPU's cache gets the HAL through the device's header, functions of an epoch have a second
    argument, and the version is that of 4.0.0."""
    core = _copy("3.0", root)
    ll_aton = core / _LL_ATON
    cache = core / "Middlewares/ST/AI/Npu/Devices/STM32N6xx/npu_cache.c"
    _edit(cache, r'#include "stm32n6xx_hal_cacheaxi\.h"', '#include "stm32n6xx.h"')
    two = "(const void *epoch_block, const struct NN_Instance_Struct *instance);"
    _edit(ll_aton / "ll_aton_NN_interface.h", r"(?<=\*EpochBlock_FuncPtr_t\))\(const void \*epoch_block\);", two)
    _edit(ll_aton / "ll_aton_runtime.c", r"(?<=_epoch_block\(\(const void \*\)eb)\);", ", nn_instance);", count=4)
    _edit(ll_aton / "ll_aton_version.h", r"(?<=LL_ATON_VERSION_DEV)   \(8\)", " (262)")
    return core
