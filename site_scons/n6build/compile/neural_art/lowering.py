"""Lowering of the reference backend's epochs to epochs of the NPU.

The reference backend decides the order of the operators, and the treatment of a PAD before them.
Each of its epochs is then replaced by epochs of the NPU whose configuration was seen. Otherwise it
stays as it is, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from n6build.base.members import members
from n6build.compile.neural_art.hardware_epoch import HardwareEpoch
from n6build.compile.neural_art.layer import (
    SIGNED,
    UNSIGNED,
    Calibration,
    Layer,
    Made,
    NpuOperator,
    StaysOnCpu,
    begin,
)
from n6build.compile.neural_art.onnx_operators import in_terms_of_tflite
from n6build.compile.neural_art.registers import DoesNotFit
from n6build.compile.neural_art.streams import Frames, read, write
from n6build.compile.neural_art.units import plus_128
from n6build.compile.reference.epochs import Address, Buffer, Epoch, Fields, Initializer, Network
from n6build.compile.reference.graph import Graph, Operator, Tensor
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.operands import Operands, Padding, operands_of
from n6build.describe.hardware.npu import Npu

OPERATORS: dict[tuple[str, str], NpuOperator] = {
    (each.name, each.kernel): each
    for each in members("n6build.compile.neural_art.operators.*", "NPU_OPERATORS", NpuOperator)
}
# Kernels whose sums are rounded twice, as in LiteRT.
_TWICE = frozenset({"conv_2d", "depthwise_conv_2d", "sum"})
_ON_NPU = Fields(())
_COPY = "_cp_in_1"


@dataclass(frozen=True)
class OnCpu:
    """An operator that stays on the CPU.

    Attributes:
        operator: Kind of the operator.
        index: Index in the model file.
        why: Reason.
    """

    operator: str
    index: int
    why: str


@dataclass(frozen=True)
class Lowered:
    """A network with epochs of the CPU and of the NPU.

    Attributes:
        network: Network of epochs of both kinds; those of the NPU have no kernel.
        hardware: Epochs of the NPU by their index.
        on_cpu: Operators that stay on the CPU, with the reasons.
        tensors: Index of the tensor that a buffer holds, of those that hold one.
    """

    network: Network
    hardware: Mapping[int, HardwareEpoch]
    on_cpu: tuple[OnCpu, ...]
    tensors: Mapping[str, int]


def lower_for_npu(
    npu: Npu,
    graph: Graph,
    network: Network,
    calibration: Calibration,
    kept: Mapping[int, str],
    apart: Set[int] = frozenset(),
) -> Lowered:
    """Lower a network of the reference backend to the NPU where possible.

    Args:
        npu: Description of the NPU.
        graph: Graph of the model.
        network: Network of the reference backend, made from `graph`.
        calibration: Values of the activations.
        kept: Operators that stay on the CPU: index -> reason.
        apart: Operators that are cut into many epochs.
    """
    return _Lowering(npu, graph, network, calibration, apart).lowered(kept)


@dataclass(frozen=True)
class _Item:
    """An epoch of the CPU, or one of the NPU that replaces it."""

    cpu: Epoch | None
    npu: HardwareEpoch | None


class _Lowering:
    """A pass over a network, repeated while further epochs turn out to need the CPU."""

    def __init__(self, npu: Npu, graph: Graph, network: Network, calibration: Calibration, apart: Set[int]) -> None:
        self._apart = apart
        self._npu, self._graph, self._network, self._calibration = npu, graph, network, calibration
        self._by_index = {operator.index: operator for operator in graph.operators}
        self._by_output = {operator.output: operator for operator in graph.operators}
        self._last_maker = {epoch.output: epoch.index for epoch in network.epochs}
        self._makers = Counter(epoch.output for epoch in network.epochs)
        self._tensors = {buffer.name: buffer.tensor for buffer in network.buffers if buffer.tensor}
        self._outputs = {port.buffer for port in network.outputs}

    def lowered(self, kept: Mapping[int, str]) -> Lowered:
        refused = {
            epoch.node: kept[epoch.operators[-1]]
            for epoch in self._network.epochs
            if epoch.operators and epoch.operators[-1] in kept
        }
        while True:
            forms = self._forms(refused)
            made, items, failed = self._attempt(forms, refused)
            if not failed:
                return self._assembled(forms, made, items, refused)
            refused |= failed

    def _operands(self, epoch: Epoch) -> tuple[Operands, str]:
        """Return operands and kernel of an epoch's last operator, in terms of TFLite.

        The operands include the PAD in front if the operator takes it over.

        Raises:
            StaysOnCpu: If no operator of TFLite can express it.
        """
        operator = self._operator(epoch)
        padding: Padding | None = None
        if len(epoch.operators) == 2:
            pad = self._by_index[epoch.operators[0]]
            reader = KINDS[pad.kind].padding
            assert reader is not None
            padding = reader(operands_of(self._graph, pad))
        return in_terms_of_tflite(operands_of(self._graph, operator, padding), epoch.kernel)

    def _candidate(self, epoch: Epoch, refused: Mapping[str, str]) -> tuple[NpuOperator, Operands] | None:
        if self._why_not(epoch, refused):
            return None
        operands, kernel = self._operands(epoch)
        return OPERATORS[operands.operator.kind, kernel], operands

    def _operator(self, epoch: Epoch) -> Operator:
        return self._by_output[self._tensors[epoch.output].index]

    def _why_not(self, epoch: Epoch, refused: Mapping[str, str]) -> str:
        """Return the reason for the CPU, empty if the epoch may go to the NPU."""
        return refused.get(epoch.node) or next(self._reasons(epoch), "")

    def _reasons(self, epoch: Epoch) -> Iterator[str]:
        if self._makers[epoch.output] > 1:
            yield "one of several kernels that make a tensor"
            return
        if not epoch.operators:
            yield "it is not an operator of the model file"
            return
        try:
            operands, kernel = self._operands(epoch)
            if (operands.operator.kind, kernel) not in OPERATORS:
                yield "no such operator was seen on the NPU"
                return
            OPERATORS[operands.operator.kind, kernel].form(operands)
        except StaysOnCpu as error:
            yield str(error)
            return
        involved = (operands.source, operands.output)
        if any(tensor.unsigned for tensor in involved):
            yield "its tensors are uint8 in the model: int8 was seen"
        if any(tensor.quantisation is None for tensor in involved):
            yield "its tensors are not quantised"
        if any(tensor.index not in self._calibration.values for tensor in involved):
            yield "the reference interpreter does not show its input or its output, with which it would be proved"
        given = (value for _, value in epoch.descriptor.members if isinstance(value, Address))
        if any(value.offset and value.name in self._tensors for value in given):
            yield "it reads a part of another tensor's memory"

    # Forms

    def _forms(self, refused: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """Return the needed forms of each tensor's buffer, with their names."""
        needed: dict[str, set[str]] = {name: set() for name in self._tensors}
        for epoch in self._network.epochs:
            candidate = self._candidate(epoch, refused)
            form = SIGNED
            if candidate:
                operator, operands = candidate
                form = operator.form(operands)
            for name in epoch.inputs:
                needed[name].add(form)
            if candidate is None:
                needed[epoch.output].add(SIGNED)
        for name in (*self._outputs, *(port.buffer for port in self._network.inputs)):
            needed[name].add(SIGNED)
        for name in self._network_states():
            needed[name].add(SIGNED)
        return {name: _named(name, forms) for name, forms in needed.items()}

    def _network_states(self) -> Iterator[str]:
        return (state.buffer for state in self._network.states)

    # Epochs

    def _attempt(
        self, forms: Mapping[str, Mapping[str, str]], refused: Mapping[str, str]
    ) -> tuple[Made, list[_Item], dict[str, str]]:
        made = Made()
        items: list[_Item] = []
        failed: dict[str, str] = {}
        unsigned_there: set[str] = set()
        for port in self._network.inputs:
            items += self._as_unsigned(port.buffer, forms, made)
            unsigned_there.add(port.buffer)
        for epoch in self._network.epochs:
            candidate = self._candidate(epoch, refused)
            if candidate is None:
                items.append(_Item(epoch, None))
                if epoch.index == self._last_maker[epoch.output]:
                    items += self._as_unsigned(epoch.output, forms, made)
                continue
            operator, operands = candidate
            layer = Layer(
                self._npu,
                epoch.node,
                epoch.operators,
                operands,
                epoch.macs,
                forms[epoch.output] or {SIGNED: epoch.output},
                tuple(forms[name] for name in _activations(epoch)),
                self._calibration,
                twice=epoch.kernel in _TWICE,
                apart=epoch.operators[-1] in self._apart,
            )
            before = len(made.epochs)
            try:
                operator.lower(layer, made)
            except (StaysOnCpu, DoesNotFit) as error:
                failed[epoch.node] = str(error)
                del made.epochs[before:]
                continue
            items += [_Item(None, each) for each in _numbered(made.epochs[before:])]
        return made, items, failed

    def _as_unsigned(self, name: str, forms: Mapping[str, Mapping[str, str]], made: Made) -> list[_Item]:
        """Return an epoch that makes the unsigned form of a buffer, if it is needed.

        The CPU or the application has made the signed form.
        """
        tensor = self._tensors[name]
        unsigned = forms[name].get(UNSIGNED)
        if unsigned is None:
            return []
        operator = Operator(-1, "", (tensor.index,), tensor.index)
        layer = Layer(
            self._npu,
            f"{name.removesuffix('_out_0')}_unsigned",
            (),
            Operands(operator, (tensor,), tensor),
            0,
            forms[name],
            (forms[name],),
            self._calibration,
        )
        epoch = begin(layer, "+128")
        shifted = plus_128(epoch)
        epoch.link(read(epoch, Frames(Address(forms[name][SIGNED]), tensor.elements)), shifted)
        write(epoch, Frames(Address(unsigned), tensor.elements), shifted)
        done = epoch.done()
        made.epochs.append(done)
        return [_Item(None, done)]

    # The network

    def _assembled(
        self,
        forms: Mapping[str, Mapping[str, str]],
        made: Made,
        items: Sequence[_Item],
        refused: Mapping[str, str],
    ) -> Lowered:
        epochs: list[Epoch] = []
        hardware: dict[int, HardwareEpoch] = {}
        used = {name for item in items if item.npu for name in item.npu.initializers}
        constants = {each.name: each for each in made.initializers if each.name in used}
        old = {each.name: each for each in self._network.initializers}
        initializers: dict[str, Initializer] = {}
        for index, item in enumerate(items, 1):
            if item.npu:
                hardware[index] = item.npu
                epochs.append(_on_npu(index, item.npu))
            else:
                assert item.cpu is not None
                epochs.append(replace(item.cpu, index=index, in_place=()))
            for name in epochs[-1].initializers:
                found = constants.get(name) or old[name]
                initializers.setdefault(name, replace(found, epoch=index))
        tensors = self._held(forms)
        network = replace(
            self._network,
            epochs=tuple(epochs),
            buffers=self._buffers(epochs, made, tensors),
            initializers=tuple(initializers.values()),
        )
        on_cpu = [
            OnCpu(self._operator(epoch).kind, epoch.operators[-1] if epoch.operators else -1, why)
            for epoch in self._network.epochs
            if (why := self._why_not(epoch, refused))
        ]
        return Lowered(network, hardware, tuple(on_cpu), {name: tensor.index for name, tensor in tensors.items()})

    def _held(self, forms: Mapping[str, Mapping[str, str]]) -> dict[str, Tensor]:
        """Return the tensor of each buffer, as it is in memory."""
        return {
            actual: _unsigned(self._tensors[name]) if form == UNSIGNED else self._tensors[name]
            for name, named in forms.items()
            for form, actual in (named or {SIGNED: name}).items()
        }

    def _buffers(self, epochs: Sequence[Epoch], made: Made, tensors: Mapping[str, Tensor]) -> tuple[Buffer, ...]:
        first: dict[str, int] = {port.buffer: 0 for port in self._network.inputs}
        first |= dict.fromkeys(self._network_states(), 0)
        last = dict(first)
        for epoch in epochs:
            scratch = (epoch.scratch.name,) if epoch.scratch else ()
            for name in (*epoch.inputs, epoch.output, *epoch.more_outputs, *scratch):
                first.setdefault(name, epoch.index)
                last[name] = epoch.index
        last |= dict.fromkeys((*self._outputs, *self._network_states()), len(epochs))
        scratches = {epoch.scratch.name: epoch.scratch.bytes for epoch in epochs if epoch.scratch}
        sizes = {name: tensor.bytes for name, tensor in tensors.items()} | made.temporaries | scratches
        return tuple(
            Buffer(name, sizes[name], first[name], last[name], tensors.get(name)) for name in sizes if name in first
        )


def _named(name: str, forms: set[str]) -> dict[str, str]:
    """Return the name of each form.

    If there are two, the unsigned one has the name that ST's compiler gives a copy.
    """
    if forms == {UNSIGNED}:
        return {UNSIGNED: name}
    return {form: name if form == SIGNED else f"{name}{_COPY}" for form in sorted(forms)}


def _unsigned(tensor: Tensor) -> Tensor:
    quantisation = tensor.quantisation
    assert quantisation is not None
    zero_points = tuple(zero + 128 for zero in quantisation.zero_points)
    return replace(tensor, dtype="uint8", quantisation=replace(quantisation, zero_points=zero_points))


def _activations(epoch: Epoch) -> tuple[str, ...]:
    """Return the buffers of the inputs, in the order of the descriptor.

    One of them may be there twice.
    """
    names = [value.name for _, value in epoch.descriptor.members if isinstance(value, Address)]
    known = set(epoch.inputs)
    return tuple(name for name in names if name in known)


def _on_npu(index: int, epoch: HardwareEpoch) -> Epoch:
    output, *more = epoch.writes
    return Epoch(
        index=index,
        kernel="",
        descriptor_type="",
        kind=epoch.kind,
        node=epoch.node,
        operators=epoch.operators,
        descriptor=_ON_NPU,
        inputs=epoch.reads,
        output=output,
        initializers=epoch.initializers,
        macs=epoch.useful,
        more_outputs=tuple(more),
    )


def _numbered(epochs: Sequence[HardwareEpoch]) -> list[HardwareEpoch]:
    """Return the epochs of one operator with numbered names.

    The last one completes the output and has the name of the whole.
    """
    parts = [replace(epoch, node=f"{epoch.node}_part_{number}") for number, epoch in enumerate(epochs[:-1], 1)]
    return [*parts, *epochs[-1:]]
