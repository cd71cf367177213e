"""The NPU's units over their known parameter space, against plain oracles.

Every epoch runs twice, by register writes and as a blob. No byte of memory may change that the
oracle (oracles.py) does not name.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virtual_board.npu.assembler import Epoch, Frames, compute
from virtual_board.npu.cases_convacc import (
    Accumulation,
    chain,
    convolution,
    deep,
    own_sums,
    shared_kernels,
    stationary,
    sums_through_memory,
)
from virtual_board.npu.cases_streams import Choice, behind_a_writer, copy, frames_through_switch
from virtual_board.npu.cases_vector import (
    activation,
    affine,
    clipped_to,
    counted,
    many_channels,
    of_two,
    padded_max,
    per_channel,
    pooling,
    sigmoid,
)
from virtual_board.npu.examples import EXAMPLES, REFUSED
from virtual_board.npu.oracles import Convolution, Function

FEW, SOME = 60, 150
MORE = 10  # Slow tests use this many times more cases.
LANES = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(library: ctypes.CDLL, name: str) -> None:
    compute(library, EXAMPLES[name]())


@pytest.mark.parametrize("name", REFUSED)
def test_what_nobody_knows_is_refused(library: ctypes.CDLL, name: str) -> None:
    compute(library, REFUSED[name]())


# Stream engines and the switch.


@st.composite
def engine_frames(draw: st.DrawFn, lanes: tuple[int, ...], apart: bool) -> Frames:
    """Draw frames of an engine.

    Args:
        apart: No two elements share a byte, as an engine that writes needs it.
    """
    size = len(lanes)
    width, height, depth = draw(st.integers(1, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 5))
    gaps = st.integers(0, 9)
    pixel = depth * size + draw(gaps) if apart else draw(st.integers(0, depth * size + 9))
    line = width * pixel + draw(gaps) if apart else draw(st.integers(1, 60))
    count, repeat = draw(st.integers(1, 7)), draw(st.integers(0, 3))
    step = height * line + draw(gaps) if apart else draw(st.integers(0, 60))
    layout = {"raw": False, "pixel_step": pixel, "line_step": line, "step": step, "count": count, "lanes": lanes}
    return Frames(0, width, height, depth, repeat=repeat, repeat_step=step * max(repeat, 1) + draw(gaps), **layout)  # type: ignore[arg-type]


@st.composite
def copies(draw: st.DrawFn) -> Epoch:
    read = draw(engine_frames(draw(st.sampled_from(LANES)), apart=False))
    raw_out = draw(st.booleans())
    elements = read.count * read.elements * (len(read.lanes) if raw_out else 1)
    parts = draw(st.sampled_from([part for part in (1, 2, 3, 5, 7) if elements % part == 0]))
    lanes = draw(st.sampled_from(LANES))
    width = elements // parts
    write = Frames(0, width, count=parts, step=width * len(lanes) + draw(st.integers(0, 9)), lanes=lanes)
    right, signed = draw(st.booleans()), draw(st.booleans())
    return copy(
        read, write, right and not raw_out, signed and right and not raw_out, raw_out, draw(st.integers(0, 999))
    )


@given(copies())
@settings(max_examples=SOME)
def test_an_engine_reads_frames_of_lines_of_pixels_with_any_step(library: ctypes.CDLL, epoch: Epoch) -> None:
    compute(library, epoch)


@given(st.data())
@settings(max_examples=FEW)
def test_an_engine_writes_lines_of_pixels_with_gaps(library: ctypes.CDLL, data: st.DataObject) -> None:
    lanes = data.draw(st.sampled_from(LANES))
    write = data.draw(engine_frames(lanes, apart=True))
    elements = write.count * write.elements
    compute(library, copy(Frames(0, elements, lanes=(0, 1, 2)), write, data.draw(st.booleans())))


@st.composite
def choices(draw: st.DrawFn) -> list[Choice]:
    one = st.tuples(st.integers(1, 5), st.booleans())
    port = st.tuples(one, one).filter(lambda both: both[0][1] or both[1][1])
    return draw(st.lists(st.none() | port, min_size=1, max_size=5))


@given(frames=st.integers(10, 20), size=st.integers(1, 9), contexts=choices())
@settings(max_examples=FEW)
def test_a_source_goes_to_several_ports_which_take_and_drop_frames(
    library: ctypes.CDLL, frames: int, size: int, contexts: list[Choice]
) -> None:
    compute(library, frames_through_switch(frames, size, [None, *contexts]))


@given(frames=st.integers(1, 9), size=st.integers(1, 20))
@settings(max_examples=20)
def test_an_engine_follows_one_that_writes(library: ctypes.CDLL, frames: int, size: int) -> None:
    compute(library, behind_a_writer(frames, size))


# CONVACC.


def sides(most: int) -> st.SearchStrategy[tuple[int, int, int, int]]:
    side = st.integers(0, most)
    return st.tuples(side, side, side, side)


@st.composite
def convolutions(draw: st.DrawFn, plain: bool = True) -> Convolution:
    """Draw convolutions, with kernels up to the largest seen from ST's compiler.

    Args:
        plain: Also draw crops and frames.
    """
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    kernel_height, kernel_width = draw(st.sampled_from([(1, 1), (3, 3), (3, 7), (1, 7), (3, 6), (1, 3)]))
    columns, rows = (
        sorted(draw(st.tuples(*[st.integers(0, width - 1)] * 2))),
        sorted(draw(st.tuples(*[st.integers(0, height - 1)] * 2))),
    )
    # A last column or row of 0 means no crop.
    cropped = plain and draw(st.booleans()) and columns[1] and rows[1]
    unsigned, wide = draw(st.booleans()), draw(st.booleans())
    return Convolution(
        height=height,
        width=width,
        batch=draw(st.integers(1, 12)),
        kernels=draw(st.integers(1, 10)),
        kernel_height=kernel_height,
        kernel_width=kernel_width,
        x_step=draw(st.integers(1, 2)),
        y_step=draw(st.integers(1, 2)),
        pads=draw(sides(3)),
        zero_frame=draw(sides(2)) if plain else (0, 0, 0, 0),
        crop=(columns[0], columns[1], rows[0], rows[1]) if cropped else None,
        subtract=draw(st.integers(-128, 255)),
        fill=draw(st.sampled_from((0, -128, 77, -32768, 32767))),
        unsigned=unsigned,
        wide=wide,
        out_shift=draw(st.integers(0, 16)),
        out_bytes=draw(st.integers(1, 3)),
        relu=draw(st.booleans()),
    )


fitting = convolutions().filter(lambda c: c.fits)
simple = convolutions(plain=False).filter(lambda c: c.fits)
seeds = st.integers(0, 9999)


@given(c=fitting, frames=st.integers(1, 3), seed=seeds)
@settings(max_examples=SOME)
def test_convolutions(library: ctypes.CDLL, c: Convolution, frames: int, seed: int) -> None:
    compute(library, convolution(c, frames, seed))


@given(c=fitting, times=st.integers(1, 4), frames=st.integers(1, 2), seed=seeds)
@settings(max_examples=FEW)
def test_features_that_meet_several_sets_of_kernels(
    library: ctypes.CDLL, c: Convolution, times: int, frames: int, seed: int
) -> None:
    compute(library, stationary(c, times, frames, seed))


@given(c=fitting, seed=seeds)
@settings(max_examples=FEW)
def test_convolutions_with_kernels_of_16_bits(library: ctypes.CDLL, c: Convolution, seed: int) -> None:
    """SIMD 0 was never seen in use; ST's header names 1 and 2 as those of bytes."""
    compute(library, convolution(replace(c, wide_kernels=True, wide=True), seed=seed))


@pytest.mark.slow
@given(c=fitting, frames=st.integers(1, 3), seed=seeds)
@settings(max_examples=SOME * MORE)
def test_more_convolutions(library: ctypes.CDLL, c: Convolution, frames: int, seed: int) -> None:
    compute(library, convolution(c, frames, seed))


@pytest.mark.parametrize(
    ("batch", "kernels", "kernel", "width"),
    [(24, 24, 1, 80), (8, 8, 3, 240), (64, 1, 3, 30), (1, 64, 3, 1920), (4, 6, 1, 480)],
)
def test_the_largest_that_were_seen(library: ctypes.CDLL, batch: int, kernels: int, kernel: int, width: int) -> None:
    c = Convolution(3, width, batch, kernels, kernel, kernel, out_shift=7, subtract=-3)
    compute(library, convolution(c))


@given(depth=st.integers(1, 8), size=st.integers(3, 9), step=st.integers(1, 2), dss2=st.booleans(), seed=seeds)
@settings(max_examples=FEW)
def test_depthwise_convolutions(library: ctypes.CDLL, depth: int, size: int, step: int, dss2: bool, seed: int) -> None:
    step = 2 if dss2 else step
    c = Convolution(
        size, size + 1, depth, depth, x_step=step, y_step=step, zero_frame=(0, 1, 0, 1), out_shift=6, dss2=dss2
    )
    compute(library, convolution(c, seed=seed, depthwise=True))


@st.composite
def deep_ones(draw: st.DrawFn) -> Epoch:
    c = Convolution(
        height=draw(st.integers(1, 4)),
        width=draw(st.integers(1, 8)),
        batch=draw(st.integers(1, 24) | st.just(128)),
        kernels=draw(st.integers(1, 20)),
        x_step=1,
        subtract=draw(st.integers(-128, 255)),
        unsigned=draw(st.booleans()),
        out_shift=draw(st.integers(0, 12)),
        out_bytes=draw(st.integers(1, 3)),
    )
    units, frames = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    return deep(c, draw(st.booleans()), units, frames, draw(st.booleans()), draw(seeds))


@given(deep_ones())
@settings(max_examples=SOME)
def test_deep_mode(library: ctypes.CDLL, epoch: Epoch) -> None:
    compute(library, epoch)


@given(c=simple, shares=st.lists(st.integers(1, 5), min_size=2, max_size=4), seed=seeds)
@settings(max_examples=FEW)
def test_units_share_a_stream_of_kernels(library: ctypes.CDLL, c: Convolution, shares: list[int], seed: int) -> None:
    compute(library, shared_kernels(c, tuple(shares), seed=seed))


@given(c=simple, units=st.integers(2, 4), frames=st.integers(1, 2), shift=st.integers(0, 6), seed=seeds)
@settings(max_examples=FEW)
def test_sums_go_from_unit_to_unit(
    library: ctypes.CDLL, c: Convolution, units: int, frames: int, shift: int, seed: int
) -> None:
    compute(library, chain(replace(c, in_shift=shift), units, frames, seed))


@st.composite
def accumulations(draw: st.DrawFn, made_first: st.SearchStrategy[bool]) -> Accumulation:
    group = draw(st.integers(2, 5))
    first = draw(st.integers(0, group - 1))
    last = draw(st.integers(first, group - 1))
    return Accumulation(group, draw(st.integers(1, 3)), first, last, draw(st.booleans()), draw(made_first))


@given(c=simple, sums=accumulations(st.booleans()), seed=seeds)
@settings(max_examples=SOME)
def test_a_unit_adds_to_what_it_made_before(
    library: ctypes.CDLL, c: Convolution, sums: Accumulation, seed: int
) -> None:
    compute(library, own_sums(replace(c, in_shift=c.out_shift), sums, seed))


@given(c=simple, sums=accumulations(st.just(False)), seed=seeds)
@settings(max_examples=SOME)
def test_sums_go_through_memory(library: ctypes.CDLL, c: Convolution, sums: Accumulation, seed: int) -> None:
    compute(library, sums_through_memory(replace(c, in_shift=c.out_shift, out_bytes=2), sums, seed))


# ARITH.

coefficients = st.integers(-32768, 32767)


@given(limits=st.tuples(coefficients, coefficients), out_bytes=st.integers(1, 3), seed=seeds)
@settings(max_examples=FEW)
def test_clips_to_constants(library: ctypes.CDLL, limits: tuple[int, int], out_bytes: int, seed: int) -> None:
    compute(library, clipped_to(min(limits), max(limits), out_bytes=out_bytes, seed=seed))


@st.composite
def affine_ones(draw: st.DrawFn) -> Epoch:
    combined = draw(st.booleans())
    low, high = sorted(draw(st.tuples(coefficients, coefficients)))
    shifts = draw(st.tuples(st.integers(0, 15), st.integers(0, 15), st.integers(0, 12), st.integers(0, 24)))
    return affine(
        draw(coefficients),
        draw(coefficients),
        draw(st.integers(-(1 << 31), (1 << 31) - 1) if combined else coefficients),
        (shifts[0], shifts[1], 0, shifts[3]) if combined else shifts,
        two=draw(st.booleans()) and not combined,
        combined=combined,
        wide=draw(st.booleans()),
        saturate=draw(st.booleans()),
        out_bytes=draw(st.integers(1, 3)),
        clip=draw(st.none() | st.just((low, high))),
        shift_x=draw(st.integers(-3, 3)),
        seed=draw(seeds),
    )


@given(affine_ones())
@settings(max_examples=SOME)
def test_arith_adds_what_it_weighs(library: ctypes.CDLL, epoch: Epoch) -> None:
    compute(library, epoch)


@given(
    operation=st.sampled_from(("min", "max", "product")),
    shift=st.integers(0, 20),
    out_bytes=st.integers(1, 3),
    relu=st.booleans(),
    seed=seeds,
)
@settings(max_examples=FEW)
def test_arith_takes_the_smaller_or_the_larger_one_or_multiplies(
    library: ctypes.CDLL, operation: str, shift: int, out_bytes: int, relu: bool, seed: int
) -> None:
    compute(library, of_two(operation, shift, out_bytes, relu, seed))


@given(
    batch=st.integers(1, 16),
    groups=st.integers(1, 32),
    pixels=st.integers(1, 6),
    times=st.integers(1, 3),
    combined=st.booleans(),
    seed=seeds,
)
@settings(max_examples=FEW)
def test_arith_has_a_coefficient_for_each_channel(
    library: ctypes.CDLL, batch: int, groups: int, pixels: int, times: int, combined: bool, seed: int
) -> None:
    compute(library, per_channel(batch, pixels, groups, times, combined, seed=seed))


counters = st.none() | st.tuples(st.integers(0, 20), st.integers(-256, 255))


@given(
    start=st.integers(0, 511),
    resets=st.lists(counters, min_size=3, max_size=3),
    increment=st.tuples(st.integers(0, 9), st.integers(-256, 255)),
    seed=seeds,
)
@settings(max_examples=FEW)
def test_arith_counts_coefficients(
    library: ctypes.CDLL, start: int, resets: list[tuple[int, int] | None], increment: tuple[int, int], seed: int
) -> None:
    compute(library, counted(start, resets, increment, seed=seed))


@given(channels=st.integers(513, 900), pixels=st.integers(1, 4), seed=seeds)
@settings(max_examples=10)
def test_more_channels_than_coefficients_come_as_second_streams(
    library: ctypes.CDLL, channels: int, pixels: int, seed: int
) -> None:
    compute(library, many_channels(channels, pixels, seed))


# POOL.


@st.composite
def poolings(draw: st.DrawFn) -> Epoch:
    height, width, batch = draw(st.integers(1, 9)), draw(st.integers(1, 9)), draw(st.integers(1, 16))
    crop, rows, columns = None, height, width
    if draw(st.booleans()):
        first_x, last_x = sorted(draw(st.tuples(*[st.integers(0, width - 1)] * 2)))
        first_y, last_y = sorted(draw(st.tuples(*[st.integers(0, height - 1)] * 2)))
        crop, rows, columns = (first_x, last_x, first_y, last_y), last_y - first_y + 1, last_x - first_x + 1
    size = st.tuples(st.integers(1, min(rows, 7)), st.integers(1, min(columns, 7)))
    return pooling(
        draw(st.sampled_from(("max", "min", "mean"))),
        (height, width, batch),
        draw(st.none() | size),
        draw(st.tuples(st.integers(1, 3), st.integers(1, 3))),
        crop,
        factor=draw(st.integers(0, 65535)),
        shift=draw(st.integers(0, 20)),
        out_bytes=draw(st.integers(1, 3)),
        wide=draw(st.booleans()),
        frames=draw(st.integers(1, 3)),
        seed=draw(seeds),
    )


@given(poolings())
@settings(max_examples=SOME)
def test_pool(library: ctypes.CDLL, epoch: Epoch) -> None:
    compute(library, epoch)


@given(batch=st.integers(1, 16), pads=sides(1), size=st.integers(2, 3), step=st.integers(1, 2), seed=seeds)
@settings(max_examples=20)
def test_the_largest_behind_a_frame_that_convacc_makes(
    library: ctypes.CDLL, batch: int, pads: tuple[int, int, int, int], size: int, step: int, seed: int
) -> None:
    compute(library, padded_max(Convolution(5, 6, batch, pads=pads), (size, size), (step, step), seed))


# ACTIV.


@st.composite
def functions(draw: st.DrawFn) -> Function:
    """Draw any tables.

    The outer segments have 1, 2, 4 or 8 inner ones each, in any order, and may share some.
    """
    outer = 1 << draw(st.integers(1, 5))
    inner = draw(st.lists(st.integers(0, 3), min_size=outer, max_size=outer))
    bases = [draw(st.integers(0, 64 - (1 << bits))) for bits in inner]
    rng = np.random.default_rng(draw(seeds))
    tables = rng.integers(-32768, 32768, (64, 3)) >> rng.integers(0, 15, (64, 1))
    return Function(
        tuple(zip(bases, inner, strict=True)),
        tuple((int(a), int(b), int(c)) for a, b, c in tables),
        draw(st.booleans()),
        draw(st.integers(0, 8)),
        draw(st.integers(0, 30)),
        draw(st.integers(0, 12)),
        draw(st.integers(0, 20)),
        draw(st.integers(-100, 100)),
        draw(st.integers(1, 3)),
    )


@given(function=functions(), wide=st.booleans(), seed=seeds)
@settings(max_examples=SOME)
def test_activ_looks_up_parabolas(library: ctypes.CDLL, function: Function, wide: bool, seed: int) -> None:
    compute(library, activation(function, wide, seed))


def test_the_parabolas_of_the_sigmoid_are_one() -> None:
    x = np.arange(-128, 128)
    wanted = np.minimum(np.round(256 / (1 + np.exp(-x / 16)) - 128), 127)
    assert np.abs(sigmoid().at(x) - wanted).max() <= 1
    assert (sigmoid().at(x) == wanted).mean() > 0.98
