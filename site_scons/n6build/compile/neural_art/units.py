"""Units that compute: convolution, arithmetic and pooling, as by ST's compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.compile.neural_art.hardware_epoch import EpochBuilder, Setting, Unit
from n6build.compile.neural_art.registers import DoesNotFit, packed, register

# The field of the input's shift has this value for no shift.
_NO_SHIFT = 16
# x + 128 without saturation: 16384 * x + (128 << 14), shifted right by 14.
_ONE, _ONE_BITS = 16384, 14
# Most channels whose coefficients ARITH was seen to hold in an epoch: its memory has 768 registers, two a channel.
MOST_COEFFICIENTS = 384


@dataclass(frozen=True)
class Window:
    """Window of a convolution.

    Attributes:
        height: Height of the window.
        width: Width of the window.
        stride: Stride down and across.
        pads: Padding at top, bottom, left and right.
    """

    height: int
    width: int
    stride: int = 1
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)


@dataclass(frozen=True)
class Features:
    """Input of a convolution: frames of pixels.

    Attributes:
        width: Pixels of a line.
        height: Lines of a frame.
        depth: Channels of a pixel.
        signed: Whether values are signed.
        size: Bytes of a value.
        zero: Number that is subtracted from each value.
        fill: Value around the image if it is not 0, None for the unit's own padding.
        packed: Whether pixels are consecutive within elements of three bytes, in deep mode.
    """

    width: int
    height: int
    depth: int
    signed: bool = False
    size: int = 1
    zero: int = 0
    fill: int | None = None
    packed: bool = False


def convolution(
    epoch: EpochBuilder,
    window: Window,
    features: Features,
    kernels: int,
    shift: int,
    *,
    position: tuple[int, int] = (0, 1),
    deep: bool = False,
    result: int = 2,
) -> Unit:
    """Add a convolution unit and return it.

    Args:
        epoch: Epoch that gets the unit.
        window: Window of the convolution.
        features: Input of the unit.
        kernels: Kernels of a frame.
        shift: Shift of the sums to the right.
        position: Place in a chain of units, and their number. Sums run through the chain, and the
            stream of kernels is shared.
        deep: Whether it is a 1x1 with bytewise features.
        result: Bytes of a result at the end of the chain.
    """
    npu = epoch.npu
    place, length = position
    first, last = place == 0, place == length - 1
    top, bottom, left, right = window.pads
    depth = features.depth

    def field(name: str, **fields: int) -> int:
        return packed(npu, "CONVACC", name, **fields)

    control = field(
        "CTRL",
        SIMD=features.size,
        NOSUM=int(first),
        NO1SUM=int(first),
        FUNSIGNED=int(not features.signed),
        DEEPMODE=int(deep),
        KSETEN=3 if deep else 0,
    )
    strides = {"HSTRD": window.stride, "VSTRD": window.stride}
    own = {"LPAD": left, "RPAD": right, "TPAD": top, "BPAD": bottom}
    around = features.fill is not None
    form = field(
        "DFORMAT",
        OUTSHIFT=shift if last else 0,
        INSHIFT=shift if first else 0,
        ORNDMODE=1,
        ROUND=1,
        SAT=1,
        OBYTES=result if last else 3,
        RAW=int(not last),
        FBYTES=3 if features.packed else features.size,
        FSHIFT=_NO_SHIFT,
    )
    share = field("KFILT", TOT=length * kernels, FIRST=place * kernels, LAST=place * kernels + kernels - 1)
    frame = field("ZFRAME", LEFT=left, RIGHT=right, TOP=top, BOTTOM=bottom) if around else 0
    epoch_frames = (
        field("KFORMAT", WIDTH=window.width, HEIGHT=window.height, BTCDEPTH=depth, NR=kernels),
        field("SAMPLE", **strides) if around else field("SAMPLE", **own, **strides),
        form,
        field("FFORMAT", WIDTH=features.width * depth, HEIGHT=features.height),
        field("FHCROP", RIGHT=features.width * depth - 1),
        field("FVCROP", BOTTOM=features.height - 1),
        share if length > 1 else 1,
        1,
        frame,
    )
    settings = (
        Setting(register(npu, "CONVACC", "KFORMAT"), epoch_frames),
        Setting(
            register(npu, "CONVACC", "FSUB"),
            (field("FSUB", FSUB=features.zero), field("ZFBIAS", ZFBIAS=features.fill or 0)),
        ),
    )
    return epoch.add(Unit("CONVACC", epoch.next_index("CONVACC"), control, settings))


def _arithmetic(epoch: EpochBuilder, control: dict[str, int], settings: Sequence[Setting], size: int) -> Unit:
    """Add an arithmetic unit whose inputs have `size` bytes, and return it."""
    npu = epoch.npu
    shifter = packed(
        npu,
        "ARITH",
        "INSHIFTER",
        FBYTESX=size,
        FSHIFTX=_NO_SHIFT,
        FOBYTESX=size,
        FBYTESY=size,
        FSHIFTY=_NO_SHIFT,
        FOBYTESY=size,
    )
    word = packed(npu, "ARITH", "CTRL", ORNDMODE=1, **control)
    at = Setting(register(npu, "ARITH", "INSHIFTER"), (shifter,))
    reset = npu.registers["ARITH"]["CTRL"].reset
    return epoch.add(Unit("ARITH", epoch.next_index("ARITH"), word, (at, *settings), reset=reset))


def _shifts(epoch: EpochBuilder, **fields: int) -> Setting:
    return Setting(register(epoch.npu, "ARITH", "SHIFT"), (_shift_word(epoch, **fields),))


def _shift_word(epoch: EpochBuilder, **shifts: int) -> int:
    """Return the shifts of an arithmetic unit.

    Raises:
        DoesNotFit: If one is negative: scales are too far apart.
    """
    if min(shifts.values()) < 0:
        raise DoesNotFit(f"its scales are too far apart: a shift of {min(shifts.values())} bits")
    return packed(epoch.npu, "ARITH", "SHIFT", **shifts)


def _signed(number: int, bits: int) -> int:
    """Return a signed number as the bits of a register.

    Raises:
        DoesNotFit: If it has more bits.
    """
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise DoesNotFit(f"its scales are too far apart: {number} has more than {bits} bits")
    return number & (1 << bits) - 1


def by_channel(
    epoch: EpochBuilder, factors: Sequence[int], summands: Sequence[int], pixels: int, group: int, shift: int
) -> Unit:
    """Add a unit for (factor * x + summand) >> shift of each channel, and return it.

    The stream has 16 bits in and 8 bits out.

    Args:
        epoch: Epoch that gets the unit.
        factors: Factor of each channel.
        summands: Summand of each channel, 32 bits.
        pixels: Pixels of a frame.
        group: Channels of a frame, which follow those of the frame before.
        shift: Shift to the right.
    """
    npu, channels = epoch.npu, len(factors)
    if channels > MOST_COEFFICIENTS:
        raise DoesNotFit(f"{channels} channels in one epoch; {MOST_COEFFICIENTS} coefficients were seen")
    steps = dict.fromkeys(("CNT1", "CNT2", "CNT3", "COEFFA", "COEFFB", "COEFFC"), 1)
    control = {**steps, "ROUND": 1, "SAT": 1, "OBYTES": 1, "COMBINEBC": 1}
    table: list[int] = []
    for factor, summand in zip(factors, summands, strict=True):
        word = _signed(summand, 32)
        table += [_signed(factor, 16) | word & 0xFFFF_0000, word & 0xFFFF]
    offsets = packed(npu, "ARITH", "ADDROFFSET", OFFSET1=1 - group, OFFSET2=1, OFFSET3=1 - channels)
    counts = (0, group - 1, pixels * group - 1, pixels * channels - 1)
    settings = (
        Setting(register(npu, "ARITH", "SHIFT"), (_shift_word(epoch, RES=shift), *counts, 0, 0, offsets, 1, 1, 0)),
        Setting(register(npu, "ARITH", "COEFF"), tuple(table)),
    )
    return _arithmetic(epoch, control, settings, size=2)


def affine(
    epoch: EpochBuilder, factor: int, summand: int, shift: int, size: int, *, truncated: int = 0, plain: bool = False
) -> Unit:
    """Add a unit for (factor * x + summand) >> shift with 8 bits out, and return it.

    Args:
        epoch: Epoch that gets the unit.
        factor: Factor of x.
        summand: Summand of the product.
        shift: Shift of the result to the right.
        size: Bytes of x.
        truncated: Shift of the product alone.
        plain: Whether the result is neither rounded nor saturated.
    """
    npu = epoch.npu
    control = {"ROUND": int(not plain), "SAT": int(not plain), "OBYTES": 1, "COMBINEBC": 1}
    word = _signed(summand, 32)
    coefficients = (_signed(factor, 16) | (word & 0xFFFF) << 16, word >> 16)
    settings = (
        _shifts(epoch, AX=truncated, RES=shift),
        Setting(register(npu, "ARITH", "COEFFAC"), coefficients),
    )
    return _arithmetic(epoch, control, settings, size)


def plus_128(epoch: EpochBuilder) -> Unit:
    """Add a unit from int8 to unsigned, as convolutions read it, and return it."""
    return affine(epoch, _ONE, 128 * _ONE, _ONE_BITS, 1, plain=True)


def identity(epoch: EpochBuilder) -> Unit:
    """Add a unit that copies 8 bits, and return it."""
    return affine(epoch, _ONE, 0, _ONE_BITS, 1, plain=True)


def minus_128(epoch: EpochBuilder) -> Unit:
    """Add a unit from unsigned values to int8, and return it.

    The values have 8 bits, in sums of 16 bits.
    """
    return affine(epoch, _ONE, -128 * _ONE, _ONE_BITS, 2)


def sum_of_two(
    epoch: EpochBuilder, factors: tuple[int, int], summand: int, shifted: int, shift: int, size: int
) -> Unit:
    """Add a unit for (a * x + b * y + (summand << shifted)) >> shift, and return it.

    Its inputs are the ports 0 and 1.

    Args:
        epoch: Epoch that gets the unit.
        factors: Factors a and b.
        summand: Summand of the products.
        shifted: Shift of the summand to the left.
        shift: Shift of the result to the right.
        size: Bytes of inputs and output.
    """
    npu = epoch.npu
    control = {"ROUND": 1, "SAT": 1, "OBYTES": size, "DUALIN": 1}
    coefficients = (_signed(factors[0], 16) | _signed(summand, 16) << 16, _signed(factors[1], 16))
    settings = (
        _shifts(epoch, C=shifted, RES=shift),
        Setting(register(npu, "ARITH", "COEFFAC"), coefficients),
    )
    return _arithmetic(epoch, control, settings, size)


@dataclass(frozen=True)
class Pooling:
    """Configuration of a pooling.

    Attributes:
        type: 0 for the largest, 10 for the mean of a whole frame.
        window: Height and width of the window, 0 for a whole frame.
        stride: Stride down and across, 1 for a whole frame.
        factor: Factor of a mean's sum.
        shift: Shift of a mean's sum.
        result: Bytes of a result.
    """

    type: int
    window: int
    stride: int
    factor: int = 0
    shift: int = 0
    result: int = 1


def pooling(epoch: EpochBuilder, how: Pooling, width: int, height: int, group: int, out: tuple[int, int]) -> Unit:
    """Add a pooling unit and return it.

    Args:
        epoch: Epoch that gets the unit.
        how: Configuration of the pooling.
        width: Pixels of a line.
        height: Lines of a frame.
        group: Channels of a pixel.
        out: Height and width of the output, as written to the unit.
    """
    npu = epoch.npu

    def field(name: str, **fields: int) -> int:
        return packed(npu, "POOL", name, **fields)

    control = field(
        "CTRL", TYPE=how.type, ROUND=1, SAT=1, OUTSHIFT=how.shift, FBYTES=1, FSHIFT=_NO_SHIFT, DUALLINE=1, CROPEN=1
    )
    window = {"WINX": how.window, "WINY": how.window}
    right = width * group - 1 if not how.window else (out[1] - 1) * how.stride + how.window - 1
    bottom = height - 1 if not how.window else (out[0] - 1) * how.stride + how.window - 1
    values = (
        field("PDIMS", **window, STRDX=how.stride, STRDY=how.stride, BSIZE=group),
        field("FDIMS", FEATX=width * group, FEATY=height),
        field("OUTDIMS", FEATX=out[1], FEATY=out[0]),
        how.factor,
        field("XCROP", RCROP=right),
        field("YCROP", BCROP=bottom),
        field("RNDCTRL", FOBYTES=1, OBYTES=how.result, ORNDMODE=1),
    )
    settings = (Setting(register(npu, "POOL", "PDIMS"), values),)
    return epoch.add(Unit("POOL", epoch.next_index("POOL"), control, settings))
