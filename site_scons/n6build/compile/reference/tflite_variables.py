"""Variables of .tflite models, kept from one inference to the next.

A main subgraph names each variable by a handle (VAR_HANDLE), reads and assigns it, and calls another
subgraph once (CALL_ONCE), which assigns first values. A variable becomes a state tensor of the graph:
reading and assigning it copy its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tflite

from n6build.compile.reference.graph import Operator, Tensor
from n6build.compile.reference.reference_options import DamagedError, UnsupportedError

CALL_ONCE, VAR_HANDLE, READ, ASSIGN = "CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"
KINDS = frozenset((CALL_ONCE, VAR_HANDLE, READ, ASSIGN))
_ONLY_VALUES = "initialise variables with constants only"


@dataclass(frozen=True)
class Call:
    """An operator about variables, with its tables.

    Attributes:
        index: Index in its subgraph.
        kind: One of `KINDS`.
        table: The operator's table.
    """

    index: int
    kind: str
    table: Any


@dataclass
class Variables:
    """The variables of one subgraph.

    Attributes:
        first_state: Index of the first state tensor, behind all tensors of the file.
        states: State tensors by the names of their variables.
        firsts: First values by the names of their variables.
    """

    first_state: int
    states: dict[str, Tensor] = field(default_factory=dict)
    firsts: dict[str, Tensor] = field(default_factory=dict)
    _handles: dict[int, str] = field(default_factory=dict)

    def operators(self, call: Call, tensor: Callable[[int], Tensor]) -> list[Operator]:
        """Return the operator of the graph for one of the file, none for a handle.

        Args:
            call: One of VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE.
            tensor: Function that returns a tensor of this subgraph.

        Raises:
            DamagedError: The operator contradicts its schema.
            UnsupportedError: The variable has values of two types or shapes.
        """
        if call.kind == VAR_HANDLE:
            self._handles[_only(call, "Outputs", 1)[0]] = _handle(call)
            return []
        if call.kind == READ:
            (handle,), (read,) = _only(call, "Inputs", 1), _only(call, "Outputs", 1)
            state = self._state(call, handle, tensor(read))
            return [Operator(call.index, READ, (state.index,), read)]
        handle, value = _only(call, "Inputs", 2)
        _only(call, "Outputs", 0)
        state = self._state(call, handle, tensor(value))
        return [Operator(call.index, ASSIGN, (value,), state.index)]

    def read_first_value(self, call: Call, tensor: Callable[[int], Tensor]) -> None:
        """Note a first value from the subgraph that is called once.

        Raises:
            DamagedError: The operator contradicts its schema.
            UnsupportedError: The value is no constant.
        """
        if call.kind == VAR_HANDLE:
            self._handles[_only(call, "Outputs", 1)[0]] = _handle(call)
            return
        if call.kind != ASSIGN:
            raise UnsupportedError(f"a variable's first value comes from {call.kind}", _ONLY_VALUES)
        handle, index = _only(call, "Inputs", 2)
        value = tensor(index)
        if value.data is None:
            raise UnsupportedError(f"the first value {value.name!a} of a variable is no constant", _ONLY_VALUES)
        self.firsts[self._name(call, handle)] = value

    def problems(self) -> Iterator[str]:
        """Yield a reason for each variable whose first value the firmware cannot set.

        A state is filled with one byte before the first inference and at each reset.
        """
        for name, state in self.states.items():
            first = self.firsts.get(name)
            if first is None:
                yield f"variable {name!a} has no first value"
            elif (first.dtype, first.shape) != (state.dtype, state.shape):
                yield f"variable {name!a} has a first value of another type or shape"
            elif np.any(np.frombuffer(np.ascontiguousarray(first.data).tobytes(), np.uint8) != state.start):
                yield f"the first values of variable {name!a} are not all the {state.start} that a state begins with"

    def _state(self, call: Call, handle: int, like: Tensor) -> Tensor:
        """Return the state of a variable, which is made with its first use."""
        name = self._name(call, handle)
        if name not in self.states:
            index = self.first_state + len(self.states)
            self.states[name] = replace(like, index=index, name=name, data=None, is_state=True)
        state = self.states[name]
        if (state.dtype, state.shape, state.quantisation) != (like.dtype, like.shape, like.quantisation):
            what = f"variable {name!a} has another type, shape or scale than {like.name!a}"
            raise UnsupportedError(what, "convert the model again, with one scale for each variable")
        return state

    def _name(self, call: Call, handle: int) -> str:
        if handle not in self._handles:
            raise DamagedError(f"operator {call.index} ({call.kind}) has no handle of a variable")
        return self._handles[handle]


def called_once(call: Call) -> int:
    """Return the index of the subgraph that CALL_ONCE calls.

    Raises:
        DamagedError: The operator has no options.
    """
    return int(_options(call, tflite.CallOnceOptions).InitSubgraphIndex())


def _handle(call: Call) -> str:
    """Return the name of a variable."""
    options = _options(call, tflite.VarHandleOptions)
    parts = (options.Container() or b"", options.SharedName() or b"")
    return "/".join(part.decode("utf-8", "replace") for part in parts if part)


def _options(call: Call, table: type) -> Any:
    union = call.table.BuiltinOptions()
    if union is None or call.table.BuiltinOptionsType() != getattr(tflite.BuiltinOptions, table.__name__):
        raise DamagedError(f"operator {call.index} ({call.kind}) has no options")
    options = table()
    options.Init(union.Bytes, union.Pos)
    return options


def _only(call: Call, which: str, count: int) -> list[int]:
    """Return the tensors of an operator, which has a fixed number of them."""
    found = getattr(call.table, f"{which}Length")()
    if found != count:
        raise DamagedError(f"operator {call.index} ({call.kind}) has {found} {which.lower()} instead of {count}")
    return [int(getattr(call.table, which)(position)) for position in range(count)]
