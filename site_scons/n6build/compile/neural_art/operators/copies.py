"""Copies from one engine to another.

A RESHAPE that the reference backend copies has nothing in between. QUANTIZE from int8 to uint8 adds
128, because only the zero point changes.
"""

from __future__ import annotations

from n6build.compile.neural_art.layer import SIGNED, Layer, Made, NpuOperator, StaysOnCpu, address, begin
from n6build.compile.neural_art.streams import Frames, read, write
from n6build.compile.neural_art.units import plus_128
from n6build.compile.reference.epochs import Address
from n6build.compile.reference.operands import required_quantisation


def _quantize(layer: Layer, made: Made) -> None:
    source, output = layer.operands.first, layer.operands.output
    given, wanted = required_quantisation(source), required_quantisation(output)
    types = (source.dtype, output.dtype)
    if types != ("int8", "uint8") or (wanted.scale, wanted.zero_point) != (given.scale, given.zero_point + 128):
        raise StaysOnCpu("of all QUANTIZE, only int8 to uint8 of the same scale was seen, which adds 128")
    epoch = begin(layer, "+128")
    shifted = plus_128(epoch)
    epoch.link(read(epoch, Frames(address(layer, SIGNED), source.elements)), shifted)
    write(epoch, Frames(Address(layer.output[SIGNED]), output.elements), shifted)
    made.epochs.append(epoch.done())


def _reshape(layer: Layer, made: Made) -> None:
    output = layer.operands.output
    if output.dtype != "int8" or set(layer.output) != {SIGNED}:
        raise StaysOnCpu("a copy of int8 alone was seen, and none that adds 128 to a second one")
    epoch = begin(layer, "copy")
    source = read(epoch, Frames(address(layer, SIGNED), output.elements))
    write(epoch, Frames(Address(layer.output[SIGNED]), output.elements), source)
    made.epochs.append(epoch.done())


NPU_OPERATORS = (
    NpuOperator("QUANTIZE", "requantize", lambda _: SIGNED, _quantize),
    NpuOperator("RESHAPE", "copy", lambda _: SIGNED, _reshape),
)
