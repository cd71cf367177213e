"""Requirements of ST's runtime releases for a model's compilation.

Releases without the needed features are refused.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from core_tree import make_core
from n6build.base.errors import N6Error
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.ll_aton import Version
from n6build.compile.runtimes import own_runtime, st_runtime
from n6build.place.reloc.compilation import loader_flags, model_code
from n6build.place.reloc.model_sources import reloc_sources
from n6build.place.reloc.pools import pool_table
from samples import sample

V2_0, V2_1, V2_2, V4_0_1 = (1, 0, 0, 16), (1, 1, 0, 31), (1, 1, 1, 14), (1, 1, 3, 275)
LIBRARY = "Lib/GCC/ARMCortexM55/NetworkRuntime1100_CM55_GCC_PIC.a"


@pytest.mark.parametrize(
    ("version", "suffix", "named_so"), [(V2_1, "od", True), (V2_1, "Default", False), (V2_2, "od", False)]
)
def test_the_header_of_core_2_1_finds_the_functions_of_any_network(
    version: Version, suffix: str, named_so: bool, network: Path
) -> None:
    """Core 2.1 names functions LL_ATON_..._Default, for every network name."""
    artifacts = replace(read_artifacts(network, "network"), suffix=suffix)
    conf = reloc_sources(artifacts, pool_table(artifacts, secure=True), version, "").conf
    aliases = re.findall(r"^#define LL_ATON_(\w+)_Default LL_ATON_(\w+)_od$", conf, re.MULTILINE)
    assert len(aliases) == (9 if named_so else 0)
    assert all(old == new for old, new in aliases)


@pytest.mark.parametrize(
    ("version", "secure", "flags"),
    [(V2_1, True, ("-mcmse",)), (V2_1, False, ()), (V2_2, False, ("-mcmse",)), (V4_0_1, False, ("-mcmse",))],
)
def test_the_loader_of_core_2_1_is_compiled_for_the_state_of_the_models(
    version: Version, secure: bool, flags: tuple[str, ...]
) -> None:
    assert loader_flags(replace(own_runtime(), version=version), secure=secure) == flags


@pytest.mark.parametrize(
    ("version", "removed", "message"),
    [
        (V2_0, LIBRARY, r"ll_aton: error N6-RELOC-020: ll_aton 1\.0\.0-16 has no relocatable models"),
        (
            V4_0_1,
            LIBRARY,
            r"ARMCortexM55: error N6-RELOC-020: relocatable models need NetworkRuntime\*_CM55_GCC_PIC\.a(.|\n)*1\.1\.3-275",
        ),
        (V2_1, "Npu/ll_aton/ecloader.c", r"ll_aton: error N6-RELOC-020: relocatable models need ecloader\.c"),
    ],
)
def test_what_a_runtime_lacks_is_named(version: Version, removed: str, message: str, tmp_path: Path) -> None:
    core = make_core(tmp_path / "core", version)
    (core / "Middlewares/ST/AI" / removed).unlink()
    with pytest.raises(N6Error, match=message):
        model_code(st_runtime(core), (), secure=True, debug_info=True, blobs_in_params=False)


def test_a_project_of_core_4_0_1_has_no_library_for_them() -> None:
    with pytest.raises(N6Error, match=r"N6-RELOC-020: relocatable models need NetworkRuntime\*_CM55_GCC_PIC.a"):
        model_code(st_runtime(sample("core/4.0.1")), (), secure=True, debug_info=True, blobs_in_params=False)
