"""The way from the sums of a convolution to its output.

It is direct, or through memory if one chain of units is not enough.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from n6build.compile.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.compile.neural_art.layer import (
    Layer,
    Made,
    StaysOnCpu,
    image_shape,
    output_quantisation,
    scale_of,
    windows_pads,
    write_output,
)
from n6build.compile.neural_art.requantise import Floats, Integers, Requantisation, Scales, requantisation
from n6build.compile.neural_art.streams import Frames, read, write
from n6build.compile.neural_art.units import Window, by_channel, sum_of_two
from n6build.compile.reference.epochs import Address
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.operands import required_quantisation
from n6build.compile.reference.weights import BIAS, WEIGHTS
from n6build.compile.reference.windows import WindowOptions, window_options

# It makes an epoch with its units. It returns the epoch and the unit that puts out the sums.
Pass = Callable[[], tuple[EpochBuilder, Unit]]
# Most units of a chain.
CHAIN = 4
# Most lines or columns of padding.
_MOST_AROUND = 3
# Fewest frames of an epoch if a layer has several.
_FEWEST_FRAMES = 2


@dataclass(frozen=True)
class Sums:
    """Sums of one or several epochs that make the same channels.

    Attributes:
        requantisation: Scaling of the sums to int8.
        group: Channels of a frame.
        count: Number of channels.
        at: First channel.
        whole: Whether they are all channels of the output.
    """

    requantisation: Requantisation
    group: int
    count: int
    at: int = 0
    whole: bool = True

    @property
    def frames(self) -> int:
        """Return the number of frames, one for each group."""
        return self.count // self.group


def finish(layer: Layer, made: Made, passes: Sequence[Pass], sums: Sums) -> None:
    """Append the epochs of `passes`.

    If there are several, the sums of all but the last go through memory. Each pass adds the sums of
    those before to its own.
    """
    height, width, _ = image_shape(layer.operands.output)
    pixels = height * width
    epoch, last = passes[0]()
    for each in passes[1:]:
        place = made.temporary(layer, 2 * pixels * sums.count)
        partial = _partial_frames(place, pixels, sums)
        write(epoch, partial, last)
        made.epochs.append(epoch.done())
        epoch, own = each()
        last = sum_of_two(epoch, (1, 1), 0, 0, 0, 2)
        epoch.link(own, last)
        epoch.link(read(epoch, partial), last, 1)
    _requantised(layer, epoch, last, sums, len(passes))
    made.epochs.append(epoch.done())


def _partial_frames(place: Address, pixels: int, sums: Sums) -> Frames:
    elements = pixels * sums.group
    return Frames(place, elements, size=2, count=sums.frames, step=2 * elements)


def _requantised(layer: Layer, epoch: EpochBuilder, last: Unit, sums: Sums, passes: int) -> None:
    how = sums.requantisation
    height, width, _ = image_shape(layer.operands.output)
    moved = by_channel(epoch, how.factors, how.summands, height * width, sums.group, how.second)
    epoch.link(last, moved)
    epoch.lost = passes * how.lost
    write_output(layer, epoch, moved, sums.group, sums.frames, sums.at, None if sums.whole else sums.count)


def into_chain(epoch: EpochBuilder, unit: Unit, features: Unit, kernels: Unit, before: Unit | None) -> Unit:
    """Link a unit to its inputs and return it.

    It reads features, kernels, and the sums of the unit before it in the chain.
    """
    epoch.link(features, unit)
    epoch.link(kernels, unit, 1)
    if before:
        epoch.link(before, unit, 2)
    return unit


def seen_stride(options: WindowOptions) -> int:
    """Return the stride down and across.

    Raises:
        StaysOnCpu: If such strides or a dilation were not seen.
    """
    if (options.dilation_h, options.dilation_w) != (1, 1):
        raise StaysOnCpu("dilation: no such convolution was seen")
    strides = (options.stride_h, options.stride_w)
    if strides not in ((1, 1), (2, 2)):
        raise StaysOnCpu(f"strides {strides[0]} and {strides[1]}: only 1 and 2 were seen, both the same")
    return strides[0]


def seen_3x3(layer: Layer) -> Window:
    """Return the window of a 3x3 with the padding around the image.

    Raises:
        StaysOnCpu: If such a window was not seen.
    """
    options = window_options(layer.operands)
    pads = windows_pads(layer.operands, options, 3, 3)
    if max(pads) > _MOST_AROUND:
        raise StaysOnCpu(f"a padding of {max(pads)}: at most {_MOST_AROUND} was seen")
    return Window(3, 3, seen_stride(options), pads)


@dataclass(frozen=True)
class Kernels:
    """Kernels of a convolution.

    Attributes:
        tensor: Tensor of the weights.
        weights: Weights as in the model.
        scales: Scale of each kernel.
        biases: Biases in units of the sums.
    """

    tensor: Tensor
    weights: Integers
    scales: Floats
    biases: Floats


def kernels_of(layer: Layer, count: int) -> Kernels:
    """Return the layer's kernels, `count` of them."""
    tensor, bias = layer.operands.required(WEIGHTS), layer.operands.optional(BIAS)
    assert tensor.data is not None
    scales = np.array(required_quantisation(tensor).scales, np.float64)
    biases = np.zeros(count) if bias is None or bias.data is None else bias.data.astype(np.float64)
    weights = tensor.data.astype(np.int64)
    return Kernels(tensor, weights, np.repeat(scales, count // len(scales)), biases)


def requantised(
    layer: Layer,
    largest: Floats,
    scales: Floats,
    biases: Floats,
    passes: int = 1,
    possible: Floats | float = math.inf,
) -> Requantisation:
    """Return the requantisation of a layer's sums.

    Args:
        layer: Layer with a convolution.
        largest: Largest sums on the calibration's vectors, without the margin.
        scales: Scales of the kernels.
        biases: Biases in units of the sums.
        passes: Number of epochs that make parts of the sums.
        possible: Magnitude that no sum exceeds.
    """
    target = output_quantisation(layer)
    given = Scales(scale_of(layer.operands.source), scales, target.scale, target.zero_point, layer.twice)
    with_margin = np.minimum(largest * layer.calibration.margin + 1, possible)
    return requantisation(with_margin, given, biases, in_parts=passes > 1)


def in_epochs(layer: Layer, frames: int, most: int, frame: int) -> list[slice]:
    """Return the kernels of each epoch.

    A layer whose kernels are apart has two frames in each epoch, since an engine that writes a
    single one was not seen.

    Args:
        layer: Layer with a convolution.
        frames: Number of frames in all.
        most: Most frames of an epoch.
        frame: Kernels of a frame.
    """
    count = max(1, frames // _FEWEST_FRAMES) if layer.apart else -(-frames // most)
    ends = [frames * part // count * frame for part in range(count + 1)]
    return [slice(first, end) for first, end in itertools.pairwise(ends)]


def slices_of(channels: int, most: int, *, even: bool = False) -> list[tuple[int, int]]:
    """Cut channels into parts of at most `most`: (first, behind the last).

    Args:
        channels: Number of channels.
        most: Most channels of a part.
        even: Whether all parts have the same size if the fewest parts can have it.
    """
    fewest = -(-channels // most)
    if even and channels % fewest == 0:
        most = channels // fewest
    return [(first, min(first + most, channels)) for first in range(0, channels, most)]


def chained(parts: Sequence[tuple[int, int]], length: int) -> list[list[tuple[int, int]]]:
    """Group parts for chains of at most `length` units.

    Units of a chain share a stream of kernels, in which each skips those of the others by its own
    number of channels. A smaller last part therefore gets a chain of its own.
    """
    sizes = [end - first for first, end in parts]
    same = sum(size == sizes[0] for size in sizes)
    groups = [list(parts[first : min(first + length, same)]) for first in range(0, same, length)]
    return [*groups, *([part] for part in parts[same:])]
