"""ST's runtime and loader, as ST Edge AI Core installs them.

They are linked with n6build's Appli and run on the virtual board.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from firmware_build import CPU, compiler
from n6build.compile.device_headers import stand_in
from samples import sample, sample_core

from end_to_end.conftest import EQUAL, Project, st_core

VIRTUAL = ("backend=reference", "probe=virtual", "flash", "run")
MODELS = ("keyword", "miniresnet", "anomaly")
RELEASES = ("2.1", "2.2", "3.0", "4.0.0")
# The loaders of all releases accept n6build's models in all of these ways.
WAYS = (
    ("load=copy",),
    ("load=xip",),
    ("load=copy", "split=1"),
    ("load=xip", "split=1"),
    ("load=copy", "secure=0"),
    ("load=xip", "secure=0"),
    ("load=copy", "split=1", "secure=0"),
    ("load=xip", "split=1", "secure=0"),
    ("load=copy", "profile=noextmem"),
    ("load=xip", "split=1", "profile=noextmem"),
    ("load=copy", "slots=2"),
)
# The header and loader of this release differ most from the others'.
ALWAYS = ("2.1", "keyword", WAYS[0])


HEADERS = "apps/audio"


def tree(release: str) -> dict[str, str]:
    return st_core(sample_core(release))


# In every run: test_a_network_of_st_s_compiler_runs_on_the_npu_of_the_virtual_board, which links it, too.
@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_a_network_is_linked_with_st_s_runtime(release: str, project: Project) -> None:
    result = project.scons("model=keyword", *VIRTUAL, **tree(release))
    assert EQUAL in result.output, result.output
    assert "ll_aton_rt_main.c" in result.output
    assert "warning" not in result.output
    assert project.scons("model=keyword", *VIRTUAL[:3], **tree(release)).actions == []


@pytest.mark.parametrize(
    ("release", "model", "way"),
    [
        pytest.param(
            release,
            model,
            way,
            id=" ".join((release, model, *way)),
            marks=() if (release, model, way) == ALWAYS else pytest.mark.slow,
        )
        for release in RELEASES
        for model in MODELS
        for way in WAYS
    ],
)
def test_st_s_loader_installs_our_models(release: str, model: str, way: tuple[str, ...], project: Project) -> None:
    result = project.scons("loader=reloc", f"model={model}", *way, *VIRTUAL, **tree(release))
    assert EQUAL in result.output, result.output
    assert "ll_aton_reloc_network.c" in result.output


# In every run: the row ALWAYS of the test above.
@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_st_s_loader_installs_several_models(release: str, project: Project) -> None:
    options = ("loader=reloc", f"model={','.join(MODELS)}", "split=1", "slots=2")
    result = project.scons(*options, *VIRTUAL, **tree(release))
    assert "30 of 30 outputs equal the reference interpreter bit for bit" in result.output, result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ("", "ll_aton_platform.h: error N6-LLATON-005: includes stm32n6xx.h, which is not part of ST Edge AI Core"),
        (f"{HEADERS}/Drivers", "error N6-LLATON-005: no folder has stm32n6xx_hal_conf.h"),
    ],
)
def test_headers_that_are_missing_are_said_first(headers: str, message: str, project: Project) -> None:
    environment = {**tree("3.0"), "N6BUILD_CMSIS": headers and str(sample(headers))}
    result = project.scons("model=keyword", *VIRTUAL, **environment).refused()
    assert message in result.output
    assert "Compile" not in result.output


def without_debug(objects: Path) -> dict[str, bytes]:
    """Return names and contents of objects, without debug information."""
    found = {}
    for path in sorted(objects.glob("*.o")):
        subprocess.run(["arm-none-eabi-objcopy", "--strip-debug", path, path.with_suffix(".bare")], check=True)
        found[path.name] = path.with_suffix(".bare").read_bytes()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("secure", ["1", pytest.param("0", marks=pytest.mark.slow)])
@pytest.mark.parametrize("release", ["2.1", "2.2", "3.0"])
def test_a_relocatable_model_is_the_same_without_device_headers(release: str, secure: str, project: Project) -> None:
    made = []
    for more in ([], [f"cmsis={sample(HEADERS)}"]):
        arguments = ("loader=reloc", "model=keyword", "backend=reference", f"secure={secure}", *more, "reloc")
        result = project.done(*arguments, STEDGEAI_CORE_DIR=str(sample_core(release)))
        assert ("Compile" in result.output) and ("ll_aton.c" in result.output)
        board = project.root / "build/nucleo-n657"
        objects = without_debug(board / f"common/model{'' if secure == '1' else '-ns'}-st")
        assert "ll_aton.o" in objects
        made.append((objects, (board / "keyword-reloc/network_rel/network_rel.bin").read_bytes()))
    assert made[0] == made[1]


@pytest.mark.parametrize("release", ["2.1", "2.2", "3.0"])
def test_st_s_loader_compiles_without_device_headers(release: str, tmp_path: Path) -> None:
    core = sample_core(release)
    middleware = core / "Middlewares/ST/AI" if (core / "Middlewares").is_dir() else core
    defines = (
        "LL_ATON_PLATFORM=LL_ATON_PLAT_STM32N6",
        "LL_ATON_OSAL=LL_ATON_OSAL_BARE_METAL",
        "LL_ATON_RT_RELOC",
        *stand_in().defines,
    )
    folders = (*stand_in().folders, middleware / "Npu/ll_aton", *(middleware / "Npu/Devices").iterdir())
    flags = [*(f"-D{define}" for define in defines), *(f"-I{folder}" for folder in folders)]
    files = (middleware / "Npu/ll_aton/ll_aton_reloc_network.c", "-o", tmp_path / "loader.o")
    subprocess.run([compiler(), *CPU, "-std=gnu11", "-mcmse", "-w", "-c", *flags, *files], check=True)


@pytest.mark.parametrize(
    ("release", "network", "board", "weights", "vectors"),
    [
        ("3.0", "reid-mobilenetv2-core-3.0", "nucleo-n657", 0x72000000, 1),
        pytest.param("2.2", "yamnet-core-2.2", "stm32n6570-dk", 0x70180000, 2, marks=pytest.mark.slow),
    ],
)
def test_a_network_of_st_s_compiler_runs_on_the_npu_of_the_virtual_board(
    release: str, network: str, board: str, weights: int, vectors: int, project: Project
) -> None:
    model = sample(f"npu/{network}")
    result = project.done(f"board={board}", f"model={model}", "probe=virtual", "flash", "run", **tree(release))
    assert "n6 appli start model=" in result.output
    # The weights of ReID are inside slot 'weights' of the Nucleo.
    assert (f"Slot 0x{weights:08X} for the weights of" in result.output) == (release == "2.2")
    # No finding means that every bank is on, every unit has its clock, every line is cleaned, and RIF allows
    # the access.
    assert "Finding" not in result.output
    # Compared with the model that lies beside the network.
    assert f"Result {vectors} of {vectors} outputs are as expected of the chip" in result.output
    manifest = json.loads((project.root / f"build/{board}/{network}/flash_manifest.json").read_text())
    assert weights in [segment["address"] for segment in manifest["segments"]]


# In every run: tests/end_to_end/test_reloc.py for a model on n6build's runtime, tests/reloc/test_real_loaders.py for ST's loader.
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["reference", "neural_art"])
def test_a_network_rel_bin_that_is_linked_with_st_s_runtime_runs_under_its_loader(
    backend: str, project: Project, tmp_path: Path
) -> None:
    """The blobs in the file show their use of the NPU and their expected time."""
    made = ("model=keyword", f"backend={backend}", "profile=noextmem", "loader=reloc", "reloc")
    assert project.scons(*made, **tree("3.0")).status == 0
    model = tmp_path / "network_rel.bin"
    shutil.copy2(project.root / "build/nucleo-n657/keyword-noextmem-reloc/network_rel/network_rel.bin", model)
    vectors = ("inputs=models/keyword/inputs.npy", "expected=models/keyword/expected.npy")
    run = project.scons(f"model={model}", "probe=virtual", *vectors, "flash", "run", **tree("3.0"))
    wanted = EQUAL if backend == "reference" else ("10 of 10 outputs are as expected of the chip")
    assert wanted in run.output, run.output
    assert ("epoch controller" in run.output) == (backend == "neural_art")
    other = project.scons(f"model={model}", "probe=virtual", "flash", **tree("2.2"))
    assert "error N6-RELOC-044: asks for ll_aton 1.1.3-8 (ST Edge AI Core 3.0)" in other.output
    assert other.flashed == "nothing"
