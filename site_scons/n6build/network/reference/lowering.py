"""From the operators of the model file to epochs: one kernel call each, with constants folded and buffers named.

RESHAPE becomes another view of a buffer, PAD is taken over by a convolution or a max pooling where that gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.network.reference.fixed_point import (
    ADD_LEFT_SHIFT,
    clamp_range,
    divided_multiplier,
    quantize_multiplier,
    softmax_constants,
)
from n6build.network.reference.graph import (
    ActivationOptions,
    DType,
    Graph,
    Operator,
    Quantisation,
    SoftmaxOptions,
    Tensor,
    WindowOptions,
)
from n6build.network.reference.graph_checks import MAX_DIMENSION, window_output

INT8_MIN, INT8_MAX = -128, 127
MAX_LEFT_SHIFT = 30
SCRATCH_ALIGNMENT = 16


# Types of what is stored for the kernels; a model file has no doubles.
ConstantType = DType | Literal["float64"]


@dataclass(frozen=True)
class Address:
    """Of a buffer or an initializer, by its name."""

    name: str


@dataclass(frozen=True)
class Fields:
    """A C structure: its members in order."""

    members: tuple[tuple[str, Value], ...]


Value = int | float | Address | Fields


@dataclass(frozen=True)
class Buffer:
    """Memory of an activation (tensor) or of scratch (None), in use from epoch `first` to `last`; 0 is before the first."""

    name: str
    bytes: int
    first: int
    last: int
    tensor: Tensor | None


@dataclass(frozen=True)
class Initializer:
    """A constant that a kernel reads; data: little endian."""

    name: str
    epoch: int
    dtype: ConstantType
    shape: tuple[int, ...]
    quantisation: Quantisation | None
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Scratch:
    """window: height, width and input channels of the convolution that it is for."""

    name: str
    bytes: int
    window: tuple[int, int, int]


@dataclass(frozen=True)
class Epoch:
    """index: from 1. kernel: n6k_<kernel> of n6_kernels.h. node: unique name. operators: of the model file.

    inputs, output, initializers: names. descriptor: of the kernel. macs: multiply-accumulates.
    """

    index: int
    kernel: str
    descriptor_type: str
    kind: str
    node: str
    operators: tuple[int, ...]
    descriptor: Fields
    inputs: tuple[str, ...]
    output: str
    initializers: tuple[str, ...]
    macs: int
    scratch: Scratch | None = None


@dataclass(frozen=True)
class Port:
    """An input or output of the network: a tensor and the buffer that holds it."""

    buffer: str
    tensor: Tensor


@dataclass(frozen=True)
class Network:
    """Everything but addresses."""

    epochs: tuple[Epoch, ...]
    buffers: tuple[Buffer, ...]
    initializers: tuple[Initializer, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


_KINDS = {
    "ADD": "Add",
    "AVERAGE_POOL_2D": "AveragePool2D",
    "CONV_2D": "Conv2D",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2D",
    "DEQUANTIZE": "Dequantize",
    "FULLY_CONNECTED": "FullyConnected",
    "MAX_POOL_2D": "MaxPool2D",
    "MEAN": "Mean",
    "PAD": "Pad",
    "PADV2": "Pad",
    "QUANTIZE": "Quantize",
    "RESHAPE": "Reshape",
    "SOFTMAX": "Softmax",
}


@dataclass(frozen=True)
class _Padding:
    """A PAD before an operator. source: the tensor that it pads."""

    operator: Operator
    source: Tensor
    top: int
    left: int
    front: int
    value: int
    pads_channels: bool


def lower(graph: Graph, where: str) -> Network:
    """`graph` has passed graph_checks. Raises N6-NET-006 for scales that the reference resolver cannot compute with."""
    try:
        return _Lowering(graph).network()
    except _ScaleError as error:
        operator, what = error.args
        raise N6Error(
            "N6-NET-006",
            f"{operator}: {what}",
            where=where,
            hint="calibrate with representative data; scales of neighbouring tensors are far apart",
        ) from error


class _ScaleError(Exception):
    """Scales that leave the range of the fixed-point arithmetic."""


def _required_quantisation(tensor: Tensor) -> Quantisation:
    assert tensor.quantisation is not None
    return tensor.quantisation


class _Lowering:
    """One pass over one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._consumers: dict[int, list[Operator]] = {}
        for operator in graph.operators:
            for index in operator.inputs:
                if index is not None:
                    self._consumers.setdefault(index, []).append(operator)
        self._fused = self._find_fused_paddings()
        self._roots: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._epochs: list[Epoch] = []
        self._initializers: dict[str, Initializer] = {}

    def network(self) -> Network:
        for position, index in enumerate(self._graph.inputs):
            self._names[index] = f"Input_{position}_out_0"
        for operator in self._graph.operators:
            if operator.index in {padding.operator.index for padding in self._fused.values()}:
                continue
            if operator.kind == "RESHAPE" and not self._has_to_copy(operator):
                self._roots[operator.output] = self._root(self._input(operator, 0).index)
                continue
            self._names[operator.output] = f"{_node(operator)}_out_0"
            self._epochs.append(_LOWERINGS[operator.kind](self, operator))
        return Network(
            epochs=tuple(self._epochs),
            buffers=tuple(self._buffers()),
            initializers=tuple(self._initializers.values()),
            inputs=tuple(self._port(index) for index in self._graph.inputs),
            outputs=tuple(self._port(index) for index in self._graph.outputs),
        )

    # Buffers and their life

    def _root(self, index: int) -> int:
        return self._roots.get(index, index)

    def buffer(self, tensor: Tensor) -> str:
        return self._names[self._root(tensor.index)]

    def _port(self, index: int) -> Port:
        tensor = self._graph.tensors[index]
        return Port(self.buffer(tensor), tensor)

    def _has_to_copy(self, reshape: Operator) -> bool:
        """An output of the network must not be the memory of an input: the application owns both at the same time."""
        root = self._root(self._input(reshape, 0).index)
        return root in self._graph.inputs and self._is_output(reshape.output)

    def _is_output(self, index: int) -> bool:
        """Whether this tensor, or a view of it, leaves the network."""
        views = [operator.output for operator in self._consumers.get(index, []) if operator.kind == "RESHAPE"]
        return index in self._graph.outputs or any(self._is_output(view) for view in views)

    def _buffers(self) -> list[Buffer]:
        end = len(self._epochs)
        first = dict.fromkeys((self._names[index] for index in self._graph.inputs), 0)
        last = dict(first)
        for epoch in self._epochs:
            first[epoch.output] = last[epoch.output] = epoch.index
            for name in epoch.inputs:
                last[name] = epoch.index
        for index in self._graph.outputs:
            last[self._names[self._root(index)]] = end
        tensors = {name: self._graph.tensors[index] for index, name in self._names.items()}
        buffers = [Buffer(name, tensor.bytes, first[name], last[name], tensor) for name, tensor in tensors.items()]
        for epoch in self._epochs:
            if epoch.scratch:
                buffers.append(Buffer(epoch.scratch.name, epoch.scratch.bytes, epoch.index, epoch.index, None))
        return buffers

    # Operands and initializers

    def _input(self, operator: Operator, position: int) -> Tensor:
        index = operator.inputs[position]
        assert index is not None
        return self._graph.tensors[index]

    def _optional(self, operator: Operator, position: int) -> Tensor | None:
        index = operator.inputs[position] if position < len(operator.inputs) else None
        return None if index is None else self._graph.tensors[index]

    def _output(self, operator: Operator) -> Tensor:
        return self._graph.tensors[operator.output]

    def _constant(
        self, name: str, dtype: ConstantType, data: NDArray[np.generic], quantisation: Quantisation | None = None
    ) -> Address:
        """Constants of one name are one: weights that several operators share are stored once."""
        if name not in self._initializers:
            little_endian = np.ascontiguousarray(data, np.dtype(dtype).newbyteorder("<"))
            self._initializers[name] = Initializer(
                name, len(self._epochs) + 1, dtype, data.shape, quantisation, little_endian.tobytes()
            )
        return Address(name)

    def _epoch(
        self,
        operator: Operator,
        kernel: str,
        descriptor_type: str,
        inputs: tuple[Tensor, ...],
        fields: tuple[tuple[str, Value], ...],
        *,
        macs: int = 0,
        scratch: Scratch | None = None,
        padding: _Padding | None = None,
    ) -> Epoch:
        names = {value.name for _, value in fields if isinstance(value, Address)}
        return Epoch(
            index=len(self._epochs) + 1,
            kernel=kernel,
            descriptor_type=descriptor_type,
            kind=_KINDS[operator.kind],
            node=_node(operator),
            operators=(*((padding.operator.index,) if padding else ()), operator.index),
            descriptor=Fields(fields),
            inputs=tuple(self.buffer(tensor) for tensor in inputs),
            output=self._names[operator.output],
            initializers=tuple(name for name in self._initializers if name in names),
            macs=macs,
            scratch=scratch,
        )

    def _ends(self, operator: Operator, source: Tensor) -> tuple[tuple[str, Value], ...]:
        return (("input", Address(self.buffer(source))), ("output", Address(self._names[operator.output])))

    # PAD

    def _padding(self, operator: Operator) -> _Padding:
        source, amounts, value = self._input(operator, 0), self._input(operator, 1), self._optional(operator, 2)
        assert amounts.data is not None
        _, (top, _), (left, _), (front, back) = (tuple(map(int, both)) for both in amounts.data.tolist())
        zero = _required_quantisation(self._output(operator)).zero_point
        filling = zero if value is None or value.data is None else int(value.data.reshape(-1)[0].item())
        return _Padding(operator, source, top, left, front, filling, front + back > 0)

    def _find_fused_paddings(self) -> dict[int, _Padding]:
        """By the tensor that a PAD makes: those whose users all give the same bits without it."""
        found = {}
        for operator in self._graph.operators:
            users = self._consumers.get(operator.output, [])
            if operator.kind not in ("PAD", "PADV2") or operator.output in self._graph.outputs or not users:
                continue
            padding = self._padding(operator)
            if all(self._absorbs(user, padding) for user in users):
                found[operator.output] = padding
        return found

    def _absorbs(self, user: Operator, padding: _Padding) -> bool:
        if padding.pads_channels or user.inputs[0] != padding.operator.output:
            return False
        if user.kind in ("CONV_2D", "DEPTHWISE_CONV_2D"):
            # Kernels read the zero point outside of their input.
            fits = padding.value == _required_quantisation(self._output(padding.operator)).zero_point
        else:
            # The smallest int8 never wins a maximum: as if padding took no part.
            fits = user.kind == "MAX_POOL_2D" and padding.value == INT8_MIN
        extent = max(self._output(padding.operator).shape)
        return fits and 2 * extent <= MAX_DIMENSION

    # Windows

    def _window(
        self, operator: Operator, height: int, width: int
    ) -> tuple[Tensor, tuple[tuple[str, Value], ...], _Padding | None]:
        """(the tensor to read, shapes and window of the descriptor, the PAD that went into it)"""
        options = operator.options
        assert isinstance(options, WindowOptions)
        given = self._input(operator, 0)
        _, top = window_output(given.shape[1], height, options.stride_h, options.dilation_h, options.padding)
        _, left = window_output(given.shape[2], width, options.stride_w, options.dilation_w, options.padding)
        padding = self._fused.get(given.index)
        source = given
        if padding:
            source, top, left = padding.source, top + padding.top, left + padding.left
        fields: tuple[tuple[str, Value], ...] = (
            ("in", _shape(source)),
            ("out", _shape(self._output(operator))),
            (
                "window",
                Fields(
                    (
                        ("height", height),
                        ("width", width),
                        ("stride_h", options.stride_h),
                        ("stride_w", options.stride_w),
                        ("dilation_h", options.dilation_h),
                        ("dilation_w", options.dilation_w),
                        ("pad_top", top),
                        ("pad_left", left),
                    )
                ),
            ),
        )
        return source, fields, padding

    # Weights

    def _weights(
        self, operator: Operator, channel_axis: int, real_scales: list[float], input_zero_point: int
    ) -> tuple[tuple[str, Value], ...]:
        """Weights, folded bias and scaling of an operator with weights; real_scales: one per output channel."""
        weights, bias = self._input(operator, 1), self._optional(operator, 2)
        assert weights.data is not None
        channels = weights.shape[channel_axis]
        other_axes = tuple(axis for axis in range(len(weights.shape)) if axis != channel_axis)
        sums = weights.data.astype(np.int64).sum(axis=other_axes)
        start = np.zeros(channels, np.int64)
        if bias is not None and bias.data is not None:
            start = bias.data.reshape(-1).astype(np.int64)
        # As the int32 accumulator would: modulo 2^32.
        folded = ((start - input_zero_point * sums) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
        node = _node(operator)
        operands = (
            ("weights", self._constant(f"Param_{weights.index}_weights", "int8", weights.data, weights.quantisation)),
            ("bias", self._constant(f"{node}_bias", "int32", folded)),
        )
        if operator.kind == "FULLY_CONNECTED":
            return *operands, ("scale", self._constant(f"{node}_scale", "float64", np.array(real_scales)))
        pairs = [self._multiplier(operator, real) for real in real_scales]
        return (
            *operands,
            ("multiplier", self._constant(f"{node}_multiplier", "int32", np.array([m for m, _ in pairs], np.int32))),
            ("shift", self._constant(f"{node}_shift", "int32", np.array([s for _, s in pairs], np.int32))),
        )

    def _multiplier(self, operator: Operator, real: float) -> tuple[int, int]:
        multiplier, shift = quantize_multiplier(real)
        if shift > MAX_LEFT_SHIFT:
            raise _ScaleError(
                operator, f"its accumulator would be scaled by {real:g}, at most 2^{MAX_LEFT_SHIFT} is possible"
            )
        return multiplier, shift

    def _real_scales(self, operator: Operator, channel_axis: int) -> list[float]:
        """input scale * weight scale / output scale, in the reference resolver's precision: double of float32 values."""
        weights = self._input(operator, 1)
        channels = weights.shape[channel_axis]
        scales = _required_quantisation(weights).scales
        source = _required_quantisation(self._input(operator, 0)).scale
        target = _required_quantisation(self._output(operator)).scale
        real = [source * scale / target for scale in scales]
        return real if len(real) == channels else real * channels

    def _range(self, operator: Operator) -> tuple[str, Value]:
        quantisation = _required_quantisation(self._output(operator))
        options = operator.options
        activation = options.activation if isinstance(options, WindowOptions | ActivationOptions) else "NONE"
        low, high = clamp_range(activation, quantisation)
        return "range", Fields((("zero_point", quantisation.zero_point), ("clamp_min", low), ("clamp_max", high)))

    # One method for each kind of operator

    def conv_2d(self, operator: Operator) -> Epoch:
        weights = self._input(operator, 1)
        _, height, width, depth = weights.shape
        source, window, padding = self._window(operator, height, width)
        zero_point = _required_quantisation(source).zero_point
        column = -(-height * width * depth // SCRATCH_ALIGNMENT) * SCRATCH_ALIGNMENT
        scratch = Scratch(f"{_node(operator)}_scratch_0", 2 * column, (height, width, depth))
        fields = (
            *self._ends(operator, source),
            *self._weights(operator, 0, self._real_scales(operator, 0), zero_point),
            ("scratch", Address(scratch.name)),
            *window,
            ("input_zero_point", zero_point),
            self._range(operator),
        )
        macs = self._output(operator).elements * height * width * depth
        return self._epoch(
            operator, "conv_2d", "n6k_conv_2d_t", (source,), fields, macs=macs, scratch=scratch, padding=padding
        )

    def depthwise_conv_2d(self, operator: Operator) -> Epoch:
        _, height, width, channels = self._input(operator, 1).shape
        source, window, padding = self._window(operator, height, width)
        zero_point = _required_quantisation(source).zero_point
        fields = (
            *self._ends(operator, source),
            *self._weights(operator, 3, self._real_scales(operator, 3), zero_point),
            *window,
            ("depth_multiplier", channels // source.shape[3]),
            ("input_zero_point", zero_point),
            self._range(operator),
        )
        macs = self._output(operator).elements * height * width
        return self._epoch(
            operator,
            "depthwise_conv_2d",
            "n6k_depthwise_conv_2d_t",
            (source,),
            fields,
            macs=macs,
            padding=padding,
        )

    def fully_connected(self, operator: Operator) -> Epoch:
        source = self._input(operator, 0)
        outputs, inputs = self._input(operator, 1).shape
        zero_point = _required_quantisation(source).zero_point
        fields = (
            *self._ends(operator, source),
            *self._weights(operator, 0, self._real_scales(operator, 0), zero_point),
            ("batches", source.elements // inputs),
            ("inputs", inputs),
            ("outputs", outputs),
            self._range(operator),
        )
        macs = self._output(operator).elements * inputs
        return self._epoch(operator, "fully_connected", "n6k_fully_connected_t", (source,), fields, macs=macs)

    def add(self, operator: Operator) -> Epoch:
        a, b = sorted((self._input(operator, 0), self._input(operator, 1)), key=lambda tensor: -tensor.elements)
        scale_a, scale_b = _required_quantisation(a).scale, _required_quantisation(b).scale
        twice = 2 * max(scale_a, scale_b)
        real_output = twice / ((1 << ADD_LEFT_SHIFT) * _required_quantisation(self._output(operator)).scale)
        if real_output >= 1:
            raise _ScaleError(operator, f"its sum would be scaled by {real_output:g}, it has to be less than 1")
        operands = [
            Address(self.buffer(tensor))
            if tensor.data is None
            else self._constant(f"Param_{tensor.index}_constant", "int8", tensor.data, tensor.quantisation)
            for tensor in (a, b)
        ]
        (a_m, a_s), (b_m, b_s), (out_m, out_s) = map(
            quantize_multiplier, (scale_a / twice, scale_b / twice, real_output)
        )
        fields = (
            ("a", operands[0]),
            ("b", operands[1]),
            ("output", Address(self._names[operator.output])),
            ("elements", a.elements),
            ("elements_b", b.elements),
            ("left_shift", ADD_LEFT_SHIFT),
            ("a_multiplier", a_m),
            ("a_shift", a_s),
            ("b_multiplier", b_m),
            ("b_shift", b_s),
            ("out_multiplier", out_m),
            ("out_shift", out_s),
            ("a_zero_point", _required_quantisation(a).zero_point),
            ("b_zero_point", _required_quantisation(b).zero_point),
            self._range(operator),
        )
        activations = tuple(tensor for tensor in (a, b) if tensor.data is None)
        return self._epoch(operator, "add", "n6k_add_t", activations, fields)

    def pad(self, operator: Operator) -> Epoch:
        padding = self._padding(operator)
        fields = (
            *self._ends(operator, padding.source),
            ("in", _shape(padding.source)),
            ("out", _shape(self._output(operator))),
            ("pad_top", padding.top),
            ("pad_left", padding.left),
            ("pad_front", padding.front),
            ("value", padding.value),
        )
        return self._epoch(operator, "pad", "n6k_pad_t", (padding.source,), fields)

    def pooling(self, operator: Operator) -> Epoch:
        options = operator.options
        assert isinstance(options, WindowOptions)
        source, window, padding = self._window(operator, options.height, options.width)
        kernel = "max_pool_2d" if operator.kind == "MAX_POOL_2D" else "average_pool_2d"
        fields = (*self._ends(operator, source), *window, self._range(operator))
        return self._epoch(operator, kernel, "n6k_pool_t", (source,), fields, padding=padding)

    def mean(self, operator: Operator) -> Epoch:
        source = self._input(operator, 0)
        _, height, width, channels = source.shape
        given = _required_quantisation(source)
        scaling = self._multiplier(operator, given.scale / _required_quantisation(self._output(operator)).scale)
        multiplier, shift = divided_multiplier(*scaling, height * width)
        fields = (
            *self._ends(operator, source),
            ("pixels", height * width),
            ("channels", channels),
            ("bias", -given.zero_point * height * width),
            ("multiplier", multiplier),
            ("shift", shift),
            self._range(operator),
        )
        return self._epoch(operator, "mean", "n6k_mean_t", (source,), fields)

    def softmax(self, operator: Operator) -> Epoch:
        source = self._input(operator, 0)
        assert isinstance(operator.options, SoftmaxOptions)
        scale = _required_quantisation(source).scale
        multiplier, left_shift, diff_min = softmax_constants(operator.options.beta, scale)
        if left_shift < 1:
            raise _ScaleError(operator, f"its input has the scale {scale:g}, too fine for its fixed point")
        fields = (
            *self._ends(operator, source),
            ("rows", source.elements // source.shape[-1]),
            ("depth", source.shape[-1]),
            ("multiplier", multiplier),
            ("left_shift", left_shift),
            ("diff_min", diff_min),
        )
        return self._epoch(operator, "softmax", "n6k_softmax_t", (source,), fields)

    def quantize(self, operator: Operator) -> Epoch:
        source, target = self._input(operator, 0), self._output(operator)
        to = _required_quantisation(target)
        unsigned = int(target.dtype == "uint8")
        if source.dtype == "float32":
            fields: tuple[tuple[str, Value], ...] = (
                *self._ends(operator, source),
                ("elements", source.elements),
                ("scale", to.scale),
                ("zero_point", to.zero_point),
                ("out_is_unsigned", unsigned),
            )
            return self._epoch(operator, "quantize", "n6k_quantize_t", (source,), fields)
        given = _required_quantisation(source)
        multiplier, shift = self._multiplier(operator, given.scale / to.scale)
        fields = (
            *self._ends(operator, source),
            ("elements", source.elements),
            ("multiplier", multiplier),
            ("shift", shift),
            ("in_zero_point", given.zero_point),
            ("out_zero_point", to.zero_point),
            ("in_is_unsigned", int(source.dtype == "uint8")),
            ("out_is_unsigned", unsigned),
        )
        return self._epoch(operator, "requantize", "n6k_requantize_t", (source,), fields)

    def dequantize(self, operator: Operator) -> Epoch:
        source = self._input(operator, 0)
        given = _required_quantisation(source)
        fields = (
            *self._ends(operator, source),
            ("elements", source.elements),
            ("scale", given.scale),
            ("zero_point", given.zero_point),
            ("in_is_unsigned", int(source.dtype == "uint8")),
        )
        return self._epoch(operator, "dequantize", "n6k_dequantize_t", (source,), fields)

    def copy(self, operator: Operator) -> Epoch:
        source = self._input(operator, 0)
        fields = (*self._ends(operator, source), ("bytes", source.bytes))
        return self._epoch(operator, "copy", "n6k_copy_t", (source,), fields)


_LOWERINGS: dict[str, Callable[[_Lowering, Operator], Epoch]] = {
    "ADD": _Lowering.add,
    "AVERAGE_POOL_2D": _Lowering.pooling,
    "CONV_2D": _Lowering.conv_2d,
    "DEPTHWISE_CONV_2D": _Lowering.depthwise_conv_2d,
    "DEQUANTIZE": _Lowering.dequantize,
    "FULLY_CONNECTED": _Lowering.fully_connected,
    "MAX_POOL_2D": _Lowering.pooling,
    "MEAN": _Lowering.mean,
    "PAD": _Lowering.pad,
    "PADV2": _Lowering.pad,
    "QUANTIZE": _Lowering.quantize,
    "RESHAPE": _Lowering.copy,
    "SOFTMAX": _Lowering.softmax,
}


def _node(operator: Operator) -> str:
    return f"{_KINDS[operator.kind]}_{operator.index}"


def _shape(tensor: Tensor) -> Fields:
    _, height, width, channels = tensor.shape
    return Fields((("height", height), ("width", width), ("channels", channels)))
