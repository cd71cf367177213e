"""Camera and display of the virtual board, and mistakes of programs.

The arithmetic of DCMIPP is INFERRED: test_pixels.py compares it with a second implementation.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from n6build.board.virtual_board.camera import Camera, sensor_of
from n6build.board.virtual_board.pictures import FILL, PANEL, PIPE_2, Box, Kept, Rectangle, boxes_in, read_kept
from n6build.board.virtual_board.run import RunResult
from n6build.describe.hardware.boards import load_board
from numpy.typing import NDArray

from virtual_board.small_programs import boot_program, line_of

BOARD = load_board("stm32n6570-dk")
DEVICE = sensor_of(BOARD)
# The program shows (8, 4) to (39, 19) of a panel of 64 x 32 over this colour.
BACKGROUND = (0x10, 0x20, 0x30)
BLUE, GREEN = (0, 0, 255), (0, 255, 0)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Camera:
    """Return a camera whose picture has a colour for each window of 64 pixels."""
    sensor = DEVICE.part.sensor
    assert sensor is not None
    rows, columns = np.mgrid[0 : sensor.height, 0 : sensor.width] // 64
    picture = np.stack([columns * 6, rows * 8, (columns + rows) * 3], -1).astype(np.uint8)
    file = tmp_path_factory.mktemp("scene") / "camera.raw"
    file.write_bytes(picture.tobytes())
    return Camera(file, DEVICE)


def run(tmp_path: Path, camera: Camera | None, does: str = "AS_IT_SHOULD") -> tuple[RunResult, list[Kept | Rectangle]]:
    pictures = tmp_path / "pictures.raw"
    options = {"camera": camera, "pictures": pictures}
    result = boot_program(tmp_path, "camera.c", f"DOES={does}", board=BOARD, **options)
    return result, [*read_kept(pictures)]


def pictures_of(records: list[Kept | Rectangle]) -> list[Kept]:
    return [each for each in records if isinstance(each, Kept)]


def pixels(kept: Kept) -> NDArray[np.uint8]:
    return np.frombuffer(kept.pixels, np.uint8).reshape(kept.height, kept.width, 3)


def test_a_frame_is_captured_scaled_and_shown(scene: Camera, tmp_path: Path) -> None:
    result, records = run(tmp_path, scene)
    assert result.findings == ()
    kept = pictures_of(records)
    (fill,) = [each for each in records if isinstance(each, Rectangle) and each.source == FILL]
    assert (fill.what, fill.width, fill.height, fill.address) == (0xF0F0, 8, 1, 0x34210088)
    # VSYNC, FRAME and LINE of pipe 2; a snapshot clears its request.
    flags = "flags=0x07000000"
    captured = (flags, "request=0x00000000")
    assert result.lines == ("state=0x00020000", *captured, *captured, "filled=0x00000002", "reloaded=0x00000009", "end")
    assert [(each.source, each.frame) for each in kept] == [(PIPE_2, 1), (PIPE_2, 2), (PANEL, 2)]
    seen, panel = pixels(kept[1]), pixels(kept[2])
    # The crop begins at (256, 512): windows 4 and 8 of 64 pixels. The divisor of 128 / 1024 keeps almost the whole brightness.
    expected = np.stack([(np.mgrid[0:16, 0:32][1] + 4) * 6, (np.mgrid[0:16, 0:32][0] + 8) * 8], -1)
    assert np.abs(seen[..., :2].astype(int) - expected).max() <= 1
    shown = panel[4:20, 8:40].copy()
    assert tuple(shown[0, 0]) == BLUE
    assert [tuple(each) for each in shown[2, 4:12]] == [GREEN] * 8
    # The pipe writes red first, as networks read it; a layer of RGB888 takes blue first.
    exchanged = seen[..., ::-1]
    shown[0, 0], shown[2, 4:12] = exchanged[0, 0], exchanged[2, 4:12]
    assert (shown == exchanged).all()
    outside = panel.copy()
    outside[4:20, 8:40] = BACKGROUND
    assert (outside == BACKGROUND).all()


def test_a_program_without_a_camera_gets_no_answer(tmp_path: Path) -> None:
    result, kept = run(tmp_path, None, "NO_CAMERA")
    assert result.lines == ("state=0x00020000", "end")
    assert kept == []


# Case -> kind of the finding, its text, and the marked line of the program; empty where the place is in a loop.
MISTAKES = {
    "PITCH_TOO_SMALL": ("capture-pitch", "has a pitch of 64 bytes, but a line of its picture has 96", "CAPTURE"),
    "UNALIGNED": (
        "capture-unaligned",
        "writes to 0x34200004 with a pitch of 96 bytes: both have to be multiples of 16",
        "CAPTURE",
    ),
    "WRONG_LANES": ("csi-lanes", "CSI receives 1 lanes (LMCFGR LANENB), but the camera sends 2", ""),
    "WRONG_WIDTH": ("csi-width", "unpacks format 2 (VC0CFGR1 CDTFT), but a pixel of the camera has 10 bits", ""),
    "PHY_OFF": ("csi-phy", "The PHY of CSI is off", ""),
    "NOT_LET_BY_RIF": ("rif", "DCMIPP cannot write to 0x34200000: RIF denies the access (RIFSC RIMC_ATTR9", "CAPTURE"),
    "NO_MEMORY": ("capture-nowhere", "cannot write line 0 of its picture to 0x40000000: there is no memory", "CAPTURE"),
    "BANK_OFF": ("ram-off", "DCMIPP uses AXISRAM4 at 0x34270000, which is off", "CAPTURE"),
    "DIRTY": (
        "dirty-cache",
        "DCMIPP writes 1 cache lines that the CPU has changed, the first at 0x34200000",
        "CAPTURE",
    ),
    "NOT_CLEANED": ("stale-cache", "LTDC layer 2 reads 2 stale cache lines, the first at 0x34210000", "RELOAD"),
    "NO_PIXEL_CLOCK": ("ltdc", "The panel is not refreshed: the kernel clock of LTDC does not run", ""),
    "EMPTY_RECTANGLE": ("dma2d", "DMA2D does nothing: its rectangle has 0 x 1 pixels (NLR)", "FILL"),
    "NOT_MODELLED": (
        "dcmipp",
        "Pipe 2 of DCMIPP captures nothing: the virtual board does not model this format of PPCR",
        "CAPTURE",
    ),
    "RAW_PIPE": ("dcmipp", "the virtual board does not model pipe 0, which writes raw data", "RAW"),
    "TOO_MUCH_SCALED": (
        "capture-scale",
        "makes 1000 x 16 pixels of 2048 x 1024 with ratios of 20000 and 20000",
        "CAPTURE",
    ),
    "OFF_THE_PANEL": ("ltdc", "The window of LTDC layer 1, 8..71 x 4..19, is not on the panel of 64 x 32", "RELOAD"),
    "DISPLAY_NOT_LET_BY_RIF": ("rif", "LTDC layer 1 reads zeros from 0x34200000: RIF denies the access", "RELOAD"),
    "FILL_NOT_LET_BY_RIF": ("rif", "DMA2D cannot write to 0x34210088: RIF denies the access", "FILL"),
    "CSI_OFF": ("camera", "frames, and DCMIPP has captured none: CSI is off (CSI CR CSIEN)", "AGAIN"),
    "CHANNEL_STOPPED": ("camera", "DCMIPP has captured none: its virtual channel is not started", "AGAIN"),
    "PARALLEL_SOURCE": ("camera", "DCMIPP has captured none: DCMIPP takes the parallel interface (CMCR", "AGAIN"),
    "PIPE_OFF": ("camera", "DCMIPP has captured none: no pipe is on (PxFSCR PIPEN)", "AGAIN"),
    "NO_REQUEST": ("camera", "DCMIPP has captured none: no pipe has a request (PxFCTCR CPTREQ)", ""),
    "SENSOR_RESTS": ("camera", "Pipe 2 of DCMIPP waits for a frame, but the camera sends none", "AGAIN"),
    "NO_RELOAD": ("ltdc", "LTDC layer 1 is on (CR LEN), but shows nothing: its registers were never reloaded", ""),
    "SHORT_LINES": (
        "ltdc",
        "LTDC layer 1 fetches 89 bytes of a line (CFBLR CFBLL), but a line of its window has 96",
        "RELOAD",
    ),
    "FEW_LINES": ("ltdc", "LTDC layer 1 fetches 8 lines (CFBLNR), but its window has 16", "RELOAD"),
    "FILL_OVER_DIRTY": ("dirty-cache", "DMA2D writes 1 cache lines that the CPU has changed", "FILL"),
    "FILL_NOWHERE": ("dma2d", "0x40000000", "FILL"),
    "FILL_BANK_OFF": ("ram-off", "DMA2D uses AXISRAM4 at 0x34270000, which is off", "FILL"),
    "DISPLAY_BANK_OFF": ("ram-off", "LTDC layer 1 uses AXISRAM4 at 0x34270000, which is off", "RELOAD"),
    "NO_CLOCK_OF_CSI": ("clock-off", "CSI at 0x5800", ""),
    "NO_CLOCK_OF_DCMIPP": ("clock-off", "DCMIPP at 0x5800", ""),
    "NO_CLOCK_OF_LTDC": ("clock-off", "LTDC at 0x5800", ""),
    "NO_CLOCK_OF_DMA2D": ("clock-off", "DMA2D at 0x5802", ""),
    "WRONG_FORMAT": (
        "ltdc",
        "LTDC layer 2 shows nothing: the virtual board does not model its flexible format",
        "RELOAD",
    ),
}


@pytest.mark.parametrize("does", MISTAKES)
def test_a_mistake_is_a_finding_with_its_cause(does: str, scene: Camera, tmp_path: Path) -> None:
    kind, text, place = MISTAKES[does]
    result, _ = run(tmp_path, scene, does)
    found = [finding for finding in result.findings if finding.kind == kind and text in finding.text]
    assert found, [str(each) for each in result.findings]
    if place:
        assert found[0].where.startswith(line_of("camera.c", f"/* {place} */"))


def test_without_a_reload_the_panel_shows_nothing(scene: Camera, tmp_path: Path) -> None:
    _, kept = run(tmp_path, scene, "NO_RELOAD")
    assert PANEL not in {each.source for each in kept}


def test_two_buffers_are_written_in_turn(scene: Camera, tmp_path: Path) -> None:
    _, records = run(tmp_path, scene, "DOUBLE_BUFFER")
    kept = pictures_of(records)
    # The program shows the first buffer, which the second frame leaves as it is; both have the same picture.
    assert [each.source for each in kept] == [PIPE_2, PIPE_2, PANEL]


# Layer 2 of a panel begins at (10, 20), with rows of 100 pixels of 2 bytes.
OVERLAY = Rectangle(5, 2, 10, 20, 0x1000, 200, 2)


def side(x: int, y: int, width: int, height: int, colour: int = 7) -> Rectangle:
    return Rectangle(FILL, colour, width, height, 0x1000 + 200 * y + 2 * x, 200 if height > 1 else 2 * width, 2)


def test_four_lines_are_a_box_in_any_order() -> None:
    sides = [side(3, 4, 30, 1), side(3, 13, 30, 1), side(3, 4, 1, 10), side(32, 4, 1, 10)]
    for order in (sides, sides[::-1], [side(0, 0, 100, 100), *sides, side(50, 50, 6, 1)]):
        assert boxes_in(order, [OVERLAY]) == (Box(13, 24, 30, 10, 7),)


@pytest.mark.parametrize(
    "sides",
    [
        [side(3, 4, 30, 1), side(3, 13, 30, 1), side(3, 4, 1, 10)],
        [side(3, 4, 30, 1), side(3, 13, 29, 1), side(3, 4, 1, 10), side(32, 4, 1, 10)],
        [side(3, 4, 30, 1), side(3, 13, 30, 1), side(3, 4, 1, 10), side(32, 4, 1, 10, colour=8)],
        [side(3, 4, 6, 1)] * 4,
    ],
)
def test_other_lines_are_none(sides: list[Rectangle]) -> None:
    assert boxes_in(sides, [OVERLAY]) == ()


def test_a_box_of_another_buffer_is_not_in_the_picture() -> None:
    sides = [side(3, 4, 30, 1), side(3, 13, 30, 1), side(3, 4, 1, 10), side(32, 4, 1, 10)]
    assert boxes_in(sides, [replace(OVERLAY, address=0x900000)]) == ()
