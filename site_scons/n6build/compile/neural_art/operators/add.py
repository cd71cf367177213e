"""ADD: the sum of two tensors of the same shape, in one unit."""

from __future__ import annotations

import math

from n6build.compile.neural_art.layer import (
    SIGNED,
    UNSIGNED,
    Layer,
    Made,
    NpuOperator,
    StaysOnCpu,
    address,
    begin,
    require_whole_range,
)
from n6build.compile.neural_art.requantise import excess_bits
from n6build.compile.neural_art.streams import Frames, read, write
from n6build.compile.neural_art.units import plus_128, sum_of_two
from n6build.compile.reference.epochs import Address
from n6build.compile.reference.operands import required_quantisation
from n6build.compile.reference.ranges import activation_of

_FACTOR_BITS = 14


def _lower(layer: Layer, made: Made) -> None:
    operands = layer.operands
    require_whole_range(operands, activation_of(operands))
    tensors = [operands.required(position) for position in (0, 1)]
    output = operands.output
    if any(tensor.shape != output.shape or tensor.data is not None for tensor in tensors):
        raise StaysOnCpu("its inputs are no two tensors of the output's shape")
    target = required_quantisation(output)
    sources = [required_quantisation(tensor) for tensor in tensors]
    real = [source.scale / target.scale for source in sources]
    shift = _FACTOR_BITS - max(0, math.floor(math.log2(max(real))) + 1)
    factors = (round(real[0] * 2**shift), round(real[1] * 2**shift))
    zeros = sum(source.zero_point * factor for source, factor in zip(sources, real, strict=True))
    summand = (target.zero_point - zeros) * 2**shift
    shifted = max(1, excess_bits(abs(summand)))
    epoch = begin(layer, "sum")
    adder = sum_of_two(epoch, factors, round(summand / 2**shifted), shifted, shift, 1)
    for port in (0, 1):
        epoch.link(read(epoch, Frames(address(layer, SIGNED, port), output.elements)), adder, port)
    for form, name in sorted(layer.output.items()):
        stream = adder
        if form == UNSIGNED:
            stream = plus_128(epoch)
            epoch.link(adder, stream)
        write(epoch, Frames(Address(name), output.elements), stream)
    made.epochs.append(epoch.done())


NPU_OPERATORS = (NpuOperator("ADD", "add", lambda _: SIGNED, _lower),)
