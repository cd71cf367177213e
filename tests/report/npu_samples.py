"""Samples of the NPU's work in a run, for the tests of the report."""

from __future__ import annotations

from n6build.board.run.npu_epochs import HardwareEpoch
from n6build.board.virtual_board.npu_record import SaturatedChannel, Saturation, UnitWork
from n6build.judge.npu.uses import FieldUse, KindUse, NpuUse, Unmodelled
from n6build.judge.own_blobs.epoch_grades import EpochGrade
from n6build.tell.content import NpuSection

CONVOLUTION = HardwareEpoch(
    5,
    "Conv Mul",
    (
        UnitWork("STRENG0", "writes", elements=4096, writes=4096),
        UnitWork("STRENG6", "reads", elements=8192, reads=8192),
        UnitWork("CONVACC3", "3x3 stride 2x2, 8 kernels of 8", macs=1_769_472, elements=4096),
        UnitWork("ARITH1", "a x + c", elements=4096),
    ),
)
SMALL = HardwareEpoch(
    8,
    "Conv <b>",
    (
        UnitWork("STRENG0", "reads", reads=64),
        UnitWork("STRENG1", "writes", writes=64),
        UnitWork("CONVACC0", "1x1", macs=17_694, elements=64),
    ),
)
USE = NpuUse(
    2,
    True,
    (
        KindUse("STRENG", ("STRENG0", "STRENG1", "STRENG6"), 2, (FieldUse("FSIZE", "WIDTH", (1, 4096), 40),)),
        KindUse("CONVACC", ("CONVACC0", "CONVACC3"), 2, (FieldUse("CTRL", "SIMD", (1, 2), 2),)),
    ),
    (),
)
NPU = NpuSection(USE, (CONVOLUTION, SMALL))
# A product of 16 bits that saturates, and an output of 8 bits that ends at its scale.
SATURATED = NpuSection(
    USE,
    (
        HardwareEpoch(
            12,
            "Conv Mul",
            (
                UnitWork(
                    "ARITH0",
                    saturation=Saturation(1, 500, 20, 0, 0, 1, (SaturatedChannel(5, 500, 20, 0, 0, -300, 140),)),
                ),
                UnitWork(
                    "ARITH3",
                    saturation=Saturation(2, 0, 150, 141, 9, 1, (SaturatedChannel(47, 0, 150, 141, 9, 0, 40086),)),
                ),
            ),
            "Conv2D_48 <b>",
        ),
    ),
)
# This network of backend neural_art was built and not run.
GRADED = NpuSection(
    USE,
    grades=(
        EpochGrade(1, "Conv2D_0_part_1 pad", "seen", (), ()),
        EpochGrade(
            2, "Conv2D_0 3x3 <b>", "smaller", ("CONVACC: width is 4, seen from 8 to 60",), ("chain on a board",)
        ),
    ),
)
NOT_MODELLED = NpuSection(
    NpuUse(1, True, USE.kinds, (Unmodelled(8, "POOL1", "CTRL", "TYPE", 12, (0, 1, 2)), Unmodelled(9, "RECBUF")))
)
