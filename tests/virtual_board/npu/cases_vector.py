"""Epochs with ARITH, POOL and ACTIV over their parameter spaces.

Each has its wanted memory, which comes from oracles.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from virtual_board.npu.assembler import (
    Epoch,
    Frames,
    activ,
    activ_input,
    arith,
    arith_input,
    convacc,
    pool,
    pool_input,
)
from virtual_board.npu.cases_convacc import OUTPUT_ENGINE, convolver, features_reader, kernel_shape
from virtual_board.npu.model import offset_of
from virtual_board.npu.oracles import (
    NO_SHIFT,
    Convolution,
    Function,
    convolved,
    counted_addresses,
    noise,
    pooled,
    requantised,
    rounded,
    saturated,
    wrapped,
)


def arith_reader(epoch: Epoch, engine: int, values: np.ndarray) -> int:
    return features_reader(epoch, engine, values.reshape(1, 1, 1, -1))


def operand_bytes(x: np.ndarray, y: np.ndarray | None = None) -> dict[str, int]:
    fields = {"FBYTESX": x.itemsize, "FSHIFTX": NO_SHIFT, "FOBYTESX": x.itemsize}
    if y is not None:
        fields |= {"FBYTESY": y.itemsize, "FSHIFTY": NO_SHIFT, "FOBYTESY": y.itemsize}
    return fields


def finished(value: np.ndarray, shift: int, out_bytes: int, saturate: bool, clip: tuple[int, int] | None) -> np.ndarray:
    value = rounded(value, shift)
    if clip:
        value = np.minimum(np.maximum(value, clip[0]), clip[1])
    return saturated(value, 8 * out_bytes) if saturate else wrapped(value, 8 * out_bytes)


def affine(
    a: int,
    b: int,
    c: int,
    shifts: tuple[int, int, int, int] = (0, 0, 0, 0),  # AX, BY, C, RES
    two: bool = True,
    combined: bool = False,
    wide: bool = False,
    saturate: bool = True,
    out_bytes: int = 2,
    clip: tuple[int, int] | None = None,
    relu: bool = False,
    shift_x: int = 0,
    seed: int = 0,
) -> Epoch:
    """Return an epoch that computes A x + B y + C.

    It computes A x + a constant of 32 bits if combined.

    Args:
        shift_x: Shift of operand x, to the right if positive.
    """
    epoch = Epoch()
    kind = "int16" if wide else "int8"
    x, y = noise(seed, (200,), kind), noise(seed + 1, (200,), kind)
    ax, by, c_shift, result = shifts
    epoch.set("ARITH", 0, "COEFFAC", A=a, C=c & 0xFFFF)
    epoch.set("ARITH", 0, "COEFFB", B=(c >> 16 if combined else b) & 0xFFFF)
    epoch.set("ARITH", 0, "SHIFT", AX=ax, BY=by, C=c_shift, RES=result)
    epoch.set("ARITH", 0, "INSHIFTER", **{**operand_bytes(x, y), "FSHIFTX": NO_SHIFT + shift_x})
    epoch.feed(arith_input(0), arith_reader(epoch, 1, x))
    left, right = x.astype(np.int64), y.astype(np.int64)
    left = left >> shift_x if shift_x >= 0 else left << -shift_x
    value = (a * left >> ax) + (c << c_shift)
    if two:
        epoch.feed(arith_input(0, 1), arith_reader(epoch, 2, y))
        value = value + (0 if combined else b * right >> by)
    if clip:
        epoch.set("ARITH", 0, "CLIPRANGE", CLIPMIN=clip[0], CLIPMAX=clip[1])
    role = {"DUALIN": int(two), "COMBINEBC": int(combined), "SAT": int(saturate), "CLIPOUT": int(clip is not None)}
    epoch.switch_on("ARITH", 0, ROUND=1, ORNDMODE=1 | relu << 1, OBYTES=out_bytes, **role)
    # A negative sum rounds to a negative number or 0, which ReLU makes 0.
    value = np.maximum(value, 0) if relu else value
    epoch.store(OUTPUT_ENGINE, arith(0), finished(value, result, out_bytes, saturate, clip), out_bytes)
    return epoch


def of_two(operation: str, shift: int = 0, out_bytes: int = 2, relu: bool = False, seed: int = 0) -> Epoch:
    """Return an epoch with the minimum, maximum or product of two streams."""
    epoch = Epoch()
    x, y = noise(seed, (2, 150), "int16")
    codes = {"min": 1, "max": 2, "product": 7}
    value = {"min": np.minimum, "max": np.maximum, "product": np.multiply}[operation](x.astype(np.int64), y)
    epoch.feed(arith_input(3), arith_reader(epoch, 1, x))
    epoch.feed(arith_input(3, 1), arith_reader(epoch, 2, y))
    epoch.set("ARITH", 3, "SHIFT", RES=shift)
    epoch.set("ARITH", 3, "INSHIFTER", **operand_bytes(x, y))
    mode = {"ORNDMODE": 1 | relu << 1}
    epoch.switch_on("ARITH", 3, OP=codes[operation], DUALIN=1, ROUND=1, SAT=1, OBYTES=out_bytes, **mode)
    made = rounded(value, shift)
    made = saturated(np.maximum(made, 0) if relu else made, 8 * out_bytes)
    epoch.store(OUTPUT_ENGINE, arith(3), made, out_bytes)
    return epoch


def clipped_to(lowest: int, highest: int, out_bytes: int = 1, seed: int = 0, **other: int) -> Epoch:
    """Return an epoch that clips a stream to two constants (ARITH OP 55).

    Args:
        other: Further fields of CTRL.
    """
    epoch = Epoch()
    x = noise(seed, (200,), "int16" if out_bytes > 1 else "int8")
    epoch.set("ARITH", 2, "COEFFAC", A=lowest, C=highest)
    epoch.set("ARITH", 2, "INSHIFTER", **operand_bytes(x))
    epoch.switch_on("ARITH", 2, OP=0x37, ROUND=1, SAT=1, ORNDMODE=1, OBYTES=out_bytes, **other)
    epoch.feed(arith_input(2), arith_reader(epoch, 1, x))
    made = saturated(np.clip(x.astype(np.int64), lowest, highest), 8 * out_bytes)
    epoch.store(OUTPUT_ENGINE, arith(2), made, out_bytes)
    return epoch


def write_coefficients(epoch: Epoch, index: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """Write up to 512 coefficients.

    The window of the memory reaches its first 384 entries when it is translated, and the last 384
    entries when it is not.
    """
    words = np.stack([(a & 0xFFFF) | (b & 0xFFFF) << 16, c & 0xFFFF], 1).ravel().tolist()
    epoch.word("ARITH", index, "TRANSLATEADDR", 1)
    epoch.values("ARITH", index, 0x400, words[: 2 * 384])
    if len(words) > 2 * 384:
        epoch.word("ARITH", index, "TRANSLATEADDR", 0)
        epoch.values("ARITH", index, 8 * 384, words[2 * 384 :])


def count_channels(epoch: Epoch, index: int, share: int, groups: int, pixels: int) -> None:
    """Set the counters so that each element gets the coefficient of its channel."""
    channels = share * groups
    ends = (share - 1, pixels * share - 1, pixels * channels - 1)
    epoch.values("ARITH", index, offset_of("ARITH", "INCCNT"), [0, *ends])
    back = -(channels - 1)
    epoch.set("ARITH", index, "ADDROFFSET", OFFSET1=-(share - 1), OFFSET2=1, OFFSET3=back & 0x1FF)
    epoch.set("ARITH", index, "INCOFFSET", VAL=1)


def per_channel(
    batch: int, pixels: int, groups: int, times: int = 1, combined: bool = True, shift: int = 3, seed: int = 0
) -> Epoch:
    """Return an epoch with a coefficient for each channel.

    `batch` channels are beside each other. The counters are set as by ST's compiler.
    """
    epoch = Epoch()
    channels = batch * groups
    assert channels <= 512
    x = noise(seed, (times, groups, pixels, batch))
    a, b, c = noise(seed + 1, (3, channels), "int16").astype(np.int64)
    b = b >> 11  # B is combined with C: some 20 bits.
    write_coefficients(epoch, 1, a, b, c)
    count_channels(epoch, 1, batch, groups, pixels)
    epoch.set("ARITH", 1, "SHIFT", RES=shift)
    epoch.set("ARITH", 1, "INSHIFTER", **operand_bytes(x))
    counters = {"CNT1": 1, "CNT2": 1, "CNT3": 1, "COEFFA": 1, "COEFFB": int(combined), "COEFFC": 1}
    epoch.switch_on("ARITH", 1, ROUND=1, SAT=1, ORNDMODE=1, OBYTES=3, COMBINEBC=int(combined), **counters)
    epoch.feed(arith_input(1), arith_reader(epoch, 1, x))
    constant = (b << 16) + (c & 0xFFFF) if combined else c
    a, constant = (one.reshape(groups, 1, batch) for one in (a, constant))
    epoch.store(OUTPUT_ENGINE, arith(1), saturated(rounded(a * x + constant, shift), 24), 3)
    return epoch


def counted(
    start: int, resets: list[tuple[int, int] | None], increment: tuple[int, int], elements: int = 300, seed: int = 0
) -> Epoch:
    """Return an epoch with any setting of the counters.

    The memory holds different coefficients in each entry.
    """
    epoch = Epoch()
    x = noise(seed, (elements,))
    a, b, c = noise(seed + 1, (3, 512), "int16").astype(np.int64)
    write_coefficients(epoch, 2, a, b, c)
    epoch.values("ARITH", 2, offset_of("ARITH", "INCCNT"), [increment[0], *(one[0] if one else 0 for one in resets)])
    epoch.set("ARITH", 2, "ADDROFFSET", **{f"OFFSET{i}": one[1] if one else 0 for i, one in enumerate(resets, 1)})
    epoch.set("ARITH", 2, "INCOFFSET", VAL=increment[1])
    epoch.set("ARITH", 2, "COEFFADDR", ADDR=start)
    epoch.set("ARITH", 2, "INSHIFTER", **operand_bytes(x))
    counters = {f"CNT{i}": int(one is not None) for i, one in enumerate(resets, 1)}
    epoch.switch_on("ARITH", 2, SAT=1, OBYTES=3, COEFFA=1, COEFFC=1, **counters)
    epoch.feed(arith_input(2), arith_reader(epoch, 1, x))
    at = counted_addresses(elements, start, resets, increment)
    epoch.store(OUTPUT_ENGINE, arith(2), saturated(a[at] * x + c[at], 24), 3)
    return epoch


def many_channels(channels: int = 600, pixels: int = 3, seed: int = 0) -> Epoch:
    """Return an epoch with more channels than the memory has entries.

    Scales and offsets come as second streams, the same for each pixel.
    """
    epoch = Epoch()
    x = noise(seed, (pixels, channels))
    scales, offsets = noise(seed + 1, (2, channels), "int16")
    vectors = [
        epoch.reader(engine, Frames(epoch.place(one), channels, count=pixels, step=0, lanes=(0, 1)))
        for engine, one in ((2, scales), (3, offsets))
    ]
    epoch.feed(arith_input(0), arith_reader(epoch, 1, x))
    epoch.feed(arith_input(0, 1), vectors[0])
    epoch.set("ARITH", 0, "SHIFT", RES=6)
    epoch.set("ARITH", 0, "INSHIFTER", **operand_bytes(x, scales))
    epoch.switch_on("ARITH", 0, OP=7, DUALIN=1, ROUND=1, SAT=1, ORNDMODE=1, OBYTES=2)
    scaled = saturated(rounded(x.astype(np.int64) * scales, 6), 16).astype(np.int16)
    epoch.feed(arith_input(1), arith(0))
    epoch.feed(arith_input(1, 1), vectors[1])
    epoch.set("ARITH", 1, "COEFFAC", A=21760, C=5)
    epoch.set("ARITH", 1, "COEFFB", B=4096)
    epoch.set("ARITH", 1, "SHIFT", C=12, RES=20)
    epoch.set("ARITH", 1, "INSHIFTER", **operand_bytes(scaled, offsets))
    epoch.switch_on("ARITH", 1, DUALIN=1, ROUND=1, SAT=1, ORNDMODE=1, OBYTES=1)
    value = 21760 * scaled.astype(np.int64) + 4096 * offsets.astype(np.int64) + (5 << 12)
    epoch.store(OUTPUT_ENGINE, arith(1), saturated(rounded(value, 20), 8), 1)
    return epoch


# Epochs with POOL.

_POOLS = {"max": 0, "min": 1, "mean": 2}
_GLOBAL = 8


def pooling(
    kind: str,
    shape: tuple[int, int, int],  # height, width, batch
    size: tuple[int, int] | None = (2, 2),  # None: global
    step: tuple[int, int] = (1, 1),
    crop: tuple[int, int, int, int] | None = None,  # first column, last column, first row, last row
    factor: int = 64,
    shift: int = 8,
    out_bytes: int = 2,
    wide: bool = False,
    frames: int = 1,
    seed: int = 0,
) -> Epoch:
    """Return an epoch with a pooling.

    A mean is a sum times MULVAL, shifted. Largest and smallest values stay unchanged.
    """
    epoch = Epoch()
    height, width, batch = shape
    data = noise(seed, (frames, *shape), "int16" if wide else "int8")
    first_x, last_x, first_y, last_y = crop or (0, width - 1, 0, height - 1)
    if crop:
        epoch.set("POOL", 1, "XCROP", LCROP=first_x * batch, RCROP=(last_x + 1) * batch - 1)
        epoch.set("POOL", 1, "YCROP", TCROP=first_y, BCROP=last_y)
    window = size or (last_y - first_y + 1, last_x - first_x + 1)
    dims = {"WINY": size[0], "WINX": size[1], "STRDY": step[0], "STRDX": step[1]} if size else {"STRDY": 1, "STRDX": 1}
    epoch.set("POOL", 1, "PDIMS", BSIZE=batch % 16, **dims)
    epoch.set("POOL", 1, "FDIMS", FEATX=width * batch, FEATY=height)
    epoch.set("POOL", 1, "MULVAL", MULVAL=factor)
    epoch.set("POOL", 1, "RNDCTRL", FOBYTES=data.itemsize, OBYTES=out_bytes, ORNDMODE=1)
    control = {"TYPE": _POOLS[kind] + (0 if size else _GLOBAL), "CROPEN": int(crop is not None)}
    epoch.switch_on("POOL", 1, ROUND=1, SAT=1, OUTSHIFT=shift, FBYTES=data.itemsize, FSHIFT=NO_SHIFT, **control)
    epoch.feed(pool_input(1), features_reader(epoch, 1, data))
    made = []
    for frame in data.astype(np.int64):
        seen = frame[first_y : last_y + 1, first_x : last_x + 1]
        if kind == "mean":
            made.append(saturated(rounded(pooled(seen, "sum", window, step) * factor, shift), 8 * out_bytes))
        else:
            made.append(pooled(seen, kind, window, step))
    epoch.store(OUTPUT_ENGINE, pool(1), np.stack(made), out_bytes)
    return epoch


def padded_max(c: Convolution, size: tuple[int, int], step: tuple[int, int], seed: int = 0) -> Epoch:
    """Return a padded maximum as ST's compiler makes it.

    A CONVACC of 1 x 1 kernels copies and adds a frame of -128, and a maximum follows.
    """
    epoch = Epoch()
    c = replace(c, kernels=c.batch, kernel_height=1, kernel_width=1, fill=-128, out_bytes=1)
    features = noise(seed, (1, c.height, c.width, c.batch))
    kernels = np.eye(c.batch, dtype=np.int8)[:, None, None, :]
    convolver(epoch, 0, c, features, kernels)
    framed = requantised(convolved(features[0], kernels, c), c)
    height, width = c.framed
    epoch.set("POOL", 0, "PDIMS", BSIZE=c.batch % 16, WINY=size[0], WINX=size[1], STRDY=step[0], STRDX=step[1])
    epoch.set("POOL", 0, "FDIMS", FEATX=width * c.batch, FEATY=height)
    epoch.set("POOL", 0, "RNDCTRL", FOBYTES=1, OBYTES=1, ORNDMODE=1)
    epoch.switch_on("POOL", 0, TYPE=0, FBYTES=1, FSHIFT=NO_SHIFT)
    epoch.feed(pool_input(0), convacc(0))
    epoch.store(OUTPUT_ENGINE, pool(0), pooled(framed, "max", size, step), 1)
    return epoch


# Epochs with ACTIV.


def activation(function: Function, wide: bool = False, seed: int = 0) -> Epoch:
    """Return an epoch with all values of a byte, or some of 16 bits."""
    epoch = Epoch()
    kind = ("" if function.signed else "u") + ("int16" if wide else "int8")
    info = np.iinfo(kind)
    x = noise(seed, (400,), kind) if wide else np.arange(info.min, info.max + 1).astype(kind)
    epoch.values("ACTIV", 1, 0x400, [base | inner << 6 for base, inner in function.segments])
    assert all(-32768 <= one <= 32767 for abc in function.parabolas for one in abc)
    tables = [((a & 0xFFFF) | (b & 0xFFFF) << 16, c & 0xFFFF) for a, b, c in function.parabolas]
    epoch.values("ACTIV", 1, 0x800, [word for pair in tables for word in pair])
    epoch.set("ACTIV", 1, "ACTIVPARAM", PARAM=0x7F80, FUNC=function.scale)
    shifts = {"OUTSHIFT": function.out_shift, "CSHIFT": function.c_shift, "BSHIFT": function.b_shift}
    epoch.set("ACTIV", 1, "FUNC", SIGNEDOP=int(function.signed), BWIDTH=function.outer_bits, **shifts)
    epoch.set("ACTIV", 1, "FSUB", FSUB=function.subtract)
    format_ = {"FBYTES": x.itemsize, "FSHIFT": NO_SHIFT, "OBYTES": function.out_bytes, "ORNDMODE": 1}
    epoch.switch_on("ACTIV", 1, TYPE=3, ROUND=1, SAT=1, **format_)
    epoch.feed(activ_input(1), arith_reader(epoch, 1, x))
    epoch.store(OUTPUT_ENGINE, activ(1), function.at(x.astype(np.int64)), function.out_bytes)
    return epoch


def thresholded(threshold: int = -128, below: int = -128, size: int = 1, **other: int) -> Epoch:
    """Return an epoch with a thresholded ReLU of all bytes (ACTIV TYPE 2).

    Only its effect with the lowest value is known: none.
    """
    epoch = Epoch()
    x = np.arange(-128, 128).astype(np.int8)
    epoch.set("ACTIV", 0, "ACTIVPARAM", PARAM=threshold)
    epoch.set("ACTIV", 0, "ACTIVPARAM2", PARAM2=below)
    epoch.set("ACTIV", 0, "FUNC", SIGNEDOP=1)
    epoch.set("ACTIV", 0, "FSUB", FSUB=other.get("FSUB", 0))
    epoch.switch_on("ACTIV", 0, TYPE=2, ROUND=1, SAT=1, FBYTES=size, FSHIFT=NO_SHIFT, OBYTES=1, ORNDMODE=1)
    epoch.feed(activ_input(0), arith_reader(epoch, 1, x))
    epoch.store(OUTPUT_ENGINE, activ(0), x.astype(np.int64), 1)
    return epoch


def sigmoid(wide: bool = False) -> Function:
    """Return 1 / (1 + exp(-x)) of x / 16 as a byte from -128.

    It has a parabola for each of 32 equal segments of the 16 bits.
    """
    b_shift, c_shift, out_shift = (10, 22, 30) if wide else (6, 10, 18)
    unit, size = (1 / 4096, 2048) if wide else (1 / 16, 8)
    parabolas = []
    for first in range(-16 * size, 16 * size, size):
        x = np.arange(first, first + size, max(size // 16, 1))
        wanted = 256 / (1 + np.exp(-x * unit)) - 128
        a, b, c = np.polyfit(x, wanted, 2) * (1 << out_shift)
        parabolas.append((round(a), round(b / (1 << b_shift)), round(c / (1 << c_shift))))
    segments = tuple((2 * index, 1) for index in range(16))
    return Function(segments, tuple(parabolas), True, 0 if wide else 8, out_shift, b_shift, c_shift)


def whole_layer(seed: int = 0) -> Epoch:
    """Return an epoch with a whole layer, in the order of ST's compiler.

    It has a convolution, a scale for each channel, a requantisation with an offset, and a mean.
    """
    epoch = Epoch()
    c = Convolution(height=6, width=6, batch=4, kernels=4, pads=(1, 1, 1, 1), subtract=-3, out_shift=3)
    features, kernels = noise(seed, (1, 6, 6, 4)), noise(seed + 1, kernel_shape(c))
    convolver(epoch, 3, c, features, kernels)
    made = requantised(convolved(features[0], kernels, c), c)
    scales = np.array([19000, 24000, 32767, 17001])
    write_coefficients(epoch, 0, scales, np.zeros(4, np.int64), np.zeros(4, np.int64))
    epoch.values("ARITH", 0, offset_of("ARITH", "INCCNT"), [0, 3])
    epoch.set("ARITH", 0, "ADDROFFSET", OFFSET1=-3)
    epoch.set("ARITH", 0, "INCOFFSET", VAL=1)
    epoch.set("ARITH", 0, "SHIFT", RES=14)
    epoch.set("ARITH", 0, "INSHIFTER", FBYTESX=2, FSHIFTX=NO_SHIFT)
    epoch.switch_on("ARITH", 0, CNT1=1, COEFFA=1, COEFFC=1, ROUND=1, SAT=1, ORNDMODE=1, OBYTES=2)
    epoch.feed(arith_input(0), convacc(3))
    made = saturated(rounded(made * scales, 14), 16)
    offset = -7 << 14
    epoch.set("ARITH", 1, "COEFFAC", A=301, C=offset & 0xFFFF)
    epoch.set("ARITH", 1, "COEFFB", B=offset >> 16 & 0xFFFF)
    epoch.set("ARITH", 1, "SHIFT", RES=14)
    epoch.set("ARITH", 1, "INSHIFTER", FBYTESX=2, FSHIFTX=NO_SHIFT)
    epoch.switch_on("ARITH", 1, COMBINEBC=1, ROUND=1, SAT=1, ORNDMODE=1, OBYTES=1)
    epoch.feed(arith_input(1), arith(0))
    made = saturated(rounded(made * 301 + offset, 14), 8)
    epoch.store(7, arith(1), made, 1)
    epoch.set("POOL", 0, "PDIMS", WINX=2, WINY=2, STRDX=2, STRDY=2, BSIZE=4)
    epoch.set("POOL", 0, "FDIMS", FEATX=24, FEATY=6)
    epoch.set("POOL", 0, "MULVAL", MULVAL=1 << 8)
    epoch.set("POOL", 0, "RNDCTRL", FOBYTES=1, OBYTES=2, ORNDMODE=1)
    epoch.switch_on("POOL", 0, TYPE=2, ROUND=1, SAT=1, OUTSHIFT=2, FBYTES=1, FSHIFT=NO_SHIFT)
    epoch.feed(pool_input(0), arith(1))
    epoch.store(OUTPUT_ENGINE, pool(0), rounded(pooled(made, "sum", (2, 2), (2, 2)) << 8, 2), 2)
    return epoch


def biased_layer(kernels: Sequence[int], factors: Sequence[int], biases: Sequence[int], seed: int = 0) -> Epoch:
    """Return an epoch with a channel for each kernel of one value.

    It is requantised as by ST's compiler.

    The sum has 16 bits, its product with the channel's factor, too; the last step adds the bias.

    Args:
        kernels: Value of each kernel; features are 0 to 255.
        factors: Factor of each channel, in 2^-13.
        biases: Bias of each channel, in steps of the output.
    """
    epoch = Epoch()
    count = len(kernels)
    c = Convolution(8, 9, 1, count, kernel_height=1, kernel_width=1, subtract=-128)
    features = noise(seed, (1, 8, 9, 1))
    weights = np.array(kernels, np.int8).reshape(kernel_shape(c))
    convolver(epoch, 2, c, features, weights)
    made = requantised(convolved(features[0], weights, c), c)
    scales, offsets = np.array(factors, np.int64), np.array(biases, np.int64) << 20
    zeros = np.zeros(count, np.int64)
    for unit, a, constants in ((3, scales, zeros), (0, zeros, offsets)):
        write_coefficients(epoch, unit, a, constants >> 16, constants)
        epoch.values("ARITH", unit, offset_of("ARITH", "INCCNT"), [0, count - 1])
        epoch.set("ARITH", unit, "ADDROFFSET", OFFSET1=-(count - 1))
        epoch.set("ARITH", unit, "INCOFFSET", VAL=1)
        epoch.set("ARITH", unit, "INSHIFTER", FBYTESX=2, FSHIFTX=NO_SHIFT)
    epoch.set("ARITH", 3, "SHIFT", RES=13)
    epoch.switch_on("ARITH", 3, CNT1=1, COEFFA=1, COEFFC=1, ROUND=1, SAT=1, ORNDMODE=1, OBYTES=2)
    epoch.feed(arith_input(3), convacc(2))
    made = saturated(rounded(made * scales, 13), 16)
    epoch.set("ARITH", 0, "COEFFAC", A=21760)
    epoch.set("ARITH", 0, "SHIFT", RES=20)
    last = {"CNT1": 1, "COEFFB": 1, "COEFFC": 1, "COMBINEBC": 1}
    epoch.switch_on("ARITH", 0, **last, ROUND=1, SAT=1, ORNDMODE=1, OBYTES=1)
    epoch.feed(arith_input(0), arith(3))
    epoch.store(OUTPUT_ENGINE, arith(0), saturated(rounded(made * 21760 + offsets, 20), 8), 1)
    return epoch
