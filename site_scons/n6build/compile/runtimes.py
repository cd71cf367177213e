"""The ll_aton runtime of the Appli: firmware/runtime, or that of ST Edge AI Core."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.base.errors import N6Error
from n6build.base.files import files_in, is_file
from n6build.base.findings import Finding
from n6build.base.foreign_flags import ADDED_FLAGS, UNKNOWN_FLAGS
from n6build.base.paths import FIRMWARE
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.device_headers import DEVICE, DeviceHeaders, find_device_headers, headers_of_project, stand_in
from n6build.compile.ll_aton import Version, own_version, release_name, version_text
from n6build.compile.runtime_files import WHERE_TO_LOOK, RuntimeFiles, describe, find_runtime, missing_parts

# This check of a mismatch also runs before the network is compiled.
VERSION_GATE = "N6-CHECK-018"

# A bare-metal application needs these sources of ll_aton; the optional ones exist only in some releases or for some networks.
_SOURCES = (
    "ll_aton.c",
    "ll_aton_rt_main.c",
    "ll_aton_runtime.c",
    "ll_aton_util.c",
    "ll_aton_lib.c",
    "ll_aton_lib_sw_operators.c",
    "ll_sw_float.c",
    "ll_sw_integer.c",
)
_OPTIONAL_SOURCES = ("ecloader.c", "ll_aton_cipher.c")
# stai_<network>.c needs this source from Core 3.0 on. Core 2.0 already has the file, but it does not compile there.
_STAI_SOURCE = "ll_aton_stai_internal.c"
_FIRST_STAI: Version = (1, 1, 3, 0)
# Trees without a driver of the NPU's cache get this one.
_NPU_CACHE = FIRMWARE / "st" / "npu_cache" / "npu_cache.c"
# From Core 4.0 on, the device's header must include the HAL. Before, the HAL's own headers came first, and this macro broke them.
_HAL_BY_DEVICE = ("USE_HAL_DRIVER",)
_FIRST_HAL_BY_DEVICE: Version = (1, 1, 3, 262)
_DEFINES = (
    DEVICE,
    "LL_ATON_PLATFORM=LL_ATON_PLAT_STM32N6",
    "LL_ATON_OSAL=LL_ATON_OSAL_BARE_METAL",
    "LL_ATON_RT_MODE=LL_ATON_RT_ASYNC",
    "LL_ATON_SW_FALLBACK",
    "LL_ATON_DBG_BUFFER_INFO_EXCLUDED=0",
    "N6_RUNTIME_DRIVES_NPU=1",
)
# ST's code is written for GNU C11 and warns under the flags of this project.
_COMPILE_FLAGS = ("-std=gnu11", "-mcmse", "-w", *ADDED_FLAGS)


# These sources of ll_aton become part of a relocatable model; the loader stays in the firmware.
_RELOC_SOURCES = (
    "ll_aton.c",
    "ll_aton_util.c",
    "ll_aton_lib_sw_operators.c",
    "ll_sw_float.c",
    "ll_sw_integer.c",
    "ecloader.c",
    "ll_aton_reloc_callbacks.c",
)
# These call printf unless NDEBUG is set, and a relocatable model has no printf.
_TALKATIVE = ("ecloader.c", "ll_aton_lib_sw_operators.c")
_LOADER = "ll_aton_reloc_network.c"
_RELOC_COMPILE_FLAGS = ("-Os", "-ffast-math", "-fsingle-precision-constant", "-fno-math-errno")


@dataclass(frozen=True)
class RuntimeVersion:
    """The owner of an ll_aton runtime and its version, enough for most steps."""

    name: Literal["n6build", "st"]
    version: Version


@dataclass(frozen=True)
class RelocParts:
    """The parts of a runtime that relocatable models need.

    Attributes:
        sources: Position-independent sources of a relocatable model.
        talkative: Names of sources that need NDEBUG.
        libraries: Position-independent libraries of a relocatable model.
        loader: Loader of such models, for a firmware.
        compile_flags: Further flags for `sources`.
        defines: Macros as NAME or NAME=value.
        foreign_folders: Include folders for models alone, searched after those of the runtime.
    """

    sources: tuple[Path, ...]
    talkative: tuple[str, ...]
    libraries: tuple[Path, ...]
    loader: Path
    compile_flags: tuple[str, ...]
    defines: tuple[str, ...]
    foreign_folders: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Runtime:
    """The ll_aton runtime that a firmware is linked with.

    Attributes:
        name: Owner of the runtime.
        version: Version of ll_aton.
        sources: C files of the runtime.
        include_folders: Folders of n6build's own headers.
        foreign_folders: Folders of ST's headers.
        defines: Macros as NAME or NAME=value.
        compile_flags: Flags for `sources` and for a network.c of ST's tool.
        libraries: Full paths of libraries.
        system_libraries: Libraries of the toolchain, by name.
        glue: Sources of n6build that the runtime needs from a firmware.
        reloc: Parts for relocatable models, None if the runtime has none.
    """

    name: Literal["n6build", "st"]
    version: Version
    sources: tuple[Path, ...]
    include_folders: tuple[Path, ...]
    foreign_folders: tuple[Path, ...]
    defines: tuple[str, ...]
    compile_flags: tuple[str, ...]
    libraries: tuple[Path, ...]
    system_libraries: tuple[str, ...]
    glue: tuple[Path, ...]
    reloc: RelocParts | None

    @property
    def identity(self) -> RuntimeVersion:
        """Return the owner and the version, without files and flags."""
        return RuntimeVersion(self.name, self.version)


def own_runtime(version: Version | None = None) -> Runtime:
    """Return the runtime in firmware/runtime.

    Args:
        version: Version of the ll_aton in the firmware that relocatable models are for; None for
            this project's own.

    Raises:
        N6Error: N6-LLATON-001.
    """
    folder = FIRMWARE / "runtime"
    reloc = folder / "reloc"
    numbers = zip(("MAJOR", "MINOR", "MICRO", "DEV"), version or (), strict=False)
    defines = tuple(f"LL_ATON_VERSION_{name}={number}" for name, number in numbers)
    return Runtime(
        name="n6build",
        version=version or own_version(),
        sources=tuple(files_in(folder, "*.c")),
        include_folders=(folder, reloc),
        foreign_folders=(),
        defines=(),
        compile_flags=(),
        libraries=(),
        system_libraries=(),
        glue=(),
        reloc=RelocParts((reloc / "ll_aton_reloc_callbacks.c",), (), (), reloc / _LOADER, ("-O2",), defines),
    )


def st_runtime(core: Path, cmsis: tuple[Path, ...] = ()) -> Runtime:
    """Return ST's runtime below a folder.

    Args:
        core: Root of ST Edge AI Core, of an X-CUBE-AI pack, or of a project that has the runtime in
            any layout.
        cmsis: Folders of the device headers, as `find_device_headers` takes them. If none is named,
            those of the project are used if it has them; otherwise relocatable models get the
            headers of `stand_in`, and a firmware gets none.

    Raises:
        N6Error: N6-LLATON-001, N6-LLATON-002 and N6-LLATON-006 as `find_runtime`; N6-LLATON-002 for
            a missing part; N6-LLATON-005 for missing device headers.
    """
    found = find_runtime(core)
    sources = tuple(found.ll_aton / name for name in _SOURCES)
    absent = [path.name for path in sources if not is_file(path)]
    lacking = (*absent, *missing_parts(found))
    if lacking:
        what = f"{describe(found)} has no {lacking[0]}" + (f", and {len(lacking) - 1} more" if lacking[1:] else "")
        raise N6Error("N6-LLATON-002", what, where=str(core), hint=WHERE_TO_LOOK)
    assert found.registers and found.headers and found.mcu_cache and found.library
    headers = find_device_headers(cmsis) if cmsis else headers_of_project(core, found.ll_aton)
    version = found.version
    hal = _HAL_BY_DEVICE if version >= _FIRST_HAL_BY_DEVICE else ()
    optional = (*_OPTIONAL_SOURCES, *([_STAI_SOURCE] if version >= _FIRST_STAI else []))
    caches = (found.mcu_cache, *([found.npu_cache] if found.npu_cache else []))
    own = () if found.npu_cache else (_NPU_CACHE,)
    folders = (found.headers, found.ll_aton, found.registers, *(path.parent for path in caches), *headers.folders)
    return Runtime(
        name="st",
        version=version,
        sources=(
            *sources,
            *(found.ll_aton / name for name in optional if is_file(found.ll_aton / name)),
            *caches,
            *headers.sources,
        ),
        include_folders=(FIRMWARE / "st", *(path.parent for path in own)),
        foreign_folders=tuple(dict.fromkeys(folders)),
        defines=(*_DEFINES, *hal),
        compile_flags=_COMPILE_FLAGS,
        libraries=(found.library,),
        system_libraries=("m",),
        glue=(*files_in(FIRMWARE / "st", "*.c"), *own),
        reloc=_st_reloc_parts(found, headers, hal),
    )


def _st_reloc_parts(found: RuntimeFiles, headers: DeviceHeaders, hal: tuple[str, ...]) -> RelocParts | None:
    """Return the parts for relocatable models, or None.

    Releases before 2.1, the first with relocatable models, have none, nor have trees that lack a
    file.
    """
    files = [found.ll_aton / name for name in (*_RELOC_SOURCES, _LOADER)]
    if found.pic_library is None or not all(is_file(path) for path in files):
        return None
    more = DeviceHeaders() if headers.folders else stand_in()
    return RelocParts(
        tuple(files[:-1]),
        _TALKATIVE,
        (found.pic_library,),
        files[-1],
        _RELOC_COMPILE_FLAGS,
        (DEVICE, *hal, *more.defines),
        more.folders,
    )


def without_unknown_flags(flags: list[str]) -> list[str]:
    """Remove flags of ST's projects that only the compiler in ST's IDE understands."""
    return [flag for flag in flags if flag not in UNKNOWN_FLAGS]


def version_mismatch(asked: Version | None, runtime: Runtime | RuntimeVersion, where: str) -> Finding | None:
    """Return a finding if network.c and runtime have different versions of ll_aton.

    Otherwise the C compiler would stop later, with a message that says little.

    Args:
        asked: Version that network.c asks for, None if it accepts any.
        runtime: Runtime of the firmware.
        where: Place of the finding.
    """
    if asked is None or asked == runtime.version:
        return None
    whose = "ST's" if runtime.name == "st" else "n6build's own"
    return Finding(
        where,
        f"asks for ll_aton {version_text(asked)} ({release_name(asked)}), but {whose} runtime is "
        f"{version_text(runtime.version)} "
        f"({release_name(runtime.version)})",
        f"compile the network with {release_name(runtime.version)}, or point STEDGEAI_CORE_DIR to {release_name(asked)}",
    )


def version_header(version: Version | None) -> str:
    """Return C code to include before a network whose version mismatch is waived.

    With it, network.c finds the version that it asks for.
    """
    lines = [f"/* {VERSION_GATE} is waived: network.c finds the version that it asks for. */"]
    if version is not None:
        lines.append('#include "ll_aton_version.h"')
        for name, number in zip(("MAJOR", "MINOR", "MICRO", "DEV"), version, strict=True):
            lines += [f"#undef LL_ATON_VERSION_{name}", f"#define LL_ATON_VERSION_{name} {number}"]
    return "".join(f"{line}\n" for line in lines)


def check_epochs(artifacts: NetworkArtifacts, runtime: Runtime | RuntimeVersion, *, runs_blobs: bool) -> None:
    """Check that a network runs on this runtime.

    n6build's own runtime drives the NPU only by blobs of n6build's compiler that are linked into
    the firmware.

    Args:
        artifacts: The network.
        runtime: Runtime of the firmware.
        runs_blobs: Blobs are linked into the firmware.

    Raises:
        N6Error: N6-LLATON-004 if the network needs ST's runtime.
    """
    if runs_blobs and artifacts.compiled_here and not artifacts.library_call:
        return
    on_npu = sum(not epoch.on_cpu for epoch in artifacts.epochs)
    if runtime.name == "st" or not (on_npu or artifacts.library_call):
        return
    why = (
        f"{on_npu} of {len(artifacts.epochs)} epochs use the NPU" if on_npu else f"it calls {artifacts.library_call}()"
    )
    raise N6Error(
        "N6-LLATON-004",
        f"the network needs ST's runtime: {why}",
        where=artifacts.source.name,
        hint=f"{WHERE_TO_LOOK}; or compile the model for the CPU with backend=reference",
    )
