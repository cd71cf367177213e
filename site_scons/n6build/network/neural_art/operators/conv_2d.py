"""CONV_2D: 1x1 in deep mode, 3x3, and large kernels of one channel."""

from __future__ import annotations

from dataclasses import replace

from n6build.network.neural_art.convolving import (
    CHAIN,
    Sums,
    chained,
    finish,
    into_chain,
    kernels_of,
    requantised,
    seen_3x3,
    seen_stride,
    slices_of,
)
from n6build.network.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.network.neural_art.layer import (
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
from n6build.network.neural_art.layouts import in_rows, plain
from n6build.network.neural_art.padding import padded
from n6build.network.neural_art.pointwise import pointwise
from n6build.network.neural_art.requantise import largest_sums
from n6build.network.neural_art.streams import Frames, Image, read
from n6build.network.neural_art.subsampling import every_second
from n6build.network.neural_art.units import Features, Window, convolution
from n6build.network.reference.epochs import Address
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.weights import WEIGHTS
from n6build.network.reference.windows import window_options

# Channels of a unit, and kernels of a frame, of a 3x3; and where each value is two bytes, its zero point subtracted.
_CHANNELS, _KERNELS = 8, 8
_WIDE_CHANNELS, _WIDE_KERNELS = 3, 4
# A large kernel is cut into units of so many rows and columns, with so many kernels a frame, and so many frames an epoch.
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
    """Of a 3x3 that units read signed, as they do where zero is not -128: an image, mostly."""
    options = window_options(operands)
    seen = (_size(operands), options.stride_h, options.stride_w) == ((3, 3), 2, 2)
    small = image_shape(operands.source)[2] <= _WIDE_CHANNELS
    return seen and small and required_quantisation(operands.source).zero_point != ZERO_OF_UNSIGNED


def _form(operands: Operands) -> str:
    return SIGNED if _is_large(operands) or _is_wide(operands) else UNSIGNED


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
    source = address(layer, UNSIGNED)
    values = images(layer, layer.operands.source)
    if options.stride_h == 2:
        source = every_second(layer, made, source)
        values = values[:, ::2, ::2]
    pointwise(layer, made, source, values)


def _spatial(layer: Layer, made: Made) -> None:
    """Eight channels a unit; with stride 1 chains of up to four units, with stride 2 one: a chain was not seen."""
    operands = layer.operands
    window = seen_3x3(layer)
    wide = _is_wide(operands)
    zero = required_quantisation(operands.source).zero_point
    if zero != ZERO_OF_UNSIGNED and not wide:
        seen = f"with stride 2 and {_WIDE_CHANNELS} channels alone"
        raise StaysOnCpu(f"a 3x3 whose input has another zero point than -128: such a convolution was seen {seen}")
    height, width, channels = image_shape(operands.source)
    count = operands.output.shape[3]
    frame = _WIDE_KERNELS if wide else _KERNELS
    if count % frame:
        raise StaysOnCpu(f"{count} kernels are no multiple of {frame}")
    kernels = kernels_of(layer, count)
    groups = chained(slices_of(channels, _CHANNELS), CHAIN if window.stride == 1 else 1)
    ends = [(group[0][0], group[-1][1]) for group in groups]
    values = images(layer, operands.source)
    largest = largest_sums(values, kernels.weights.transpose(1, 2, 3, 0), window.stride, window.pads, zero, ends)
    how = requantised(layer, largest, kernels.scales, kernels.biases, len(groups))
    weights = kernels.weights.astype("int8")
    source = address(layer, _form(operands))

    def one(group: list[tuple[int, int]]) -> tuple[EpochBuilder, Unit]:
        epoch = begin(layer, f"3x3, chain of {len(group)}", layer.useful * (group[-1][1] - group[0][0]) // channels)
        data = plain(weights, frame, group)
        stream = read(epoch, Frames(made.constant(layer, data), len(data)), constant=True, goes_on=True, signed=wide)
        before: Unit | None = None
        for place, (first, end) in enumerate(group):
            frames = _whole_image(source, height, width, channels, first, end, count // frame)
            features = Features(width, height, end - first)
            if wide:
                features = replace(features, signed=True, size=2, zero=zero)
            unit = convolution(epoch, window, features, frame, how.first, position=(place, len(group)))
            before = into_chain(epoch, unit, read(epoch, frames, signed=wide), stream, before)
            epoch.macs += layer.operands.output.elements * 9 * (end - first)
        assert before is not None
        return epoch, before

    passes = [lambda group=group: one(group) for group in groups]
    finish(layer, made, passes, Sums(how, frame, count))


def _whole_image(source: Address, height: int, width: int, channels: int, first: int, end: int, frames: int) -> Frames:
    """The same image for each frame of kernels, channels first to end."""
    if channels <= _CHANNELS:
        elements = height * width * channels
        return Frames(source, elements, count=frames, step=elements, repeat=1)
    picture = Image(width, height, end - first, channels, width * channels)
    return Frames(Address(source.name, source.offset + first), picture, count=frames, repeat=1)


def _large(layer: Layer, made: Made) -> None:
    """Rows are cut in threes, each a unit of a chain with zeros where the kernel is narrower; the image is padded before."""
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
    largest = largest_sums(values, kernels.weights.transpose(1, 2, 3, 0), 2, (top, bottom, left, right), zero, [(0, 1)])
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
    """The last unit. frames: of the features, for each unit. stream: of the kernels."""
    before: Unit | None = None
    for place, given in enumerate(frames):
        unit = convolution(
            epoch, Window(_ROWS, _COLUMNS, 2), features, _LARGE_KERNELS, shift, position=(place, len(frames))
        )
        before = into_chain(epoch, unit, read(epoch, given, signed=True), stream, before)
    assert before is not None
    return before


NPU_OPERATOR = NpuOperator("CONV_2D", "conv_2d", _form, _lower)
