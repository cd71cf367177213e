"""Constants of convolutions in blobs, compared with those of the model.

ST's compiler stores the kernels of an operator in another order, the factor of a channel as the nearest
number of 16 bits, and its bias beside it. So each of them follows from the model, and a damaged one is
known without a run. (Measured on ReID, MoveNet and YOLO-X of ST's compiler, Core 2.1 and 3.0: all kernels
are those of the model, and no factor is off by more than half of its last bit.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from n6build.base.size_text import counted
from n6build.compile.model_constants import counts_of
from n6build.compile.reference.graph import Graph, Operator, Tensor
from n6build.judge.npu.contradiction import Contradiction
from n6build.judge.npu.names import Names
from n6build.judge.npu.requantise import MOST_STEPS, RequantiseStep, step_in
from n6build.judge.npu.settings import EpochSettings, UnitSettings
from n6build.judge.npu.sums import Epoch, Weights, connected, kernels_of, sums_of

Channels = NDArray[np.float64]

# Axis of the channels of the result, in the weights of each kind of operator.
_CHANNEL_AXIS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0}
# Kernels that differ in more values are those of another operator, or of another training.
_FEWEST, _SHARE = 4, 1 / 50
# Half of the last bit is the nearest factor; the rest is for float32 arithmetic in the compiler.
_NEAREST = 0.6
# A bias is off by a few of its last bits, which are a millionth of a step.
_LAST_BITS, _STEPS, _RELATIVE = 8, 1e-4, 1e-6
# More channels than this share differ: the layer has another scale, not a damaged one.
_MOST_CHANNELS = 1 / 2
# The compiler drops the weights of a channel that reaches fewer steps (INFERRED from MoveNet: one channel of 3.4 steps).
_DROPPED = 8
_INPUT_VALUES = 255
# Errors of a common factor that are tried.
_TRIED = 41


@dataclass(frozen=True)
class _Operator:
    """An operator with weights.

    Attributes:
        counts: Number of weights by their byte.
        gains: Output steps for one step of a sum, for each channel.
        offsets: Output for a sum of 0, in steps.
        reach: Largest change of the output by the weights of a channel, in steps.
    """

    counts: NDArray[np.int64]
    gains: Channels
    offsets: Channels
    reach: Channels


@dataclass(frozen=True)
class _Layer:
    """A convolution with the steps up to its output of one byte.

    Attributes:
        counts: Number of kernel values by their byte.
        gains: As in `_Operator`.
        offsets: As in `_Operator`.
        gain_bit: Change of the gain for the last bit of the channel's factor.
        common: Largest relative error of factors that all channels share, which are rounded, too.
        offset_bit: Change of the offset for the last bit of its constant.
        rounded: Part of `offset_bit` from a constant of 16 bits, which is rounded itself.
    """

    counts: NDArray[np.int64]
    gains: Channels
    offsets: Channels
    gain_bit: Channels
    common: float
    offset_bit: Channels
    rounded: float


def contradictions(
    epochs: Iterable[EpochSettings], names: Names, weights: Weights, graph: Graph
) -> list[Contradiction]:
    """Return the constants of a network's epochs that do not follow from its model.

    Only layers whose kernels are those of an operator are compared, with few exceptions. Others may
    have been changed by the compiler.

    Args:
        epochs: Epochs of the network's blobs.
        names: Names of units and ports.
        weights: Weights of the network, and no other memory.
        graph: Graph of the model.
    """
    operators = list(_operators(graph))
    return [
        Contradiction(settings.number, what)
        for settings in epochs
        for layer in _layers(connected(settings, names.sources, names.destinations, weights))
        for what in _differences(layer, operators)
    ]


def _operators(graph: Graph) -> Iterator[_Operator]:
    for operator in graph.operators:
        axis = _CHANNEL_AXIS.get(operator.kind)
        if axis is not None and len(operator.inputs) > 1:
            found = _operator(graph, operator, axis)
            if found:
                yield found


def _operator(graph: Graph, operator: Operator, axis: int) -> _Operator | None:
    tensors = [None if each is None else graph.tensors[each] for each in (*operator.inputs, None)[:3]]
    source, weights, bias = tensors
    made = graph.tensors[operator.output]
    if not (source and weights and _scale(source) and _scale(made) and weights.quantisation):
        return None
    if weights.data is None or weights.dtype != "int8" or len(weights.shape) <= axis:
        return None
    count = weights.shape[axis]
    scales = np.array(weights.quantisation.scales, np.float64)
    if len(scales) not in (1, count):
        return None
    gains = np.broadcast_to(_scale(source) * scales / _scale(made), (count,))
    constants = np.zeros(count)
    if bias is not None:
        if bias.data is None or bias.elements != count:
            return None
        constants = bias.data.reshape(-1).astype(np.float64)
    zero = made.quantisation.zero_point if made.quantisation else 0
    values = weights.data.astype(np.int64)
    reach = np.abs(np.moveaxis(values, axis, 0).reshape(count, -1)).sum(axis=1) * _INPUT_VALUES * gains
    return _Operator(_counts(values), gains, constants * gains + zero, reach)


def _scale(tensor: Tensor) -> float:
    """Return the scale of a tensor, 0 if it has none or several."""
    found = tensor.quantisation
    return found.scales[0] if found and len(found.scales) == 1 else 0.0


def _counts(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each byte but 0 is among values of int8."""
    return np.frombuffer(counts_of(values.astype(np.int8)), "<i8")


def _layers(epoch: Epoch) -> Iterator[_Layer]:
    for unit in epoch.units.values():
        if unit.kind == "CONVACC":
            found = _layer(epoch, unit)
            if found:
                yield found


def _layer(epoch: Epoch, last: UnitSettings) -> _Layer | None:
    """Return the layer that ends with a convolution.

    The result is None if other sums follow, or a part is unknown.
    """
    units = [last]
    while (before := epoch.units.get(epoch.source_of(f"{units[-1].name}.sums"))) and before.kind == "CONVACC":
        if before in units or len(units) > MOST_STEPS:
            return None
        units.append(before)
    kernels = [kernels_of(epoch, unit) for unit in units]
    known = [each for each in kernels if each is not None]
    if len(known) < len(kernels) or not _users(epoch, last.name):
        return None
    sums = sums_of(epoch, last)
    if sums is None:
        return None
    steps = _steps(epoch, last.name, len(sums.low), known[0].shape[1])
    return _composed(last, steps, np.sum([*map(_counts, known)], axis=0)) if steps else None


def _users(epoch: Epoch, source: str) -> list[tuple[UnitSettings, str]]:
    """Return the ARITH units that take a unit's stream, with the port."""
    return [
        (unit, port)
        for unit in epoch.units.values()
        if unit.kind == "ARITH"
        for port in ("x", "y")
        if epoch.source_of(f"{unit.name}.{port}") == source
    ]


def _steps(epoch: Epoch, source: str, count: int, of_frame: int) -> list[RequantiseStep]:
    """Return the steps up to a result of one byte; none if one of them is unknown."""
    steps: list[RequantiseStep] = []
    while len(steps) < MOST_STEPS:
        users = _users(epoch, source)
        is_chain = len(users) == 1 and users[0][1] == "x"
        step = step_in(epoch, users[0][0], count, of_frame) if is_chain else None
        if step is None:
            return []
        steps.append(step)
        if step.bytes == 1:
            return steps
        source = step.unit.name
    return []


def _composed(last: UnitSettings, steps: Sequence[RequantiseStep], counts: NDArray[np.int64]) -> _Layer:
    gains = np.full(len(steps[0].a), 2.0 ** -last.fields.get(("DFORMAT", "OUTSHIFT"), 0))
    gain_bit, offsets, offset_bit = (np.zeros_like(gains) for _ in range(3))
    common = rounded = 0.0
    for step in steps:
        last_shift, first_shift = (2.0 ** -step.unit.fields.get(("SHIFT", name), 0) for name in ("RES", "AX"))
        factor_bit = last_shift * first_shift
        factor = step.a * factor_bit
        gain_bit = gain_bit * np.abs(factor)
        if (step.a != step.a[0]).any() or len(steps) == 1:
            gain_bit += np.abs(gains) * factor_bit
        elif step.a[0] & (step.a[0] - 1):
            common += 0.5 / abs(int(step.a[0]))
        offset_bit = offset_bit * np.abs(factor) + step.c_bit * last_shift
        rounded = rounded * float(np.abs(factor).max()) + step.c_rounded * last_shift
        offsets = offsets * factor + step.c * last_shift
        gains = gains * factor
    return _Layer(counts, gains, offsets, gain_bit, common, offset_bit, rounded)


def _differences(layer: _Layer, operators: Sequence[_Operator]) -> list[str]:
    """Return what a layer has other than the operator with its kernels.

    Nothing is returned without such an operator.
    """
    distances = [int(np.abs(layer.counts - each.counts).sum()) for each in operators]
    least = min(distances, default=0)
    total = int(layer.counts.sum())
    if not distances or not total or least > max(_FEWEST, total * _SHARE):
        return []
    count = (least + 1) // 2
    verb = "is" if count == 1 else "are"
    of_kernels = f"{counted(count, 'kernel value')} {verb} not among those of the model" if least else ""
    alike = [each for each, far in zip(operators, distances, strict=True) if far == least]
    found = [_of_channels(layer, each) for each in alike if len(each.gains) == len(layer.gains)]
    return [*([of_kernels] if of_kernels else []), *min(found, key=len, default=[])]


def _of_channels(layer: _Layer, operator: _Operator) -> list[str]:
    far = _far(layer, operator) & ~((layer.gains == 0) & (operator.reach < _DROPPED))
    allowed = _LAST_BITS * layer.offset_bit + _NEAREST * layer.rounded + _STEPS + _RELATIVE * np.abs(operator.offsets)
    off = np.abs(layer.offsets - operator.offsets) > allowed
    if far.sum() > max(1, _MOST_CHANNELS * len(far)):
        return []
    texts = []
    for wrong, mine, wanted, what in (
        (far, layer.gains, operator.gains, "factor {channel} is {mine:.6g}, where the model gives {wanted:.6g}"),
        (
            off,
            layer.offsets,
            operator.offsets,
            "bias {channel} is {mine:.4f} steps, where the model gives {wanted:.4f}",
        ),
    ):
        if 0 < wrong.sum() <= max(1, _MOST_CHANNELS * len(wrong)):
            channel = int(np.argmax(np.where(wrong, np.abs(mine - wanted), -1)))
            named = what.format(channel=f"of channel {channel}", mine=mine[channel], wanted=wanted[channel])
            texts.append(f"the {named}")
    return texts


def _far(layer: _Layer, operator: _Operator) -> NDArray[np.bool_]:
    """Return the channels whose factor is not the nearest one.

    A factor that all channels share is rounded, too. Its error is the one that explains most channels.
    """
    errors = np.linspace(-layer.common, layer.common, _TRIED if layer.common else 1)
    wanted = operator.gains * (1 + errors[:, np.newaxis])
    far = np.abs(layer.gains - wanted) > _NEAREST * layer.gain_bit + _RELATIVE * np.abs(wanted)
    fewest: NDArray[np.bool_] = far[int(far.sum(axis=1).argmin())]
    return fewest
