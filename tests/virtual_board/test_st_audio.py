"""ST's software for the microphone and the headphones of the STM32N6570-DK.

It is the drivers, and the Audio applications as published.
"""

from __future__ import annotations

import math
import random
import struct
import wave
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from firmware_build import build_fsbl, image_of, write_nor
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.recording import Recording, convert_recording
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.describe.formats.boot_header import BinaryType
from samples import sample

from virtual_board.small_programs import PROGRAMS, boot_elf
from virtual_board.st_drivers import BOARD, build_with_drivers

TONE_HZ = 440
HAL = ("i2c", "i2c_ex", "mdf", "sai", "dma", "dma_ex", "gpio", "rcc", "rcc_ex", "cortex")


def recording(tmp_path: Path, samples: Sequence[int]) -> Recording:
    with wave.open(str(tmp_path / "sound.wav"), "wb") as writer:
        writer.setparams((1, 2, 16_000, len(samples), "NONE", ""))
        writer.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return convert_recording(tmp_path / "sound.wav", tmp_path / "sound.raw")


def run_st_audio(tmp_path: Path) -> RunResult:
    supported = ("STM32N6570-DK/stm32n6570_discovery_bus", "Components/wm8904/wm8904", "Components/wm8904/wm8904_reg")
    sources = ["Projects/Common/Patch/stm32n6570_discovery_audio.c", *(f"Drivers/BSP/{name}.c" for name in supported)]
    elf = build_with_drivers(tmp_path, "st_audio", HAL, sources, ("Common", "wm8904", "cs42l51"))
    return boot_elf(tmp_path, elf, BOARD, heard=recording(tmp_path, range(16_000)))


def test_st_s_own_drivers_find_the_codec_hear_the_recording_and_play(tmp_path: Path) -> None:
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
        "out=0x00000000",
        "play=0x00000000",
        "silent=0x00000000",
        "end",
    )


def nor_of(folder: Path, appli: str, weights: str) -> Path:
    """Return a NOR with a published application and its weights."""
    elf = build_fsbl(folder, PROGRAMS / "load_for_st.c", board=BOARD)
    parts = {
        BOARD.slots.fsbl.address: image_of(elf, BinaryType.FSBL),
        BOARD.slots.appli.address: sample(appli).read_bytes(),
        0x7018_0000: sample(weights).read_bytes(),
    }
    return write_nor(folder / "nor.bin", parts, 128 << 20)


@pytest.mark.slow
def test_the_speech_enhancement_as_published_plays_the_tone_that_it_hears(tmp_path: Path) -> None:
    nor = nor_of(tmp_path, "boot/se_bm.bin", "boot/se_weights.bin")
    heard = recording(tmp_path, [round(6000 * math.sin(math.tau * TONE_HZ * each / 16_000)) for each in range(32_000)])
    played = tmp_path / "played.wav"
    result = run_nor(
        find_emulator(BOARD.soc),
        NorBoot(nor, BOARD, heard=heard, played=played, strict_clocks=False),
        programs=[],
        stop=lambda _: False,
        limits=Limits(2_000_000_000, None),
    )
    assert result.findings == ()
    with wave.open(str(played)) as reader:
        hz, seconds = reader.getframerate(), reader.getnframes() / reader.getframerate()
        frames = np.frombuffer(reader.readframes(reader.getnframes()), "<i2").reshape(-1, 2)
    assert seconds > 2
    assert (frames[:, 0] == frames[:, 1]).all()
    loudest = np.abs(np.fft.rfft(frames[:, 0].astype(float))).argmax() / seconds
    assert abs(loudest - TONE_HZ) < 2
    assert hz == pytest.approx(16_000, rel=0.001)


@pytest.mark.slow
def test_the_audio_application_as_published_names_what_it_hears(tmp_path: Path) -> None:
    """The README beside the sources shows a real board's console."""
    nor = nor_of(tmp_path, "boot/aed_bm.bin", "npu/yamnet-core-2.2/aed_weights.bin")
    noise = random.Random(1)
    heard = recording(tmp_path, [noise.randrange(-8000, 8000) for _ in range(32_000)])
    board = replace(BOARD, console=replace(BOARD.console, baud=14_400))
    result = run_nor(
        find_emulator(BOARD.soc),
        NorBoot(nor, board, heard=heard, strict_clocks=False),
        programs=[],
        stop=lambda line: '{"class":"' in line,
        limits=Limits(4_000_000_000, 1_500_000_000),
    )
    assert result.findings == ()
    assert '{"class":"' in result.lines[-1]
    assert result.ended == "stopped"
