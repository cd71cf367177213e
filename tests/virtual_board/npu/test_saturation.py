"""Counts of the values that the formats of the NPU's units do not hold.

A value is lost if the epoch's output shows it, and open if it leaves the epoch in more than one
byte. Counts are compared with products in numpy.
"""

from __future__ import annotations

import numpy as np
import pytest

from virtual_board.npu.assembler import Epoch
from virtual_board.npu.cases_convacc import Accumulation, convolution, own_sums, sums_through_memory
from virtual_board.npu.cases_vector import affine, biased_layer, many_channels, pooling
from virtual_board.npu.model import Npu, Saturated
from virtual_board.npu.oracles import Convolution, noise

LOW, HIGH = -32768, 32767


def run(npu: Npu, epoch: Epoch) -> None:
    npu.memory[:] = epoch.memory_before()
    assert epoch.run_by_blob(npu) is None


# Constants of a channel of MobileNetV1 as Core 2.2 compiles it: its product needs 16 bits and a half.
KERNELS, FACTORS, BIASES = (40, -9, 40, 10), (30138, 8000, 30138, 9000), (-619, 5, 0, -20)


def test_a_product_that_needs_more_than_16_bits_is_lost_where_the_output_shows_it(npu: Npu) -> None:
    run(npu, biased_layer(KERNELS, FACTORS, BIASES))
    products = np.rint(noise(0, (8, 9)).astype(np.int64) + 128) * 40 * 30138 / (1 << 13)
    above = products[products > HIGH + 0.5]
    assert above.size
    # The output of channel 0 ends at 61 of 127. That of channel 2, without a bias, is 127 anyhow.
    assert npu.saturated("ARITH", 3) == {
        0: Saturated(0, above.size, above.size, 0, 0, round(above.max())),
        2: Saturated(0, above.size, 0, 0, 0, round(above.max())),
    }
    assert npu.saturated("CONVACC", 2) == {}


def test_an_output_of_one_byte_clips_and_loses_nothing(npu: Npu) -> None:
    run(npu, biased_layer(KERNELS, FACTORS, BIASES))
    clipped = npu.saturated("ARITH", 0)
    assert clipped[0].below > 0
    assert clipped[2].above > 0
    assert all(each.lost == each.open == 0 for each in clipped.values())


def test_the_counts_are_those_of_the_last_epoch(npu: Npu) -> None:
    run(npu, biased_layer(KERNELS, FACTORS, BIASES))
    run(npu, biased_layer((1, 1, 1, 1), FACTORS, (0, 0, 0, 0)))
    assert npu.saturated("ARITH", 3) == {}


def test_a_sum_of_16_bits_that_goes_to_memory_is_open(npu: Npu) -> None:
    c = Convolution(batch=8, out_shift=0)
    run(npu, convolution(c, frames=2))
    found = npu.saturated("CONVACC", 0)
    # Each frame has its own kernels, and they are different channels.
    assert set(found) <= set(range(2 * c.kernels))
    assert found
    assert all(each.open == each.below + each.above and each.lost == 0 for each in found.values())
    assert all(each.lowest < LOW or not each.below for each in found.values())


@pytest.mark.parametrize("through", [own_sums, sums_through_memory])
def test_a_partial_sum_that_saturates_leaves_with_the_last_sum(npu: Npu, through: object) -> None:
    assert callable(through)
    run(npu, through(Convolution(batch=8, out_shift=1, in_shift=1), Accumulation(3)))
    units = [npu.saturated("CONVACC", index) for index in range(4)]
    counts = [each for unit in units for each in unit.values()]
    assert sum(each.open for each in counts) > 0
    assert all(each.open <= each.below + each.above for each in counts)


def test_results_that_wrap_are_no_saturation(npu: Npu) -> None:
    run(npu, affine(300, 0, -777_777, (0, 0, 0, 8), two=False, combined=True, out_bytes=1, saturate=False))
    assert npu.saturated("ARITH", 0) == {}


def test_a_clip_in_the_last_step_hides_what_saturated_before(npu: Npu) -> None:
    run(npu, affine(300, -200, 77, (0, 0, 0, 0), clip=(-50, 60)))
    assert npu.saturated("ARITH", 0) == {}


@pytest.mark.parametrize("make", [many_channels, lambda: pooling("mean", (5, 6, 16), None, factor=4099, shift=2)])
def test_other_units_are_counted_too(npu: Npu, make: object) -> None:
    assert callable(make)
    run(npu, make())
    counted = [npu.saturated(kind, index) for kind in ("ARITH", "POOL") for index in range(2)]
    assert all(each.lost + each.open <= each.below + each.above for unit in counted for each in unit.values())
