"""Findings about stage 1 in a plan, before anything is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.compile.kernel_files import files_of_kernels
from n6build.describe.choices import Choices
from n6build.steps.pipeline import application_plan
from network.network_c_texts import CORES, network_c

# This network is for the STM32N6570-DK, which has external RAM at this address.
IN_PSRAM = network_c(CORES[0]).replace("offset=0x342e0000", "offset=0x90000000", 1)


def sources_of(folder: Path, text: str, *, board: str = "nucleo-n657", waived: str = "") -> set[str]:
    """Return the names of the files to compile for a precompiled network."""
    (folder / "network.c").write_text(text)
    (folder / "network_atonbuf.xSPI2.raw").write_bytes(bytes(4704))
    if waived:
        (folder / "model.yaml").write_text(
            f"name: net\nnetwork: {{folder: .}}\nchecks: {{waive: {{{waived}: known}}}}\n"
        )
    plan = application_plan(Choices(models=(str(folder),), board=board), read_environment(), ["build"])
    return {Path(step.sources[0]).name for step in plan.steps if step.stage == "compile"}


def test_memory_that_the_board_lacks_is_named_with_a_board_that_has_it(tmp_path: Path) -> None:
    with pytest.raises(N6Error) as caught:
        sources_of(tmp_path, IN_PSRAM)
    assert str(caught.value).split("; or accept it")[0] == (
        f"{caught.value.where}: error N6-CHECK-002: 64.0 KiB of activations are outside the memories of nucleo-n657\n"
        "  hint: choose board=openmv-n6 or board=stm32n6570-dk, which has this memory; or compile the network for this "
        "board: run "
        "tools/pools.py board nucleo-n657 PROFILE to write its pools (profiles: extflash, noextmem)"
    )
    assert "pool npuRAM5 (0x90000000..0x90010006)" in str(caught.value.where)


def test_a_board_that_has_the_memory_and_a_model_that_waives_the_check_are_planned(tmp_path: Path) -> None:
    assert "network.c" in sources_of(tmp_path, IN_PSRAM, board="stm32n6570-dk")
    assert "network.c" in sources_of(tmp_path, IN_PSRAM, waived="N6-CHECK-002")


def test_of_a_network_from_elsewhere_the_kernels_that_it_calls_are_compiled(tmp_path: Path) -> None:
    kernels = {path.name for path in files_of_kernels(["add", "softmax"])}
    assert not sources_of(tmp_path, network_c(CORES[0])) & kernels
    calling = network_c(CORES[0]).replace("ll_sw_forward_softmax(&softmax);", "n6k_add(&add);")
    assert sources_of(tmp_path, calling) & kernels == {path.name for path in files_of_kernels(["add"])}


def test_a_model_that_git_lfs_has_not_downloaded_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "net.tflite"
    model.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 1607656\n")
    with pytest.raises(N6Error, match="net.tflite: error N6-FILE-006: .* 1607656 bytes .*\n.* --include=net.tflite"):
        application_plan(Choices(models=(str(model),)), read_environment(), ["build"])
