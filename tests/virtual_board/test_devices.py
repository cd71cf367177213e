"""Devices of third-party programs: I2C, DMA, microphone filters, SAI, EXTI."""

from __future__ import annotations

import struct
import wave
from collections.abc import Sequence
from pathlib import Path

import pytest
from n6build.board.virtual_board.recording import Recording, convert_recording
from n6build.board.virtual_board.run import RunResult
from n6build.describe.hardware.boards import load_board

from virtual_board.small_programs import boot_program, line_of

BOARD = load_board("stm32n6570-dk")
HZ = 15625
SAMPLES = [100, -200, 300, -400, 500, -600, 700, -32768, 32767, -1, 2, -3, 4, -5, 6, -7]


def run(tmp_path: Path, program: str, does: str = "", heard: Recording | None = None) -> RunResult:
    return boot_program(tmp_path, program, *([f"DOES={does}"] if does else []), board=BOARD, heard=heard)


def values(result: RunResult, name: str) -> list[int]:
    return [int(line.partition("=")[2], 16) for line in result.lines if line.startswith(f"{name}=")]


def recording(tmp_path: Path, samples: Sequence[int], hz: int = HZ) -> Recording:
    with wave.open(str(tmp_path / "sound.wav"), "wb") as writer:
        writer.setparams((1, 2, hz, len(samples), "NONE", ""))
        writer.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return convert_recording(tmp_path / "sound.wav", tmp_path / "sound.raw")


def wide(samples: list[int]) -> list[int]:
    """Return the samples in the 24 bits of a filter."""
    return [sample & 0xFFFFFF for sample in samples]


# I2C: TXE 1, TXIS 2, RXNE 4, NACKF 0x10, STOPF 0x20, TC 0x40, TCR 0x80, BUSY 0x8000.


def test_a_master_reaches_the_devices_of_the_board_and_nobody_else(tmp_path: Path) -> None:
    result = run(tmp_path, "i2c_devices.c")
    assert (result.findings, result.unmodelled) == ((), ())
    assert result.lines == (
        "idle=0x00000001",
        "nobody=0x00000031",
        "cleared=0x00000001",
        "id=0x00008904",
        "id=0x00008904",
        "bias=0x00001234",
        "complete=0x00008041",
        "first=0x00000012",
        "reload=0x00008081",
        "second=0x00000034",
        "stopped=0x00000021",
        "before=0x00000000",
        "pending=0x00000001",
        "end",
    )


# DMA: IDLEF 1, TCF 0x100, HTF 0x200, DTEF 0x400, USEF 0x1000.


def test_a_block_is_moved_and_its_end_is_told(tmp_path: Path) -> None:
    result = run(tmp_path, "dma_channels.c", "ONE_BLOCK")
    assert (result.findings, result.unmodelled) == ((), ())
    assert values(result, "csr") == [0x1, 0x301]
    assert values(result, "left") == [0]
    assert values(result, "smisr") == [1 << 3]
    assert values(result, "irq") == [1]
    assert values(result, "word") == [0x80017FF0, 0x80017FF1, 0x80017FF2, 0x80017FF3]
    assert values(result, "last") == [0x80017FFF]


def test_the_items_of_a_list_change_what_they_name_and_only_the_last_is_told(tmp_path: Path) -> None:
    result = run(tmp_path, "dma_channels.c", "TWO_ITEMS")
    assert values(result, "csr") == [0x1, 0x301]
    assert values(result, "word") == [0x80017FF0, 0x80017FF1, 0x80017FF8, 0]


@pytest.mark.parametrize(
    ("does", "words"),
    [("SIGNED_HALVES", [0x7FF0, 0xFFFF8001, 0x7FF1, 0xFFFF8001]), ("PACKED_BYTES", [0x80017FF0, 0x80017FF1, 0, 0])],
)
def test_data_of_another_width(tmp_path: Path, does: str, words: list[int]) -> None:
    assert values(run(tmp_path, "dma_channels.c", does), "word") == words


@pytest.mark.parametrize(("does", "flags"), [("NOTHING_THERE", 0x401), ("ODD_BYTES", 0x1001)])
def test_what_cannot_be_moved_is_an_error_of_the_channel(tmp_path: Path, does: str, flags: int) -> None:
    result = run(tmp_path, "dma_channels.c", does)
    assert values(result, "csr") == [0x1, flags]
    assert values(result, "word") == [0, 0, 0, 0]


def test_code_that_a_channel_moves_over_older_code_runs(tmp_path: Path) -> None:
    assert values(run(tmp_path, "dma_channels.c", "OVER_CODE"), "number") == [1, 2]


@pytest.mark.parametrize(
    ("does", "kind", "text"),
    [
        (
            "TRIGGERED",
            "dma",
            "Channel 3 of HPDMA1 does not run: the virtual board does not model a trigger (CTR2 TRIGPOL)",
        ),
        (
            "UNCLEANED",
            "stale-cache",
            "Channel 3 of HPDMA1 reads a stale cache line at 0x34200000: not cleaned since the CPU wrote it",
        ),
    ],
)
def test_what_a_channel_does_wrong_is_found_where_it_was_started(
    tmp_path: Path, does: str, kind: str, text: str
) -> None:
    (finding,) = run(tmp_path, "dma_channels.c", does).findings
    assert (finding.kind, finding.text) == (kind, text)
    assert finding.where.startswith(line_of("dma_channels.c", "/* START */"))


# The microphone.


def test_samples_come_at_the_rate_that_clocks_and_dividers_give(tmp_path: Path) -> None:
    result = run(tmp_path, "microphone.c", "POLL", recording(tmp_path, SAMPLES))
    assert (result.findings, result.unmodelled) == ((), ())
    assert values(result, "first") == wide(SAMPLES[:1])
    (cycles,) = values(result, "cycles")
    assert cycles == pytest.approx(100 * 64_000_000 / HZ, rel=0.001)


def test_a_recording_goes_into_memory_round_and_round(tmp_path: Path) -> None:
    result = run(tmp_path, "microphone.c", "CIRCULAR_DMA", recording(tmp_path, SAMPLES))
    assert (result.findings, result.unmodelled) == ((), ())
    assert values(result, "half") == [0x200]
    assert values(result, "left") == [16]
    assert values(result, "sample") == wide(SAMPLES)


def test_a_program_that_is_too_slow_loses_samples_and_is_told(tmp_path: Path) -> None:
    result = run(tmp_path, "microphone.c", "TOO_SLOW", recording(tmp_path, SAMPLES))
    assert values(result, "sample") == wide(SAMPLES[:4])
    assert values(result, "next")[0] in wide(SAMPLES[5:])
    assert values(result, "isr") == [0]


def test_without_a_recording_the_microphone_hears_nothing(tmp_path: Path) -> None:
    assert values(run(tmp_path, "microphone.c", "CIRCULAR_DMA"), "sample") == [0] * 16


def test_a_recording_of_another_rate_is_heard_as_long_as_it_lasts(tmp_path: Path) -> None:
    result = run(tmp_path, "microphone.c", "CIRCULAR_DMA", recording(tmp_path, [0, 100, 200], HZ // 5))
    levels = [*range(0, 201, 20), 160, 120, 80, 40, 0]
    assert values(result, "sample") == wide(levels)


def test_a_microphone_without_a_clock_is_found(tmp_path: Path) -> None:
    (finding,) = run(tmp_path, "microphone.c", "NO_CLOCK").findings
    assert finding.kind == "audio"
    assert finding.text == "Filter 2 of MDF1 gives no samples: the clock generator is off (CKGCR CKDEN)"


# SAI: OVRUDR 1, FREQ 8. A frame has two words.


def spoken(tmp_path: Path, does: str) -> tuple[RunResult, Path]:
    played = tmp_path / "played.wav"
    return boot_program(tmp_path, "speaker.c", f"DOES={does}", board=BOARD, played=played), played


def test_what_a_program_plays_is_a_wav_file(tmp_path: Path) -> None:
    result, played = spoken(tmp_path, "POLL")
    assert (result.findings, result.unmodelled) == ((), ())
    assert result.lines == ("idle=0x00000008", "underrun=0x00000000", "end")
    with wave.open(str(played)) as reader:
        assert (reader.getframerate(), reader.getnchannels(), reader.getsampwidth()) == (HZ, 2, 2)
        words = struct.unpack("<64H", reader.readframes(32))
    assert words == tuple(0x8000 | word if word % 2 else word for word in range(64))


def test_a_word_in_mono_is_played_on_both_channels(tmp_path: Path) -> None:
    result, played = spoken(tmp_path, "MONO")
    assert result.findings == ()
    with wave.open(str(played)) as reader:
        words = struct.unpack("<128H", reader.readframes(64))
    assert words[::2] == words[1::2] == tuple(0x8000 | word if word % 2 else word for word in range(64))


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("NO_CLOCK", "its kernel clock does not run (RCC CCIPR7, DIVENR, CR)"),
        ("OF_OUTSIDE", "it takes its clock from a part outside (CR1 MODE), which the virtual board does not model"),
    ],
)
def test_a_sai_that_moves_no_words_is_a_finding_with_its_reason(tmp_path: Path, does: str, why: str) -> None:
    result, played = spoken(tmp_path, does)
    (finding,) = result.findings
    assert finding.kind == "audio"
    assert finding.text == f"SAI1_A moves no words: {why}"
    assert played.read_bytes() == b""


def test_a_receiver_with_the_clock_of_its_neighbour_hears_the_recording(tmp_path: Path) -> None:
    heard = recording(tmp_path, [100, -200, 300])
    result = boot_program(tmp_path, "speaker.c", "DOES=HEAR", board=BOARD, heard=heard)
    assert result.findings == ()
    # A word in each of two slots; 16 bits of a sample's 24.
    assert values(result, "word") == [sample >> 8 & 0xFFFF for sample in (100, 100, -200, -200)]


def test_a_program_triggers_a_line_of_exti_itself(tmp_path: Path) -> None:
    result = boot_program(tmp_path, "speaker.c", "DOES=EXTERNAL_INTERRUPT", board=BOARD)
    assert (result.findings, result.unmodelled) == ((), ())
    assert values(result, "pending") == [0x28, 0x20]
    # Line 3 has interrupt 23; line 5 is masked.
    assert values(result, "nvic") == [1 << 23]
    assert values(result, "trigger") == [0x20]
    assert values(result, "ready") == [0, 0x100]
