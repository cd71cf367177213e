"""An operator of the model on its way to the NPU, and what the modules of the operators share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from n6build.hardware.npu import Npu
from n6build.network.neural_art.hardware_epoch import EpochBuilder, HardwareEpoch, Unit
from n6build.network.neural_art.requantise import Floats
from n6build.network.neural_art.streams import Frames, Image, write
from n6build.network.neural_art.units import plus_128
from n6build.network.reference.epochs import Address, Initializer
from n6build.network.reference.graph import Quantisation, Tensor
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.ranges import Activation, clamp_range
from n6build.network.reference.windows import WindowOptions, window_output

# What a tensor of int8 is in memory: as it is, or each value plus 128, which convolutions read.
SIGNED, UNSIGNED = "signed", "unsigned"
ZERO_OF_UNSIGNED = -128


class StaysOnCpu(Exception):
    """Why an operator does not go to the NPU."""


@dataclass(frozen=True)
class Calibration:
    """values: of each activation by its tensor's index, vectors first. margin: by how much sums may exceed what they are on
    these. sums: what `largest` has found, by a digest of all that it follows from."""

    values: Mapping[int, NDArray[np.int8]]
    margin: float
    sums: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    def largest(self, find: Callable[..., Floats], *given: object) -> Floats:
        """What `find` makes of arrays and numbers. A layer is lowered again whenever another one goes to the CPU or is cut: the
        sums of one that is as it was are not computed again."""
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
    """node: its name. sources: buffers that it reads, output: that it makes, each by form. useful: multiply-accumulates. twice:
    whether the reference interpreter rounds a sum twice. apart: its kernels are spread over as many epochs as there can be, each
    with shifts of its own, since the results of fewer are too imprecise."""

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
    """What layers become. temporaries: bytes of buffers, by name. thinned: buffers with every second pixel, by what they are made
    from."""

    epochs: list[HardwareEpoch] = field(default_factory=list)
    initializers: list[Initializer] = field(default_factory=list)
    temporaries: dict[str, int] = field(default_factory=dict)
    thinned: dict[Address, Address] = field(default_factory=dict)

    def temporary(self, layer: Layer, size: int) -> Address:
        """A buffer of the layer's own."""
        name = f"{layer.node}_partial_{len(self.temporaries)}"
        self.temporaries[name] = size
        return Address(name)

    def constant(self, layer: Layer, data: bytes) -> Address:
        """Weights, as the units read them."""
        name = f"{layer.node}_kernels_{len(self.initializers)}"
        self.initializers.append(Initializer(name, 0, "int8", (len(data),), None, memoryview(data)))
        return Address(name)


def begin(layer: Layer, kind: str, useful: int | None = None) -> EpochBuilder:
    """An epoch of the layer. useful: multiply-accumulates of the operator, by default all of them."""
    return EpochBuilder(layer.npu, kind, layer.node, layer.operators, layer.useful if useful is None else useful)


def address(layer: Layer, form: str, position: int = 0) -> Address:
    """Of an input in one of its forms."""
    return Address(layer.sources[position][form])


def image_shape(tensor: Tensor) -> tuple[int, int, int]:
    """Height, width, channels; a tensor of fewer dimensions is one pixel."""
    if len(tensor.shape) == 4:
        _, height, width, channels = tensor.shape
        return height, width, channels
    return 1, 1, tensor.elements


def images(layer: Layer, tensor: Tensor) -> NDArray[np.int8]:
    """The calibration's values of a tensor: vectors x height x width x channels."""
    return known_values(layer, tensor).reshape(-1, *image_shape(tensor))


def known_values(layer: Layer, tensor: Tensor) -> NDArray[np.int8]:
    """The calibration's values of a tensor, vectors first. Raises StaysOnCpu where the interpreter has no such tensor."""
    values = layer.calibration.values.get(tensor.index)
    if values is None:
        raise StaysOnCpu("the reference interpreter does not show its input, by which sums are calibrated")
    return values


def scale_of(tensor: Tensor) -> float:
    """Of a tensor with one scale."""
    return required_quantisation(tensor).scale


def output_quantisation(layer: Layer) -> Quantisation:
    """Of the output."""
    return required_quantisation(layer.operands.output)


def require_whole_range(operands: Operands, activation: Activation) -> None:
    """What is left of an activation is the saturation to int8. Raises StaysOnCpu where it would have to do more."""
    if clamp_range(activation, required_quantisation(operands.output)) != (-128, 127):
        raise StaysOnCpu(f"its activation {activation} cuts off more than int8 does, for which no unit was seen")


def windows_pads(operands: Operands, options: WindowOptions, height: int, width: int) -> tuple[int, int, int, int]:
    """Top, bottom, left, right, including those of a PAD in front that is taken over. height, width: of the window."""
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
    """A stream of int8 into the forms of the output that are needed: frames of `group` channels. at: first channel. channels:
    that are made here, by default those of the tensor, which may have fewer: what is behind them is written, too."""
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
    """name: of the operator kind. kernel: of the reference backend whose epochs it replaces. form: of the inputs that it reads.
    lower: appends its epochs; raises StaysOnCpu, or ValueError for a number that a register cannot hold."""

    name: str
    kernel: str
    form: Callable[[Operands], str]
    lower: Lower
