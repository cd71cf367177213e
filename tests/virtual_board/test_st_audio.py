"""What ST made for the microphone of the STM32N6570-DK: its drivers, and its Audio application as it is published."""

from __future__ import annotations

import struct
import subprocess
import wave
from dataclasses import replace
from pathlib import Path

import pytest
from firmware_build import bring_up, build, image_of, write_nor
from n6build.formats.boot_header import BinaryType
from n6build.hardware.boards import load_board
from n6build.hardware.linker_script import fsbl_script
from n6build.virtual_board.build import find_emulator
from n6build.virtual_board.recording import convert_recording
from n6build.virtual_board.run import LIMIT_STATUS, Limits, NorBoot, RunResult, nor_command, read_findings, run_nor
from n6build.virtual_board.source_lines import Places
from samples import sample

PROGRAMS = Path(__file__).parent / "programs"
BOARD = load_board("stm32n6570-dk")
HAL = ("i2c", "i2c_ex", "mdf", "sai", "dma", "dma_ex", "gpio", "rcc", "rcc_ex", "cortex")


def run_st_audio(tmp_path: Path) -> RunResult:
    audio = sample("apps/audio")
    drivers = audio / "Drivers"
    hal, bsp = drivers / "STM32N6xx_HAL_Driver", drivers / "BSP"
    sources = [
        audio / "Projects" / "Common" / "Patch" / "stm32n6570_discovery_audio.c",
        bsp / "STM32N6570-DK" / "stm32n6570_discovery_bus.c",
        *(bsp / "Components" / "wm8904" / f"{name}.c" for name in ("wm8904", "wm8904_reg")),
        *(hal / "Src" / f"stm32n6xx_hal_{name}.c" for name in HAL),
    ]
    folders = [
        audio / "Projects" / "GS" / "Inc",
        hal / "Inc",
        bsp / "STM32N6570-DK",
        *(bsp / "Components" / name for name in ("Common", "wm8904", "cs42l51")),
        drivers / "CMSIS" / "Device" / "ST" / "STM32N6xx" / "Include",
        drivers / "CMSIS" / "Include",
        drivers / "CMSIS" / "Core" / "Include",
    ]
    flags = [f"-I{folder}" for folder in folders] + ["-DSTM32N657xx", "-DUSE_HAL_DRIVER", "-ffunction-sections"]
    flags += ["-fdata-sections", "-mcmse", "-w"]
    program = [PROGRAMS / "st_audio.c", *sources, *bring_up()]
    elf = build(tmp_path, "st_audio", program, fsbl_script(BOARD.soc), flags, BOARD)
    nor = write_nor(tmp_path / "nor.bin", {BOARD.slots.fsbl.address: image_of(elf, BinaryType.FSBL)})
    with wave.open(str(tmp_path / "tone.wav"), "wb") as writer:
        writer.setparams((1, 2, 16_000, 16_000, "NONE", ""))
        writer.writeframes(struct.pack("<16000h", *range(16_000)))
    heard = convert_recording(tmp_path / "tone.wav", tmp_path / "tone.raw")
    return run_nor(
        find_emulator(BOARD.soc),
        NorBoot(nor, BOARD, heard=heard),
        programs=[elf],
        stop=lambda line: line.startswith(("end", "n6 fault")),
        limits=Limits(silence=200_000_000),
    )


def test_st_s_own_drivers_find_the_codec_and_hear_the_recording(tmp_path: Path) -> None:
    result = run_st_audio(tmp_path)
    assert result.findings == ()
    assert result.lines == (
        "bus=0x00000000",
        "read=0x00000000",
        "id=0x00008904",
        "nobody=0xffffff9a",
        "init=0x00000000",
        "record=0x00000000",
        "halves=0x00000002",
        "sample=0x00000140",
        "sample=0x00000141",
        "sample=0x00000142",
        "sample=0x00000143",
        "stop=0x00000000",
        "end",
    )


@pytest.mark.slow
@pytest.mark.xfail(
    reason="the NOR does not answer all commands of ST's loader and driver (SFDP, polling of the status)", strict=True
)
def test_the_audio_application_as_published_reaches_its_network(tmp_path: Path) -> None:
    """Loader, program and weights as a board's owner flashes them; the README beside the sources shows a real board's console."""
    boot = sample("boot")
    parts = {0x7000_0000: boot / "fsbl_fw_lrun_v1.2.0.bin", 0x7010_0000: boot / "aed_bm.bin"}
    parts[0x7018_0000] = sample("npu/yamnet-core-2.2") / "aed_weights.bin"
    nor = write_nor(tmp_path / "nor.bin", {address: path.read_bytes() for address, path in parts.items()}, 128 << 20)
    board = replace(BOARD, console=replace(BOARD.console, baud=14_400))
    console, findings = tmp_path / "console", tmp_path / "findings"
    limits = Limits(4_000_000_000, 800_000_000)
    command = nor_command(find_emulator(BOARD.soc), NorBoot(nor, board), findings, f"file:{console}", limits)
    # Programs of others count on clocks that the boot ROM leaves on.
    machine = command.index("-M") + 1
    command[machine] += ",strict-clocks=off"
    assert subprocess.run(command, check=False).returncode == LIMIT_STATUS
    found, _ = read_findings(findings, Places([]))
    assert "# Start Processing" in console.read_text()
    assert [finding.kind for finding in found] == ["npu"]
