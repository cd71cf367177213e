"""CONV_2D: 1x1 in deep mode, 3x3, and large kernels of one channel."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.compile.neural_art.convolving import (
    CHAIN,
    Sums,
    finish,
    into_chain,
    kernels_of,
    requantised,
    seen_3x3,
    seen_stride,
)
from n6build.compile.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.compile.neural_art.layer import (
    SIGNED,
    UNSIGNED,
    ZERO_OF_UNSIGNED,
    Layer,
    Made,
    NpuOperator,
    StaysOnCpu,
    address,
    begin,
    image_shape,
    images,
    require_whole_range,
    windows_pads,
)
from n6build.compile.neural_art.layouts import in_rows
from n6build.compile.neural_art.padding import every_second, padded
from n6build.compile.neural_art.plain_chains import Units, in_chains
from n6build.compile.neural_art.pointwise import pointwise
from n6build.compile.neural_art.requantise import largest_sums
from n6build.compile.neural_art.streams import Frames, read
from n6build.compile.neural_art.units import Features, Window, convolution
from n6build.compile.reference.epochs import Address
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.weights import WEIGHTS
from n6build.compile.reference.windows import window_options

# Channels of a unit and kernels of a frame of a 3x3. The second line is for values of two bytes, with the zero point
# subtracted.
_CHANNELS, _KERNELS = 8, 8
_WIDE_CHANNELS, _WIDE_KERNELS = 3, 4


@dataclass(frozen=True)
class _Centred:
    """Chains of a 1x1 that were seen.

    Attributes:
        units: Most units of a chain.
        most: Most channels of a unit.
        line: Most values of a line.
        lines: Most lines of an image.
    """

    units: int
    most: int
    line: int
    lines: int


_CENTRED = (_Centred(1, 24, 1024, 128), _Centred(2, 16, 256, 32), _Centred(CHAIN, 16, 192, 16))
_CENTRED_KERNELS, _LEAST_CENTRED, _LEAST_CENTRED_LINES = (24, 16), 16, 7
# Channels of a 1x1 that is spread over a whole chain, and the lines and columns of its image.
_SPREAD, _SPREAD_LINES = (16 * CHAIN, 24 * CHAIN), range(16, 65)
# A large kernel is cut into units. These are rows and columns of a unit, kernels of a frame, and frames of an epoch.
_ROWS, _COLUMNS, _LARGE_KERNELS, _LARGE_FRAMES = 3, 7, 2, 24


def _size(operands: Operands) -> tuple[int, int]:
    _, height, width, _ = operands.required(WEIGHTS).shape
    return height, width


def _is_large(operands: Operands) -> bool:
    height, width = _size(operands)
    options = window_options(operands)
    strides = (options.stride_h, options.stride_w)
    return image_shape(operands.source)[2] == 1 and height > _ROWS and width <= _COLUMNS and strides == (2, 2)


def _is_wide(operands: Operands) -> bool:
    """Return whether units read the input of this 3x3 signed.

    They do if zero is not -128: mostly for an image.
    """
    options = window_options(operands)
    seen = (_size(operands), options.stride_h, options.stride_w) == ((3, 3), 2, 2)
    small = image_shape(operands.source)[2] <= _WIDE_CHANNELS
    return seen and small and required_quantisation(operands.source).zero_point != ZERO_OF_UNSIGNED


def _centred(operands: Operands) -> Units | None:
    """Return the units of a 1x1 that subtract the zero point, or None.

    Sums are then smaller than those of unsigned values. The result is None if channels, lines or
    kernels are not as they were seen.
    """
    options, (height, width, channels) = window_options(operands), image_shape(operands.source)
    kernels = next((each for each in _CENTRED_KERNELS if operands.output.shape[-1] % each == 0), 0)
    other = required_quantisation(operands.source).zero_point != ZERO_OF_UNSIGNED
    if _size(operands) != (1, 1) or options.stride_h != 1 or not kernels or not other:
        return None
    for each in _CENTRED:
        units = -(-channels // each.most)
        taken = channels // units
        fits = channels % units == 0 and units <= each.units and taken >= _LEAST_CENTRED
        if fits and width * taken <= each.line and _LEAST_CENTRED_LINES <= height <= each.lines:
            return Units(Window(1, 1), taken, kernels, units, wide=True)
    return None


def _spread(operands: Operands) -> Units | None:
    """Return the units of a 1x1 that is spread over a whole chain, or None.

    ST's compiler was seen to do so, though one unit could take the channels. The result is None if
    channels, image or kernels are not as they were seen.
    """
    options, (height, width, channels) = window_options(operands), image_shape(operands.source)
    kernels = next((each for each in _CENTRED_KERNELS if operands.output.shape[-1] % each == 0), 0)
    other = required_quantisation(operands.source).zero_point != ZERO_OF_UNSIGNED
    if _size(operands) != (1, 1) or options.stride_h != 1 or not kernels or other:
        return None
    if channels not in _SPREAD or height not in _SPREAD_LINES or width not in _SPREAD_LINES:
        return None
    return Units(Window(1, 1), channels // CHAIN, kernels, CHAIN, wide=False)


def _form(operands: Operands) -> str:
    return SIGNED if _is_large(operands) or _is_wide(operands) or _centred(operands) else UNSIGNED


def _lower(layer: Layer, made: Made) -> None:
    operands = layer.operands
    options = window_options(operands)
    height, width = _size(operands)
    stride = seen_stride(options)
    require_whole_range(operands, options.activation)
    if _is_large(operands):
        _large(layer, made)
    elif (height, width) == (1, 1):
        _pointwise(layer, made)
    elif (height, width) == (3, 3):
        _spatial(layer, made)
    else:
        raise StaysOnCpu(f"a kernel of {height}x{width}, stride {stride}: no such convolution was seen")


def _pointwise(layer: Layer, made: Made) -> None:
    options = window_options(layer.operands)
    if any(windows_pads(layer.operands, options, 1, 1)):
        raise StaysOnCpu("a padded 1x1: no such convolution was seen")
    plain = _centred(layer.operands) or _spread(layer.operands)
    if plain:
        in_chains(layer, made, plain)
        return
    source = address(layer, UNSIGNED)
    values = images(layer, layer.operands.source)
    if options.stride_h == 2:
        source = every_second(layer, made, source)
        values = values[:, ::2, ::2]
    pointwise(layer, made, source, values)


def _spatial(layer: Layer, made: Made) -> None:
    """Append the epochs of a 3x3, with eight channels a unit.

    With stride 1, chains have up to four units. With stride 2 they have one: a longer one was not
    seen.
    """
    operands = layer.operands
    window = seen_3x3(layer)
    zero = required_quantisation(operands.source).zero_point
    if _is_wide(operands):
        in_chains(layer, made, Units(window, _WIDE_CHANNELS, _WIDE_KERNELS, 1, wide=True))
    elif zero == ZERO_OF_UNSIGNED:
        in_chains(layer, made, Units(window, _CHANNELS, _KERNELS, CHAIN if window.stride == 1 else 1, wide=False))
    else:
        seen = f"with stride 2 and {_WIDE_CHANNELS} channels alone"
        raise StaysOnCpu(f"a 3x3 whose input has another zero point than -128: such a convolution was seen {seen}")


def _large(layer: Layer, made: Made) -> None:
    """Append the epochs of a convolution with large kernels.

    Rows are cut in threes, each a unit of a chain with zeros where the kernel is narrower. The
    image is padded before.
    """
    operands = layer.operands
    options = window_options(operands)
    rows, columns = _size(operands)
    height, width, _ = image_shape(operands.source)
    out_height, out_width, count = image_shape(operands.output)
    zero = required_quantisation(operands.source).zero_point
    if count % _LARGE_KERNELS or -(-rows // _ROWS) > CHAIN:
        raise StaysOnCpu(f"a kernel of {rows}x{columns} with {count} kernels: no such convolution was seen")
    top, bottom, left, right = windows_pads(operands, options, rows, columns)
    kernels = kernels_of(layer, count)
    values = images(layer, operands.source)
    largest = layer.calibration.largest(
        largest_sums, values, kernels.weights.transpose(1, 2, 3, 0), 2, (top, bottom, left, right), zero, [(0, 1)]
    )
    how = requantised(layer, largest, kernels.scales, kernels.biases)
    right = max(0, (out_width - 1) * 2 + _COLUMNS - width - left)
    pads = (top, bottom, left, right)
    source = address(layer, SIGNED)
    if any(pads):
        source = padded(layer, made, source, (height, width, 1), pads, zero)
    line = width + left + right
    lines = (out_height - 1) * 2 + _ROWS
    parts = -(-count // (_LARGE_KERNELS * _LARGE_FRAMES))
    if count % (parts * _LARGE_KERNELS):
        raise StaysOnCpu(f"{count} kernels of {rows}x{columns} cannot be cut evenly")
    step = count // parts
    for first in range(0, count, step):
        part = slice(first, first + step)
        how = requantised(layer, largest[part], kernels.scales[part], kernels.biases[part])
        data, starts = in_rows(kernels.weights[part, ..., 0].astype("int8"), _LARGE_KERNELS, _ROWS, _COLUMNS)

        def one(
            data: bytes = data, starts: tuple[int, ...] = starts, shift: int = how.first
        ) -> tuple[EpochBuilder, Unit]:
            epoch = begin(layer, f"{rows}x{columns} as {len(starts)} of {_ROWS}x{_COLUMNS}", layer.useful // parts)
            kernel_frames = Frames(made.constant(layer, data), len(data))
            stream = read(epoch, kernel_frames, constant=True, goes_on=True, signed=True)
            epoch.macs = operands.output.elements * _ROWS * _COLUMNS * len(starts) // parts
            frames = [
                Frames(
                    Address(source.name, source.offset + start * line),
                    lines * line,
                    count=step // _LARGE_KERNELS,
                    repeat=1,
                )
                for start in starts
            ]
            features = Features(line, lines, 1, signed=True, size=2, zero=zero)
            return epoch, _large_chain(epoch, stream, frames, features, shift)

        finish(layer, made, [one], Sums(how, _LARGE_KERNELS, step, first, whole=parts == 1))


def _large_chain(epoch: EpochBuilder, stream: Unit, frames: list[Frames], features: Features, shift: int) -> Unit:
    """Add the chain of a large kernel and return its last unit.

    Args:
        stream: Stream of the kernels.
        frames: Frames of the features, for each unit.
    """
    before: Unit | None = None
    for place, given in enumerate(frames):
        unit = convolution(
            epoch, Window(_ROWS, _COLUMNS, 2), features, _LARGE_KERNELS, shift, position=(place, len(frames))
        )
        before = into_chain(epoch, unit, read(epoch, given, signed=True), stream, before)
    assert before is not None
    return before


NPU_OPERATORS = (NpuOperator("CONV_2D", "conv_2d", _form, _lower),)
