"""RESHAPE that the reference backend copies.

One engine sends its stream to another, with nothing in between.
"""

from __future__ import annotations

from n6build.compile.neural_art.layer import SIGNED, Layer, Made, NpuOperator, StaysOnCpu, address, begin
from n6build.compile.neural_art.streams import Frames, read, write
from n6build.compile.reference.epochs import Address


def _lower(layer: Layer, made: Made) -> None:
    output = layer.operands.output
    if output.dtype != "int8" or set(layer.output) != {SIGNED}:
        raise StaysOnCpu("a copy of int8 alone was seen, and none that adds 128 to a second one")
    epoch = begin(layer, "copy")
    source = read(epoch, Frames(address(layer, SIGNED), output.elements))
    write(epoch, Frames(Address(layer.output[SIGNED]), output.elements), source)
    made.epochs.append(epoch.done())


NPU_OPERATOR = NpuOperator("RESHAPE", "copy", lambda _: SIGNED, _lower)
