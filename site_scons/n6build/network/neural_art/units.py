"""Units that compute: convolution, arithmetic and pooling, configured as ST's compiler configures them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.network.neural_art.hardware_epoch import EpochBuilder, Setting, Unit
from n6build.network.neural_art.registers import packed, register

# A shift of the input of 16 is none.
_NO_SHIFT = 16
# x + 128 without saturation: 16384 * x + (128 << 14), shifted right by 14.
_ONE, _ONE_BITS = 16384, 14
# Channels whose coefficients ARITH was seen to hold in an epoch: the 768 registers of its memory, two a channel.
MOST_COEFFICIENTS = 384


@dataclass(frozen=True)
class Window:
    """Of a convolution. pads: top, bottom, left, right."""

    height: int
    width: int
    stride: int = 1
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)


@dataclass(frozen=True)
class Features:
    """What a convolution reads: frames of width x height pixels of `depth` channels. size: bytes of a value; zero: subtracted
    from each. fill: value around the image where it is not 0, None for the unit's own padding. packed: in deep mode, pixels
    follow each other within elements of three bytes."""

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
    """kernels: of a frame. shift: of the sums, to the right. position: in a chain of units, of so many: sums run through it, and
    the stream of kernels is shared. result: bytes of a result at the end of the chain. deep: 1x1 with bytewise features."""
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
    """size: bytes of an input."""
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
    return Setting(register(epoch.npu, "ARITH", "SHIFT"), (packed(epoch.npu, "ARITH", "SHIFT", **fields),))


def by_channel(
    epoch: EpochBuilder, factors: Sequence[int], summands: Sequence[int], pixels: int, group: int, shift: int
) -> Unit:
    """(factor * x + summand) >> shift, 8 bits, for each channel of a stream of 16 bits: frames of `pixels`, each of `group`
    channels that follow those of the frame before. summands: 32 bits each."""
    npu, channels = epoch.npu, len(factors)
    if channels > MOST_COEFFICIENTS:
        raise ValueError(f"{channels} channels in one epoch; {MOST_COEFFICIENTS} coefficients were seen")
    steps = dict.fromkeys(("CNT1", "CNT2", "CNT3", "COEFFA", "COEFFB", "COEFFC"), 1)
    control = {**steps, "ROUND": 1, "SAT": 1, "OBYTES": 1, "COMBINEBC": 1}
    table: list[int] = []
    for factor, summand in zip(factors, summands, strict=True):
        table += [factor & 0xFFFF | summand & 0xFFFF_0000, summand & 0xFFFF]
    offsets = packed(npu, "ARITH", "ADDROFFSET", OFFSET1=1 - group, OFFSET2=1, OFFSET3=1 - channels)
    counts = (0, group - 1, pixels * group - 1, pixels * channels - 1)
    shift_word = packed(npu, "ARITH", "SHIFT", RES=shift)
    settings = (
        Setting(register(npu, "ARITH", "SHIFT"), (shift_word, *counts, 0, 0, offsets, 1, 1, 0)),
        Setting(register(npu, "ARITH", "COEFF"), tuple(table)),
    )
    return _arithmetic(epoch, control, settings, size=2)


def affine(
    epoch: EpochBuilder, factor: int, summand: int, shift: int, size: int, *, truncated: int = 0, plain: bool = False
) -> Unit:
    """(factor * x + summand) >> shift, 8 bits out. size: bytes of x. truncated: a shift of the product alone. plain: neither
    rounded nor saturated."""
    npu = epoch.npu
    control = {"ROUND": int(not plain), "SAT": int(not plain), "OBYTES": 1, "COMBINEBC": 1}
    high, low = summand >> 16 & 0xFFFF, summand & 0xFFFF
    coefficients = (factor & 0xFFFF | low << 16, high)
    settings = (
        _shifts(epoch, AX=truncated, RES=shift),
        Setting(register(npu, "ARITH", "COEFFAC"), coefficients),
    )
    return _arithmetic(epoch, control, settings, size)


def plus_128(epoch: EpochBuilder) -> Unit:
    """int8 -> the same unsigned, as convolutions read it."""
    return affine(epoch, _ONE, 128 * _ONE, _ONE_BITS, 1, plain=True)


def identity(epoch: EpochBuilder) -> Unit:
    """8 bits as they are."""
    return affine(epoch, _ONE, 0, _ONE_BITS, 1, plain=True)


def minus_128(epoch: EpochBuilder) -> Unit:
    """Sums of 16 bits that are unsigned values of 8 bits -> int8."""
    return affine(epoch, _ONE, -128 * _ONE, _ONE_BITS, 2)


def sum_of_two(
    epoch: EpochBuilder, factors: tuple[int, int], summand: int, shifted: int, shift: int, size: int
) -> Unit:
    """(a * x + b * y + (summand << shifted)) >> shift, of `size` bytes in and out. Its ports are 0 and 1."""
    npu = epoch.npu
    control = {"ROUND": 1, "SAT": 1, "OBYTES": size, "DUALIN": 1}
    coefficients = (factors[0] & 0xFFFF | (summand & 0xFFFF) << 16, factors[1] & 0xFFFF)
    settings = (
        _shifts(epoch, C=shifted, RES=shift),
        Setting(register(npu, "ARITH", "COEFFAC"), coefficients),
    )
    return _arithmetic(epoch, control, settings, size)


@dataclass(frozen=True)
class Pooling:
    """type: 0 the largest, 10 the mean of a whole frame. window, stride: 0 and 1 for a whole frame. factor, shift: of a mean's
    sum. result: bytes."""

    type: int
    window: int
    stride: int
    factor: int = 0
    shift: int = 0
    result: int = 1


def pooling(epoch: EpochBuilder, how: Pooling, width: int, height: int, group: int, out: tuple[int, int]) -> Unit:
    """Frames of width x height pixels of `group` channels. out: what the unit is told of the output, height and width."""
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
