"""Networks of one convolution and a mean, as one epoch each.

The epochs are made in the way of ST's compiler. A chip has run such networks (samples, folder
silicon); their network.c and weights are not published. The coefficients follow the rules that were
found in other networks of ST's compiler: sums of 16 bits, a factor for each channel, a common factor
with an offset for each channel, a mean with 8 bits behind the point, and a last factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.tflite_reader import read_graph

from virtual_board.npu.assembler import (
    Epoch,
    Frames,
    arith,
    arith_input,
    convacc,
    features_of,
    kernels_of,
    pool,
    pool_input,
)
from virtual_board.npu.cases_convacc import convacc_registers, inflated, kernels_reader
from virtual_board.npu.cases_vector import count_channels, write_coefficients
from virtual_board.npu.oracles import NO_SHIFT, Convolution

_LARGEST = 32767
_INT8 = 128
# The largest sets of kernels in plain mode that were seen have this number of elements.
_MOST_OF_A_SET = 576
_MEAN_BITS = 8
_MOST_SHIFTED = 20


@dataclass(frozen=True)
class Layer:
    """A convolution and the mean of its output, by their tensors.

    Attributes:
        source: Input.
        kernels: Kernels x height x width x channels.
        kernel_scales: A scale for each kernel.
        biases: In steps of the sums.
        made: Output of the convolution.
        mean: Output of the network.
    """

    source: Tensor
    kernels: np.ndarray
    kernel_scales: np.ndarray
    biases: np.ndarray
    made: Tensor
    mean: Tensor


def read_layer(model: Path) -> Layer:
    graph = read_graph(model)
    convolution, mean = graph.operators
    source, kernels, biases = (graph.tensors[index] for index in convolution.inputs if index is not None)
    assert kernels.data is not None
    assert biases.data is not None
    assert kernels.quantisation
    values = kernels.data.astype(np.int8)
    if convolution.kind == "DEPTHWISE_CONV_2D":
        values = inflated(values[0])
    scales = np.array(kernels.quantisation.scales)
    outputs = graph.tensors[convolution.output], graph.tensors[mean.output]
    return Layer(source, values, scales, biases.data.astype(np.int64), *outputs)


@dataclass(frozen=True)
class Coefficients:
    """Shifts and coefficients of an epoch.

    Attributes:
        sums: Shift of the sums to 16 bits.
        factors: Factors of the channels.
        products: Shift of the products to 16 bits.
        common: Factor of all channels.
        offsets: Offsets of the channels, 32 bits.
        last: Shift to the output of the convolution.
        mean: Factor of the mean.
        mean_offset: Offset of the mean.
        mean_shift: Shift to the output of the network.
    """

    sums: int
    factors: np.ndarray
    products: int
    common: int
    offsets: np.ndarray
    last: int
    mean: int
    mean_offset: int
    mean_shift: int


def coefficients(layer: Layer) -> Coefficients:
    source, made, mean = (each.quantisation for each in (layer.source, layer.made, layer.mean))
    assert source
    assert made
    assert mean
    largest_input = max(_INT8 - 1 - source.zero_point, _INT8 + source.zero_point)
    worst = np.abs(layer.kernels.astype(np.int64)).sum((1, 2, 3)) * largest_input
    sums = _excess(worst.max())
    # Factors have as many bits as the largest of them can.
    bits = math.floor(math.log2(_LARGEST / layer.kernel_scales.max()))
    factors = np.round(layer.kernel_scales * 2.0**bits).astype(np.int64)
    products = _excess(((worst >> sums) * factors).max())
    step = source.scale / made.scale * 2.0 ** (sums + products - bits)
    last = min(_MOST_SHIFTED, math.floor(math.log2(_LARGEST / step)))
    real = layer.biases * source.scale * layer.kernel_scales / made.scale + made.zero_point
    ratio = made.scale / mean.scale
    mean_shift = math.floor(math.log2(_LARGEST / ratio))
    mean_offset = round((mean.zero_point - ratio * made.zero_point) * 2.0**mean_shift)
    return Coefficients(
        sums=sums,
        factors=factors,
        products=products,
        common=round(step * 2.0**last),
        offsets=np.round(real * 2.0**last).astype(np.int64),
        last=last,
        mean=round(ratio * 2.0**mean_shift),
        mean_offset=mean_offset,
        mean_shift=mean_shift,
    )


def _excess(largest: float) -> int:
    """Return the bits by which a value is larger than 16 bits hold."""
    return max(0, math.ceil(math.log2((largest + 1) / (_LARGEST + 1))))


@dataclass(frozen=True)
class Placed:
    """An epoch with the places of its input and its output."""

    epoch: Epoch
    features: int
    output: int
    channels: int


def placed(layer: Layer, found: Coefficients) -> Placed:
    """Return the epoch of a network.

    Sets of kernels follow one another over the same input.
    """
    epoch = Epoch()
    channels, height, width, batch = layer.kernels.shape
    _, rows, columns, _ = layer.source.shape
    share = next(share for share in range(min(8, channels), 0, -1) if _fits(share, channels, height * width * batch))
    groups, elements = channels // share, rows * columns * batch
    assert layer.source.quantisation
    c = Convolution(
        height=rows,
        width=columns,
        batch=batch,
        kernels=share,
        kernel_height=height,
        kernel_width=width,
        pads=((width - 1) // 2, width // 2, (height - 1) // 2, height // 2),
        subtract=layer.source.quantisation.zero_point,
        out_shift=found.sums,
    )
    features = epoch.room(elements)
    epoch.feed(features_of(0), epoch.reader(1, Frames(features, elements, count=groups)))
    epoch.feed(kernels_of(0), kernels_reader(epoch, 2, layer.kernels))
    convacc_registers(epoch, 0, c, {}, {})
    _factors(epoch, found, share, groups, rows * columns)
    _offsets(epoch, found, share, groups, rows * columns)
    _mean(epoch, found, share, rows, columns)
    output = epoch.room(channels)
    epoch.writer(9, arith(2), Frames(output, share, count=groups, step=share))
    return Placed(epoch, features, output, channels)


def _fits(share: int, channels: int, size: int) -> bool:
    return channels % share == 0 and share * size <= _MOST_OF_A_SET


def _factors(epoch: Epoch, found: Coefficients, share: int, groups: int, pixels: int) -> None:
    zeros = np.zeros_like(found.factors)
    write_coefficients(epoch, 0, found.factors, zeros, zeros)
    count_channels(epoch, 0, share, groups, pixels)
    epoch.set("ARITH", 0, "SHIFT", RES=found.products)
    epoch.set("ARITH", 0, "INSHIFTER", FBYTESX=2, FSHIFTX=NO_SHIFT, FOBYTESX=2)
    epoch.switch_on("ARITH", 0, CNT1=1, CNT2=1, CNT3=1, COEFFA=1, COEFFC=1, **_rounded(2))
    epoch.feed(arith_input(0), convacc(0))


def _offsets(epoch: Epoch, found: Coefficients, share: int, groups: int, pixels: int) -> None:
    common = np.full_like(found.offsets, found.common)
    write_coefficients(epoch, 1, common, found.offsets >> 16, found.offsets & 0xFFFF)
    count_channels(epoch, 1, share, groups, pixels)
    epoch.set("ARITH", 1, "SHIFT", RES=found.last)
    epoch.set("ARITH", 1, "INSHIFTER", FBYTESX=2, FSHIFTX=NO_SHIFT, FOBYTESX=2)
    counters = {"CNT1": 1, "CNT2": 1, "CNT3": 1, "COEFFA": 1, "COEFFB": 1, "COEFFC": 1}
    epoch.switch_on("ARITH", 1, COMBINEBC=1, **counters, **_rounded(1))
    epoch.feed(arith_input(1), arith(0))


def _mean(epoch: Epoch, found: Coefficients, share: int, rows: int, columns: int) -> None:
    epoch.set("POOL", 0, "PDIMS", BSIZE=share % 16, STRDY=1, STRDX=1)
    epoch.set("POOL", 0, "FDIMS", FEATX=columns * share, FEATY=rows)
    epoch.set("POOL", 0, "MULVAL", MULVAL=1 << _MEAN_BITS)
    epoch.set("POOL", 0, "RNDCTRL", FOBYTES=1, OBYTES=2, ORNDMODE=1)
    shift = round(math.log2(rows * columns))
    assert 1 << shift == rows * columns
    epoch.switch_on("POOL", 0, TYPE=10, ROUND=1, SAT=1, OUTSHIFT=shift, FBYTES=1, FSHIFT=NO_SHIFT)
    epoch.feed(pool_input(0), arith(1))
    epoch.set("ARITH", 2, "COEFFAC", A=found.mean, C=found.mean_offset & 0xFFFF)
    epoch.set("ARITH", 2, "COEFFB", B=found.mean_offset >> 16 & 0xFFFF)
    epoch.set("ARITH", 2, "SHIFT", AX=_MEAN_BITS, RES=found.mean_shift)
    epoch.set("ARITH", 2, "INSHIFTER", FBYTESX=2, FSHIFTX=NO_SHIFT, FOBYTESX=2)
    epoch.switch_on("ARITH", 2, COMBINEBC=1, **_rounded(1))
    epoch.feed(arith_input(2), pool(0))


def _rounded(size: int) -> dict[str, int]:
    return {"ROUND": 1, "SAT": 1, "ORNDMODE": 1, "OBYTES": size}
