"""The linked ll_aton: n6build's own, or that of an ST Edge AI Core.

It must have the version that the network requires.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from core_tree import make_core
from n6build.base.errors import N6Error
from n6build.compile.ll_aton import own_version, read_ll_aton_version
from n6build.compile.runtimes import own_runtime, st_runtime, version_mismatch, without_unknown_flags
from n6build.compile.toolchain import CPU
from samples import sample


def test_our_runtime_is_the_version_that_the_reference_backend_writes() -> None:
    runtime = own_runtime()
    assert (runtime.name, runtime.version) == ("n6build", own_version())
    assert all(source.is_file() for source in runtime.sources)


@pytest.mark.parametrize("device", ["STM32N6XX", "STM32N6xx"])
def test_st_s_runtime_is_found_in_either_spelling(tmp_path: Path, device: str) -> None:
    runtime = st_runtime(make_core(tmp_path, (1, 1, 3, 275), device=device))
    assert (runtime.name, runtime.version) == ("st", (1, 1, 3, 275))
    assert {"ll_aton_runtime.c", "ll_sw_float.c", "mcu_cache.c"} <= {source.name for source in runtime.sources}
    assert [library.name for library in runtime.libraries] == ["NetworkRuntime1100_CM55_GCC.a"]
    assert {"LL_ATON_PLATFORM=LL_ATON_PLAT_STM32N6", "USE_HAL_DRIVER"} <= set(runtime.defines)


def test_sources_that_only_some_releases_have_are_taken_where_they_are(tmp_path: Path) -> None:
    core = make_core(tmp_path, (1, 1, 3, 8))
    ll_aton = core / "Middlewares/ST/AI/Npu/ll_aton"
    before = {source.name for source in st_runtime(core).sources}
    (ll_aton / "ll_aton_cipher.c").write_text("")
    assert {source.name for source in st_runtime(core).sources} - before == {"ll_aton_cipher.c"}


@pytest.mark.parametrize(("ll_aton", "taken"), [((1, 0, 0, 16), False), ((1, 1, 3, 8), True)])
def test_the_wrapper_of_networks_is_taken_where_networks_call_it(
    tmp_path: Path, ll_aton: tuple[int, int, int, int], taken: bool
) -> None:
    core = make_core(tmp_path, ll_aton)
    (core / "Middlewares/ST/AI/Npu/ll_aton/ll_aton_stai_internal.c").write_text("")
    assert ("ll_aton_stai_internal.c" in {source.name for source in st_runtime(core).sources}) == taken


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("Npu/ll_aton/ll_aton_lib.c", "ll_aton_lib.c"),
        ("Npu/Devices/STM32N6XX/ATON.h", "ATON.h: the NPU's registers"),
        ("Npu/Devices/STM32N6XX/mcu_cache.c", "mcu_cache.c: the driver of the CPU's cache"),
        ("Inc/ai_platform.h", "ai_platform.h and the headers beside it, for the library of the CPU's layers"),
        (
            "Lib/GCC/ARMCortexM55/NetworkRuntime*_CM55_GCC.a",
            "NetworkRuntime*_CM55_GCC.a: the layers that the CPU computes",
        ),
    ],
)
def test_a_missing_part_is_named_with_the_reason_why_it_matters(tmp_path: Path, missing: str, named: str) -> None:
    core = make_core(tmp_path, (1, 1, 3, 8))
    for path in (core / "Middlewares/ST/AI").glob(missing):
        path.unlink()
    with pytest.raises(N6Error, match="N6-LLATON-002") as caught:
        st_runtime(core)
    assert caught.value.what == f"ST Edge AI Core 3.0 (ll_aton 1.1.3-8) has no {named}"
    assert caught.value.where == str(core)


def test_a_tree_without_a_driver_of_the_npu_s_cache_gets_ours(tmp_path: Path) -> None:
    core = make_core(tmp_path, (1, 1, 3, 275))
    (driver,) = core.rglob("npu_cache.c")
    driver.unlink()
    runtime = st_runtime(core)
    assert "npu_cache.c" in {path.name for path in runtime.glue}
    assert any((folder / "npu_cache.h").is_file() and "st" in folder.parts for folder in runtime.include_folders)


def test_the_gate_names_both_versions_and_the_releases_to_use() -> None:
    found = version_mismatch((1, 1, 1, 14), own_runtime(), "network.c")
    assert found is not None
    assert found.where == "network.c"
    assert found.what == (
        "asks for ll_aton 1.1.1-14 (ST Edge AI Core 2.2), but n6build's own runtime is 1.1.3-8 (ST Edge AI Core 3.0)"
    )
    assert (
        found.hint == "compile the network with ST Edge AI Core 3.0, or point STEDGEAI_CORE_DIR to ST Edge AI Core 2.2"
    )


def test_every_one_of_the_four_numbers_counts() -> None:
    assert version_mismatch(own_version(), own_runtime(), "network.c") is None
    assert version_mismatch(None, own_runtime(), "network.c") is None
    for part in range(4):
        other = tuple(number + (position == part) for position, number in enumerate(own_version()))
        found = version_mismatch(other, own_runtime(), "network.c")  # type: ignore[arg-type]
        assert found is not None
        assert "unknown release" in found.what


@pytest.mark.parametrize("text", ["", "#define LL_ATON_VERSION_MAJOR 1\n", "#define LL_ATON_VERSION_MAJOR x\n"])
def test_a_version_header_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "ll_aton_version.h").write_text(text)
    with pytest.raises(N6Error, match="N6-LLATON-001"):
        read_ll_aton_version(tmp_path / "ll_aton_version.h")


def test_code_that_stumbles_over_newlib_compiles_with_the_runtime_s_flags(tmp_path: Path) -> None:
    """Newlib hides float_t and PRIx64 from such code.

    It hides float_t if half floats are evaluated in their own way, and PRIx64 with nano.
    """
    (tmp_path / "a.c").write_text(
        "#include <inttypes.h>\n#include <math.h>\n#include <stdio.h>\nfloat_t scale = 0.5f;\n"
        'void put(uint64_t word) { printf("%" PRIx64 "\\n", word); }\n'
    )
    compiler = [
        "arm-none-eabi-gcc",
        *CPU,
        "--specs=nano.specs",
        "-c",
        "a.c",
        "-o",
        "a.o",
    ]
    flags = [flag for flag in st_runtime(make_core(tmp_path / "core", (1, 1, 3, 8))).compile_flags if flag != "-w"]
    strict = ["-Wall", "-Wextra", "-Werror"]
    assert subprocess.run([*compiler, "-std=gnu11"], cwd=tmp_path, capture_output=True, check=False).returncode != 0
    assert subprocess.run([*compiler, *strict, *flags], cwd=tmp_path, check=False).returncode == 0


def test_flags_of_st_s_own_compiler_are_left_out() -> None:
    assert without_unknown_flags(["-O2", "-fcyclomatic-complexity"]) == ["-O2"]


@pytest.mark.parametrize(
    ("place", "version", "library", "relocatable"),
    [
        ("core/2.2", (1, 1, 1, 14), "NetworkRuntime1020_CM55_GCC.a", True),
        ("core/3.0", (1, 1, 3, 8), "NetworkRuntime1100_CM55_GCC.a", True),
        ("core/4.0.0", (1, 1, 3, 262), "NetworkRuntime1200_CM55_GCC.a", True),
        # The sources are flat in Npu, and the library is in a folder of the same name.
        ("core/4.0.1", (1, 1, 3, 275), "NetworkRuntime1201_CM55_GCC.a", False),
        # These are whole projects with Middlewares/AI_Runtime, and the library in Lib without further folders.
        ("projects/STM32N6-GettingStarted-ObjectDetection", (1, 1, 0, 31), "NetworkRuntime1010_CM55_GCC.a", True),
        ("projects/STM32N6Example", (1, 1, 0, 31), "NetworkRuntime1010_CM55_GCC.a", False),
        # The register file of Audio is beside its network.
        ("apps/audio", (1, 1, 1, 14), "NetworkRuntime1020_CM55_GCC.a", False),
    ],
)
def test_st_s_own_trees(place: str, version: tuple[int, ...], library: str, relocatable: bool) -> None:
    runtime = st_runtime(sample(place))
    assert (runtime.version, [path.name for path in runtime.libraries]) == (version, [library])
    assert all(path.exists() for path in (*runtime.sources, *runtime.include_folders[1:]))
    assert (runtime.reloc is not None) == relocatable
    if runtime.reloc is not None:
        assert [path.name for path in runtime.reloc.libraries] == [library.replace(".a", "_PIC.a")]
