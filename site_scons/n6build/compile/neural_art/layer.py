"""Operators of the model on their way to the NPU, and helpers of their modules."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from n6build.compile.neural_art.hardware_epoch import EpochBuilder, HardwareEpoch, Unit
from n6build.compile.neural_art.requantise import Floats
from n6build.compile.neural_art.streams import Frames, Image, write
from n6build.compile.neural_art.units import plus_128
from n6build.compile.reference.epochs import Address, Initializer
from n6build.compile.reference.graph import Quantisation, Tensor
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.ranges import Activation, clamp_range
from n6build.compile.reference.windows import WindowOptions, window_output
from n6build.describe.hardware.npu import Npu

# Forms of an int8 tensor in memory: as it is, or each value plus 128, as convolutions read it.
SIGNED, UNSIGNED = "signed", "unsigned"
ZERO_OF_UNSIGNED = -128


class StaysOnCpu(Exception):
    """A reason why an operator does not go to the NPU."""


@dataclass(frozen=True)
class Calibration:
    """Values of activations that decide how large sums may become.

    Attributes:
        values: Values of each activation by its tensor's index, vectors first.
        margin: Factor by which sums may exceed those on these values.
        sums: Results of `largest`, by a digest of everything that they depend on.
    """

    values: Mapping[int, NDArray[np.int8]]
    margin: float
    sums: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    def largest(self, find: Callable[..., Floats], *given: object) -> Floats:
        """Return the result of `find` for arrays and numbers.

        A layer is lowered again whenever another one goes to the CPU or is cut. The sums of an
        unchanged layer are not computed again.
        """
        digest = hashlib.sha256(find.__name__.encode())
        for each in given:
            if isinstance(each, np.ndarray):
                digest.update(repr((each.shape, each.dtype)).encode())
                digest.update(np.ascontiguousarray(each).data)
            else:
                digest.update(repr(each).encode())
        key = digest.hexdigest()
        if key not in self.sums:
            self.sums[key] = find(*given)
        return self.sums[key]


@dataclass(frozen=True)
class Layer:
    """An operator that is lowered to the NPU.

    Attributes:
        npu: Description of the NPU.
        node: Name of the layer.
        operators: Operators of the model file.
        operands: Operator with its tensors.
        useful: Multiply-accumulates of the operator.
        output: Buffers that it makes, by form.
        sources: Buffers that it reads, by form.
        calibration: Values of the activations.
        twice: Whether the reference interpreter rounds a sum twice.
        apart: Whether its kernels are spread over as many epochs as possible, each with shifts of
            its own, since the results of fewer are too imprecise.
    """

    npu: Npu
    node: str
    operators: tuple[int, ...]
    operands: Operands
    useful: int
    output: Mapping[str, str]
    sources: tuple[Mapping[str, str], ...]
    calibration: Calibration
    twice: bool = False
    apart: bool = False


@dataclass
class Made:
    """Results of the lowered layers.

    Attributes:
        epochs: Epochs of the NPU.
        initializers: Weights as the units read them.
        temporaries: Bytes of temporary buffers, by name.
        thinned: Buffers with every second pixel, by the address of their source.
    """

    epochs: list[HardwareEpoch] = field(default_factory=list)
    initializers: list[Initializer] = field(default_factory=list)
    temporaries: dict[str, int] = field(default_factory=dict)
    thinned: dict[Address, Address] = field(default_factory=dict)

    def temporary(self, layer: Layer, size: int) -> Address:
        """Return a new buffer of the layer's own."""
        name = f"{layer.node}_partial_{len(self.temporaries)}"
        self.temporaries[name] = size
        return Address(name)

    def constant(self, layer: Layer, data: bytes) -> Address:
        """Return the address of weights, as the units read them."""
        name = f"{layer.node}_kernels_{len(self.initializers)}"
        self.initializers.append(Initializer(name, 0, "int8", (len(data),), None, memoryview(data)))
        return Address(name)


def begin(layer: Layer, kind: str, useful: int | None = None) -> EpochBuilder:
    """Return a new epoch of the layer.

    Args:
        layer: Layer that gets the epoch.
        kind: Description for people.
        useful: Multiply-accumulates of the operator, None for all of them.
    """
    return EpochBuilder(layer.npu, kind, layer.node, layer.operators, layer.useful if useful is None else useful)


def address(layer: Layer, form: str, position: int = 0) -> Address:
    """Return the address of an input in one of its forms."""
    return Address(layer.sources[position][form])


def image_shape(tensor: Tensor) -> tuple[int, int, int]:
    """Return height, width and channels of a tensor.

    A tensor of fewer than four dimensions is one pixel.

    Raises:
        StaysOnCpu: If it is a batch of several images.
    """
    if len(tensor.shape) == 4:
        batch, height, width, channels = tensor.shape
        if batch != 1:
            raise StaysOnCpu(f"a batch of {batch} images: one was seen")
        return height, width, channels
    return 1, 1, tensor.elements


def images(layer: Layer, tensor: Tensor) -> NDArray[np.int8]:
    """Return the calibration's values of a tensor as images.

    Their shape is vectors x height x width x channels.
    """
    return known_values(layer, tensor).reshape(-1, *image_shape(tensor))


def known_values(layer: Layer, tensor: Tensor) -> NDArray[np.int8]:
    """Return the calibration's values of a tensor, vectors first.

    Raises:
        StaysOnCpu: If the interpreter has no such tensor.
    """
    values = layer.calibration.values.get(tensor.index)
    if values is None:
        raise StaysOnCpu("the reference interpreter does not show its input, by which sums are calibrated")
    return values


def scale_of(tensor: Tensor) -> float:
    """Return the scale of a tensor with one scale."""
    return required_quantisation(tensor).scale


def output_quantisation(layer: Layer) -> Quantisation:
    """Return the quantisation of the output."""
    return required_quantisation(layer.operands.output)


def require_whole_range(operands: Operands, activation: Activation) -> None:
    """Check that an activation does no more than the saturation to int8.

    Raises:
        StaysOnCpu: If it does more.
    """
    if clamp_range(activation, required_quantisation(operands.output)) != (-128, 127):
        raise StaysOnCpu(f"its activation {activation} cuts off more than int8 does, for which no unit was seen")


def windows_pads(operands: Operands, options: WindowOptions, height: int, width: int) -> tuple[int, int, int, int]:
    """Return the paddings top, bottom, left and right of a window.

    They include those of a PAD in front that is taken over.

    Args:
        operands: Operator with its tensors.
        options: Options of the window.
        height: Height of the window.
        width: Width of the window.
    """
    given = image_shape(operands.first)
    source = image_shape(operands.source)
    made = image_shape(operands.output)
    _, top = window_output(given[0], height, options.stride_h, 1, options.padding)
    _, left = window_output(given[1], width, options.stride_w, 1, options.padding)
    if operands.padding:
        top, left = top + operands.padding.top, left + operands.padding.left
    bottom = max(0, (made[0] - 1) * options.stride_h + height - source[0] - top)
    right = max(0, (made[1] - 1) * options.stride_w + width - source[1] - left)
    return top, bottom, left, right


def write_output(
    layer: Layer, epoch: EpochBuilder, source: Unit, group: int, frames: int, at: int = 0, channels: int | None = None
) -> None:
    """Write a stream of int8 to the needed forms of the output.

    Args:
        layer: Layer with the output.
        epoch: Epoch that gets the units.
        source: Unit that the stream comes from.
        group: Channels of a frame.
        frames: Number of frames.
        at: First channel.
        channels: Channels that are made here, None for those of the tensor. The tensor may have
            fewer than the frames: memory behind it is written, too.
    """
    height, width, depth = image_shape(layer.operands.output)
    for form, name in sorted(layer.output.items()):
        stream = source
        if form == UNSIGNED:
            stream = plus_128(epoch)
            epoch.link(source, stream)
        place = Address(name, at)
        if frames == 1 and channels is None:
            made = Frames(place, height * width * group)
        elif height * width == 1:
            made = Frames(place, group, count=frames, step=group)
        else:
            picture = Image(width, height, group, depth, width * depth)
            made = Frames(
                place,
                picture,
                count=frames,
                step=group,
                repeat=frames,
                repeat_step=width * height * depth,
            )
        write(epoch, made, stream)


Lower = Callable[[Layer, Made], None]


@dataclass(frozen=True)
class NpuOperator:
    """An operator that the NPU can run.

    Attributes:
        name: Name of the operator kind.
        kernel: Kernel of the reference backend whose epochs it replaces.
        form: Function that returns the form of the inputs that it reads.
        lower: Function that appends its epochs. It raises StaysOnCpu, or DoesNotFit.
    """

    name: str
    kernel: str
    form: Callable[[Operands], str]
    lower: Lower
