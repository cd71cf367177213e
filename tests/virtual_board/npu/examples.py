"""Named epochs, at least one for each known fact of the units.

They catch a wrong model.
"""

from __future__ import annotations

from collections.abc import Callable

from virtual_board.npu.assembler import Epoch, Frames
from virtual_board.npu.cases_convacc import (
    Accumulation,
    chain,
    convolution,
    deep,
    own_sums,
    shared_kernels,
    stationary,
    sums_through_memory,
    unsigned_kernels,
)
from virtual_board.npu.cases_streams import behind_a_writer, copy, frames_through_switch
from virtual_board.npu.cases_vector import (
    activation,
    affine,
    biased_layer,
    clipped_to,
    counted,
    many_channels,
    of_two,
    padded_max,
    per_channel,
    pooling,
    sigmoid,
    thresholded,
    whole_layer,
)
from virtual_board.npu.oracles import Convolution, Function

_LINES = Frames(0, 5, 3, 4, raw=False, pixel_step=6, line_step=40, count=6, step=7, repeat=2, repeat_step=130)
_ROWS = Frames(0, 5, 3, 4, raw=False, pixel_step=5, line_step=30, count=6, step=100)
_WORDS = Frames(0, 30, lanes=(0, 1, 2))
_SUMMED = Convolution(out_shift=6, in_shift=6)
_PADDED = Convolution(pads=(1, 1, 1, 1), subtract=5, out_shift=6)


def refused(epoch: Epoch, reason: str) -> Epoch:
    """Return the epoch, which the model must refuse for this reason."""
    epoch.refused = reason
    return epoch


EXAMPLES: dict[str, Callable[[], Epoch]] = {
    "bytes one after the other": lambda: copy(Frames(0, 100), Frames(0, 100)),
    "lines and pixels with gaps, frames that repeat": lambda: copy(_LINES, _ROWS),
    "pixels that lie over each other": lambda: copy(
        Frames(0, 5, 2, 3, raw=False, pixel_step=1, line_step=9, count=2, step=4), Frames(0, 60)
    ),
    "steps of more than 16 bits": lambda: copy(
        Frames(0, 2, 2, 3, raw=False, pixel_step=70_000, line_step=140_001), Frames(0, 12)
    ),
    "frames of engines that do not agree": lambda: copy(
        Frames(0, 60, count=2, step=64), Frames(0, 8, count=15, step=9)
    ),
    "bytes of the upper lanes": lambda: copy(Frames(0, 30, lanes=(1, 2)), _WORDS),
    "from the upper lanes to the right": lambda: copy(Frames(0, 30, lanes=(1, 2)), _WORDS, right_aligned=True),
    "sign extended": lambda: copy(Frames(0, 30, lanes=(0, 1)), _WORDS, right_aligned=True, signed=True),
    "elements as bytes": lambda: copy(_WORDS, Frames(0, 90), raw_out=True),
    "contexts that drop and take": lambda: frames_through_switch(
        8,
        5,
        [None, ((3, False), (1, True)), ((1, True), (3, False)), ((2, True), (2, True)), ((1, True), (255, False))],
    ),
    "a convolution": lambda: convolution(_PADDED),
    "a frame of another value, of 8 bits": lambda: convolution(
        Convolution(zero_frame=(2, 1, 0, 1), fill=-100, unsigned=True, subtract=128, out_bytes=1, out_shift=9)
    ),
    "crop": lambda: convolution(Convolution(height=8, crop=(1, 4, 2, 6), out_shift=6)),
    "other steps and kernels": lambda: convolution(
        Convolution(9, 12, 2, 3, kernel_height=3, kernel_width=6, x_step=2, y_step=1, out_shift=7)
    ),
    "saturated": lambda: convolution(Convolution(out_bytes=1, out_shift=3)),
    "relu": lambda: convolution(Convolution(relu=True, out_shift=6)),
    "sums of three bytes": lambda: convolution(Convolution(out_bytes=3)),
    "a set of kernels for each frame": lambda: convolution(_PADDED, frames=4),
    "features that meet two sets of kernels": lambda: stationary(_PADDED, 2),
    "features of 16 bits that meet three sets of kernels": lambda: stationary(
        Convolution(wide=True, pads=(1, 1, 1, 1), out_shift=13), 3
    ),
    "unsigned kernels": lambda: unsigned_kernels(127),
    "features of 16 bits": lambda: convolution(Convolution(wide=True, out_shift=13)),
    "unsigned features of 16 bits": lambda: convolution(Convolution(wide=True, unsigned=True, out_shift=14)),
    "features and kernels of 16 bits": lambda: convolution(Convolution(wide=True, wide_kernels=True, out_shift=21)),
    "depthwise with step 2": lambda: convolution(
        Convolution(8, 8, 4, 4, x_step=2, y_step=2, pads=(0, 1, 0, 1), zero_frame=(0, 1, 0, 1), out_shift=5, dss2=True),
        depthwise=True,
    ),
    "deep, pixel by pixel": lambda: deep(Convolution(3, 5, 10, 10, out_shift=5)),
    "deep, without gaps": lambda: deep(Convolution(3, 5, 10, 10, out_shift=5), packed=True, frames=2),
    "deep, kernels of three units from elements": lambda: deep(
        Convolution(2, 3, 7, 9, out_bytes=3, unsigned=True, subtract=128), units=3, frames=2, bytes_of_kernels=False
    ),
    "kernels that units share": lambda: shared_kernels(Convolution(out_shift=6), (4, 4, 4)),
    "kernels that units share unevenly": lambda: shared_kernels(Convolution(out_shift=6), (2, 4, 1)),
    "sums from unit to unit": lambda: chain(Convolution(out_shift=7, in_shift=1), 4, frames=2),
    "a unit's own sums": lambda: own_sums(_SUMMED, Accumulation(3)),
    "a unit's own sums, the first made inside": lambda: own_sums(_SUMMED, Accumulation(3, made_first=True)),
    "a unit's own sums of all frames": lambda: own_sums(_SUMMED, Accumulation(4, groups=1, filtered=False)),
    "a unit's own sums, not of the last": lambda: own_sums(_SUMMED, Accumulation(3, last=1)),
    "sums through memory": lambda: sums_through_memory(_SUMMED, Accumulation(3)),
    "sums of all frames through memory": lambda: sums_through_memory(
        _SUMMED, Accumulation(4, groups=1, filtered=False)
    ),
    "behind a writer": lambda: behind_a_writer(2, 9),
    "two streams, weighted": lambda: affine(300, -200, 77, (2, 3, 4, 5)),
    "two streams of 16 bits, weighted": lambda: affine(3, -2, 700, (0, 0, 8, 4), wide=True),
    "an operand that is shifted": lambda: affine(300, 5, 7, shift_x=-2, out_bytes=3),
    "a constant of 32 bits": lambda: affine(300, 9, -77_777, (0, 0, 0, 9), two=False, combined=True, out_bytes=1),
    "wrapped": lambda: affine(300, 0, -777_777, (0, 0, 0, 8), two=False, combined=True, out_bytes=1, saturate=False),
    "clipped": lambda: affine(300, -200, 77, (2, 3, 4, 5), clip=(-50, 60)),
    "two streams, weighted, without negative sums": lambda: affine(300, -200, 77, (2, 3, 4, 5), relu=True),
    "sums of 33 bits": lambda: affine(30_000, 30_000, 30_000, (0, 0, 15, 20), wide=True),
    "clipped to constants": lambda: clipped_to(-128, -17),
    "clipped to constants of 16 bits": lambda: clipped_to(-9000, 8000, out_bytes=2),
    "the smaller one": lambda: of_two("min"),
    "the larger one": lambda: of_two("max"),
    "the larger one above zero": lambda: of_two("max", relu=True),
    "products": lambda: of_two("product", 15),
    "a coefficient for each channel": lambda: per_channel(4, 5, 3, times=2),
    "512 channels": lambda: per_channel(16, 2, 32, times=2, combined=False, shift=0),
    "coefficients by other counters": lambda: counted(500, [(2, -7), (6, 100), (40, -31)], (1, 3)),
    "600 channels": many_channels,
    "the largest of windows": lambda: pooling("max", (5, 6, 3), (3, 2), (2, 1)),
    "the smallest of windows, cropped": lambda: pooling(
        "min", (5, 6, 3), (3, 2), (1, 2), (1, 4, 0, 3), wide=True, frames=2
    ),
    "the mean of windows": lambda: pooling("mean", (7, 6, 5), (2, 2), (2, 2), factor=100, shift=3),
    "the mean of everything": lambda: pooling("mean", (5, 6, 16), None, crop=(1, 4, 0, 3), factor=4099, shift=9),
    "the largest with a frame of -128": lambda: padded_max(_PADDED, (3, 3), (2, 2)),
    "a sigmoid": lambda: activation(sigmoid()),
    "a sigmoid of 16 bits": lambda: activation(sigmoid(wide=True), wide=True),
    "a threshold at the lowest value": thresholded,
    "segments of unequal size": lambda: activation(
        Function(
            ((0, 0), (1, 1), (3, 2), (7, 3)),
            tuple((k - 5, 9 * k - 40, 700 - 100 * k) for k in range(15)),
            False,
            8,
            7,
            2,
            3,
            3,
        )
    ),
    "a whole layer": whole_layer,
    "a layer with a product that needs more than 16 bits": lambda: biased_layer(
        (40, -9, 40, 10), (30138, 8000, 30138, 9000), (-619, 5, 0, -20)
    ),
}

# The model must refuse these: nobody knows their results.
REFUSED: dict[str, Callable[[], Epoch]] = {
    "features that stay, with sums": lambda: refused(
        stationary(_PADDED, 2, NOSUM=0), "FSTAT is 1 in deep mode, with sums, or with SAMPLE FSTATCNT 0: not modelled"
    ),
    "features that stay, without a count": lambda: refused(
        stationary(_PADDED, 2, FSTAT=0), "CONVACC1 SAMPLE FSTATCNT is 2, and CTRL FSTAT is 0: not modelled"
    ),
    "unsigned kernels above 127": lambda: refused(unsigned_kernels(128), "KUNSIGNED is 1, and a value of its kernels"),
    "clipped to constants from memory": lambda: refused(
        clipped_to(-128, -17, COEFFA=1), "OP is 0x37 (clip) with two streams or coefficients from memory: not modelled"
    ),
    "clipped to limits that descend": lambda: refused(clipped_to(5, -17), "OP is 0x37 (clip) from 5 to -17 (COEFFAC)"),
    "a threshold above the lowest value": lambda: refused(
        thresholded(-100), "TYPE is 2 with PARAM -100 and PARAM2 -128: only -128 and signed bytes"
    ),
    "another value below the threshold": lambda: refused(
        thresholded(below=0), "TYPE is 2 with PARAM -128 and PARAM2 0: only -128 and signed bytes"
    ),
    "a threshold of 16 bits": lambda: refused(thresholded(size=2), "only -128 and signed bytes are modelled"),
    "a threshold after a subtraction": lambda: refused(thresholded(FSUB=3), "TYPE is 2 with FSUB, FSHIFT or OUTSHIFT"),
}
