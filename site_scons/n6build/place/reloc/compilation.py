"""Sources, flags and libraries of a relocatable model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import is_file
from n6build.base.paths import FIRMWARE
from n6build.compile.ll_aton import Version, version_text
from n6build.compile.runtimes import Runtime
from n6build.place.reloc.model_format import ABI_A, abi_of

# The code finds its data from r9 alone. Without the last flag gcc would assume a fixed distance from code to data.
POSITION_INDEPENDENT = (
    "-fpic",
    "-msingle-pic-base",
    "-mpic-register=r9",
    "-mno-pic-data-is-text-relative",
)
_COMMON = (
    *POSITION_INDEPENDENT,
    "-fvisibility=hidden",
    "-fno-builtin",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    "-fno-tree-loop-distribute-patterns",
    "-ffunction-sections",
    "-fdata-sections",
)
# The flag sets __ARM_FEATURE_CMSE to 3, by which headers of runtime and device select secure addresses.
SECURE = "-mcmse"
# The model has no C library and no libgcc, because their objects do not use a static base.
LINK = (
    "-nostdlib",
    "-nostartfiles",
    "-static",
    "-Wl,--gc-sections",
    "-Wl,--emit-relocs",
    "-Wl,--build-id=none",
    "-Wl,--no-warn-rwx-segments",
    "-Wl,--fatal-warnings",
)
_DEFINES = (
    "LL_ATON_PLATFORM=LL_ATON_PLAT_STM32N6",
    "LL_ATON_OSAL=LL_ATON_OSAL_BARE_METAL",
    "LL_ATON_RT_MODE=LL_ATON_RT_ASYNC",
    "LL_ATON_SW_FALLBACK",
    "LL_ATON_DBG_BUFFER_INFO_EXCLUDED=1",
    "LL_ATON_DUMP_DEBUG_API",
    "LL_ATON_RT_RELOC",
    "BUILD_AI_NETWORK_RELOC",
)
_DEBUG_INFO = "LL_ATON_EB_DBG_INFO"
# ST's compiler puts this macro in front of the blobs of the epoch controller. In reloc.ld.j2 the section is part of the weights.
_BLOBS_IN_PARAMS = 'ECBLOB_CONST_SECTION=__attribute__((section(".ecblobs")))'

# ll_aton of Core 2.1, and the parts of ST's runtime for relocatable models: sources that no other use has, and a library.
_FIRST_VERSION: Version = (1, 1, 0, 31)
_PARTS = ("ll_aton_reloc_network.c", "ll_aton_reloc_callbacks.c", "ecloader.c")
_PIC_LIBRARY = "NetworkRuntime*_CM55_GCC_PIC.a"
# The name by which ll_aton_reloc_network.h of every release includes the configuration of a model. Core 2.1 includes nothing
# where macro MODEL_CONF names another file, so that it is not used.
CONF_HEADER = "network_reloc_conf.h"


@dataclass(frozen=True)
class ModelCode:
    """The code of a relocatable model.

    Attributes:
        shared: sources that all models are linked with, and the flags of each.
        network_flags: flags for a model's generated files.
        defines: macros, NAME or NAME=value.
        network_defines: macros for a model's generated files.
    """

    shared: tuple[tuple[Path, tuple[str, ...]], ...]
    network_flags: tuple[str, ...]
    include_folders: tuple[Path, ...]
    foreign_folders: tuple[Path, ...]
    defines: tuple[str, ...]
    network_defines: tuple[str, ...]
    libraries: tuple[Path, ...]


def model_code(
    runtime: Runtime,
    kernels: Sequence[Path],
    *,
    secure: bool,
    debug_info: bool,
    blobs_in_params: bool,
) -> ModelCode:
    """Return the code that a relocatable model is compiled and linked with.

    Args:
        runtime: runtime of the model.
        kernels: C files of the kernels that the model may call.
        secure: whether the model is secure.
        debug_info: whether the epoch table has debug fields.
        blobs_in_params: whether the blobs of the epoch controller are part of the weights, and not
            constants.

    Raises:
        N6Error: N6-RELOC-020 if ST's package has no parts for relocatable models.
    """
    parts = runtime.reloc
    if parts is None:
        raise _no_parts(runtime)
    flags = (*_COMMON, SECURE) if secure else _COMMON
    of_runtime = [flag for flag in runtime.compile_flags if secure or flag != SECURE]
    own = (*flags, *of_runtime, *parts.compile_flags)
    defines = (*_DEFINES, *parts.defines, *((_DEBUG_INFO,) if debug_info else ()))
    of_kernels = [(path, (*flags, "-O3")) for path in kernels]
    sources = [(path, (*own, "-DNDEBUG") if path.name in parts.talkative else own) for path in parts.sources]
    return ModelCode(
        shared=(*of_kernels, *sources),
        network_flags=own,
        include_folders=(*runtime.include_folders, FIRMWARE / "reloc"),
        foreign_folders=(*runtime.foreign_folders, *parts.foreign_folders),
        defines=defines,
        network_defines=(*defines, *((_BLOBS_IN_PARAMS,) if blobs_in_params else ())),
        libraries=parts.libraries,
    )


def _no_parts(runtime: Runtime) -> N6Error:
    """Return the error that names the missing parts of ST's runtime.

    The reason is an old release, or an incomplete copy in a project.
    """
    own = version_text(runtime.version)
    if runtime.version < _FIRST_VERSION:
        return N6Error(
            "N6-RELOC-020",
            f"ll_aton {own} has no relocatable models: the first are of {version_text(_FIRST_VERSION)}, ST Edge AI Core 2.1",
            where=str(runtime.sources[0].parent),
            hint="compile the network again with a newer ST Edge AI Core, and point STEDGEAI_CORE_DIR to that",
        )
    folder = runtime.sources[0].parent
    lacking = [path for path in (folder / name for name in _PARTS) if not is_file(path)]
    lacking = lacking or [runtime.libraries[0].parent / _PIC_LIBRARY]
    return N6Error(
        "N6-RELOC-020",
        f"relocatable models need {lacking[0].name}, which this copy of ST's runtime does not have",
        where=str(lacking[0].parent),
        hint=(
            f"set STEDGEAI_CORE_DIR to an installation of ST Edge AI Core with ll_aton {own}: projects often have "
            f"only a part of it; or unset it, for networks that only use the CPU"
        ),
    )


def loader_flags(runtime: Runtime, *, secure: bool) -> tuple[str, ...]:
    """Return the flags for the loader of a firmware that runs in the secure state.

    The check before the loader is compiled with the same flags. The loader compares the security
    state of models with its own. From Core 2.2 on, a secure loader takes both. That of Core 2.1
    takes only its own, so it is compiled for the state of the models.

    Args:
        runtime: runtime with the loader.
        secure: whether the models are secure.
    """
    return () if abi_of(runtime.version) is ABI_A and not secure else (SECURE,)


def firmware_defines(runtime: Runtime, *, debug_info: bool) -> tuple[str, ...]:
    """Return the macros for a firmware that installs relocatable models.

    They give the firmware's tables the same layout as those of the models.
    """
    drives_npu = int(runtime.name == "st")
    common = ("LL_ATON_RT_RELOC", f"N6_RUNTIME_DRIVES_NPU={drives_npu}")
    return (*common, _DEBUG_INFO) if debug_info else common
