"""The ll_aton of OpenMV's firmware, and models that do not fit it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.paths import MODELS
from n6build.base.span import Span
from n6build.compile.board_pools import pools_of, relocatable
from n6build.compile.ll_aton import Version
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.toolchain import Toolchain
from n6build.place.reloc.loader import Mode
from n6build.place.reloc.openmv import (
    DEFAULT,
    VERSION_HEADER,
    check_version,
    firmware_of_tree,
    image_firmware,
    read_firmware,
    refused_in_heap,
)
from n6build.place.reloc.reader import RelocFile, read_reloc_file
from n6build.place.reloc.verify import errors, ram_of, verify

from reloc.conftest import BOARD
from reloc.loaders import build_loader, outcomes
from reloc.stage2 import made_with

A, C, D = (1, 1, 0, 31), (1, 1, 3, 8), (1, 1, 3, 262)
BANNER = "OpenMV {}; MicroPython v1.26.0-77; OpenMV N6 with STM32N657X0"


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ("4.8.0", A),
        ("4.8.1", A),
        ("4.8.1-1", C),
        ("v4.8.1-545-gabcdef1", C),
        ("4.8.1-546", D),
        ("5.0.0", D),
        ("v5.0.0-12-gabcdef1-dirty", D),
    ],
)
def test_a_release_decides_the_version_in_its_name_and_in_its_image(
    release: str, version: Version, tmp_path: Path
) -> None:
    assert read_firmware(f"openmv-{release}", tmp_path).ll_aton == version
    banner = BANNER.format(f"v{release.removeprefix('v')}" + ("-gabc1234" if release.count("-") == 1 else ""))
    (tmp_path / "firmware.bin").write_bytes(b"\0\xff" * 1000 + banner.encode() + b"\0\0")
    assert read_firmware("firmware.bin", tmp_path).ll_aton == version


def test_the_default_is_the_newest_release(tmp_path: Path) -> None:
    assert read_firmware("openmv-5.0.0", tmp_path) == DEFAULT


def test_a_source_tree_says_its_version_itself(tmp_path: Path) -> None:
    header = tmp_path / "openmv" / VERSION_HEADER
    header.parent.mkdir(parents=True)
    numbers = zip(("MAJOR", "MINOR", "MICRO", "DEV"), (1, 1, 3, 275), strict=True)
    header.write_text("".join(f"#define LL_ATON_VERSION_{name} ({number})\n" for name, number in numbers))
    assert firmware_of_tree(tmp_path) is None
    found = read_firmware("openmv", tmp_path)
    assert (found.title, found.ll_aton) == ("the OpenMV tree openmv", (1, 1, 3, 275))


@pytest.mark.parametrize(
    ("value", "content", "words"),
    [
        ("openmv-4.7.0", None, "has no loader of relocatable models; 4.8.0 is the first release with one"),
        ("openmv-5.1.0", None, "is newer than 5.0.0, the newest release"),
        ("openmv-latest", None, "'latest' is not a release of OpenMV"),
        ("none.bin", None, "is neither a release, a firmware image nor a source tree"),
        (".", None, "has no lib/stai/libstai/include/ll_aton_version.h"),
        ("a.bin", b"Zephyr", "has no line 'OpenMV v...; MicroPython'"),
        ("a.bin", (BANNER.format("v5.0.0") + BANNER.format("v4.8.1")).encode(), "has several versions: v4.8.1, v5.0.0"),
    ],
)
def test_what_names_no_firmware(value: str, content: bytes | None, words: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / value).write_bytes(content)
    with pytest.raises(N6Error, match="N6-ROMFS-009") as caught:
        read_firmware(value, tmp_path)
    assert words in str(caught.value)
    assert "firmware=openmv-<release> (4.8.0, 4.8.1, 5.0.0)" in str(caught.value)


@given(st.lists(st.sampled_from([b"OpenMV ", b"v5.0.0", b"; MicroPython ", b"-1", b"-g0", b"\xff", b"99999"])))
def test_any_image_has_a_version_or_is_refused(parts: list[bytes]) -> None:
    try:
        assert image_firmware(b"".join(parts), "a.bin").ll_aton in (A, C, D)
    except N6Error as error:
        assert error.id == "N6-ROMFS-009"


def test_models_that_call_wrong_functions_are_refused_by_name(tmp_path: Path) -> None:
    for version in (D, (1, 1, 3, 275)):
        check_version(version, DEFAULT, "face.tflite")
    with pytest.raises(N6Error) as caught:
        check_version(C, DEFAULT, "face.tflite")
    assert str(caught.value).startswith(
        "face.tflite: error N6-ROMFS-010: is for ll_aton 1.1.3-8, but OpenMV v5.0.0 has 1.1.3-262: its loader "
        "accepts the model, which then calls wrong functions"
    )
    assert "ST Edge AI Core 4.0.0 or 4.0.1" in str(caught.value)
    # This is the case of the forum: Core 3.0 for the firmware of December 2025.
    with pytest.raises(N6Error, match=r"OpenMV v4.8.1 has 1.1.0-31: its loader returns -1 or faults"):
        check_version(C, read_firmware("openmv-4.8.1", tmp_path), "face.tflite")


@pytest.fixture(
    scope="module", params=[A, pytest.param(C, marks=pytest.mark.slow), D], ids=["4.8.1", "4.8.1-1", "5.0.0"]
)
def for_camera(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain
) -> RelocFile:
    """Return a model with n6build's runtime, for a firmware with this ll_aton."""
    folder, version = tmp_path_factory.mktemp("camera"), request.param
    compile_network(
        MODELS / "keyword/keyword.tflite", relocatable(pools_of(BOARD, "extflash")), folder / "network", ll_aton=version
    )
    made = made_with(folder / "network", folder, toolchain, version=version)
    return read_reloc_file(Path(made.file))


def test_a_model_has_the_abi_of_the_firmware(for_camera: RelocFile) -> None:
    version = for_camera.version
    assert errors(verify(for_camera, None, ram_of(BOARD), version)) == []
    assert {"A": A, "C": C, "D": D}[for_camera.abi.letter] == version


def test_st_s_loader_installs_it(for_camera: RelocFile, tmp_path: Path) -> None:
    """The loader is the one of the release whose ll_aton OpenMV 5.0.0 has.

    The loader of 3.0 accepts the model, too; only the check refuses it.
    """
    if for_camera.version != D:
        pytest.skip("only of 4.0.0 there is a package as it is installed")
    modes: tuple[Mode, ...] = ("copy", "xip")
    files = [(for_camera.data, mode) for mode in modes]
    for release, status in (("4.0.0", 0), ("3.0", 8)):
        found = outcomes(build_loader(release, tmp_path), files, tmp_path)
        assert [(each.status, each.result, each.strays) for each in found] == [(status, 0, 0)] * 2


def test_a_small_model_loads_from_the_file_system_and_not_as_a_file(for_camera: RelocFile) -> None:
    """Weights that the NPU's cache reads must be outside the chip.

    See openmv/openmv, issue 3272.
    """
    sram2 = Span(0x3410_0000, 1 << 20)
    assert refused_in_heap(for_camera, sram2).endswith("which is not external memory (the loader returns -7)")
    assert refused_in_heap(for_camera, Span(0x7080_0000, 24 << 20)) == ""
    # A file that does not fit goes to external RAM.
    assert refused_in_heap(for_camera, Span(0x3410_0000, for_camera.file_bytes)) == ""
