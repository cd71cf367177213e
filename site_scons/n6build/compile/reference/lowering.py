"""Lowering of a model's operators to epochs, each of which is one kernel call.

Constants are folded and buffers are named. A view, as of RESHAPE, is another name of a buffer. The
operators after a PAD take it over if that gives the same bits. The module of each operator defines
its kernel calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.compile.artifacts.read_artifacts import STATE_PREFIX
from n6build.compile.reference.epochs import (
    Address,
    Buffer,
    ConstantType,
    Epoch,
    Fields,
    Initializer,
    Network,
    Port,
    ScratchBuffer,
    State,
    Value,
)
from n6build.compile.reference.fixed_point import ScaleError
from n6build.compile.reference.graph import Graph, Operator, Quantisation, Tensor
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, Parameter, Scratch
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.lifetimes import buffers_of
from n6build.compile.reference.liveness import blocks_of, lower_bound
from n6build.compile.reference.operands import Padding, operands_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.schedule import scheduled
from n6build.compile.reference.windows import MAX_DIMENSION


def lower(graph: Graph, where: str, *, in_parts: bool = True) -> Network:
    """Return the network of a graph that has passed graph_checks.

    Args:
        graph: The checked graph.
        where: Name of the model file, for the message.
        in_parts: Whether inputs of a CONCATENATION may be made at their places in its output. If not, epochs copy
            them, and each tensor has memory of its own.

    Raises:
        N6Error: N6-NET-006 if the reference resolver cannot compute with a scale.
    """
    return _Lowering(graph, where, in_parts).network()


class _Lowering:
    """One pass over one graph."""

    def __init__(self, graph: Graph, where: str, in_parts: bool) -> None:
        self._graph = graph
        self._where = where
        self._in_parts = in_parts
        self._consumers: dict[int, list[Operator]] = {}
        for operator in graph.operators:
            for index in operator.inputs:
                if index is not None:
                    self._consumers.setdefault(index, []).append(operator)
        self._taken_over = self._find_paddings_to_take_over()
        self._views: dict[int, tuple[int, int]] = {}
        self._parts: dict[str, Address] = {}
        self._names: dict[int, str] = {}
        self._epochs: list[Epoch] = []
        self._initializers: dict[str, Initializer] = {}

    def network(self) -> Network:
        for position, index in enumerate(self._graph.inputs):
            self._names[index] = f"Input_{position}_out_0"
        states = [tensor for tensor in self._graph.tensors.values() if tensor.is_state]
        for position, tensor in enumerate(states):
            self._names[tensor.index] = f"{STATE_PREFIX}{position}_out_0"
        for operator in self._graph.operators:
            if operator.output in self._taken_over:
                continue
            kind = KINDS[operator.kind]
            offset = self._view(operator)
            if offset is not None and not self._has_to_copy(operator, offset):
                root, start = self._root(_viewed(operator))
                self._views[operator.output] = (root, start + offset)
                continue
            if not self._graph.tensors[operator.output].is_state:
                self._names[operator.output] = f"{_node(operator)}_out_0"
            self._append_epochs(operator, kind)
        epochs, buffers = self._in_best_order()
        return Network(
            epochs=epochs,
            buffers=buffers,
            initializers=self._in_order_of_use(epochs),
            inputs=tuple(self._port(index) for index in self._graph.inputs),
            outputs=tuple(self._port(index) for index in self._graph.outputs),
            states=tuple(State(self._names[tensor.index], tensor, tensor.start) for tensor in states),
        )

    # Buffers and their lifetimes

    def _view(self, operator: Operator) -> int | None:
        """Return the output's offset in the memory of an input in bytes, or None.

        Without an offset, the output has to be made.
        """
        view = KINDS[operator.kind].view
        return view(operands_of(self._graph, operator)) if view else None

    def _root(self, index: int) -> tuple[int, int]:
        """Return the tensor that owns a tensor's memory, and the offset there in bytes."""
        return self._views.get(index, (index, 0))

    def _buffer(self, tensor: Tensor) -> str:
        return self._names[self._root(tensor.index)[0]]

    def _address(self, tensor: Tensor) -> Address:
        return Address(self._buffer(tensor), self._root(tensor.index)[1])

    def _port(self, index: int) -> Port:
        tensor = self._graph.tensors[index]
        return Port(self._buffer(tensor), tensor)

    def _has_to_copy(self, view: Operator, offset: int) -> bool:
        """Return whether a view has to be copied because it is an output of the network.

        An output is a whole buffer. It is not the memory of an input, because the application owns
        both at the same time, nor that of a constant.
        """
        if self._graph.tensors[_viewed(view)].data is not None:
            return True
        if not self._is_output(view.output):
            return False
        root, start = self._root(_viewed(view))
        tensors = self._graph.tensors
        return root in self._graph.inputs or start + offset > 0 or tensors[view.output].bytes != tensors[root].bytes

    def _is_output(self, index: int) -> bool:
        """Return whether this tensor, or a view of it, leaves the network."""
        users = self._consumers.get(index, [])
        return index in self._graph.outputs or any(
            self._is_output(user.output) for user in users if self._view(user) is not None and _viewed(user) == index
        )

    def _place_parts(self, operator: Operator, kind: OperatorKind) -> set[int]:
        """Place inputs in this operator's output, and return their positions.

        These inputs are made at their place in the output, so that nothing copies them.
        """
        offsets = kind.parts(operands_of(self._graph, operator)) if kind.parts and self._in_parts else ()
        placed = set()
        for position, (index, offset) in enumerate(zip(operator.inputs, offsets, strict=False)):
            if index is None or offset is None:
                continue
            root, _ = self._root(index)
            if self._may_be_a_part(operator, index):
                self._parts[self._names[root]] = Address(self._names[operator.output], offset)
                placed.add(position)
        return placed

    def _may_be_a_part(self, operator: Operator, index: int) -> bool:
        """Return whether an input may be made in an operator's output.

        It has to be a whole buffer that an epoch makes. Nothing else may decide its place.
        """
        root, _ = self._root(index)
        tensors = self._graph.tensors
        roots = [self._root(each)[0] for each in operator.inputs if each is not None]
        return (
            root in self._names
            and self._names[root] not in self._parts
            and tensors[root].bytes == tensors[index].bytes
            and root not in self._graph.inputs
            and not self._is_output(root)
            and roots.count(root) == 1
        )

    def _in_best_order(self) -> tuple[tuple[Epoch, ...], tuple[Buffer, ...]]:
        """Return epochs and buffers in the best order.

        The model's own order stays unless another one needs less memory.
        """
        tensors = {name: self._graph.tensors[index] for index, name in self._names.items()}
        sizes = {name: tensor.bytes for name, tensor in tensors.items()}
        inputs = [self._names[index] for index in self._graph.inputs]
        outputs = [self._names[self._root(index)[0]] for index in self._graph.outputs]
        states = [name for name, tensor in tensors.items() if tensor.is_state]
        orders = [self._epochs, scheduled(self._epochs, sizes, self._parts, inputs, outputs, states)]
        buffers = [buffers_of(epochs, tensors, self._parts, inputs, outputs, states) for epochs in orders]
        own, best = (lower_bound(blocks_of(each)) for each in buffers)
        chosen = 1 if best < own else 0
        return tuple(orders[chosen]), buffers[chosen]

    def _in_order_of_use(self, epochs: Sequence[Epoch]) -> tuple[Initializer, ...]:
        used = {name: epoch.index for epoch in reversed(epochs) for name in epoch.initializers}
        initializers = [replace(each, epoch=used[each.name]) for each in self._initializers.values()]
        return tuple(sorted(initializers, key=lambda each: each.epoch))

    # Kernel calls

    def _append_epochs(self, operator: Operator, kind: OperatorKind) -> None:
        given = operator.inputs[0]
        padding = None if given is None else self._taken_over.get(given)
        in_output = self._place_parts(operator, kind)
        calls = [
            call for position, call in enumerate(self._calls(operator, kind, padding)) if position not in in_output
        ]
        for number, call in enumerate(calls, 1):
            # The last call completes the output, so its epoch has the name of the operator.
            node = _node(operator) if number == len(calls) else f"{_node(operator)}_part_{number}"
            operators = (*((padding.operator,) if padding else ()), *(() if operator.added else (operator.index,)))
            self._epochs.append(self._epoch(operator.output, kind, node, operators, call))

    def _epoch(self, output: int, kind: OperatorKind, node: str, operators: tuple[int, ...], call: KernelCall) -> Epoch:
        members = {name: self._value(node, name, argument) for name, argument in call.arguments.items()}
        used = dict.fromkeys(value.name for value in members.values() if isinstance(value, Address))
        constants = [self._initializers[name] for name in used if name in self._initializers]
        scratch = [
            ScratchBuffer(_scratch_name(node), argument.bytes, argument.least)
            for argument in call.arguments.values()
            if isinstance(argument, Scratch)
        ]
        return Epoch(
            index=len(self._epochs) + 1,
            kernel=call.kernel.name,
            descriptor_type=call.kernel.descriptor.name,
            kind=kind.label,
            node=node,
            operators=operators,
            descriptor=Fields(tuple(members.items())),
            inputs=tuple(self._buffer(tensor) for tensor in _activations(call) if tensor.index != output),
            output=self._names[output],
            # In the order in which they were made.
            initializers=tuple(each.name for each in sorted(constants, key=lambda each: each.epoch)),
            macs=call.macs,
            scratch=scratch[0] if scratch else None,
            in_place=tuple(self._in_place(call, self._graph.tensors[output])),
        )

    def _in_place(self, call: KernelCall, output: Tensor) -> Iterator[Address]:
        """Yield the inputs whose memory the output may take.

        An input is left out if another input is a different part of the same memory.
        """
        activations = _activations(call)
        for member in call.kernel.in_place:
            taken = call.arguments[member]
            if not isinstance(taken, Tensor) or taken.data is not None:
                continue
            if taken.bytes == output.bytes and taken.index != output.index:
                place = self._address(taken)
                others = {(self._address(each), each.bytes) for each in activations if self._buffer(each) == place.name}
                if others == {(place, output.bytes)}:
                    yield place

    def _calls(self, operator: Operator, kind: OperatorKind, padding: Padding | None) -> Sequence[KernelCall]:
        try:
            calls = kind.lower(operands_of(self._graph, operator, padding))
            return [calls] if isinstance(calls, KernelCall) else calls
        except ScaleError as error:
            raise N6Error(
                "N6-NET-006",
                f"{operator}: {error}",
                where=self._where,
                hint="calibrate with representative data: the scales of neighbouring tensors are far apart",
            ) from error

    def _value(self, node: str, member: str, argument: Argument) -> Value:
        match argument:
            case Tensor(data=None):
                return self._address(argument)
            case Tensor():
                return self._value(node, member, Parameter(argument, "values"))
            case Parameter(tensor, role):
                assert tensor.data is not None
                name = f"Param_{tensor.index}_{role}"
                return self._constant(name, tensor.dtype, tensor.data, tensor.quantisation)
            case Constant(dtype, data):
                return self._constant(f"{node}_{member}", dtype, data, None)
            case Scratch():
                return Address(_scratch_name(node))
        return argument

    def _constant(
        self, name: str, dtype: ConstantType, data: NDArray[np.generic], quantisation: Quantisation | None
    ) -> Address:
        """Return the address of a constant that is stored once under its name.

        Several operators that share weights therefore share one copy.
        """
        if name not in self._initializers:
            little_endian = np.ascontiguousarray(data, np.dtype(dtype).newbyteorder("<"))
            # This is a view of an array that exists anyway, so that weights are not copied.
            stored = little_endian.reshape(-1).view(np.uint8).data
            self._initializers[name] = Initializer(name, len(self._epochs) + 1, dtype, data.shape, quantisation, stored)
        return Address(name)

    # PAD

    def _find_paddings_to_take_over(self) -> dict[int, Padding]:
        """Return the PADs that their users take over, by the tensor that each PAD makes.

        All users have to give the same bits without the PAD.
        """
        found = {}
        for operator in self._graph.operators:
            padding_of = KINDS[operator.kind].padding
            users = self._consumers.get(operator.output, [])
            if padding_of is None or operator.output in self._graph.outputs or not users:
                continue
            padding = padding_of(operands_of(self._graph, operator))
            padded = self._graph.tensors[operator.output]
            if padding and all(_takes_over(user, padding, padded) for user in users):
                found[operator.output] = padding
        return found


def _takes_over(user: Operator, padding: Padding, padded: Tensor) -> bool:
    value = KINDS[user.kind].takes_over
    if value is None or padding.pads_channels or user.inputs[0] != padded.index:
        return False
    return padding.value == value(padded) and 2 * max(padded.shape) <= MAX_DIMENSION


def _activations(call: KernelCall) -> list[Tensor]:
    tensors = [argument for argument in call.arguments.values() if isinstance(argument, Tensor)]
    return [tensor for tensor in tensors if tensor.data is None]


def _viewed(view: Operator) -> int:
    index = view.inputs[KINDS[view.kind].viewed]
    assert index is not None
    return index


def _node(operator: Operator) -> str:
    part = f"_{operator.part}" if operator.part else ""
    return f"{KINDS[operator.kind].label}_{operator.index}{part}"


def _scratch_name(node: str) -> str:
    return f"{node}_scratch_0"
