"""ST's software for the microphone and the headphones of the STM32N6570-DK.

It is the drivers, and the Audio applications as published.
"""

from __future__ import annotations

import math
import random
import wave
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from n6build.board.virtual_board.recording import Recording
from n6build.board.virtual_board.run import Limits, RunResult
from n6build.describe.hardware.board import Board
from samples import sample

from virtual_board.small_programs import boot_elf, boot_program
from virtual_board.st_drivers import BOARD, build_with_drivers
from virtual_board.test_devices import recording

TONE_HZ = 440
HAL = ("i2c", "i2c_ex", "mdf", "sai", "dma", "dma_ex", "gpio", "rcc", "rcc_ex", "cortex")


def run_st_audio(tmp_path: Path) -> RunResult:
    supported = ("STM32N6570-DK/stm32n6570_discovery_bus", "Components/wm8904/wm8904", "Components/wm8904/wm8904_reg")
    sources = ["Projects/Common/Patch/stm32n6570_discovery_audio.c", *(f"Drivers/BSP/{name}.c" for name in supported)]
    elf = build_with_drivers(tmp_path, "st_audio", HAL, sources, ("Common", "wm8904", "cs42l51"))
    return boot_elf(tmp_path, elf, BOARD, heard=recording(tmp_path, range(16_000), 16_000))


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


def boot_published(
    folder: Path, appli: str, weights: str, heard: Recording, board: Board = BOARD, **options: Any
) -> RunResult:
    """Run a published application with its weights, which hears a recording."""
    more = {BOARD.slots.appli.address: sample(appli).read_bytes(), 0x7018_0000: sample(weights).read_bytes()}
    options |= {"heard": heard, "size": 128 << 20, "strict_clocks": False}
    return boot_program(folder, "load_for_st.c", board=board, more=more, **options)


@pytest.mark.slow
def test_the_speech_enhancement_as_published_plays_the_tone_that_it_hears(tmp_path: Path) -> None:
    heard = recording(
        tmp_path, [round(6000 * math.sin(math.tau * TONE_HZ * each / 16_000)) for each in range(32_000)], 16_000
    )
    played = tmp_path / "played.wav"
    options: dict[str, Any] = {"played": played, "stop": lambda _: False, "limits": Limits(2_000_000_000, None)}
    result = boot_published(tmp_path, "boot/se_bm.bin", "boot/se_weights.bin", heard, **options)
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
    noise = random.Random(1)
    heard = recording(tmp_path, [noise.randrange(-8000, 8000) for _ in range(32_000)], 16_000)
    board = replace(BOARD, console=replace(BOARD.console, baud=14_400))
    options: dict[str, Any] = {
        "stop": lambda line: '{"class":"' in line,
        "limits": Limits(4_000_000_000, 1_500_000_000),
    }
    weights = "npu/yamnet-core-2.2/aed_weights.bin"
    result = boot_published(tmp_path, "boot/aed_bm.bin", weights, heard, board, **options)
    assert result.findings == ()
    assert '{"class":"' in result.lines[-1]
    assert result.ended == "stopped"
