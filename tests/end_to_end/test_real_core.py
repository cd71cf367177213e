"""ST's own runtime and loader, as ST Edge AI Core installs them, linked with our Appli and run on the virtual board."""

from __future__ import annotations

import json

import pytest
from samples import sample

from end_to_end.conftest import Project

EQUAL = "10 of 10 outputs equal the reference interpreter bit for bit"
VIRTUAL = ("backend=reference", "probe=virtual", "flash", "run")
MODELS = ("keyword", "miniresnet", "anomaly")
# The loaders of both releases take our models in all of these.
WAYS = (
    ("load=copy",),
    ("load=xip",),
    ("load=copy", "split=1"),
    ("load=xip", "split=1"),
    ("load=copy", "secure=0"),
    ("load=xip", "secure=0"),
    ("load=copy", "profile=noextmem"),
    ("load=xip", "split=1", "profile=noextmem"),
)
ALWAYS = ("2.2", "keyword", WAYS[0])


def tree(release: str) -> dict[str, str]:
    return {"STEDGEAI_CORE_DIR": str(sample(f"core/{release}")), "N6BUILD_CMSIS": str(sample("apps/audio"))}


@pytest.mark.parametrize("release", [pytest.param("2.2", marks=pytest.mark.slow), "3.0"])
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
        for release in ("2.2", "3.0")
        for model in MODELS
        for way in WAYS
    ],
)
def test_st_s_loader_installs_our_models(release: str, model: str, way: tuple[str, ...], project: Project) -> None:
    result = project.scons("loader=reloc", f"model={model}", *way, *VIRTUAL, **tree(release))
    assert EQUAL in result.output, result.output
    assert "ll_aton_reloc_network.c" in result.output


def test_headers_that_are_missing_are_said_first(project: Project) -> None:
    environment = {**tree("3.0"), "N6BUILD_CMSIS": str(sample("apps/audio/Drivers"))}
    result = project.scons("model=keyword", *VIRTUAL, **environment)
    assert result.status == 2
    assert "error N6-LLATON-005: no folder has stm32n6xx_hal_conf.h" in result.output
    assert "Compile" not in result.output


@pytest.mark.parametrize(
    ("release", "network", "board", "weights"),
    [
        ("3.0", "reid-mobilenetv2-core-3.0", "nucleo-n657", 0x72000000),
        pytest.param("2.2", "yamnet-core-2.2", "stm32n6570-dk", 0x70180000, marks=pytest.mark.slow),
    ],
)
def test_a_network_of_st_s_compiler_boots_up_to_its_first_hardware_epoch(
    release: str, network: str, board: str, weights: int, project: Project
) -> None:
    model = sample(f"npu/{network}")
    result = project.scons(f"board={board}", f"model={model}", "probe=virtual", "flash", "run", **tree(release))
    assert result.status == 2
    assert "n6 appli start model=" in result.output
    # ReID's are inside slot 'weights' of the Nucleo.
    assert (f"Slot 0x{weights:08X} for the weights of" in result.output) == (release == "2.2")
    assert "the NPU is given work, and the virtual board's does not compute" in result.output
    # All that is set up before has its clock.
    assert "is written to while" not in result.output
    manifest = json.loads((project.root / f"build/{board}/{network}/flash_manifest.json").read_text())
    assert weights in [segment["address"] for segment in manifest["segments"]]
